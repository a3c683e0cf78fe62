"""Small removable words in a row: what restricts a page, each with a cross."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import sized
from app.widgets.actions import Action, Button, button
from app.widgets.tokens_edit import GAP, Chip

ROW = 28
ChipText = tuple[str, str]


class ChipRow(QWidget):
    """Chips that wrap, given as (key, text), and a link that takes all away. It hides itself where there is none."""

    removed = Signal(str)
    cleared = Signal()

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what = what
        self._chips: list[Chip] = []
        self._shown: tuple[ChipText, ...] = ()
        self._clear: Button = button(Action(text="Clear all", do=self.cleared.emit, kind="link"), self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.hide()

    def set_chips(self, chips: Sequence[ChipText]) -> None:
        """Show these."""
        if tuple(chips) != self._shown:
            self._shown = tuple(chips)
            for chip in self._chips:
                chip.hide()
                chip.deleteLater()
            self._chips = [self._made(key, text) for key, text in chips]
            self._clear.setVisible(len(chips) > 1)
            self._arrange()
        self.setVisible(bool(chips))

    def chips(self) -> tuple[Chip, ...]:
        """The chips, in order."""
        return tuple(self._chips)

    def resizeEvent(self, event: object) -> None:
        self._arrange()

    def _made(self, key: str, text: str) -> Chip:
        chip = Chip(text, self._what, self)
        chip.remove_wanted.connect(partial(self.removed.emit, key))
        chip.show()
        return chip

    def _arrange(self) -> None:
        left, top, edge = 16, 6, max(200, self.width() - 16)
        for part in (*self._chips, self._clear):
            hint = part.sizeHint()
            if left > 16 and left + hint.width() > edge:
                left, top = 16, top + sized(ROW)
            part.setGeometry(left, top, min(hint.width(), edge - 16), sized(24))
            left += hint.width() + GAP
        self.setFixedHeight(top + sized(ROW) + 2)
