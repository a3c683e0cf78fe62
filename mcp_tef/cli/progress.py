"""Progress of batches, judgings and downloads, as a bar on a terminal and as lines elsewhere."""

import time
from collections.abc import Callable

from mcp_tef import BatchEnded, BatchProgressed, BatchStatus, Event, RejudgeProgressed, priced_text
from mcp_tef.cli.terminal import Terminal

BAR_WIDTH = 24
BETWEEN_DRAWINGS_S, BETWEEN_LINES_S = 0.1, 10.0
CLEAR = "\r\x1b[K"


class Progress:
    """Hears how far a batch or a judging is; says nothing of a batch cut off."""

    def __init__(self, terminal: Terminal, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._drawn = False
        self._last = 0.0 if terminal.live else clock()

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
        """Redraw the line on a screen; elsewhere write one now and then, so that a build log shows that it goes on."""
        if self._clock() - self._last < (BETWEEN_DRAWINGS_S if self._terminal.live else BETWEEN_LINES_S):
            return
        self._last = self._clock()
        if not self._terminal.live:
            self._terminal.note(line.lstrip("█░ "))
            return
        self._drawn = True
        self._terminal.errors.write(CLEAR + line)
        self._terminal.errors.flush()

    def _clear(self) -> None:
        if self._drawn:
            self._terminal.errors.write(CLEAR)
            self._terminal.errors.flush()


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
