"""An application as no earlier test left it."""

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from app.theme import ThemeMode, theme


def renew(application: QApplication) -> None:
    """Return to no window, an empty clipboard, the light theme in its usual size, and no exit with the last window.

    Windows that earlier tests left are deleted, not only hidden: a change of theme restyles every widget that exists,
    and with the widgets of the whole suite each of the later tests took a second.
    """
    for left in application.topLevelWidgets():
        left.hide()
        left.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    application.setQuitOnLastWindowClosed(False)
    application.setApplicationName("tests")
    application.setDesktopFileName("")
    application.clipboard().clear()
    theme().set_text_size(100)
    theme().install(ThemeMode.LIGHT)
