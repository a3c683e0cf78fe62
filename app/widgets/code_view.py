"""Text in mono to read and copy: JSON, logs, whatever was said on a wire."""

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.theme import Size, theme
from app.widgets.plain import plain
from app.widgets.row_frame import paint_focus

LONGEST = 100_000


class CodeView(QPlainTextEdit):
    """Text in mono that can be read, selected and copied, and not changed."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(theme().font(Size.BODY, mono=True))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            paint_focus(QPainter(self.viewport()), self.viewport().rect())

    def show_text(self, text: str) -> None:
        """Show another text."""
        if text != self._text:
            self._text = text
            self.setPlainText(plain(text, LONGEST, LONGEST))
