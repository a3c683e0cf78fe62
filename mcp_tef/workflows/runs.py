"""Batches and runs: start, pause, cancel, resume, retry, list and delete them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.events import BatchEnded, BatchesChanged, BatchQueued, EventStream
from mcp_tef.model.cases import TestCase
from mcp_tef.model.comparison import PassCounts, RejudgeReport
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import (
    Batch,
    BatchRequest,
    BatchStatus,
    Estimate,
    PlannedRun,
    RunDetail,
    RunSummary,
)
from mcp_tef.model.secrets import Secret
from mcp_tef.model.verdicts import RunMark
from mcp_tef.ports import RunExecutor, Selectors, ServerGateway, Store, ToolOffering
from mcp_tef.trust.bounds import require_few_runs
from mcp_tef.workflows.batch_job import BatchJob, BatchPlan, BatchTurnQueue
from mcp_tef.workflows.batch_plans import PlannedTools, answered_repeats, cases_as_planned, changed_since_planned
from mcp_tef.workflows.consent import Consents
from mcp_tef.workflows.cost_budget import require_one
from mcp_tef.workflows.estimate import BatchPreparation, estimate, require_room
from mcp_tef.workflows.evaluate import ClientExecutor, SelectorExecutor, Sleep
from mcp_tef.workflows.models import Models
from mcp_tef.workflows.name_search import find_batch
from mcp_tef.workflows.tool_sources import ToolCache

if TYPE_CHECKING:
    from mcp_tef.ports.execution import RunSteering
    from mcp_tef.workflows.clients import Clients

_LOG = logging.getLogger(__name__)
Which: TypeAlias = Callable[[BatchId], Awaitable[Sequence[PlannedRun]]]
ClientsOf: TypeAlias = "Callable[[], Clients]"
SteeringOf: TypeAlias = "Callable[[Batch], Awaitable[RunSteering]]"


class Runs:
    """Batches under way, and every run that was ever finished."""

    def __init__(
        self,
        store: Store,
        gateway: ServerGateway,
        selectors: Selectors,
        models: Models,
        consents: Consents,
        events: EventStream,
        config: Config | CurrentConfig,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._store = store
        self._gateway = gateway
        self._consents = consents
        self._events = events
        self._config = config
        self.steering_of: SteeringOf | None = None
        self.preparation = BatchPreparation(store, selectors, models, consents)
        self.clients_of: ClientsOf | None = None
        self._own_executor = SelectorExecutor(selectors, sleep)
        self._executor = self._shown_by_clients(self._own_executor)
        self._jobs: dict[BatchId, tuple[BatchJob, asyncio.Task[Batch]]] = {}
        self._turns = BatchTurnQueue()
        self._reopening: set[BatchId] = set()
        self._cut_off: set[BatchId] = set()
        self._judging = asyncio.Lock()

    def execute_by(self, executor: RunExecutor | None) -> None:
        """Have batches that start from now on executed elsewhere; None for this process."""
        self._executor = self._shown_by_clients(executor or self._own_executor)

    def _shown_by_clients(self, executor: RunExecutor) -> RunExecutor:
        return ClientExecutor(executor, self._store.runs, self._clients)

    async def estimate(self, request: BatchRequest) -> Estimate:
        """Estimate a batch from the tools as last seen, the price table and past runs."""
        request, cases = await self.preparation.resolved(request), await self.preparation.cases(request)
        recent = await self._store.cases.recent(5)
        past = [run for runs in recent.values() for run in runs]
        return estimate(
            request, cases, await self.preparation.listings(cases), await self.preparation.infos(request.models), past
        )

    async def start(
        self,
        request: BatchRequest,
        keys: Mapping[str, Secret] | None = None,
        *,
        may_pause: bool = False,
        trial: RunSteering | None = None,
    ) -> Batch:
        """Store the batch and begin, or line up behind those under way; returns at once.

        After five runs in a row that failed with the same error the batch stops, or pauses (`BatchPaused`). A `trial`
        plans its own runs, and starts no server.

        Raises InputError, ConsentError, ModelError (no key), EmbeddingError (`offline/meaning` without a model).
        """
        request, cases = await self.preparation.resolved(request), await self.preparation.cases(request)
        if not cases:
            raise InputError("There is no test case to run.", hint="Write or import a case, or select another suite.")
        to_plan = () if trial else cases
        require_few_runs(to_plan, len(request.models), request.repeats)
        held = await self.preparation.keys(request, to_plan, keys or {})
        costs = await self.preparation.costs(request, cases, trial)
        cheapest = min(costs.dearest(model, case.id) for model in request.models for case in cases)
        require_one(request.max_cost_usd, cheapest, "run")
        batch, runs = await self._store.runs.create_batch(request, to_plan)
        if trial:
            trial.begin(batch.id, request.models)
        return await self._line_up(
            BatchPlan(
                batch=batch,
                request=request,
                runs=runs,
                cases=_by_id(cases),
                keys=held,
                costs=costs,
                may_pause=may_pause,
                steering=trial,
            )
        )

    async def resume(
        self,
        batch_id: BatchId,
        keys: Mapping[str, Secret] | None = None,
        *,
        max_cost_usd: float | None = None,
        may_pause: bool = False,
    ) -> Batch:
        """Run what has no verdict yet: cancelled, interrupted and pending runs. `max_cost_usd` is another cost cap.

        InputError (`cost_cap_used_up`) where the cap leaves no room for any of them.
        """
        return await self._again(batch_id, self._store.runs.unfinished, keys or {}, max_cost_usd, may_pause)

    async def retry_failed(
        self,
        batch_id: BatchId,
        keys: Mapping[str, Secret] | None = None,
        *,
        max_cost_usd: float | None = None,
        may_pause: bool = False,
    ) -> Batch:
        """Run the failed ones again, and no other; under the same conditions."""
        return await self._again(batch_id, self._store.runs.failed, keys or {}, max_cost_usd, may_pause)

    async def left(self, batch_id: BatchId) -> int:
        """Return the number of runs that `resume` would do."""
        return len(await self._store.runs.unfinished(batch_id))

    def pause(self, batch_id: BatchId) -> None:
        """Start no further run of the batch for now."""
        self._job(batch_id).pause()

    def proceed(self, batch_id: BatchId) -> None:
        """Go on after a pause."""
        self._job(batch_id).proceed()

    def run_beside(self, batch_id: BatchId) -> None:
        """Wait no longer for the batches before it."""
        self._job(batch_id)
        self._turns.go(batch_id)

    async def cancel(self, batch_id: BatchId) -> None:
        """Stop the batch; finished runs are kept, the rest become cancelled."""
        self._job(batch_id).cancel()
        await self.wait(batch_id)

    async def wait(self, batch_id: BatchId) -> Batch:
        """Return the batch once it has ended; StoreError where its end could not be stored."""
        if batch_id in self._jobs:
            return await asyncio.shield(self._jobs[batch_id][1])
        return await self.batch(batch_id)

    def active(self) -> tuple[BatchId, ...]:
        """Return batches under way, and those that wait."""
        return tuple(self._jobs)

    def waiting(self) -> tuple[BatchId, ...]:
        """Return batches whose turn has not come, the next one first."""
        return self._turns.waiting()

    async def batches(self) -> tuple[Batch, ...]:
        """Return every batch, newest first."""
        return tuple(self._as_it_is(batch) for batch in await self._store.runs.batches())

    async def batch(self, batch_id: BatchId) -> Batch:
        """Return one batch; NotFoundError."""
        return self._as_it_is(await self._store.runs.batch(batch_id))

    async def named(self, text: str) -> Batch:
        """Return a batch by id, unique beginning, name or `latest~N`; NotFoundError, InputError for several."""
        return find_batch(await self.batches(), text)

    async def list(self, where: RunFilter, *, limit: int | None = None, offset: int = 0) -> tuple[RunSummary, ...]:
        """Return runs that pass a filter, newest batch first."""
        return await self._store.runs.runs(where, limit=limit, offset=offset)

    async def count(self, where: RunFilter) -> int:
        """Return the number of runs that pass a filter."""
        return await self._store.runs.count(where)

    async def pass_counts(self, batch_id: BatchId) -> PassCounts:
        """Return the correct calls out of the judged runs of each case and model of a batch."""
        counts: PassCounts = {}
        for run in await self._store.runs.outcomes(batch_id):
            if run.mark is not None:
                passed, judged = counts.get((run.case_id, run.model), (0, 0))
                counts[run.case_id, run.model] = passed + (run.mark is RunMark.CORRECT_CALL), judged + 1
        return counts

    async def detail(self, run_id: RunId) -> RunDetail:
        """Return everything that was kept of one run; NotFoundError."""
        return await self._store.runs.detail(run_id)

    async def rejudge(
        self, run_ids: Sequence[RunId] = (), *, batch_id: BatchId | None = None, by: str = ""
    ) -> RejudgeReport:
        """Judge finished runs, or those of a batch, by what their cases expect now; old verdicts are kept."""
        from mcp_tef.workflows.rejudge import RejudgeJob

        ids = list(run_ids)
        if batch_id is not None:
            await self.batch(batch_id)
            ids += [run.id for run in await self._store.runs.outcomes(batch_id)]
        async with self._judging:
            return await RejudgeJob(self._store, self._events, self._jobs).work(ids, by)

    async def rename_batch(self, batch_id: BatchId, name: str, *, seen: str | None = None, by: str = "") -> Batch:
        """Call a batch that has ended otherwise; ChangedMeanwhileError where it has another name than was seen."""
        if batch_id in self._jobs:
            raise InputError("A batch that is running cannot be renamed.", hint="Wait until it has ended.")
        batch = await self._store.runs.rename_batch(batch_id, name.strip(), seen=seen)
        self._events.publish(BatchesChanged((batch_id,), by))
        return batch

    async def remove_batches(self, ids: Sequence[BatchId], *, by: str = "") -> None:
        """Remove batches with their runs; `restore_batches` undoes it until the workspace is closed."""
        busy = [batch_id for batch_id in ids if batch_id in self._jobs]
        if busy:
            raise InputError("A batch that waits or is running cannot be deleted.", hint="Cancel it first.")
        await self._store.runs.remove_batches(ids)
        self._events.publish(BatchesChanged(tuple(ids), by))

    async def restore_batches(self, ids: Sequence[BatchId], *, by: str = "") -> None:
        """Undo a removal."""
        await self._store.runs.restore_batches(ids)
        self._events.publish(BatchesChanged(tuple(ids), by))

    async def close(self) -> None:
        """Interrupt what is under way, so that it can be resumed."""
        for job, _ in list(self._jobs.values()):
            job.cancel(BatchStatus.INTERRUPTED, "mcp-tef was closed.")
        await asyncio.gather(*(task for _, task in list(self._jobs.values())), return_exceptions=True)

    async def _again(
        self, batch_id: BatchId, which: Which, keys: Mapping[str, Secret], cap: float | None, may_pause: bool
    ) -> Batch:
        if batch_id in self._jobs or batch_id in self._reopening:
            raise InputError("The batch is running already.", hint="Wait until it has ended.")
        self._reopening.add(batch_id)
        try:
            plan = await self._reopen(batch_id, await which(batch_id), keys, cap)
            return await self._line_up(replace(plan, may_pause=may_pause))
        finally:
            self._reopening.discard(batch_id)

    async def _reopen(
        self, batch_id: BatchId, runs: Sequence[PlannedRun], keys: Mapping[str, Secret], cap: float | None
    ) -> BatchPlan:
        trial, runs = await self._left(batch_id, runs)
        request = await self._store.runs.request(batch_id)
        request = replace(request, max_cost_usd=request.max_cost_usd if cap is None else cap)
        runs = await self.preparation.planned(runs, request.max_cost_usd)
        # The rows say who is asked. The batch's request says so too, and in a stranger's file the two may differ.
        request = replace(request, models=tuple(dict.fromkeys(run.settings for run in runs)) or request.models)
        cases, planned = await self._as_planned(batch_id, trial, runs)
        held = await self.preparation.keys(request, () if trial else cases, keys, stored=True)
        costs = await self.preparation.costs(request, cases, trial)
        before = await self.batch(batch_id)
        require_room(before, [costs.dearest(run.settings, run.case_id) for run in runs], request.max_cost_usd)
        answered = await answered_repeats(self._store, batch_id, runs)
        batch = await self._store.runs.reopen(batch_id, runs, request.max_cost_usd)
        self._cut_off.discard(batch_id)
        return BatchPlan(
            batch=batch,
            request=request,
            runs=runs,
            cases=_by_id(cases),
            keys=held,
            costs=costs,
            spent_usd=before.cost_usd or 0.0,
            answered=answered,
            steering=trial,
            planned=planned,
        )

    async def _left(
        self, batch_id: BatchId, runs: Sequence[PlannedRun]
    ) -> tuple[RunSteering | None, Sequence[PlannedRun]]:
        """Return the steering of a trial, and those of the runs that are still needed; InputError for nothing to do."""
        batch = await self._store.runs.batch(batch_id)
        trial = await self.steering_of(batch) if batch.trial and self.steering_of else None
        runs = trial.left(runs) if trial else runs
        if not runs and (trial is None or trial.is_over):
            raise InputError("The batch has no run left to do.", hint="Start a new batch.")
        return trial, runs

    async def _as_planned(
        self, batch_id: BatchId, trial: RunSteering | None, runs: Sequence[PlannedRun]
    ) -> tuple[tuple[TestCase, ...], PlannedTools]:
        if trial:
            return await self._store.cases.select(ids=sorted(trial.cases)), {}
        return await cases_as_planned(self._store, batch_id, {run.case_id for run in runs})

    async def changed_since_planned(self, batch_id: BatchId) -> tuple[str, ...]:
        """Return the names of the cases and tools that say something else by now than the batch asks."""
        return await changed_since_planned(self._store, batch_id, self._gateway, self._consents)

    async def _line_up(self, job: BatchPlan) -> Batch:
        seconds = await self._seconds(job) if self._jobs else None
        self._begin(job)
        batch = self._as_it_is(job.batch)
        if batch.status is BatchStatus.WAITING:
            self._events.publish(BatchQueued(batch, seconds))
        return batch

    async def _seconds(self, job: BatchPlan) -> float | None:
        whole = await self.estimate(job.request)
        return whole.seconds * len(job.runs) / whole.runs if whole.seconds and whole.runs else None

    def _begin(self, job: BatchPlan) -> None:
        batch_job = BatchJob(
            job,
            store=self._store.runs,
            tools=job.steering.tools if job.steering else self._tools(job),
            executor=self._executor,
            events=self._events,
            turn=self._turns.join(job.batch.id),
        )
        task = asyncio.create_task(batch_job.work())
        self._jobs[job.batch.id] = (batch_job, task)
        task.add_done_callback(lambda done: self._ended(job.batch, done))

    def _ended(self, batch: Batch, task: asyncio.Task[Batch]) -> None:
        del self._jobs[batch.id]
        self._turns.leave(batch.id)
        if not task.cancelled() and (error := task.exception()):
            _LOG.error("A batch ended in an error", exc_info=error)
            self._cut_off.add(batch.id)
            self._events.publish(BatchEnded(self._as_it_is(batch), str(error)))

    def _as_it_is(self, batch: Batch) -> Batch:
        """Return a batch with the states that are not on disk: queued, or interrupted without being stored so."""
        if batch.id in self._turns.waiting():
            return replace(batch, status=BatchStatus.WAITING)
        if batch.id in self._cut_off:
            return replace(batch, status=BatchStatus.INTERRUPTED)
        is_under_way = batch.status in (BatchStatus.RUNNING, BatchStatus.PAUSED)
        return replace(batch, elsewhere=True) if is_under_way and batch.id not in self._jobs else batch

    def _clients(self) -> Clients:
        if self.clients_of is None:
            raise InputError("No client profile is known here.", hint="Run it without a client.")
        return self.clients_of()

    def _tools(self, job: BatchPlan) -> ToolOffering:
        return ToolCache(
            *(self._gateway, self._store.servers, self._store.runs, self._consents),
            seconds=self._config.limits.seconds,
            separator=self._config.separator,
            planned=job.planned,
            asked=job.runs_by_servers(),
        )

    def _job(self, batch_id: BatchId) -> BatchJob:
        if batch_id not in self._jobs:
            raise NotFoundError("That batch is not running.", hint="Resume it, or start a new one.")
        return self._jobs[batch_id][0]


def _by_id(cases: Sequence[TestCase]) -> dict[CaseId, TestCase]:
    return {case.id: case for case in cases}
