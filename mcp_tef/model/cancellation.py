"""Long work that is all or nothing: how far it is, told to whoever waits, and the way to have it stopped."""

from collections.abc import Callable
from threading import Event


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
