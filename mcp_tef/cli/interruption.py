"""The end of a command by a signal: its work is cancelled, what finished is stored, and no child is left."""

import asyncio
import os
import select
import signal
import socket
import stat
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, TypeVar

from mcp_tef import EndingSignals, TefError

T = TypeVar("T")
_STANDARD_STREAMS = (1, 2)


class InterruptedBySignalError(KeyboardInterrupt):
    """Raised where a signal ends what is not a task: start-up, a question, a verb without a loop."""


class Interruption:
    """The first signal cancels the command; the same signal again kills child processes and ends this one at once."""

    def __init__(self) -> None:
        self.hint = "What had finished is kept."
        self._signals = EndingSignals(self._interrupt, self._kill)
        self._cancel: Callable[[], object] | None = None
        self._kill_children: Callable[[], None] = lambda: None

    @property
    def exit_code(self) -> int | None:
        """The exit code that the signal means; None where no signal came."""
        return self._signals.exit_code

    @property
    def error(self) -> TefError:
        """The end of the command as an error, for people and for programs."""
        by = f" by {self._signals.received.name}" if self._signals.received else ""
        return TefError(f"Interrupted{by}.", hint=self.hint, code="interrupted")

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle signals until the command has ended."""
        with self._signals.handled():
            yield

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the command on a loop of its own; InterruptedBySignalError where a signal cancelled it."""
        from mcp_tef import kill_process_groups

        self._kill_children = kill_process_groups
        try:
            return asyncio.run(self._attached(work))
        except asyncio.CancelledError:
            raise InterruptedBySignalError from None
        finally:
            self._cancel = None

    async def _attached(self, work: Coroutine[Any, Any, T]) -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        return await work

    @contextmanager
    def raised_at_once(self) -> Iterator[None]:
        """Have a signal end what blocks the loop, such as a question at the terminal; after one, nothing is asked."""
        cancel, self._cancel = self._cancel, None  # before the check, or a signal between the two would be lost
        try:
            if self._signals.received is not None:
                raise InterruptedBySignalError
            yield
        finally:
            self._cancel = cancel

    @staticmethod
    def await_line(terminal: TextIO) -> None:
        """Wait until a terminal has a line to read, so that `raised_at_once` ends the wait at any moment.

        A signal between Python's last look for one and the system's call to read would be noticed after that call only.
        """
        if sys.platform == "win32" or not _has_descriptor(terminal):
            return
        receiver, sender = socket.socketpair()
        with receiver, sender:
            sender.setblocking(False)
            before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
            try:
                select.select([terminal.fileno(), receiver.fileno()], [], [])
            finally:
                signal.set_wakeup_fd(before)

    def _interrupt(self) -> None:
        if self._signals.received is not None and self._signals.received.name == "SIGHUP":
            _leave_closed_terminal()
        if self._cancel is None:
            raise InterruptedBySignalError
        self._cancel()

    def _kill(self) -> None:
        self._kill_children()


async def to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Await work to its end; a cancellation meanwhile is raised after it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _has_descriptor(stream: TextIO) -> bool:
    with suppress(OSError, ValueError):
        return stream.fileno() >= 0
    return False


def _leave_closed_terminal() -> None:
    """Send to nowhere what would be written to a terminal that was closed; writing there is an error."""
    for stream in _STANDARD_STREAMS:
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(stream).st_mode) and not os.isatty(stream):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
