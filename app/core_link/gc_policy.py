"""Keeps the window's thread from standing still while the core works in the same process."""

import gc
import sys
import time
from collections.abc import Callable
from typing import Final

TURN_S: Final = 0.0002
MANY_MODULES: Final = 20
NEVER: Final = 1_000_000
LONG_S: Final = 600.0


class GarbageCollectionPolicy:
    """Short turns between threads, and full rounds of garbage collection only while nobody looks.

    A thread that computes keeps the interpreter for a whole turn whenever the window's thread calls into Qt, and
    painting a table is hundreds of such calls: with Python's turn of 5 ms that adds up. A full round of garbage
    collection stops every thread, for 0.2 to 0.4 s once big libraries are loaded: most of what it looks at is what
    they left behind, which is never garbage. Young garbage is collected as ever.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._modules = 0
        self._last_round = clock()

    def begin(self) -> None:
        """From now on: short turns, no full rounds but those of `tidy`."""
        sys.setswitchinterval(TURN_S)
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, NEVER)
        self.settle()

    def settle(self) -> None:
        """Set aside what newly loaded libraries made; to be called now and then, it takes microseconds."""
        if len(sys.modules) >= self._modules + MANY_MODULES:
            self._modules = len(sys.modules)
            gc.freeze()

    def tidy(self, *, looked_at: bool) -> bool:
        """A full round if nobody looks, or if the last one was ten minutes ago; whether there was one."""
        if looked_at and self._clock() - self._last_round < LONG_S:
            return False
        gc.collect()
        self._last_round = self._clock()
        return True
