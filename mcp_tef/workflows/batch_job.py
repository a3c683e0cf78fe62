"""One batch at work: its turn in the queue, concurrency per provider, pause, cancel and cost cap."""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_tef.errors import NotFoundError, StoreError, TefError
from mcp_tef.events import BatchEnded, BatchesChanged, BatchStarted, Event, EventStream
from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.runs import (
    Batch,
    BatchRequest,
    BatchStatus,
    ModelSettings,
    PlannedRun,
    RunResult,
    RunStatus,
    RunSummary,
)
from mcp_tef.ports import RunExecutor, RunStore, ToolOffering
from mcp_tef.workflows.batch_results import BatchCounts, RunLog
from mcp_tef.workflows.evaluate import RepeatConfidence, failed
from mcp_tef.workflows.models import Keys


class BatchTurnQueue:
    """A queue of batches. The first goes when none is under way, and any of them when it is let go beside."""

    def __init__(self) -> None:
        self._going: set[BatchId] = set()
        self._waiting: dict[BatchId, asyncio.Event] = {}

    def join(self, batch_id: BatchId) -> asyncio.Event:
        """Stand at the end of the queue; what comes back is set when the turn has come."""
        turn = self._waiting[batch_id] = asyncio.Event()
        self._call_next()
        return turn

    def go(self, batch_id: BatchId) -> None:
        """Give this one its turn, whatever is under way; do nothing if it does not wait."""
        if batch_id in self._waiting:
            self._going.add(batch_id)
            self._waiting.pop(batch_id).set()

    def leave(self, batch_id: BatchId) -> None:
        """Note that a batch has ended."""
        self._going.discard(batch_id)
        self._waiting.pop(batch_id, None)
        self._call_next()

    def waiting(self) -> tuple[BatchId, ...]:
        """Return those whose turn has not come, the next one first."""
        return tuple(self._waiting)

    def _call_next(self) -> None:
        if not self._going and self._waiting:
            self.go(next(iter(self._waiting)))


_LOG = logging.getLogger(__name__)
DELETED = "It was deleted in another window or command."


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """Everything needed to run a batch. `run_costs` are estimates in US dollars by model label."""

    batch: Batch
    request: BatchRequest
    runs: Sequence[PlannedRun]
    cases: Mapping[CaseId, TestCase]
    keys: Keys
    run_costs: Mapping[str, float]


class BatchJob:
    """One batch, from waiting for its turn on. It ends by itself; `cancel` ends it early and keeps what is finished."""

    def __init__(
        self,
        job: BatchPlan,
        *,
        store: RunStore,
        tools: ToolOffering,
        executor: RunExecutor,
        events: EventStream,
        turn: asyncio.Event,
    ) -> None:
        self._job = job
        self._store = store
        self._tools = tools
        self._executor = executor
        self._events = events
        self._turn = turn
        self._tally = BatchCounts(job.batch)
        self._log = RunLog(store, events.publish, self._stored)
        self._agreement = RepeatConfidence(job.runs)
        self._queues = _by_provider(job.runs)
        self._open = asyncio.Event()
        self._open.set()
        self._workers: list[asyncio.Task[None]] = []
        self._in_flight_usd = 0.0
        self._going = 0
        self._one_ended = asyncio.Event()
        self._spent_usd = job.batch.cost_usd or 0.0
        self._ended: set[str] = set()
        self._left_out = False
        self._stop: tuple[BatchStatus, str | None] | None = None
        self._trouble: BaseException | None = None

    def pause(self) -> None:
        """Start no further run; those under way end."""
        self._open.clear()

    def proceed(self) -> None:
        """Go on after a pause."""
        self._open.set()

    def cancel(self, status: BatchStatus = BatchStatus.CANCELLED, reason: str | None = None) -> None:
        """Stop now: runs under way and in the queue become cancelled."""
        self._stop = self._stop or (status, reason)
        self._turn.set()
        for worker in self._workers:
            worker.cancel()

    async def work(self) -> Batch:
        """Run everything; returns the batch as it ended. Raises what kept it from being stored, all of it or a part."""
        await self._turn.wait()
        if not self._stop:
            await self._work_through()
        return await self._end()

    async def _work_through(self) -> None:
        self._publish(BatchStarted(self._job.batch))
        self._workers = [
            asyncio.create_task(self._take(queue))
            for queue in self._queues.values()
            for _ in range(min(self._job.request.concurrency, len(queue)))
        ]
        flusher = asyncio.create_task(self._log.keep_flushing())
        for task in (flusher, *self._workers):
            task.add_done_callback(self._cannot_go_on)
        try:
            await asyncio.gather(*self._workers, return_exceptions=True)
        finally:
            await _stopped([flusher, *self._workers])
            await self._tools.close()

    def _cannot_go_on(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._trouble = self._trouble or error
            self.cancel(BatchStatus.INTERRUPTED)

    async def _end(self) -> Batch:
        status, reason = self._stop or self._by_itself()
        for run in self._job.runs:
            if run.id not in self._ended:
                self._log.end(RunResult(run_id=run.id, status=RunStatus.CANCELLED))
        await self._log.flush()
        batch, is_there = await self._ended_as(status)
        if self._trouble:
            raise self._trouble
        self._publish(BatchEnded(batch, reason if is_there else DELETED))
        if not is_there:
            self._publish(BatchesChanged((batch.id,)))
        return batch

    async def _ended_as(self, status: BatchStatus) -> tuple[Batch, bool]:
        """Store how the batch ended; the batch, and whether it is still there."""
        try:
            return await self._store.set_batch_status(self._job.batch.id, status), True
        except NotFoundError:
            return replace(self._tally.batch, status=status), False

    async def _take(self, queue: "deque[PlannedRun]") -> None:
        while queue and not self._stop:
            await self._open.wait()
            if not queue:
                return
            if self._affords(queue[0].settings):
                await self._one(queue.popleft())
            elif self._going:
                await self._one_ended.wait()
            else:
                self._leave_out(queue)

    async def _one(self, run: PlannedRun) -> None:
        case = self._job.cases[run.case_id]
        reserved = self._job.run_costs.get(run.settings.label, 0.0)
        self._in_flight_usd += reserved
        self._going += 1
        self._tally.enter()
        self._log.start(_started(run, case, self._job.batch))
        try:
            for outcome in await self._outcomes(run, case):
                self._keep(outcome, reserved)
        finally:
            self._in_flight_usd -= reserved
            self._going -= 1
            self._one_ended.set()
            self._one_ended = asyncio.Event()
            self._tally.leave()

    async def _outcomes(self, run: PlannedRun, case: TestCase) -> Sequence[RunResult]:
        try:
            kit = await self._tools.kit_for(case, run.id)
            outcome = await self._executor.execute(run, case, kit, self._job.keys.get(run.settings.destination))
            return self._agreement.settle(run, case, kit, outcome)
        except StoreError:
            raise
        except TefError as error:
            return (failed(run, error),)
        except Exception:  # noqa: BLE001  # the outermost frame of a run's task
            _LOG.exception("A run ended in an error of our own")
            return (failed(run, _own_error()),)

    def _keep(self, outcome: RunResult, reserved: float) -> None:
        """Count the cost of an outcome and have it stored; a cost that is not known counts as it was estimated."""
        if outcome.run_id not in self._ended and outcome.answer:
            cost = outcome.answer.cost_usd
            self._spent_usd += reserved if cost is None else cost
        self._ended.add(outcome.run_id)
        self._log.end(outcome)

    def _stored(self, runs: Sequence[RunSummary]) -> None:
        self._tally.count(runs)
        self._publish(self._tally.progress())

    def _affords(self, settings: ModelSettings) -> bool:
        """Return True if the cap has room for another run beside those in progress, at their estimated costs."""
        cap = self._job.request.max_cost_usd
        planned = self._spent_usd + self._in_flight_usd + self._job.run_costs.get(settings.label, 0.0)
        return cap is None or planned <= cap

    def _leave_out(self, queue: "deque[PlannedRun]") -> None:
        """Give up the runs of the first one's model: not even one of them by itself fits under the cap any more."""
        dear = queue[0].settings.label
        others = [run for run in queue if run.settings.label != dear]
        queue.clear()
        queue.extend(others)
        self._left_out = True

    def _by_itself(self) -> tuple[BatchStatus, str | None]:
        """Return the final status of a batch that nobody stopped."""
        if not self._left_out:
            return BatchStatus.COMPLETED, None
        return BatchStatus.CANCELLED, f"The cost cap of ${self._job.request.max_cost_usd:g} would be passed."

    def _publish(self, event: Event) -> None:
        self._events.publish(event)


def _by_provider(runs: Sequence[PlannedRun]) -> dict[str, "deque[PlannedRun]"]:
    queues: defaultdict[str, deque[PlannedRun]] = defaultdict(deque)
    for run in runs:
        queues[run.settings.provider].append(run)
    return dict(queues)


def _started(run: PlannedRun, case: TestCase, batch: Batch) -> RunSummary:
    return RunSummary(
        id=run.id,
        batch_id=batch.id,
        case_id=case.id,
        case_name=case.name,
        query=case.draft.query,
        model=run.settings.label,
        repeat=run.repeat,
        status=RunStatus.RUNNING,
        expected=case.draft.expectation.label,
    )


def _own_error() -> TefError:
    return TefError("The run hit an error of mcp-tef itself.", hint="See the log.", code="internal")


async def _stopped(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
