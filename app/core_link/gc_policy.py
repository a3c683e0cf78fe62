"""The one owner of garbage collection in the window's process."""

import gc
import sys
import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

SWITCH_INTERVAL_S: Final = 0.0002
TICK_MS: Final = 100
NEW_MODULES_TO_FREEZE: Final = 20
LONGEST_WITHOUT_FULL_S: Final = 600.0
YOUNG_OBJECTS, MIDDLE_ROUNDS, OLD_ROUNDS = 700, 10, 10


class GarbageCollection(QObject):
    """Collects Python's garbage on the window's thread alone, and everything only while nobody uses the window.

    A Qt object must not be destroyed on another thread, so the automatic collection is off. A full collection stops
    every thread, for 0.2 to 0.4 s once big libraries are loaded; most of what it visits is what they left behind,
    which is never garbage and is therefore frozen. The short switch interval serves the same end: a thread that
    computes holds the interpreter for a whole interval (5 ms by default) at each of the hundreds of calls that paint
    a table.
    """

    def __init__(
        self,
        *,
        is_used: "Callable[[], bool] | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._is_used = is_used or _is_window_active
        self._clock = clock
        self._modules = 0
        self._last_full = clock()
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self.collect_what_is_due)

    def start(self) -> None:
        """Switch the automatic collection off, and collect every 100 ms from here on."""
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Leave the collection to Python again."""
        self._timer.stop()
        gc.enable()

    def collect_what_is_due(self) -> int | None:
        """Collect the oldest generation that is due, and return it; None if none is."""
        self._freeze_libraries()
        young, middle, old = gc.get_count()
        if old > OLD_ROUNDS and self._may_collect_fully():
            self._last_full = self._clock()
            return _collected(2)
        if middle > MIDDLE_ROUNDS:
            return _collected(1)
        return _collected(0) if young > YOUNG_OBJECTS else None

    def _may_collect_fully(self) -> bool:
        return not self._is_used() or self._clock() - self._last_full >= LONGEST_WITHOUT_FULL_S

    def _freeze_libraries(self) -> None:
        if len(sys.modules) >= self._modules + NEW_MODULES_TO_FREEZE:
            self._modules = len(sys.modules)
            gc.freeze()


def _collected(generation: int) -> int:
    gc.collect(generation)
    return generation


def _is_window_active() -> bool:
    return QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive
