"""What the runs screen knows and does, without a window: batches, the runs of one, and what happens to them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from app.screens.runs.batches import BatchCard, Summary, card, is_live, is_ranked, recall_words, summary
from app.screens.runs.filtering import without_filters
from app.screens.runs.found import TALLY_ORDER, Found, found_summary
from app.screens.runs.table import NONE_OUTDATED, PAGE, Filled, Mended, Outdated, RunTable
from mcp_tef import (
    Batch,
    BatchEnded,
    BatchId,
    BatchProgressed,
    BatchStarted,
    BatchStatus,
    CasesTouched,
    DefinitionChange,
    Event,
    NotFoundError,
    RejudgeReport,
    RunDetail,
    RunEnded,
    RunFilter,
    RunId,
    RunsRejudged,
    RunStarted,
    RunStatus,
    RunsTouched,
    RunSummary,
    Secret,
    TestCase,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
UNCHANGED: Final = Mended()


class Ask(Protocol):
    """Runs a piece of work on the core and gives its result; errors of the core pass through."""

    def __call__(self, work: Callable[["Engine"], Awaitable[T]], /) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a handful of events did: which parts of the screen no longer show what is known."""

    cards: frozenset[BatchId] = frozenset()
    new_batches: bool = False
    summary: bool = False
    mended: Mended = UNCHANGED
    reload: bool = False
    detail: bool = False
    cases: bool = False
    judged: frozenset[BatchId] = frozenset()
    judging: bool = False
    ended: tuple[BatchEnded, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    runs: Sequence[RunSummary]
    outdated: Outdated


@dataclass(slots=True)
class _Gathered:
    cards: set[BatchId] = field(default_factory=set)
    fresh: bool = False
    reload: bool = False
    cases: bool = False
    runs: dict[RunId, RunSummary] = field(default_factory=dict)
    touched: dict[RunId, RunSummary] = field(default_factory=dict)
    judged: set[BatchId] = field(default_factory=set)
    judging: bool = False
    ended: list[BatchEnded] = field(default_factory=list)


class RunsPresenter:
    """The state of the screen. Everything that is asked of the core goes through `ask`."""

    def __init__(self, ask: Ask, now: Callable[[], datetime]) -> None:
        self._ask = ask
        self.now = now
        self.table = RunTable()
        self.cases: tuple[TestCase, ...] = ()
        self.current: BatchId | None = None
        self.run: RunId | None = None
        self.found: Found | None = None
        self.paused: set[BatchId] = set()
        self._batches: dict[BatchId, Batch] = {}
        self._progress: dict[BatchId, BatchProgressed] = {}
        self._recall: dict[BatchId, str] = {}
        self.judging: RunsRejudged | None = None
        self._reading = 0
        self._told: dict[RunId, RunSummary] = {}

    async def load(self) -> None:
        """Read batches and cases; the batch shown stays if it is still there, else the newest is shown."""
        self.cases = await self._ask(lambda core: core.cases.list())
        batches = await self._ask(lambda core: core.runs.batches())
        self._batches = {batch.id: batch for batch in batches}
        if self.current not in self._batches and self.found is None:
            self.current = next(iter(self._batches), None)
        if self.found is not None and not self.found.counts:
            await self.show_found(self.found)
        else:
            await self.show(self.current, replace(self.table.where, batch_id=self.current))

    async def load_cases(self) -> None:
        """Read the cases again."""
        self.cases = await self._ask(lambda core: core.cases.list())

    async def show(self, batch_id: BatchId | None, where: RunFilter) -> None:
        """Show the runs of a batch, or those found, that pass a filter; the first page is there when this returns."""
        if batch_id is not None and self.found is not None:
            self.found, where = None, RunFilter()
        self.current, found = batch_id, self.found
        where = replace(where, batch_id=batch_id)
        if batch_id is None and found is None:
            self.table.reset(where, 0)
            return
        total = await self._ask(lambda core: core.runs.count(where))
        read = await self._read(where, 0)
        if self.current == batch_id and self.found is found:
            self.table.reset(where, total)
            self.table.put(0, read.runs, read.outdated)
            self.found = replace(found, total=total) if found else None

    async def show_found(self, found: Found) -> None:
        """Show runs of all batches that another screen asked for, with their outcomes counted."""
        self.found, self.current, self.run = found, None, None
        self.table.reset(found.where, 0)
        wheres = [replace(found.where, classifications=(item,)) for item in TALLY_ORDER]
        counts = [await self._ask(partial(_counted, where=where)) for where in wheres]
        if self.found is found:
            self.found = replace(found, counts=tuple(counts))
            await self.show(None, found.where)

    async def fetch(self, page: int) -> Filled | None:
        """Fetch a page of the table; what it filled, or None where another filter came between."""
        where = self.table.where
        try:
            read = await self._read(where, page)
        finally:
            self.table.fetched(page)
        return self.table.put(page, read.runs, read.outdated) if self.table.where == where else None

    async def _read(self, where: RunFilter, page: int) -> _Read:
        """A page as it is now: what events told while it was being read is newer than what was read."""
        self._reading += 1
        try:
            runs = await self._ask(lambda core: core.runs.list(where, limit=PAGE, offset=page * PAGE))
            ended = [run.id for run in runs if run.status is RunStatus.COMPLETED]
            outdated = await self._ask(lambda core: core.drift.outdated(ended)) if ended else NONE_OUTDATED
            return _Read([self._told.get(run.id, run) for run in runs], outdated)
        finally:
            self._reading -= 1
            if not self._reading:
                self._told.clear()

    async def detail(self, run_id: RunId) -> RunDetail | None:
        """Everything of one run; None where it is gone."""
        try:
            return await self._ask(lambda core: core.runs.detail(run_id))
        except NotFoundError:
            return None

    async def since(self, run: RunDetail) -> Mapping[str, DefinitionChange]:
        """What became of the tools that a run was offered."""
        return await self._ask(lambda core: core.drift.since_run(run))

    def follow(self, batch: Batch) -> None:
        """Know a batch that was just started, before its first event comes."""
        if batch.id not in self._batches:
            self._batches = {batch.id: batch, **self._batches}

    def batches(self) -> tuple[Batch, ...]:
        """Every batch, newest first."""
        return tuple(self._batches.values())

    def batch(self, batch_id: BatchId | None) -> Batch | None:
        """One batch as it was last heard of; a paused one says so."""
        batch = self._batches.get(batch_id) if batch_id else None
        if batch is not None and batch.id in self.paused and batch.status is BatchStatus.RUNNING:
            return replace(batch, status=BatchStatus.PAUSED)
        return batch

    def cards(self) -> tuple[BatchCard, ...]:
        """The rail."""
        return tuple(self.card(batch_id) for batch_id in self._batches)

    def card(self, batch_id: BatchId) -> BatchCard:
        """One card of the rail."""
        return card(self.batch(batch_id) or self._batches[batch_id], self.now())

    def summary(self) -> Summary | None:
        """The figure of the batch shown."""
        batch = self.batch(self.current)
        if batch is None and self.found is not None:
            return found_summary(self.found)
        return summary(batch, self._recall.get(batch.id, "")) if batch else None

    def unfiltered(self) -> RunFilter:
        """What is shown where no filter is ticked: all runs of the batch, or all that were found."""
        return self.found.where if self.found else without_filters(self.table.where)

    async def load_recall(self) -> bool:
        """What the ranking of a finished baseline adds to its figure; whether there is something new to show."""
        batch = self.batch(self.current)
        if batch is None or is_live(batch) or batch.id in self._recall or not is_ranked(batch):
            return False
        metrics = await self._ask(lambda core: core.metrics.summary(RunFilter(batch_id=batch.id)))
        self._recall[batch.id] = recall_words(metrics.recall_at)
        return True

    def live(self) -> Batch | None:
        """The newest batch that still runs."""
        return next((batch for item in self._batches if (batch := self.batch(item)) and is_live(batch)), None)

    def progress(self, batch_id: BatchId) -> BatchProgressed | None:
        """How far a batch is, as last heard."""
        return self._progress.get(batch_id)

    def handle(self, events: Iterable[Event]) -> Changes:
        """Take in a handful of events at once."""
        gathered = _Gathered()
        for event in events:
            self._take(event, gathered)
        if self._reading:
            self._told.update(gathered.runs | gathered.touched)
        known = [run for run in gathered.touched.values() if self.table.place(run.id) is not None]
        mended = self.table.mend((*gathered.runs.values(), *known))
        return Changes(
            cards=frozenset(gathered.cards),
            new_batches=gathered.fresh,
            summary=self.current in gathered.cards,
            mended=mended,
            reload=gathered.reload,
            detail=self.run in gathered.runs or self.run in gathered.touched,
            cases=gathered.cases,
            judged=frozenset(gathered.judged),
            judging=gathered.judging,
            ended=tuple(gathered.ended),
        )

    def _take(self, event: Event, gathered: _Gathered) -> None:
        match event:
            case RunStarted(run) | RunEnded(run):
                if run.batch_id == self.current:
                    gathered.runs[run.id] = run
            case BatchStarted(batch):
                gathered.fresh |= batch.id not in self._batches
                known = self._batches.get(batch.id)
                gathered.reload |= batch.id == self.current and known is not None and not is_live(known)
                self._keep(batch, gathered)
            case BatchProgressed():
                self._progress[event.batch.id] = event
                self._keep(event.batch, gathered)
            case BatchEnded(batch):
                self.paused.discard(batch.id)
                self._progress.pop(batch.id, None)
                self._recall.pop(batch.id, None)
                self._keep(batch, gathered)
                gathered.reload |= batch.id == self.current and self._sorted_or_filtered()
                gathered.ended.append(event)
            case CasesTouched():
                gathered.cases = True
            case RunsRejudged(done, total):
                self.judging = event if done < total else None
                gathered.judging = True
            case RunsTouched():
                self._judged_again(event, gathered)

    def _judged_again(self, event: RunsTouched, gathered: _Gathered) -> None:
        gathered.judged.update(event.batches)
        gathered.touched.update((run.id, run) for run in event.runs if run.batch_id == self.current)
        gathered.reload |= bool(gathered.touched) and self._sorted_or_filtered()
        for batch_id in event.batches:
            self._recall.pop(batch_id, None)

    def _keep(self, batch: Batch, gathered: _Gathered) -> None:
        self.follow(batch)
        self._batches[batch.id] = batch
        gathered.cards.add(batch.id)

    def _sorted_or_filtered(self) -> bool:
        return self.table.where != RunFilter(batch_id=self.table.where.batch_id)

    async def pause(self, batch_id: BatchId) -> None:
        """Start no further run of a batch for now."""
        await self._ask(lambda core: _now(lambda: core.runs.pause(batch_id)))
        self.paused.add(batch_id)

    async def proceed(self, batch_id: BatchId) -> None:
        """Go on after a pause."""
        await self._ask(lambda core: _now(lambda: core.runs.proceed(batch_id)))
        self.paused.discard(batch_id)

    async def cancel(self, batch_id: BatchId) -> None:
        """Stop a batch; what is finished stays."""
        await self._ask(lambda core: core.runs.cancel(batch_id))

    async def resume(self, batch_id: BatchId, keys: Mapping[str, Secret] | None = None) -> Batch:
        """Run what was cut off: waiting, cancelled and interrupted runs."""
        return await self._ask(lambda core: core.runs.resume(batch_id, keys))

    async def retry(self, batch_id: BatchId, keys: Mapping[str, Secret] | None = None) -> Batch:
        """Run the failed ones of a batch again."""
        return await self._ask(lambda core: core.runs.retry_failed(batch_id, keys))

    async def rejudge(self, ids: Sequence[RunId], batch_id: BatchId | None) -> RejudgeReport:
        """Judge runs, or those of a batch, by what their cases expect now."""
        try:
            return await self._ask(lambda core: core.runs.rejudge(ids, batch_id=batch_id))
        finally:
            self.judging = None

    async def recount(self, ids: Iterable[BatchId]) -> None:
        """Read the counts of batches whose runs were judged again."""
        for batch_id in ids:
            with suppress(NotFoundError):
                self._batches[batch_id] = await self._ask(partial(_batch, batch_id))

    async def remove(self, ids: Sequence[BatchId]) -> None:
        """Delete batches for good, then show what is left."""
        await self._ask(lambda core: core.runs.remove_batches(ids))
        await self.load()


async def _counted(core: "Engine", *, where: RunFilter) -> int:
    return await core.runs.count(where)


async def _now(act: Callable[[], T]) -> T:
    return act()


async def _batch(batch_id: BatchId, core: "Engine") -> Batch:
    return await core.runs.batch(batch_id)
