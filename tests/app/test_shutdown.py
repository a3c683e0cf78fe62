"""The end of the desktop session: it waits for the window to close, and not for ever."""

import time
from typing import cast

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.core_link.ending_signals import Shutdown

CLOSING_MS, LONGEST_MS = 60, 1_000


class Desktop(QObject):
    """Stands in for the application, which nobody but Qt can have tell of a session's end."""

    commitDataRequest = Signal(object)  # noqa: N815 (Qt's name)


def end_session(closing_ms: int | None) -> float:
    """End a session whose window takes so long to close, None for ever; the seconds that the desktop waits."""
    ended: list[bool] = []

    def end() -> None:
        if closing_ms is not None:
            QTimer.singleShot(closing_ms, lambda: ended.append(True))

    desktop = Desktop()
    shutdown = Shutdown(end, lambda: bool(ended), LONGEST_MS)
    shutdown.follow(cast(QGuiApplication, desktop))
    began = time.monotonic()
    desktop.commitDataRequest.emit(None)
    return time.monotonic() - began


def test_a_session_ends_after_the_window_is_closed(qapp: QApplication) -> None:
    assert CLOSING_MS / 1000 <= end_session(CLOSING_MS) < LONGEST_MS / 1000


def test_a_session_does_not_wait_for_ever(qapp: QApplication) -> None:
    assert end_session(None) >= LONGEST_MS / 1000 * 0.9
