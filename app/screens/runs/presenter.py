"""State of the runs screen, without a window: batches, the runs of one, and actions on them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.core_link.reports import run_reports
from app.screens.kit import ViewState, in_order
from app.screens.runs.batch_events import BatchEvent, KnownBatches, ScreenChanges
from app.screens.runs.batch_summaries import (
    BatchCard,
    CrossBatchRuns,
    RunsSummary,
    batch_card,
    batch_summary,
    count_outcomes,
    cross_batch_summary,
    is_live,
    pass_counts,
)
from app.screens.runs.filters import BATCH_ORDERS, matches_batch, run_filter
from app.screens.runs.run_details import MisleadingRuns
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
    CasesChanged,
    DefinitionChange,
    Event,
    Metrics,
    NotFoundError,
    RejudgeProgressed,
    RejudgeReport,
    RunDetail,
    RunEnded,
    RunFilter,
    RunId,
    RunOrder,
    RunsChanged,
    RunStarted,
    RunStatus,
    RunSummary,
    Secret,
    ServersChanged,
    ServerStateChanged,
    TestCase,
)

MAX_RUNS_PER_TURN: Final = 250
T = TypeVar("T")


class RunsPresenter:
    """State of the screen, its calls into the core, and the changes that events make.

    Attributes:
        view: search and filters in force; those of `batch_runs_view` unless runs of many batches are shown.
        batch_runs_view: search and filters of the runs of a batch; saved by the page.
        where: filter of the runs that are shown or being read.
        changes: what events changed since the page showed changes last.
    """

    def __init__(self, ask: CoreCall, now: Callable[[], datetime]) -> None:
        self._ask = ask
        self._now = now
        self.where = RunFilter()
        self.view = self.batch_runs_view = self.batch_list_view = ViewState()
        self.order, self.descending = RunOrder.PLANNED, False
        self.cases: tuple[TestCase, ...] = ()
        self.current: BatchId | None = None
        self.run: RunId | None = None
        self.cross_batch: CrossBatchRuns | None = None
        self.batches = KnownBatches()
        self.table = RunTable(self.batches.repeat_text)
        self.changes = ScreenChanges()
        self.rejudge_progress: RejudgeProgressed | None = None
        self._metrics: dict[BatchId, Metrics] = {}
        self._reads_in_progress = 0
        self._newer_runs: dict[RunId, RunSummary] = {}
        self.misleading = MisleadingRuns(ask)

    async def load(self) -> None:
        """Read batches and cases; the batch shown stays if it is still there, else the newest is shown."""
        await self.load_cases()
        since = self.batches.taken
        waiting = await self._ask(lambda core: _now(core.runs.waiting))
        self.batches.reset(await self._ask(lambda core: core.runs.batches()), waiting, since)
        if self.batches.get(self.current) is None and self.cross_batch is None:
            self.current = newest.id if (newest := self.batches.newest()) else None
        if self.cross_batch is not None and not self.cross_batch.counts:
            await self.show_cross_batch(self.cross_batch)
        else:
            await self._count_cross_batch()
            await self.show(self.current)

    async def load_cases(self) -> None:
        """Read the cases again."""
        self.cases = await self._ask(lambda core: core.cases.list())

    async def show(self, batch_id: BatchId | None) -> None:
        """Read the first page of a batch's runs, or for None of the cross-batch view, with search and filters."""
        if batch_id is not None and self.cross_batch is not None:
            self.cross_batch, self.view = None, self.batch_runs_view
        self.current = batch_id
        self.where = where = run_filter(self._unfiltered(), self.view)
        if batch_id is None and self.cross_batch is None:
            self.table.reset(where, 0)
            return
        total = await self._ask(lambda core: core.runs.count(where))
        runs, outdated = await self._read(where, 0)
        counts = await pass_counts(self._ask, self.batch)
        if self.where is where:
            self.table.reset(where, total, counts)
            self.table.put_page(0, runs, outdated)

    def change_view(self, view: ViewState) -> None:
        """Set search and filters; `show` reads the runs that pass."""
        self.view = view
        if self.cross_batch is None:
            self.batch_runs_view = view

    def _unfiltered(self) -> RunFilter:
        """Return all runs of the batch or of the cross-batch view, in the order of the table."""
        where = self.cross_batch.where if self.cross_batch else RunFilter(batch_id=self.current)
        repeated = self.batch is not None and self.batch.repeats > 1 and self.order is RunOrder.PLANNED
        return replace(where, order=RunOrder.CASE if repeated else self.order, descending=self.descending)

    def open_cross_batch(self, title: str, where: RunFilter) -> CrossBatchRuns:
        """Start a cross-batch view, without the filters of the batch; those apply again when it is left."""
        self.view = ViewState()
        self.cross_batch = CrossBatchRuns(title=title, where=where)
        return self.cross_batch

    async def show_cross_batch(self, found: CrossBatchRuns) -> None:
        """Show the runs of many batches that another screen links to, and count their outcomes."""
        self.cross_batch, self.current, self.run = found, None, None
        self.where = self._unfiltered()
        self.table.reset(self.where, 0)
        await self._count_cross_batch()
        if self.cross_batch is not None and self.cross_batch.where is found.where:
            await self.show(None)

    async def _count_cross_batch(self) -> None:
        """Count the runs of the cross-batch view without search and filters."""
        if (found := self.cross_batch) is not None:
            total, counts = await self._ask(lambda core: count_outcomes(core.runs.count, found.where))
            if self.cross_batch is not None and self.cross_batch.where is found.where:
                self.cross_batch = replace(self.cross_batch, total=total, counts=counts)

    async def fetch_page(self, page: int) -> LoadedPage | None:
        """Fetch a page of the table; return None if other runs are shown by now."""
        where = self.table.where
        try:
            runs, outdated = await self._read(where, page)
        finally:
            self.table.end_request(page)
        return self.table.put_page(page, runs, outdated) if self.table.where == where else None

    async def _read(self, where: RunFilter, page: int) -> tuple[Sequence[RunSummary], ChangedTools]:
        """Read a page; runs of events that arrived during the read are newer than what was read."""
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
        """Return the runs at some places of the table; pages that were not loaded are read."""
        where = self.table.where
        rows = {place: self.table.row(place) for place in places}
        for page in sorted({place // PAGE_SIZE for place, row in rows.items() if row is None}):
            runs, _ = await self._read(where, page)
            read = {page * PAGE_SIZE + offset: run_row(run) for offset, run in enumerate(runs)}
            rows.update((place, read.get(place)) for place, row in rows.items() if row is None)
        return tuple(row for row in rows.values() if row is not None)

    async def detail(self, run_id: RunId) -> RunDetail | None:
        """Read one run in full; None if it was deleted."""
        try:
            return await self._ask(lambda core: core.runs.detail(run_id))
        except NotFoundError:
            return None

    async def tool_changes(self, run: RunDetail) -> Mapping[str, DefinitionChange]:
        """Return how the tools offered to a run have changed since."""
        return await self._ask(lambda core: core.drift.since_run(run))

    @property
    def batch(self) -> Batch | None:
        """Batch whose runs are shown."""
        return self.batches.get(self.current)

    def cards(self) -> tuple[BatchCard, ...]:
        """Return the cards of the batch list, sorted and filtered."""
        view = self.batch_list_view
        ordered = in_order(self.batches.all(), BATCH_ORDERS, view.sort.name)
        cards = ((self._card(batch), batch) for batch in ordered)
        return tuple(card for card, batch in cards if matches_batch(card, batch, view.text))

    def cards_of(self, ids: Iterable[BatchId]) -> list[BatchCard]:
        """Return the cards of some batches."""
        return [self._card(batch) for batch_id in ids if (batch := self.batches.get(batch_id))]

    def _card(self, batch: Batch) -> BatchCard:
        return batch_card(batch, self._now(), self.batches.queue.position_text(batch.id))

    def summary(self) -> RunsSummary | None:
        """Return the summary of the runs shown."""
        batch = self.batch
        if batch is None and self.cross_batch is not None:
            return cross_batch_summary(self.cross_batch)
        return batch_summary(batch, self._metrics.get(batch.id), self.batches.queue_text(batch.id)) if batch else None

    def total_runs(self) -> int | None:
        """Return the number of runs without search and filters; None while it is unknown."""
        batch = self.batch
        return batch.total if batch else self.cross_batch.total if self.cross_batch else None

    async def is_hidden(self, run: RunId) -> bool:
        """Return True if the filters hide a run."""
        return not await self._ask(lambda core: core.runs.count(replace(self.where, run_ids=(run,))))

    async def load_metrics(self) -> bool:
        """Load the metrics of a batch that ended; return True if there is something new to show."""
        batch = self.batch
        if batch is None or is_live(batch) or batch.id in self._metrics or not batch.judged:
            return False
        metrics = await self._ask(lambda core: core.metrics.summary(RunFilter(batch_id=batch.id)))
        self._metrics[batch.id] = metrics
        return True

    # ------------------------------------------------------------ events

    def handle(self, event: Event) -> Refresh:
        """Take an event into `changes`; the page shows them soon without reading anything again."""
        self.misleading.handle(event)
        match event:
            case RunStarted(run) | RunEnded(run):
                self._take_run(run)
            case BatchQueued() | BatchStarted() | BatchProgressed() | BatchEnded():
                self._take_batch(event)
            case RunsChanged() | RejudgeProgressed():
                self._take_rejudged(event)
            case CasesChanged():
                self.changes.cases = True
            case BatchesChanged():
                self.changes.batches = True
            case ServersChanged() | ServerStateChanged():
                pass  # a page that is hidden marks runs of changed tools when it is shown
            case _:
                return Refresh.NONE
        return Refresh.LATER

    def take_changes(self) -> ScreenChanges:
        """Update the rows of the table and return what changed; of very many runs, some are left for the next call."""
        changes, self.changes = self.changes, ScreenChanges()
        runs = [run for run in changes.runs.values() if run.batch_id == self.current]
        self.changes.runs = {run.id: run for run in runs[MAX_RUNS_PER_TURN:]}
        known = [run for run in changes.rejudged.values() if self.table.position(run.id) is not None]
        changes.rows = self.table.update_runs((*runs[:MAX_RUNS_PER_TURN], *known))
        changes.summary = self.current in changes.cards
        changes.detail = self.run in changes.runs or self.run in changes.rejudged
        return changes

    def _take_run(self, run: RunSummary) -> None:
        if run.batch_id == self.current:
            self.changes.runs[run.id] = run
            self._note_newer([run])

    def _take_rejudged(self, event: RunsChanged | RejudgeProgressed) -> None:
        if isinstance(event, RejudgeProgressed):
            self.rejudge_progress = event if event.done < event.total else None
            self.changes.judging = True
            return
        runs = [run for run in event.runs if run.batch_id == self.current]
        self.changes.judged.update(event.batches)
        self.changes.rejudged.update((run.id, run) for run in runs)
        self.changes.reload |= bool(runs) and self._sorted_or_filtered()
        self._note_newer(runs)
        for batch_id in event.batches:
            self._metrics.pop(batch_id, None)

    def _note_newer(self, runs: Iterable[RunSummary]) -> None:
        if self._reads_in_progress:
            self._newer_runs.update((run.id, run) for run in runs)

    def _take_batch(self, event: BatchEvent) -> None:
        batch, changes = event.batch, self.changes
        known = self.batches.get(batch.id)
        self.batches.take(event)
        changes.cards.add(batch.id)
        if isinstance(event, BatchProgressed):
            return
        changes.cards.update(self.batches.queue.waiting)
        if isinstance(event, BatchEnded):
            self._metrics.pop(batch.id, None)
            changes.reload |= batch.id == self.current and self._sorted_or_filtered()
            changes.ended.append(event)
        else:
            changes.new_batches |= known is None
            changes.reload |= batch.id == self.current and known is not None and not is_live(known)

    def _sorted_or_filtered(self) -> bool:
        return self.table.where != RunFilter(batch_id=self.table.where.batch_id)

    # ------------------------------------------------------------ actions

    async def set_paused(self, batch_id: BatchId, *, paused: bool) -> None:
        """Pause a batch, so that it starts no further run, or continue it."""
        await self._ask(lambda core: _now(lambda: (core.runs.pause if paused else core.runs.proceed)(batch_id)))
        self.batches.set_paused(batch_id, paused=paused)

    async def run_beside(self, batch_id: BatchId) -> None:
        """Run a waiting batch at once, beside those that run."""
        await self._ask(lambda core: _now(lambda: core.runs.run_beside(batch_id)))

    async def cancel(self, batch_id: BatchId) -> None:
        """Cancel a batch; finished runs stay."""
        await self._ask(lambda core: core.runs.cancel(batch_id))

    async def resume(
        self, batch_id: BatchId, keys: Mapping[str, Secret] | None = None, cap: float | None = None
    ) -> Batch:
        """Run the waiting, cancelled and interrupted runs of a batch; `cap` replaces its cost cap."""
        return await self._ask(lambda core: core.runs.resume(batch_id, keys, max_cost_usd=cap, may_pause=True))

    async def retry(
        self, batch_id: BatchId, keys: Mapping[str, Secret] | None = None, cap: float | None = None
    ) -> Batch:
        """Run the failed runs of a batch again; `cap` replaces its cost cap."""
        return await self._ask(lambda core: core.runs.retry_failed(batch_id, keys, max_cost_usd=cap, may_pause=True))

    async def rejudge(self, ids: Sequence[RunId], batch_id: BatchId | None) -> RejudgeReport:
        """Judge runs, or all runs of a batch, by the current expectations of their cases."""
        try:
            return await self._ask(lambda core: core.runs.rejudge(ids, batch_id=batch_id))
        finally:
            self.rejudge_progress = None

    async def reload_counts(self, ids: Iterable[BatchId]) -> None:
        """Read the counts of batches whose runs were judged again."""
        for batch_id in ids:
            with suppress(NotFoundError):  # `since` is noted before the batch is read
                self.batches.add(since=self.batches.taken, batch=await self._batch(batch_id))

    async def _batch(self, batch_id: BatchId) -> Batch:
        return await self._ask(lambda core: core.runs.batch(batch_id))

    async def open_sample(self) -> None:
        """Add the sample servers and cases."""
        await self._ask(lambda core: core.open_sample())

    async def results_markdown(self, where: RunFilter, title: str) -> str:
        """Return the results of all runs that pass a filter, as Markdown."""
        return await self._ask(lambda core: run_reports(core).markdown(where, title))

    async def run_markdown(self, run_id: RunId) -> str:
        """Return one run in full, as Markdown."""
        return await self._ask(lambda core: run_reports(core).run_markdown(run_id))

    async def rename(self, batch_id: BatchId, name: str, seen: str) -> None:
        """Rename a batch; ChangedMeanwhileError where it has another name than was seen."""
        await self._ask(lambda core: core.runs.rename_batch(batch_id, name, seen=seen))

    async def delete(self, ids: Sequence[BatchId]) -> None:
        """Delete batches; `restore` undoes it."""
        await self._ask(lambda core: core.runs.remove_batches(ids))

    async def restore(self, ids: Sequence[BatchId]) -> None:
        """Restore deleted batches."""
        await self._ask(lambda core: core.runs.restore_batches(ids))


async def _now(act: Callable[[], T]) -> T:
    return act()
