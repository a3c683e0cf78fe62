"""Progress of batches, judgings and downloads, as a bar on a terminal and as lines elsewhere."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from mcp_tef import Batch, BatchEnded, BatchProgressed, BatchStarted, BatchStatus, Event, RejudgeProgressed, priced_text
from mcp_tef.cli.terminal import Terminal

BAR_WIDTH = 24
BETWEEN_DRAWINGS_S, BETWEEN_LINES_S = 0.1, 10.0
CLEAR = "\r\x1b[K"


class Cancellable(Protocol):
    """A call that is still to come."""

    def cancel(self) -> None:
        """Take it back."""


def call_later(seconds: float, call: Callable[[], None]) -> Cancellable:
    """Call something on the running loop after a while."""
    return asyncio.get_running_loop().call_later(seconds, call)


class Progress:
    """Shows how far a batch or a judging is: a bar on a terminal, elsewhere a plain line every 10 s, news or not.

    With --quiet it shows neither, only the reason of an early end. To be used on the loop; `clock` and `later` stand in
    for the monotonic clock in seconds and for a timer.
    """

    def __init__(
        self,
        terminal: Terminal,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], None]], Cancellable] = call_later,
    ) -> None:
        self._terminal = terminal
        self._clock = clock
        self._later = later
        self._drawn = float("-inf")
        self._line = ""
        self._timer: Cancellable | None = None

    def hear(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case BatchStarted(batch):
                self._show(_first_line(batch))
            case BatchProgressed():
                self._show(progress_line(event))
            case RejudgeProgressed(done, total):
                self._show(bar(done, total))
                if done >= total:
                    self.end()
            case BatchEnded(batch, reason):
                self.end()
                if reason and batch.status is not BatchStatus.INTERRUPTED:
                    self._terminal.note(reason)

    def heard(self, share: float) -> None:
        """Take in how much of one thing is done, 0–1."""
        self._show(bar(round(share * 100), 100))
        if share >= 1:
            self.end()

    def end(self) -> None:
        """Take the bar away, and write no further lines."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._line and self._terminal.live:
            self._terminal.draw(CLEAR)
        self._line = ""

    def _show(self, line: str) -> None:
        if self._terminal.quiet:
            return
        self._line = line
        if not self._terminal.live:
            self._timer = self._timer or self._later(BETWEEN_LINES_S, self._tell)
        elif self._clock() - self._drawn >= BETWEEN_DRAWINGS_S:
            self._drawn = self._clock()
            self._terminal.draw(CLEAR + line)

    def _tell(self) -> None:
        """Write the line even if nothing has changed, since build servers end what is silent for long."""
        self._timer = self._later(BETWEEN_LINES_S, self._tell)
        self._terminal.note(self._line.lstrip("█░ "))


def _first_line(batch: Batch) -> str:
    """Return a bar; words for a trial, which plans its runs round by round, so that none is known yet."""
    known = bar(batch.total - batch.count("pending"), batch.total)
    return known if batch.total else "Waiting for the first answer"


def progress_line(event: BatchProgressed) -> str:
    """Return a bar with counts, time left and cost: `████░░░░ 12/24 · about 0:09 left · $0.01`."""
    parts = [bar(event.done, event.batch.total)]
    if event.batch.count("failed"):
        parts.append(f"{event.batch.count('failed')} failed")
    if event.seconds_left is not None:
        minutes, seconds = divmod(round(event.seconds_left), 60)
        parts.append(f"about {minutes}:{seconds:02} left")
    if event.cost_usd:
        parts.append(priced_text(f"${event.cost_usd:.4f}", event.batch.priced, event.batch.unpriced))
    return " · ".join(parts)


def bar(done: int, total: int) -> str:
    """`████░░░░ 12/24`."""
    filled = BAR_WIDTH * done // max(total, 1)
    return "█" * filled + "░" * (BAR_WIDTH - filled) + f" {done}/{total}"
