"""An application as no earlier test left it."""

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from app.theme import ThemeMode, theme


def renew(application: QApplication) -> None:
    """No window, nothing to paste, the light look in its usual size; a window that closes last ends nothing."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    for left in application.topLevelWidgets():
        left.hide()
    application.setQuitOnLastWindowClosed(False)
    application.setApplicationName("tests")
    application.setDesktopFileName("")
    application.clipboard().clear()
    theme().set_text_size(100)
    theme().install(ThemeMode.LIGHT)
