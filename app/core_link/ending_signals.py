"""Orderly shutdown without a question, on a signal or when the desktop session ends."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QGuiApplication

from mcp_tef import EndingSignals, kill_process_groups

# Desktops wait 5 s and more before they kill what has not ended.
LONGEST_MS: Final = 4_000
_LOOK_EVERY_MS: Final = 20


class Shutdown:
    """Calls `end` when the system asks the program to end; `has_ended` returns True once everything is closed.

    Python handles a signal before its own next step; the timer that collects garbage runs ten of them a second.
    """

    def __init__(self, end: Callable[[], object], has_ended: Callable[[], bool], longest_ms: int = LONGEST_MS) -> None:
        self._longest_ms = longest_ms
        self._end = end
        self._has_ended = has_ended
        self.signals = EndingSignals(lambda: QTimer.singleShot(0, end), kill_process_groups)

    def follow(self, application: QGuiApplication) -> None:
        """End with the desktop session, and wait here until all is closed: afterwards no code runs any more."""
        application.commitDataRequest.connect(self._end_with_session)

    def _end_with_session(self) -> None:
        self._end()
        waiting = QEventLoop()
        look = QTimer(interval=_LOOK_EVERY_MS)
        look.timeout.connect(lambda: waiting.quit() if self._has_ended() else None)
        look.start()
        QTimer.singleShot(self._longest_ms, waiting.quit)
        waiting.exec()
