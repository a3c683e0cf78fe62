"""Signals that end a command in order: the work is cancelled, what is under way is stored, and no child is left."""

import asyncio
import contextlib
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from types import FrameType
from typing import Any, TypeVar

from mcp_tef import TefError

T = TypeVar("T")
EXIT_CODES = {"SIGHUP": 129, "SIGINT": 130, "SIGTERM": 143, "SIGBREAK": 130}
# `timeout` and closing terminals send the same signal twice at once: to the process and to its group.
REPEATED_AFTER_S = 0.5
_STANDARD_STREAMS = (1, 2)


class InterruptedBySignalError(KeyboardInterrupt):
    """Raised where a signal ends what is not a task: start-up, a question, a verb without a loop."""


class Interruption:
    """The first signal cancels the command; the same signal again kills child processes and ends this one at once."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self.hint = "What had finished is kept."
        self._first_at: dict[int, float] = {}
        self._cancel: Callable[[], object] | None = None
        self._kill_children: Callable[[], None] = lambda: None

    @property
    def exit_code(self) -> int | None:
        """The exit code by convention, 128 and the number of the signal; None where no signal came."""
        return EXIT_CODES[self.signal.name] if self.signal else None

    @property
    def error(self) -> TefError:
        """The end of the command as an error, for people and for programs."""
        by = f" by {self.signal.name}" if self.signal else ""
        return TefError(f"Interrupted{by}.", hint=self.hint, code="interrupted")

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        """Handle signals until the command has ended; those that were ignored before stay so, as `nohup` wants."""
        before = {}
        if threading.current_thread() is threading.main_thread():
            numbers = [getattr(signal, name) for name in EXIT_CODES if _can_arrive(name)]
            before = {number: signal.signal(number, self._receive) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def run(self, work: Coroutine[Any, Any, int]) -> int:
        """Run the command on a loop of its own; InterruptedBySignalError where a signal cancelled it."""
        from mcp_tef import kill_process_groups

        self._kill_children = kill_process_groups
        try:
            return asyncio.run(self._attached(work))
        except asyncio.CancelledError:
            raise InterruptedBySignalError from None
        finally:
            self._cancel = None

    async def _attached(self, work: Coroutine[Any, Any, int]) -> int:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        return await work

    @contextlib.contextmanager
    def raised_at_once(self) -> Iterator[None]:
        """Have a signal end what blocks the loop, such as a question at the terminal."""
        cancel, self._cancel = self._cancel, None
        try:
            yield
        finally:
            self._cancel = cancel

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        first = self._first_at.setdefault(number, now)
        if now - first > REPEATED_AFTER_S:
            self._kill_children()
            os._exit(EXIT_CODES[signal.Signals(number).name])
        if self.signal is not None:
            return
        self.signal = signal.Signals(number)
        if self.signal.name == "SIGHUP":
            _leave_closed_terminal()
        if self._cancel is None:
            raise InterruptedBySignalError
        self._cancel()


async def to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Await work to its end; a cancellation meanwhile is raised after it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _can_arrive(name: str) -> bool:
    """Return whether this system sends the signal to commands, and the caller did not have it ignored."""
    if not hasattr(signal, name) or (sys.platform == "win32" and name == "SIGTERM"):
        return False
    return signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN


def _leave_closed_terminal() -> None:
    """Send to nowhere what would be written to a terminal that was closed; writing there is an error."""
    for stream in _STANDARD_STREAMS:
        with contextlib.suppress(OSError):
            if stat.S_ISCHR(os.fstat(stream).st_mode) and not os.isatty(stream):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
