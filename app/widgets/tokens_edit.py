"""Short names as removable chips: an editor with a field to type one more, and a row of active filters."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QCompleter, QLineEdit, QSizePolicy, QWidget

from app.theme import Role, Size, radius, sized, theme
from app.widgets.accessibility import Spoken
from app.widgets.actions import Action, Button, button
from app.widgets.fields import set_wrong
from app.widgets.safe_text import one_line, tip
from app.widgets.spans import LinePainter, paint_box, paint_icon
from app.widgets.text_view import Label

CHIP, LINE, GAP = 24, 28, 4
CROSS = 20
LEAST_ENTRY = 96
ERROR_HEIGHT = 20
PAUSE_MS = 500
LOW = "QLineEdit { min-height: 20px; padding: 0 6px; }"
QUIET = """
QLineEdit:!focus { border: 2px solid transparent; background: transparent; }
"""


class TokenChip(QAbstractButton):
    """One name; a click on its cross, Del or Backspace asks to take it away."""

    remove_wanted = Signal()

    def __init__(self, text: str, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line = LinePainter()
        self._shown = one_line(text, 60)
        self.setAccessibleName(f"{what} {self._shown}")
        self.setAccessibleDescription("Delete takes it away.")
        self.setToolTip(tip(text) if self._shown != text else "")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)

    def sizeHint(self) -> QSize:
        return QSize(round(self._line.width(self._shown, theme().font(Size.SMALL))) + 10 + sized(CROSS), sized(CHIP))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.position().x() >= self.width() - sized(CROSS) and self.rect().contains(event.position().toPoint()):
            self.remove_wanted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_wanted.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        ring = theme().ring
        inner, line = self.rect().adjusted(1, 1, -1, -1), Role.FOCUS if self.hasFocus() else None
        paint_box(painter, self.rect() if line else inner, line, Role.NAV_CURRENT, radius("menu_item"), ring)
        place = QRectF(8, 0, self.width() - 8 - sized(CROSS), self.height())
        self._line.text(painter, place, self._shown, theme().font(Size.SMALL), Role.TEXT)
        side = sized(CROSS) // 2
        paint_icon(painter, "x", self.width() - sized(CROSS) + 4, self.height() / 2, side)


class TokensEdit(QWidget):
    """Chips that wrap. `changed` gives all of them after one was added or taken away by the user.

    A repeated name, or an unknown one where only known ones count, is reported once typing pauses.
    The place to type is `framed` where it has to be seen that there is one.
    """

    SPOKEN_AS = Spoken.Grouping

    changed = Signal(tuple)

    def __init__(self, what: str, placeholder: str, *, only_known: bool = False, framed: bool = False) -> None:
        super().__init__()
        self._what = what
        self._only_known = only_known
        self._tokens: tuple[str, ...] = ()
        self._known: tuple[str, ...] = ()
        self._chips: list[TokenChip] = []
        self.entry = self._make_entry(placeholder)
        self.entry.setStyleSheet(LOW if framed else LOW + QUIET)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.entry)
        self.setFixedHeight(sized(CHIP))
        self.error = Label(size=Size.SMALL, role=Role.BAD, parent=self)
        self.error.hide()
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._show_own_fault)
        self.entry.textChanged.connect(self._typed)

    def _make_entry(self, placeholder: str) -> QLineEdit:
        entry = QLineEdit(self)
        entry.setPlaceholderText(placeholder)
        entry.setAccessibleName(f"Add: {self._what}")
        entry.setFont(theme().font(Size.SMALL))
        self._offers = QStringListModel(self)
        completer = QCompleter(self._offers, entry)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(self._add_chosen, Qt.ConnectionType.QueuedConnection)
        entry.setCompleter(completer)
        entry.returnPressed.connect(self._add_typed)
        entry.editingFinished.connect(self._add_typed)
        entry.installEventFilter(self)
        return entry

    def tokens(self) -> tuple[str, ...]:
        """All names, in order."""
        return self._tokens

    def set_tokens(self, tokens: Sequence[str]) -> None:
        """Show these names."""
        if tuple(tokens) == self._tokens:
            return
        self._tokens = tuple(tokens)
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        self._chips = [self._chip(token) for token in self._tokens]
        self._offer()
        self._arrange()

    def set_known(self, known: Sequence[str]) -> None:
        """Names to offer while one is typed."""
        if tuple(known) != self._known:
            self._known = tuple(known)
            self._offer()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.entry and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._entry_key(event)
        if watched is self.entry and event.type() == QEvent.Type.MouseButtonRelease and not self.entry.text():
            self._show_offers()
        return super().eventFilter(watched, event)

    def _entry_key(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Backspace and not self.entry.text() and self._tokens:
            self._change(self._tokens[:-1])
            return True
        if event.text() in (",", "\r") and self.entry.text().strip():
            self._add_typed()
            return True
        if event.key() == Qt.Key.Key_Down and not self.entry.text():
            self._show_offers()
            return True
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _show_offers(self) -> None:
        completer = self.entry.completer()
        completer.setCompletionPrefix("")
        if self._offers.rowCount():
            completer.complete()

    def _chip(self, token: str) -> TokenChip:
        chip = TokenChip(token, self._what, self)
        chip.remove_wanted.connect(lambda: self._take_away(token))
        chip.show()
        return chip

    def _take_away(self, token: str) -> None:
        self.entry.setFocus()
        self._change(tuple(item for item in self._tokens if item != token))

    def _offer(self) -> None:
        self._offers.setStringList([name for name in self._known if name not in self._tokens])

    def _typed(self) -> None:
        """Remove an error at once; show a new one only when typing pauses."""
        if self.error.text() != self._fault():
            self._show_fault("")
            self._pause.start()

    def _show_own_fault(self) -> None:
        self._show_fault(self._fault())

    def _fault(self) -> str:
        text = self._text()
        if not text:
            return ""
        if text.lower() in map(str.lower, self._tokens):
            return f"The {self._what} {one_line(text, 40)} is there already."
        unknown = not any(text.lower() in name.lower() for name in self._known)
        return f"There is no {self._what} named {one_line(text, 40)}." if self._only_known and unknown else ""

    def _show_fault(self, fault: str) -> None:
        self._pause.stop()
        self.error.setText(fault)
        self.error.setVisible(bool(fault))
        self.entry.setAccessibleDescription(fault)
        set_wrong(self.entry, bool(fault))
        self._arrange()

    def _text(self) -> str:
        return " ".join(self.entry.text().split())

    def _add_chosen(self, text: str) -> None:
        self.entry.setText(text)
        self._add_typed()

    def _add_typed(self) -> None:
        text = self._text()
        known = {name.lower(): name for name in self._known}.get(text.lower())
        if self._is_completing() or not text or (self._only_known and known is None):
            return
        self.entry.clear()
        token = known or text
        if token not in self._tokens:
            self._change((*self._tokens, token))

    def _is_completing(self) -> bool:
        popup = self.entry.completer().popup()
        return popup is not None and popup.isVisible() and popup.currentIndex().isValid()

    def _change(self, tokens: tuple[str, ...]) -> None:
        self.set_tokens(tokens)
        self.changed.emit(self._tokens)

    def _arrange(self) -> None:
        end = _place_in_lines(self._chips, QPoint(0, 0), self.width())
        if end.x() and end.x() + LEAST_ENTRY > self.width():
            end = QPoint(0, end.y() + sized(LINE))
        below = end.y() + sized(CHIP)
        self.entry.setGeometry(end.x(), end.y(), max(LEAST_ENTRY, self.width() - end.x()), sized(CHIP))
        self.error.setGeometry(0, below, self.width(), sized(ERROR_HEIGHT))
        self.setFixedHeight(below + (sized(ERROR_HEIGHT) if self.error.text() else 0))


class ChipRow(QWidget):
    """Chips that wrap, given as (key, text), and a link that takes all away. It hides itself where there is none."""

    removed = Signal(str)
    cleared = Signal()

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self._chips: list[TokenChip] = []
        self._shown: tuple[tuple[str, str], ...] = ()
        self._clear: Button = button(Action(text="Clear all", do=self.cleared.emit, kind="link"), self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.hide()

    def set_chips(self, chips: Sequence[tuple[str, str]]) -> None:
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

    def chips(self) -> tuple[TokenChip, ...]:
        """Return the chips, in order."""
        return tuple(self._chips)

    def resizeEvent(self, event: object) -> None:
        self._arrange()

    def _made(self, key: str, text: str) -> TokenChip:
        chip = TokenChip(text, self._what, self)
        chip.remove_wanted.connect(partial(self.removed.emit, key))
        chip.show()
        return chip

    def _arrange(self) -> None:
        end = _place_in_lines((*self._chips, self._clear), QPoint(16, 6), max(200, self.width() - 16))
        self.setFixedHeight(end.y() + sized(LINE) + 2)


def _place_in_lines(parts: Sequence[QWidget], start: QPoint, right: int) -> QPoint:
    """Place widgets one after the other, wrapped at the right edge; return the place after the last."""
    left, top = start.x(), start.y()
    for part in parts:
        wide = min(part.sizeHint().width(), right - start.x())
        if left > start.x() and left + wide > right:
            left, top = start.x(), top + sized(LINE)
        part.setGeometry(left, top, wide, sized(CHIP))
        left += wide + GAP
    return QPoint(left, top)
