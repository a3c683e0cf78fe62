"""What a sheet holds between its title and its buttons: it scrolls where the window is too low for all of it."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QWidget

from app.widgets.panes import ScrollPane


class SheetPane(ScrollPane):
    """As high as what is inside has to be, and at most as high as `most` says."""

    def __init__(self, inside: QWidget, name: str, most: Callable[[], int]) -> None:
        super().__init__(inside, name)
        self._inside, self._most = inside, most
        inside.installEventFilter(self)

    def bar(self) -> int:
        """The width of the scroll bar, which always has its place unless it is hidden."""
        hidden = self.verticalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        return 0 if hidden else self.verticalScrollBar().sizeHint().width()

    def hide_bar(self) -> None:
        """Leave its place to what is inside, where that has a bar of its own."""
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def sizeHint(self) -> QSize:
        return self._bounded(self._inside.sizeHint())

    def minimumSizeHint(self) -> QSize:
        return self._bounded(self._inside.minimumSizeHint())

    def hasHeightForWidth(self) -> bool:
        return self._inside.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        return min(self._most(), self._inside.heightForWidth(width - self.bar()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def _bounded(self, size: QSize) -> QSize:
        return QSize(size.width() + self.bar(), min(self._most(), size.height()))
