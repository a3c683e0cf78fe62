"""Batches as of their last events, the queue in which they start, and the changes that events make to the screen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Final

from app.screens.runs.batch_summaries import is_live
from app.screens.runs.labels import format_wait
from app.screens.runs.run_table import UpdatedRows
from mcp_tef import (
    Batch,
    BatchEnded,
    BatchId,
    BatchProgressed,
    BatchQueued,
    BatchStarted,
    BatchStatus,
    RunId,
    RunSummary,
    repeat_text,
)

UNCHANGED: Final = UpdatedRows()


@dataclass(slots=True)
class ScreenChanges:
    """Parts of the screen that events changed since they were shown last.

    Attributes:
        cards: batches whose card changed.
        runs: started and ended runs of the batch shown.
        rejudged: rejudged runs of the batch shown.
        judged: batches with rejudged runs.
        rows: rows of the table that were updated.
        reload: True if order or filter of the runs shown no longer hold.
    """

    cards: set[BatchId] = field(default_factory=set)
    new_batches: bool = False
    ended: list[BatchEnded] = field(default_factory=list)
    runs: dict[RunId, RunSummary] = field(default_factory=dict)
    rejudged: dict[RunId, RunSummary] = field(default_factory=dict)
    judged: set[BatchId] = field(default_factory=set)
    judging: bool = False
    rows: UpdatedRows = UNCHANGED
    reload: bool = False
    summary: bool = False
    detail: bool = False
    cases: bool = False
    batches: bool = False


class BatchQueue:
    """Batches that wait, in the order in which they start, with the seconds that each may take."""

    def __init__(self) -> None:
        self.waiting: dict[BatchId, float | None] = {}

    def set_waiting(self, waiting: Sequence[BatchId]) -> None:
        """Set the waiting batches; the known durations stay."""
        self.waiting = {batch_id: self.waiting.get(batch_id) for batch_id in waiting}

    def handle(self, event: BatchQueued | BatchStarted | BatchEnded) -> None:
        """Add or remove the batch of an event."""
        self.waiting.pop(event.batch.id, None)
        if isinstance(event, BatchQueued):
            self.waiting[event.batch.id] = event.seconds

    def position_text(self, batch_id: BatchId) -> str:
        """Return `waiting, next` or `waiting, 2 before it`; empty if the batch does not wait."""
        if batch_id not in self.waiting:
            return ""
        before = list(self.waiting).index(batch_id)
        return f"waiting, {before + 1} ahead" if before else "waiting, next"

    def text(self, batch_id: BatchId, running: Sequence[Batch], seconds_left: Sequence[float | None]) -> str:
        """Return the position and, if known, the start time, given the seconds that running batches still take."""
        place = self.position_text(batch_id)
        parts = [place, self._start_text(batch_id, running, seconds_left)] if place else []
        return ", ".join(part for part in parts if part)

    def _start_text(self, batch_id: BatchId, running: Sequence[Batch], seconds_left: Sequence[float | None]) -> str:
        if paused := next((one for one in running if one.status is BatchStatus.PAUSED), None):
            return f"until {paused.name or 'the paused batch'} continues"
        seconds = self._seconds_until_start(batch_id, seconds_left)
        return f"starts in about {format_wait(seconds)}" if seconds is not None else ""

    def _seconds_until_start(self, batch_id: BatchId, seconds_left: Sequence[float | None]) -> float | None:
        before = list(self.waiting.values())[: list(self.waiting).index(batch_id)]
        known = [seconds for seconds in (*seconds_left, *before) if seconds is not None]
        if not seconds_left or len(known) < len(seconds_left) + len(before):
            return None
        return max(known[: len(seconds_left)]) + sum(known[len(seconds_left) :])


BatchEvent = BatchQueued | BatchStarted | BatchProgressed | BatchEnded


class KnownBatches:
    """Batches of the workspace, newest first, as of their last events.

    An answer of the core may have been read before an event that arrived first. `taken` counts the events; a
    reader notes it before asking, and passes it on as `since`, so that the events taken meanwhile win.
    """

    def __init__(self) -> None:
        self.queue = BatchQueue()
        self.taken = 0
        self._latest: dict[BatchId, tuple[int, BatchEvent]] = {}
        self._batches: dict[BatchId, Batch] = {}
        self._progress: dict[BatchId, BatchProgressed] = {}
        self._paused: set[BatchId] = set()

    def reset(self, batches: Iterable[Batch], waiting: Sequence[BatchId], since: int) -> None:
        """Replace all batches, and the order of those that wait, and take the events after `since` again."""
        self._batches = {batch.id: batch for batch in batches}
        self.queue.set_waiting(waiting)
        for _, event in sorted(((n, event) for n, event in self._latest.values() if n > since), key=itemgetter(0)):
            self.take(event)

    def add(self, batch: Batch, since: int | None = None) -> None:
        """Add a new batch as the newest, or update a known one that no event after `since` told of."""
        if since is not None and self._latest.get(batch.id, (0,))[0] > since:
            return
        if batch.id in self._batches:
            self._batches[batch.id] = batch
        else:
            self._batches = {batch.id: batch, **self._batches}

    def take(self, event: BatchEvent) -> None:
        """Update the batch of an event."""
        batch = event.batch
        self.taken += 1
        self._latest[batch.id] = (self.taken, event)
        self.add(batch)
        if isinstance(event, BatchProgressed):
            self.queue.waiting.pop(batch.id, None)
            self._progress[batch.id] = event
            return
        self.queue.handle(event)
        if isinstance(event, BatchEnded):
            self._paused.discard(batch.id)
            self._progress.pop(batch.id, None)

    def set_paused(self, batch_id: BatchId, *, paused: bool) -> None:
        """Mark a running batch as paused or not."""
        (self._paused.add if paused else self._paused.discard)(batch_id)

    def all(self) -> tuple[Batch, ...]:
        """Return all batches, newest first."""
        return tuple(filter(None, map(self.get, self._batches)))

    def get(self, batch_id: BatchId | None) -> Batch | None:
        """Return a batch; None if there is no such batch."""
        batch = self._batches.get(batch_id) if batch_id else None
        if batch is not None and batch.id in self._paused and batch.status is BatchStatus.RUNNING:
            return replace(batch, status=BatchStatus.PAUSED)
        return batch

    def repeat_text(self, run: RunSummary) -> str:
        """Return the repeat that a run is, such as "repeat 2", or "30 other tools, repeat 2" of a crowd test."""
        batch = self._batches.get(run.batch_id) if run.batch_id else None
        return repeat_text(run, batch.trial if batch else None)

    def newest(self) -> Batch | None:
        """Return the newest batch."""
        return next(iter(self.all()), None)

    def active(self) -> tuple[Batch, ...]:
        """Return the batches that run or wait here, newest first; those of other processes cannot be steered."""
        return tuple(batch for batch in self.all() if is_live(batch) and not batch.elsewhere)

    def newest_active(self) -> Batch | None:
        """Return the newest batch that runs, else the newest that waits."""
        return next(iter((*self._running(), *self.active())), None)

    def in_start_order(self) -> tuple[Batch, ...]:
        """Return the batches that run, oldest first, then those that wait, in their order."""
        places = {batch_id: place for place, batch_id in enumerate(self.queue.waiting)}
        oldest_first = self.active()[::-1]
        return tuple(sorted(oldest_first, key=lambda batch: places.get(batch.id, -1)))

    def progress(self, batch_id: BatchId) -> BatchProgressed | None:
        """Return the latest progress of a batch."""
        return self._progress.get(batch_id)

    def queue_text(self, batch_id: BatchId) -> str:
        """Return a batch's position in the queue and its start time; empty if it does not wait."""
        running = self._running()
        known = [self.progress(batch.id) for batch in running]
        return self.queue.text(batch_id, running, [one.seconds_left if one else None for one in known])

    def _running(self) -> list[Batch]:
        return [batch for batch in self.active() if batch.status is not BatchStatus.WAITING]
