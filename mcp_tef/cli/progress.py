"""Progress as one line on stderr, drawn over itself, where stderr is a screen."""

import time

from mcp_tef import BatchEnded, BatchProgressed, BatchStatus, Event, RejudgeProgressed
from mcp_tef.cli.terminal import Terminal

WIDTH = 24
CLEAR = "\r\x1b[K"


class Progress:
    """Hears how far a batch or a judging is; draws nothing where nobody looks, and says nothing of a batch cut off."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._drawn = False
        self._last = 0.0

    def hear(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case BatchProgressed():
                self._draw(progress_line(event))
            case RejudgeProgressed(done, total):
                self._draw(bar(done, total))
                if done >= total:
                    self._clear()
            case BatchEnded(batch, reason):
                self._clear()
                if reason and batch.status is not BatchStatus.INTERRUPTED:
                    self._terminal.note(reason)

    def heard(self, share: float) -> None:
        """Take in how much of one thing is done, 0–1."""
        self._draw(bar(round(share * 100), 100))
        if share >= 1:
            self._clear()

    def _draw(self, line: str) -> None:
        if not self._terminal.live or time.monotonic() - self._last < 0.1:
            return
        self._last = time.monotonic()
        self._drawn = True
        self._terminal.errors.write(CLEAR + line)
        self._terminal.errors.flush()

    def _clear(self) -> None:
        if self._drawn:
            self._terminal.errors.write(CLEAR)
            self._terminal.errors.flush()


def progress_line(event: BatchProgressed) -> str:
    """A bar with counts, time left and cost: `████░░░░ 12/24 · about 0:09 left · $0.01`."""
    parts = [bar(event.done, event.batch.total)]
    if event.batch.count("failed"):
        parts.append(f"{event.batch.count('failed')} failed")
    if event.seconds_left is not None:
        minutes, seconds = divmod(round(event.seconds_left), 60)
        parts.append(f"about {minutes}:{seconds:02} left")
    if event.cost_usd:
        parts.append(f"${event.cost_usd:.4f}")
    return " · ".join(parts)


def bar(done: int, total: int) -> str:
    """`████░░░░ 12/24`."""
    filled = WIDTH * done // max(total, 1)
    return "█" * filled + "░" * (WIDTH - filled) + f" {done}/{total}"
