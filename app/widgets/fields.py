"""Files that are dropped on a widget."""

import math
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QDropEvent, QFontMetricsF, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextDocumentLayout, QPlainTextEdit, QSizePolicy, QWidget

from app.theme import Role, Size, sized, theme
from app.widgets.layouts import column_layout
from app.widgets.safe_text import meant, plain, tip, visible
from app.widgets.text_view import FlowText, Label


class FileDrops(QObject):
    """`dropped` gives the paths of files that were dropped on its widget; anything else is not taken."""

    dropped = Signal(list)

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDropEvent) and (files := files_in(event.mimeData())):
            event.acceptProposedAction()
            if event.type() == QEvent.Type.Drop:
                self.dropped.emit(files)
            return True
        return super().eventFilter(watched, event)


def files_in(data: QMimeData) -> list[Path]:
    """Return the local files among dropped or pasted data."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


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
        self._whole = self._shown = ""
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
        self._shown = self.toPlainText()

    def is_changed(self) -> bool:
        """Return True if the user changed the text that was set last."""
        return self.toPlainText() != self._shown

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
        """Show a text, unless it is shown already; undo starts again."""
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
        layout, block = self.document().documentLayout(), self.document().begin()
        while isinstance(layout, QPlainTextDocumentLayout) and block.isValid() and block.blockNumber() <= most:
            layout.ensureBlockLayout(block)  # a paragraph that was never laid out counts as one line
            block = block.next()
        needed = round(self.document().size().height())
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if needed > most else policy.ScrollBarAlwaysOff)
        lines = max(least, min(most, needed))
        self.setFixedHeight(max(sized(28), lines * math.ceil(QFontMetricsF(self.font()).lineSpacing()) + FRAME))


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
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.ShortcutOverride:  # in cheap order
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


QUIET_MS = 120
PAUSE_MS = 500


class SearchField(QLineEdit):
    """A field with a lens; `searched` gives its text once typing has paused. Esc empties it."""

    searched = Signal(str)

    def __init__(self, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setFont(theme().font())
        self.setProperty("kind", "search")
        self._lens = QAction(self)
        self.addAction(self._lens, QLineEdit.ActionPosition.LeadingPosition)
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(lambda: self.searched.emit(self.text()))
        self.textChanged.connect(lambda _: self._timer.start())
        theme().changed.connect(self._redraw)
        self._redraw()

    def say(self, text: str) -> None:
        """Show a query without the signal, because its search has been done."""
        self.setText(text)
        self._timer.stop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)

    def _redraw(self) -> None:
        self._lens.setIcon(theme().icon("magnifying-glass"))


class Field(QWidget):
    """A widget under its label, with a note or an error below it.

    While someone types, `tell` waits with an error for a pause, and takes it back as soon as all is well.
    """

    def __init__(self, label: str, widget: QWidget, *, note: str = "") -> None:
        super().__init__()
        self.widget = widget
        self._note, self._error, self._awaited = note, "", ""
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(lambda: self.set_error(self._awaited))
        self._caption = Label(label, size=Size.SMALL, role=Role.DIM, label=True)
        self._caption.setBuddy(widget)
        self._below = FlowText(note, size=Size.SMALL, role=Role.DIM)
        if not widget.accessibleName():
            widget.setAccessibleName(label)
        column_layout(self, self._caption, widget, self._below, spacing=4)
        self._show()

    def set_label(self, text: str) -> None:
        """Another label."""
        self._caption.setText(text)
        self.widget.setAccessibleName(text)

    def tell(self, fault: str) -> None:
        """Show why the current input is invalid, or clear the message."""
        self._awaited = fault
        if fault and not self._error:
            self._pause.start()
        else:
            self.set_error(fault)

    def set_error(self, text: str) -> None:
        """Say what is wrong, or nothing; the note comes back then."""
        self._pause.stop()
        self._error = text
        self._show()

    def set_note(self, text: str) -> None:
        """Change the note below the widget; an error stays."""
        self._note = text
        self._show()

    def _show(self) -> None:
        text = self._error or self._note
        self._below.set_text(text, Role.BAD if self._error else Role.DIM)
        self._below.setVisible(bool(text))
        self.widget.setAccessibleDescription(text)
        set_wrong(self.widget, bool(self._error))


def set_wrong(widget: QWidget, wrong: bool) -> None:
    """Give a field the border of a wrong one, or take it away."""
    if bool(widget.property("wrong")) != wrong:
        widget.setProperty("wrong", wrong)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
