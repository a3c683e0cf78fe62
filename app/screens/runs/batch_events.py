"""Changes that events make to the runs screen, and the order in which waiting batches start."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from app.screens.runs.labels import format_wait
from app.screens.runs.run_table import UpdatedRows
from mcp_tef import Batch, BatchEnded, BatchId, BatchQueued, BatchStarted, BatchStatus, RunId, RunSummary

UNCHANGED: Final = UpdatedRows()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenChanges:
    """Parts of the screen that a group of events made out of date."""

    cards: frozenset[BatchId] = frozenset()
    new_batches: bool = False
    summary: bool = False
    mended: UpdatedRows = UNCHANGED
    reload: bool = False
    detail: bool = False
    cases: bool = False
    batches: bool = False
    judged: frozenset[BatchId] = frozenset()
    judging: bool = False
    ended: tuple[BatchEnded, ...] = ()


@dataclass(slots=True)
class CollectedChanges:
    """Changes collected from the events handled so far."""

    cards: set[BatchId] = field(default_factory=set)
    fresh: bool = False
    reload: bool = False
    cases: bool = False
    batches: bool = False
    runs: dict[RunId, RunSummary] = field(default_factory=dict)
    touched: dict[RunId, RunSummary] = field(default_factory=dict)
    judged: set[BatchId] = field(default_factory=set)
    judging: bool = False
    ended: list[BatchEnded] = field(default_factory=list)


class BatchQueue:
    """Hears who waits; the next one is the first of `waiting`."""

    def __init__(self) -> None:
        self.waiting: dict[BatchId, float | None] = {}

    def set_waiting(self, waiting: Sequence[BatchId]) -> None:
        """These wait, in this order, whether or not it was heard when they came."""
        self.waiting = {batch_id: self.waiting.get(batch_id) for batch_id in waiting}

    def handle(self, event: BatchQueued | BatchStarted | BatchEnded) -> None:
        """A batch came, or waits no longer."""
        self.waiting.pop(event.batch.id, None)
        if isinstance(event, BatchQueued):
            self.waiting[event.batch.id] = event.seconds

    def position_text(self, batch_id: BatchId) -> str:
        """`waiting, next` or `waiting, 2 before it`; empty where it does not wait."""
        if batch_id not in self.waiting:
            return ""
        before = list(self.waiting).index(batch_id)
        return f"waiting, {before + 1} before it" if before else "waiting, next"

    def text(self, batch_id: BatchId, going: Sequence[Batch], seconds_left: Sequence[float | None]) -> str:
        """The place, and what is known of when the turn comes, from how long those under way still take."""
        place = self.position_text(batch_id)
        parts = [place, self._start_text(batch_id, going, seconds_left)] if place else []
        return ", ".join(part for part in parts if part)

    def _start_text(self, batch_id: BatchId, going: Sequence[Batch], seconds_left: Sequence[float | None]) -> str:
        if paused := next((one for one in going if one.status is BatchStatus.PAUSED), None):
            return f"until {paused.name or 'the paused batch'} goes on"
        seconds = self._seconds_until_start(batch_id, seconds_left)
        return f"starts in about {format_wait(seconds)}" if seconds is not None else ""

    def _seconds_until_start(self, batch_id: BatchId, seconds_left: Sequence[float | None]) -> float | None:
        before = list(self.waiting.values())[: list(self.waiting).index(batch_id)]
        known = [seconds for seconds in (*seconds_left, *before) if seconds is not None]
        if not seconds_left or len(known) < len(seconds_left) + len(before):
            return None
        return max(known[: len(seconds_left)]) + sum(known[len(seconds_left) :])
