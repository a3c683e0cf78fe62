"""Fields for longer texts that grow with them, and the way to undo beyond a field."""

import math

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from app.theme import Size, sized, theme
from app.widgets.file_drop import files_in
from app.widgets.safe_text import meant, plain, tip, visible

FRAME = 14
TOO_LONG = "This text is too long to be edited here."


class TextArea(QPlainTextEdit):
    """Several lines of plain text, hidden characters shown; Tab moves on instead of indenting.

    A text that is too long to be edited is shown in part, and kept whole.
    """

    LONGEST = 300_000

    def __init__(
        self, placeholder: str = "", *, lines: int = 3, size: Size = Size.BODY, mono: bool = False,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._whole = ""
        self.setPlaceholderText(placeholder)
        self.setTabChangesFocus(True)
        self.setFont(theme().font(size, mono=mono))
        self.document().setDocumentMargin(2)
        self.setFixedHeight(round(self.fontMetrics().lineSpacing() * lines) + 16)

    def setPlainText(self, text: str) -> None:
        self._whole = text if len(text) > self.LONGEST else ""
        self.setReadOnly(bool(self._whole))
        self.setToolTip(tip(TOO_LONG) if self._whole else "")
        super().setPlainText(plain(text) if self._whole else visible(text, self.LONGEST))

    def text(self) -> str:
        """Return the text that stands there, its hidden characters included, which are shown by their names."""
        return self._whole or meant(self.toPlainText())

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Text, and no files: those are for the window."""
        return not files_in(source) and super().canInsertFromMimeData(source)


class GrowingEdit(TextArea):
    """A text as high as its lines, between `least` and `most`.

    `edited` gives the text after the user changed it; showing another text says nothing.
    """

    LONGEST = 20_000

    edited = Signal(str)

    def __init__(
        self, name: str, *, least: int = 1, most: int = 8, size: Size = Size.BODY, mono: bool = False,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(size=size, mono=mono, parent=parent)
        self._bounds = (least, most)
        self._given: str | None = None
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._tell)
        undo_beyond(self)
        self._settle()

    def set_text(self, text: str) -> None:
        """Show a text, unless it is what stands there already; undo starts anew."""
        if text not in (self._given, self.text()):
            self.blockSignals(True)
            self.setPlainText(text)
            self.blockSignals(False)
            self._settle()
            self._given = text

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
