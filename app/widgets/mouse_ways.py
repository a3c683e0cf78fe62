"""The two buttons at the side of a mouse, wherever in a window they are pressed."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWindow


class MouseWays(QObject):
    """Hears the side buttons before any widget of a window does."""

    back = Signal()
    forward = Signal()

    def watch(self, window: QWindow) -> None:
        """Listen to a window from now on."""
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.MouseButtonPress or not isinstance(event, QMouseEvent):
            return False
        ways = {Qt.MouseButton.BackButton: self.back, Qt.MouseButton.ForwardButton: self.forward}
        way = ways.get(event.button())
        if way is not None:
            way.emit()
        return way is not None
