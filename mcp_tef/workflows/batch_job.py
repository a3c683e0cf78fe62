"""One running batch: its turn in the queue, concurrency per provider, pause, cancel and cost cap."""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcp_tef.errors import GAVE_UP, LASTING, MOST_EQUAL_FAILURES, ModelFault, NotFoundError, StoreError, TefError
from mcp_tef.events import BatchEnded, BatchesChanged, BatchPaused, BatchStarted, Event, EventStream, RunsChanged
from mcp_tef.model.addresses import Destination
from mcp_tef.model.cases import TestCase
from mcp_tef.model.comparison import AnsweredRun
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.runs import (
    NOT_OFFERED_CODE,
    Batch,
    BatchRequest,
    BatchStatus,
    PlannedRun,
    RunResult,
    RunStatus,
    RunSummary,
)
from mcp_tef.ports import RunExecutor, RunStore, ToolOffering
from mcp_tef.ports.execution import RunSteering
from mcp_tef.workflows.batch_plans import PlannedTools
from mcp_tef.workflows.batch_results import BatchCounts, RunLog
from mcp_tef.workflows.cost_budget import CallCost, CostBudget
from mcp_tef.workflows.estimate import RunCosts
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
COST_CAP = "The cost cap"
DELETED = "It was deleted in another window or command."


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """Everything needed to run a batch.

    `spent_usd` is the cost of the batch so far, and of earlier answers to the runs that are done again. `answered`
    holds the other repeats of these runs, by case and model. With `steering`, further runs are planned in passes.
    `planned` are the tools that a batch which goes on has offered before.
    """

    batch: Batch
    request: BatchRequest
    runs: Sequence[PlannedRun]
    cases: Mapping[CaseId, TestCase]
    keys: Keys
    costs: RunCosts = field(default_factory=RunCosts)
    spent_usd: float = 0.0
    answered: Mapping[tuple[CaseId, str], Sequence[AnsweredRun]] = field(default_factory=dict)
    may_pause: bool = False
    steering: RunSteering | None = None
    planned: PlannedTools = field(default_factory=dict)

    def runs_by_servers(self) -> dict[tuple[str, ...], list[RunId]]:
        """Return the runs by the servers of their cases."""
        found: defaultdict[tuple[str, ...], list[RunId]] = defaultdict(list)
        for run in self.runs:
            found[self.cases[run.case_id].draft.servers].append(run.id)
        return found


class FailureStreaks:
    """Counts runs in a row that failed with the same lasting fault, for each address of a model.

    An address that has answered before is there, so a timeout or an odd answer speaks of a single run.
    """

    def __init__(self) -> None:
        self._streaks: dict[Destination, tuple[str, int]] = {}
        self._answering: set[Destination] = set()

    def count(self, run: PlannedRun, outcome: RunResult) -> str:
        """Take in an outcome; return a sentence if it is the last of too many, otherwise ""."""
        if outcome.failure and outcome.failure.code == NOT_OFFERED_CODE:
            return ""
        place, fault = run.settings.destination, self._lasting(run.settings.destination, outcome)
        before, number = self._streaks.get(place, ("", 0))
        number = number + 1 if fault == before else 1
        self._streaks[place] = (fault, number if fault else 0)
        if outcome.failure is None or not fault or number < MOST_EQUAL_FAILURES:
            return ""
        del self._streaks[place]
        return f"{GAVE_UP}: {outcome.failure.message}"

    def _lasting(self, place: Destination, outcome: RunResult) -> str:
        if outcome.failure is None:
            self._answering.add(place)
            return ""
        single = outcome.failure.code in (ModelFault.TIMEOUT, ModelFault.NOT_AN_API) and place in self._answering
        return "" if single or outcome.failure.code not in LASTING else outcome.failure.code


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
        self._runs = list(job.runs)
        # The arms of a trial differ in their tools, so their answers are not repeats of each other.
        self._agreement = RepeatConfidence(() if job.steering else job.runs, job.answered)
        self._open = asyncio.Event()
        self._open.set()
        self._queues: dict[str, deque[PlannedRun]] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._budget = CostBudget(job.request.max_cost_usd, job.spent_usd)
        self._streaks = FailureStreaks()
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
        flusher = asyncio.create_task(self._log.keep_flushing())
        flusher.add_done_callback(self._cannot_go_on)
        try:
            runs = self._runs[:] or await self._further_runs()
            while runs and not self._stop:
                await self._do(runs)
                runs = await self._further_runs()
        finally:
            await _stopped([flusher, *self._workers])
            await self._tools.close()

    async def _do(self, runs: Sequence[PlannedRun]) -> None:
        self._queues = _by_provider(runs)
        self._workers = [
            asyncio.create_task(self._take(queue))
            for queue in self._queues.values()
            for _ in range(min(self._job.request.concurrency, len(queue)))
        ]
        for task in self._workers:
            task.add_done_callback(self._cannot_go_on)
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def _further_runs(self) -> Sequence[PlannedRun]:
        """Return the runs of the next pass; none where the batch ends, or they could not be stored."""
        if self._stop or self._left_out or not self._job.steering:
            return ()
        try:
            runs = await self._job.steering.next_runs()
        except TefError as error:
            self._trouble = self._trouble or error
            self.cancel(BatchStatus.INTERRUPTED)
            return ()
        self._runs += runs
        self._tally.plan(len(runs))
        return runs

    def _cannot_go_on(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._trouble = self._trouble or error
            self.cancel(BatchStatus.INTERRUPTED)

    async def _end(self) -> Batch:
        status, reason = self._stop or self._by_itself()
        for run in self._runs:
            if run.id not in self._ended:
                self._log.end(RunResult(run_id=run.id, status=RunStatus.CANCELLED))
        await self._log.flush()
        if self._agreement.again:
            self._publish(RunsChanged(runs=await self._store.rejudge(self._agreement.again)))
        batch, is_there = await self._ended_as(status, reason)
        if self._trouble:
            raise self._trouble
        self._publish(BatchEnded(batch, batch.stopped))
        if not is_there:
            self._publish(BatchesChanged((batch.id,)))
        return batch

    async def _ended_as(self, status: BatchStatus, reason: str | None) -> tuple[Batch, bool]:
        """Store how the batch ended, and why early; the batch, and whether it is still there."""
        try:
            return await self._store.set_batch_status(self._job.batch.id, status, reason), True
        except NotFoundError:
            return replace(self._tally.batch, status=status, stopped=DELETED), False

    async def _take(self, queue: "deque[PlannedRun]") -> None:
        while queue and not self._stop:
            await self._open.wait()
            if not queue:
                return
            if self._budget.fits(*self._job.costs.of(queue[0])):
                run = queue.popleft()
                await self._one(run)
                if not run.settings.offline:  # so that a kill has nobody pay twice for more than what is in flight
                    await self._log.flush_ended()
            elif self._budget.busy:
                await self._budget.one_ended()
            else:
                queue.popleft()
                self._left_out = True

    async def _one(self, run: PlannedRun) -> None:
        case = self._job.cases[run.case_id]
        self._tally.enter()
        self._log.start(_started(run, case, self._job.batch))
        try:
            with self._budget.call(*self._job.costs.of(run)) as cost:
                for outcome in await self._outcomes(run, case):
                    if outcome.run_id == run.id:
                        _settle(cost, outcome)
                    self._ended.add(outcome.run_id)
                    self._log.end(outcome)
                    if outcome.run_id == run.id:
                        self._steer(run, outcome)
                        self._give_up_after(self._streaks.count(run, outcome))
        finally:
            self._tally.leave()

    def _steer(self, run: PlannedRun, outcome: RunResult) -> None:
        if self._job.steering and self._job.steering.hear(run, outcome):
            for queue in self._queues.values():
                queue.clear()

    def _give_up_after(self, failures: str) -> None:
        """Pause or stop if one run after another failed with the same error."""
        if not failures or not self._open.is_set():
            return
        if self._job.may_pause:
            self.pause()
            self._publish(BatchPaused(self._tally.batch, failures))
        else:
            self.cancel(reason=failures)

    async def _outcomes(self, run: PlannedRun, case: TestCase) -> Sequence[RunResult]:
        try:
            case_tools = await self._tools.tools_for(case, run.id)
            if case_tools.expectation is not None:
                case = replace(case, draft=replace(case.draft, expectation=case_tools.expectation))
            outcome = await self._executor.execute(run, case, case_tools, self._job.keys)
            if case_tools.expectation is not None:
                outcome = replace(outcome, expectation=case_tools.expectation)
            return self._agreement.settle(run, case, case_tools, outcome)
        except StoreError:
            raise
        except TefError as error:
            return (failed(run, error),)
        except Exception:  # noqa: BLE001  # the outermost frame of a run's task
            _LOG.exception("A run ended in an error of our own")
            return (failed(run, _own_error()),)

    def _stored(self, runs: Sequence[RunSummary]) -> None:
        self._tally.count(runs)
        self._publish(self._tally.progress())

    def _by_itself(self) -> tuple[BatchStatus, str | None]:
        """Return the final status of a batch that nobody stopped."""
        if not self._left_out:
            return BatchStatus.COMPLETED, None
        return BatchStatus.CANCELLED, f"{COST_CAP} of ${self._job.request.max_cost_usd:g} would be passed."

    def _publish(self, event: Event) -> None:
        self._events.publish(event)


def _by_provider(runs: Sequence[PlannedRun]) -> dict[str, "deque[PlannedRun]"]:
    queues: defaultdict[str, deque[PlannedRun]] = defaultdict(deque)
    for run in runs:
        queues[run.settings.provider].append(run)
    return dict(queues)


_MAYBE_PAID = (ModelFault.TIMEOUT, ModelFault.ANSWER_TOO_LARGE)
"""Failures of calls that the provider may charge for, though nobody knows how much."""


def _settle(cost: CallCost, outcome: RunResult) -> None:
    if outcome.answer:
        cost.settle(outcome.answer.cost_usd, outcome.answer.tokens_in)
    elif outcome.failure and outcome.failure.code in _MAYBE_PAID:
        cost.settle(None)


def _started(run: PlannedRun, case: TestCase, batch: Batch) -> RunSummary:
    return RunSummary(
        id=run.id,
        batch_id=batch.id,
        case_id=case.id,
        case_name=case.name,
        query=case.draft.query,
        model=run.settings.asked,
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
