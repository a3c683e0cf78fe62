"""Files that are dropped on a widget."""

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget


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
    """Return the local files that something dropped or pasted stands for."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
