"""Fields for longer texts that grow with them, and the way to undo beyond a field."""

import math

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from app.theme import Size, sized, theme
from app.widgets.file_drop import files_in
from app.widgets.safe_text import LONGEST_EDITED, meant, plain, tip, visible

FRAME = 14


class GrowingEdit(QPlainTextEdit):
    """Plain text as high as its lines, between `least` and `most`; Tab leaves it. Hidden characters are shown.

    `edited` gives the text after the user changed it; showing another text says nothing.
    """

    edited = Signal(str)

    def __init__(
        self, name: str, *, least: int = 1, most: int = 8, size: Size = Size.BODY, mono: bool = False,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._bounds = (least, most)
        self._given: str | None = None
        self.setAccessibleName(name)
        self.setFont(theme().font(size, mono=mono))
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self.textChanged.connect(self._tell)
        undo_beyond(self)
        self._settle()

    def set_text(self, text: str) -> None:
        """Show a text, unless it is what stands there already; undo starts anew."""
        if text not in (self._given, self.text()):
            too_long = len(text) > LONGEST_EDITED
            self.blockSignals(True)
            self.setPlainText(plain(text) if too_long else visible(text, LONGEST_EDITED))
            self.blockSignals(False)
            self.setReadOnly(too_long)
            self.setToolTip(tip("This text is too long to be edited here.") if too_long else "")
            self._settle()
            self._given = text

    def text(self) -> str:
        """The text that stands there, with the hidden characters that it shows by their names."""
        return meant(self.toPlainText())

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Text, and no files: those are for the window."""
        return not files_in(source) and super().canInsertFromMimeData(source)

    def sizeHint(self) -> QSize:
        return QSize(200, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._settle()

    def _tell(self) -> None:
        self._given = None
        self._settle()
        self.edited.emit(self.text())

    def _settle(self) -> None:
        least, most = self._bounds
        needed = round(self.document().size().height())
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if needed > most else policy.ScrollBarAlwaysOff)
        lines = max(least, min(most, needed))
        self.setFixedHeight(max(sized(28), math.ceil(lines * QFontMetricsF(self.font()).lineSpacing()) + FRAME))


class LineEdit(QLineEdit):
    """One line to edit, which shows hidden characters. `typed` gives the text after the user changed it."""

    typed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.textEdited.connect(lambda _: self.typed.emit(self.text()))

    def setText(self, text: str | None) -> None:
        super().setText(visible(text or "", self.maxLength()))

    def text(self) -> str:
        return meant(super().text())


class _UndoBeyond(QObject):
    """Leaves the keys of undo and redo to the window when the field has nothing left to undo or redo."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        undo, redo = event.matches(QKeySequence.StandardKey.Undo), event.matches(QKeySequence.StandardKey.Redo)
        if not (undo or redo) or _has_steps(watched, back=undo):
            return False
        event.ignore()
        return True


def undo_beyond(field: QLineEdit | QPlainTextEdit) -> None:
    """Let the keys of undo and redo act on the whole page once the field itself has nothing left for them."""
    field.installEventFilter(_UndoBeyond(field))


def _has_steps(field: QObject, *, back: bool) -> bool:
    if isinstance(field, QLineEdit) and field.isReadOnly():
        return False
    steps = field if isinstance(field, QLineEdit) else field.document() if isinstance(field, QPlainTextEdit) else None
    return steps is not None and (steps.isUndoAvailable() if back else steps.isRedoAvailable())
