"""A search field, and a labelled field with its note or error below it."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.theme import Role, Size, theme
from app.widgets.label import Label
from app.widgets.text_view import FlowText

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
        """Show what is searched for already: nobody has to be told."""
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._caption)
        column.addWidget(widget)
        column.addWidget(self._below)
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
        """Say something else below the widget, where nothing is wrong."""
        self._note = text
        self._show()

    def _show(self) -> None:
        said = self._error or self._note
        self._below.set_text(said, Role.BAD if self._error else Role.DIM)
        self._below.setVisible(bool(said))
        self.widget.setAccessibleDescription(said)
        set_wrong(self.widget, bool(self._error))


def set_wrong(widget: QWidget, wrong: bool) -> None:
    """Give a field the border of a wrong one, or take it away."""
    if bool(widget.property("wrong")) != wrong:
        widget.setProperty("wrong", wrong)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
