"""State of the runs screen, without a window: batches, the runs of one, and actions on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from app.core_link.model_requests import Ask
from app.screens.runs.batch_events import BatchQueue, CollectedChanges, ScreenChanges
from app.screens.runs.batch_summaries import (
    BatchCard,
    CrossBatchRuns,
    RunsSummary,
    batch_card,
    batch_summary,
    count_outcomes,
    cross_batch_summary,
    is_live,
    is_ranked,
    recall_text,
)
from app.screens.runs.filters import BatchListState, without_filters
from app.screens.runs.run_table import (
    NO_CHANGED_TOOLS,
    PAGE_SIZE,
    ChangedTools,
    LoadedPage,
    RunTable,
    RunTableRow,
    run_row,
)
from mcp_tef import (
    Batch,
    BatchEnded,
    BatchesChanged,
    BatchId,
    BatchProgressed,
    BatchQueued,
    BatchStarted,
    BatchStatus,
    CasesChanged,
    DefinitionChange,
    Event,
    NotFoundError,
    RejudgeProgressed,
    RejudgeReport,
    RunDetail,
    RunEnded,
    RunFilter,
    RunId,
    RunsChanged,
    RunStarted,
    RunStatus,
    RunSummary,
    Secret,
    TestCase,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")


class RunsPresenter:
    """The state of the screen. Everything that is asked of the core goes through `ask`."""

    def __init__(self, ask: Ask, now: Callable[[], datetime]) -> None:
        self._ask = ask
        self.now = now
        self.table = RunTable()
        self.where = RunFilter()
        self.cases: tuple[TestCase, ...] = ()
        self.current: BatchId | None = None
        self.run: RunId | None = None
        self.cross_batch: CrossBatchRuns | None = None
        self.batch_list_state = BatchListState()
        self.batch_filter = RunFilter()
        self.paused: set[BatchId] = set()
        self.queue = BatchQueue()
        self._batches: dict[BatchId, Batch] = {}
        self._progress: dict[BatchId, BatchProgressed] = {}
        self._recall: dict[BatchId, str] = {}
        self.rejudge_progress: RejudgeProgressed | None = None
        self._reads_in_progress = 0
        self._newer_runs: dict[RunId, RunSummary] = {}

    async def load(self) -> None:
        """Read batches and cases; the batch shown stays if it is still there, else the newest is shown."""
        await self.load_cases()
        self.queue.set_waiting(await self._ask(lambda core: _now(core.runs.waiting)))
        self._batches = {batch.id: batch for batch in await self._ask(lambda core: core.runs.batches())}
        if self.current not in self._batches and self.cross_batch is None:
            self.current = next(iter(self._batches), None)
        if self.cross_batch is not None and not self.cross_batch.counts:
            await self.show_cross_batch(self.cross_batch)
        else:
            await self._count_cross_batch()
            await self.show(self.current, self.where)

    async def load_cases(self) -> None:
        """Read the cases again."""
        self.cases = await self._ask(lambda core: core.cases.list())

    async def show(self, batch_id: BatchId | None, where: RunFilter) -> None:
        """Show the runs of a batch, or those found, that pass a filter; the first page is there when this returns."""
        if batch_id is not None and self.cross_batch is not None:
            self.cross_batch, where = None, self.batch_filter
        self.current = batch_id
        self.where = where = replace(where, batch_id=batch_id)
        if batch_id is None and self.cross_batch is None:
            self.table.reset(where, 0)
            return
        total = await self._ask(lambda core: core.runs.count(where))
        runs, outdated = await self._read(where, 0)
        if self.where is where:
            self.table.reset(where, total)
            self.table.put_page(0, runs, outdated)

    def open_cross_batch(self, title: str, where: RunFilter) -> CrossBatchRuns:
        """Know that another screen asks for such runs; what narrowed the batch until now is kept for later."""
        if self.cross_batch is None:
            self.batch_filter = self.where
        self.cross_batch = CrossBatchRuns(title=title, where=where)
        return self.cross_batch

    async def show_cross_batch(self, found: CrossBatchRuns) -> None:
        """Show runs of all batches that another screen asked for, with their outcomes counted."""
        self.cross_batch = found = replace(found, where=self._in_order(found.where))
        self.where, self.current, self.run = found.where, None, None
        self.table.reset(found.where, 0)
        await self._count_cross_batch()
        if self.cross_batch is not None and self.cross_batch.where is found.where:
            await self.show(None, self.where)

    async def _count_cross_batch(self) -> None:
        """Count what another screen asked for, whatever narrows it here."""
        if (found := self.cross_batch) is not None:
            total, counts = await self._ask(lambda core: count_outcomes(core.runs.count, found.where))
            if self.cross_batch is not None and self.cross_batch.where is found.where:
                self.cross_batch = replace(self.cross_batch, total=total, counts=counts)

    async def fetch_page(self, page: int) -> LoadedPage | None:
        """Fetch a page of the table; what it filled, or None where another filter came between."""
        where = self.table.where
        try:
            runs, outdated = await self._read(where, page)
        finally:
            self.table.end_request(page)
        return self.table.put_page(page, runs, outdated) if self.table.where == where else None

    async def _read(self, where: RunFilter, page: int) -> tuple[Sequence[RunSummary], ChangedTools]:
        """A page as it is now: what events told while it was being read is newer than what was read."""
        self._reads_in_progress += 1
        try:
            runs = await self._ask(lambda core: core.runs.list(where, limit=PAGE_SIZE, offset=page * PAGE_SIZE))
            ended = [run.id for run in runs if run.status is RunStatus.COMPLETED]
            outdated = await self._ask(lambda core: core.drift.outdated(ended)) if ended else NO_CHANGED_TOOLS
            return [self._newer_runs.get(run.id, run) for run in runs], outdated
        finally:
            self._reads_in_progress -= 1
            if not self._reads_in_progress:
                self._newer_runs.clear()

    async def rows_at(self, places: Sequence[int]) -> tuple[RunTableRow, ...]:
        """The runs at some places of the table; pages that were never looked at are read for it."""
        where, pages = self.table.where, dict[int, Sequence[RunSummary]]()
        rows = {place: self.table.row(place) for place in places}
        for page in sorted({place // PAGE_SIZE for place, known in rows.items() if known is None}):
            pages[page], _ = await self._read(where, page)
        read = {page * PAGE_SIZE + offset: run for page, runs in pages.items() for offset, run in enumerate(runs)}
        found = (known or (place in read and run_row(read[place])) for place, known in rows.items())
        return tuple(one for one in found if one)

    async def detail(self, run_id: RunId) -> RunDetail | None:
        """Everything of one run; None where it is gone."""
        try:
            return await self._ask(lambda core: core.runs.detail(run_id))
        except NotFoundError:
            return None

    async def tool_changes(self, run: RunDetail) -> Mapping[str, DefinitionChange]:
        """Return how the tools offered to a run have changed since."""
        return await self._ask(lambda core: core.drift.since_run(run))

    def add_batch(self, batch: Batch) -> None:
        """Know a batch that was just started, before its first event comes."""
        if batch.id not in self._batches:
            self._batches = {batch.id: batch, **self._batches}

    def batches(self) -> tuple[Batch, ...]:
        """Every batch, newest first."""
        return tuple(self._batches.values())

    def batch(self, batch_id: BatchId | None) -> Batch | None:
        """One batch as it was last heard of; a paused one says so."""
        batch = self._batches.get(batch_id) if batch_id else None
        is_paused = batch is not None and batch.id in self.paused and batch.status is BatchStatus.RUNNING
        return replace(batch, status=BatchStatus.PAUSED) if batch is not None and is_paused else batch

    def cards(self) -> tuple[BatchCard, ...]:
        """Return the cards of the batch list, sorted and filtered."""
        cards = ((self.card(batch.id), batch) for batch in self.batch_list_state.sorted(self._batches.values()))
        return tuple(card for card, batch in cards if self.batch_list_state.matches(card, batch))

    def card(self, batch_id: BatchId) -> BatchCard:
        """Return one card of the batch list."""
        batch = self.batch(batch_id) or self._batches[batch_id]
        return batch_card(batch, self.now(), self.queue.position_text(batch_id))

    def summary(self) -> RunsSummary | None:
        """The figure of the batch shown."""
        batch = self.batch(self.current)
        if batch is None and self.cross_batch is not None:
            return cross_batch_summary(self.cross_batch)
        return batch_summary(batch, self._recall.get(batch.id, ""), self.queue_text(batch.id)) if batch else None

    def unfiltered(self) -> RunFilter:
        """Return the filter without the user's own filters: all runs of the batch, or of the cross-batch view."""
        return self._in_order(self.cross_batch.where) if self.cross_batch else without_filters(self.where)

    def _in_order(self, where: RunFilter) -> RunFilter:
        return replace(where, order=self.where.order, descending=self.where.descending)

    async def is_hidden(self, run: RunId) -> bool:
        """Return True if the filters hide a run."""
        return not await self._ask(lambda core: core.runs.count(replace(self.where, run_ids=(run,))))

    async def load_recall(self) -> bool:
        """Load recall for a finished baseline; return True if there is something new to show."""
        batch = self.batch(self.current)
        if batch is None or is_live(batch) or batch.id in self._recall or not is_ranked(batch):
            return False
        metrics = await self._ask(lambda core: core.metrics.summary(RunFilter(batch_id=batch.id)))
        self._recall[batch.id] = recall_text(metrics.recall_at)
        return True

    def newest_active(self) -> Batch | None:
        """The newest batch that still runs, or else waits."""
        under_way = self.active_batches()
        return next((one for one in under_way if one.status is not BatchStatus.WAITING), next(iter(under_way), None))

    def active_batches(self) -> tuple[Batch, ...]:
        """Every batch that still runs or waits, the newest first."""
        return tuple(batch for item in self._batches if (batch := self.batch(item)) and is_live(batch))

    def activity_order(self) -> tuple[Batch, ...]:
        """Every batch that still runs, the oldest first, then those that wait, the next one first."""
        places = {batch_id: place for place, batch_id in enumerate(self.queue.waiting)}
        oldest_first = self.active_batches()[::-1]
        return tuple(sorted(oldest_first, key=lambda batch: places.get(batch.id, -1)))

    def progress(self, batch_id: BatchId) -> BatchProgressed | None:
        """Return the latest progress of a batch."""
        return self._progress.get(batch_id)

    def queue_text(self, batch_id: BatchId) -> str:
        """Return a batch's position in the queue and its start time; empty if it does not wait."""
        going = [one for one in self.active_batches() if one.status is not BatchStatus.WAITING]
        known = [self.progress(one.id) for one in going]
        return self.queue.text(batch_id, going, [one.seconds_left if one else None for one in known])

    def handle(self, events: Iterable[Event]) -> ScreenChanges:
        """Take in a handful of events at once."""
        gathered = CollectedChanges()
        for event in events:
            self._take(event, gathered)
        if self._reads_in_progress:
            self._newer_runs.update(gathered.runs | gathered.touched)
        known = [run for run in gathered.touched.values() if self.table.position(run.id) is not None]
        mended = self.table.update_runs((*gathered.runs.values(), *known))
        return ScreenChanges(
            cards=frozenset(gathered.cards),
            new_batches=gathered.fresh,
            summary=self.current in gathered.cards,
            mended=mended,
            reload=gathered.reload,
            detail=self.run in gathered.runs or self.run in gathered.touched,
            cases=gathered.cases,
            batches=gathered.batches,
            judged=frozenset(gathered.judged),
            judging=gathered.judging,
            ended=tuple(gathered.ended),
        )

    def _take(self, event: Event, gathered: CollectedChanges) -> None:
        match event:
            case RunStarted(run) | RunEnded(run):
                if run.batch_id == self.current:
                    gathered.runs[run.id] = run
            case BatchQueued(batch) | BatchStarted(batch):
                self._queue(event, gathered)
                gathered.fresh |= batch.id not in self._batches
                known = self._batches.get(batch.id)
                gathered.reload |= batch.id == self.current and known is not None and not is_live(known)
                self._keep(batch, gathered)
            case BatchProgressed():
                self._progress[event.batch.id] = event
                self._keep(event.batch, gathered)
            case BatchEnded(batch):
                self._queue(event, gathered)
                self.paused.discard(batch.id)
                self._progress.pop(batch.id, None)
                self._recall.pop(batch.id, None)
                self._keep(batch, gathered)
                gathered.reload |= batch.id == self.current and self._sorted_or_filtered()
                gathered.ended.append(event)
            case BatchesChanged():
                gathered.batches = True
            case CasesChanged():
                gathered.cases = True
            case RejudgeProgressed(done, total):
                self.rejudge_progress = event if done < total else None
                gathered.judging = True
            case RunsChanged():
                self._judged_again(event, gathered)

    def _queue(self, event: BatchQueued | BatchStarted | BatchEnded, gathered: CollectedChanges) -> None:
        self.queue.handle(event)
        gathered.cards.update(self.queue.waiting)

    def _judged_again(self, event: RunsChanged, gathered: CollectedChanges) -> None:
        gathered.judged.update(event.batches)
        gathered.touched.update((run.id, run) for run in event.runs if run.batch_id == self.current)
        gathered.reload |= bool(gathered.touched) and self._sorted_or_filtered()
        for batch_id in event.batches:
            self._recall.pop(batch_id, None)

    def _keep(self, batch: Batch, gathered: CollectedChanges) -> None:
        self.add_batch(batch)
        self._batches[batch.id] = batch
        gathered.cards.add(batch.id)

    def _sorted_or_filtered(self) -> bool:
        return self.table.where != RunFilter(batch_id=self.table.where.batch_id)

    async def pause(self, batch_id: BatchId) -> None:
        """Start no further run of a batch for now."""
        await self._ask(lambda core: _now(lambda: core.runs.pause(batch_id)))
        self.paused.add(batch_id)

    async def continue_batch(self, batch_id: BatchId) -> None:
        """Go on after a pause."""
        await self._ask(lambda core: _now(lambda: core.runs.proceed(batch_id)))
        self.paused.discard(batch_id)

    async def run_beside(self, batch_id: BatchId) -> None:
        """Have a batch wait no longer."""
        await self._ask(lambda core: _now(lambda: core.runs.run_beside(batch_id)))

    async def cancel(self, batch_id: BatchId) -> None:
        """Stop a batch; what is finished stays."""
        await self._ask(lambda core: core.runs.cancel(batch_id))

    async def resume(
        self, batch_id: BatchId, keys: Mapping[str, Secret] | None = None, cap: float | None = None
    ) -> Batch:
        """Run what was cut off: waiting, cancelled and interrupted runs; under another cost cap where one is given."""
        return await self._ask(lambda core: core.runs.resume(batch_id, keys, max_cost_usd=cap))

    async def retry(
        self, batch_id: BatchId, keys: Mapping[str, Secret] | None = None, cap: float | None = None
    ) -> Batch:
        """Run the failed ones of a batch again."""
        return await self._ask(lambda core: core.runs.retry_failed(batch_id, keys, max_cost_usd=cap))

    async def rejudge(self, ids: Sequence[RunId], batch_id: BatchId | None) -> RejudgeReport:
        """Judge runs, or those of a batch, by what their cases expect now."""
        try:
            return await self._ask(lambda core: core.runs.rejudge(ids, batch_id=batch_id))
        finally:
            self.rejudge_progress = None

    async def reload_counts(self, ids: Iterable[BatchId]) -> None:
        """Read the counts of batches whose runs were judged again."""
        for batch_id in ids:
            with suppress(NotFoundError):
                self._batches[batch_id] = await self._ask(partial(_batch, batch_id))

    async def open_sample(self) -> None:
        """Add the sample servers and cases."""
        await self._ask(lambda core: core.open_sample())

    async def results_markdown(self, where: RunFilter, title: str) -> str:
        """Return the results of all runs that pass a filter, as Markdown."""
        return await self._ask(lambda core: core.reports.markdown(where, title))

    async def run_markdown(self, run_id: RunId) -> str:
        """Return one run in full, as Markdown."""
        return await self._ask(lambda core: core.reports.run_markdown(run_id))

    async def rename(self, batch_id: BatchId, name: str) -> None:
        """Call a batch otherwise; the event of it has the rest shown."""
        await self._ask(lambda core: core.runs.rename_batch(batch_id, name))

    async def delete(self, ids: Sequence[BatchId]) -> None:
        """Delete batches, to be undone by `restore`; the event of it has the rest shown."""
        await self._ask(lambda core: core.runs.remove_batches(ids))

    async def restore(self, ids: Sequence[BatchId]) -> None:
        """Bring deleted batches back."""
        await self._ask(lambda core: core.runs.restore_batches(ids))


async def _now(act: Callable[[], T]) -> T:
    return act()


async def _batch(batch_id: BatchId, core: "Engine") -> Batch:
    return await core.runs.batch(batch_id)
