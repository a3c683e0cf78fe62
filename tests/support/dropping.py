"""Lets files go over a window."""

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget


def drop(window: QWidget, *files: Path) -> None:
    """Let files go over the window."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    copy, keys = Qt.DropAction.CopyAction, (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(40, 40), copy, data, *keys))
    QApplication.sendEvent(window, QDropEvent(QPointF(40, 40), copy, data, *keys))
