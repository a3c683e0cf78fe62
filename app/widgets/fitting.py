"""A pane that is as high as what it holds, up to a limit, and scrolls beyond it."""

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.widgets.panes import ScrollPane

LEAST = 60


class FittingPane(ScrollPane):
    """Keeps a long text from pushing the buttons below it out of the window."""

    def __init__(self, widget: QWidget, name: str, limit: int, parent: QWidget | None = None) -> None:
        super().__init__(widget, name, parent)
        self._limit = limit
        self._inside = widget
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        widget.installEventFilter(self)
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(self._inside.sizeHint().width(), min(self._limit, self._inside.sizeHint().height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, min(LEAST, self.sizeHint().height()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        self.updateGeometry()
