"""Cancellation of long work that is all or nothing, its progress, and signals that end the process."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import Final


class StoppedError(Exception):
    """The work was stopped since that was wanted, and nothing of it is left."""


class CancellableWork:
    """Goes with one piece of work. `told` hears on the thread of the work how much is done, 0 to 1."""

    def __init__(self, told: Callable[[float], object] = lambda _share: None) -> None:
        self._told = told
        self._unwanted = Event()

    def stop(self) -> None:
        """Have the work end at its next step, with nothing of it left; too late once it is done. From any thread."""
        self._unwanted.set()

    def step(self, done: int, whole: int) -> None:
        """Report progress from the work's thread. Raises StoppedError if the work was cancelled."""
        if self._unwanted.is_set():
            raise StoppedError
        self._told(done / max(1, whole))


EXIT_CODES: Final = {"SIGHUP": 129, "SIGINT": 130, "SIGTERM": 143, "SIGBREAK": 130}
# `timeout` and closing terminals send the same signal twice at once: to the process and to its group.
REPEATED_AFTER_S: Final = 0.5


class EndingSignals:
    """Calls `end` for the first signal. The same signal again calls `kill`, for child processes, and ends this one."""

    def __init__(self, end: Callable[[], object], kill: Callable[[], object]) -> None:
        self.received: signal.Signals | None = None
        self._end = end
        self._kill = kill
        self._first_at: dict[int, float] = {}

    @property
    def exit_code(self) -> int | None:
        """The exit code by convention, 128 and the number of the signal; None where no signal came."""
        return EXIT_CODES[self.received.name] if self.received else None

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle the signals meanwhile; those that the caller had ignored stay so, as `nohup` wants."""
        before = {}
        if threading.current_thread() is threading.main_thread():
            numbers = [getattr(signal, name) for name in EXIT_CODES if _can_arrive(name)]
            before = {number: signal.signal(number, self._receive) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._first_at.setdefault(number, now) > REPEATED_AFTER_S:
            self._kill()
            os._exit(EXIT_CODES[signal.Signals(number).name])
        if self.received is None:
            self.received = signal.Signals(number)
            self._end()


def _can_arrive(name: str) -> bool:
    """Return whether this system sends the signal to programs, and the caller did not have it ignored."""
    if not hasattr(signal, name) or (sys.platform == "win32" and name == "SIGTERM"):
        return False
    return signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN
