"""A workspace in memory: batches and runs, beside servers and cases."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import fields, replace

from mcp_tef.errors import NotFoundError
from mcp_tef.model.answers import AnsweringModel, ConfidenceSource
from mcp_tef.model.batch_plans import PlannedCase
from mcp_tef.model.cases import Expectation, TestCase
from mcp_tef.model.comparison import AnsweredRun, Judgement, PairableRun
from mcp_tef.model.ids import BatchId, CaseId, RunId, SnapshotId, new_id
from mcp_tef.model.json import Json
from mcp_tef.model.metrics import FilterChoices
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import (
    Arm,
    Batch,
    BatchRequest,
    BatchStatus,
    PlannedRun,
    RunDetail,
    RunResult,
    RunStatus,
    RunSummary,
)
from mcp_tef.model.tools import OfferedTool, Snapshot
from mcp_tef.model.verdicts import PastVerdict, Verdict
from mcp_tef.ports import NOTHING_SEEN, KnownRuns
from mcp_tef.statistics.history import History
from mcp_tef.statistics.run_history import history_of
from mcp_tef.trust.field_changes import merged_fields
from mcp_tef.workflows.batch_results import tally_of
from tests.support.memory_definitions import MemoryDefinitions
from tests.support.memory_drafts import MemoryDrafts
from tests.support.memory_filter import passes
from tests.support.memory_library import MemoryContacts, MemoryLibrary
from tests.support.memory_plans import pending_row, planned_cases
from tests.support.memory_servers import NOW, MemoryCases, MemoryServers, MemoryToolCalls

UNFINISHED = (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.CANCELLED)


class MemoryRuns:
    """Satisfies `RunStore`."""

    def __init__(self, cases: MemoryCases) -> None:
        self._cases = cases
        self._batches: dict[BatchId, Batch] = {}
        self._requests: dict[BatchId, BatchRequest] = {}
        self._plans: dict[RunId, PlannedRun] = {}
        self._asked: dict[RunId, TestCase] = {}
        self._rows: dict[RunId, RunSummary] = {}
        self._outcomes: dict[RunId, RunResult] = {}
        self._expectations: dict[RunId, Expectation] = {}
        self._past: dict[RunId, tuple[PastVerdict, ...]] = {}
        self._snapshots: dict[SnapshotId, Snapshot] = {}
        self._offered: dict[RunId, SnapshotId] = {}
        self._removed: dict[BatchId, tuple[Batch, list[RunSummary]]] = {}
        self.outdated: dict[RunId, tuple[str, ...]] = {}

    def put(self, batch: Batch, runs: Sequence[RunSummary]) -> None:
        """Have had a batch with these runs."""
        self._batches[batch.id] = batch
        self._rows.update((run.id, run) for run in runs)

    async def create_batch(
        self, request: BatchRequest, cases: Sequence[TestCase], known: KnownRuns = NOTHING_SEEN
    ) -> tuple[Batch, tuple[PlannedRun, ...]]:
        """One pending run for each case, model and repeat."""
        batch_id = BatchId(new_id())
        plans = [
            PlannedRun(
                id=known.get((case.id, model, repeat)) or RunId(new_id()),
                case_id=case.id,
                settings=model,
                repeat=repeat,
                batch_id=batch_id,
            )
            for repeat in range(request.repeats)
            for model in request.models
            for case in cases
        ]
        await self._plan(plans)
        self._requests[batch_id] = request
        self._batches[batch_id] = Batch(
            id=batch_id,
            name=request.name or "Everything",
            status=BatchStatus.RUNNING,
            models=tuple(model.asked for model in request.models),
            total=len(plans),
            repeats=request.repeats,
            concurrency=request.concurrency,
            max_cost_usd=request.max_cost_usd,
            created_at=NOW,
            trial=request.trial,
        )
        return await self.batch(batch_id), tuple(plans)

    async def add_runs(self, batch_id: BatchId, runs: Sequence[PlannedRun]) -> None:
        """More of them."""
        batch = await self.batch(batch_id)
        await self._plan([replace(run, batch_id=batch_id) for run in runs])
        models = tuple(dict.fromkeys((*batch.models, *(run.settings.asked for run in runs))))
        self._batches[batch_id] = replace(batch, models=models, total=batch.total + len(runs))

    async def _plan(self, plans: Sequence[PlannedRun]) -> None:
        cases = {case_id: await self._cases.get(case_id) for case_id in {plan.case_id for plan in plans}}
        for plan in plans:
            self._plans[plan.id] = plan
            self._asked[plan.id] = cases[plan.case_id]
            self._rows[plan.id] = pending_row(plan, cases[plan.case_id])
            self._expectations[plan.id] = cases[plan.case_id].draft.expectation

    async def set_trial(self, batch_id: BatchId, trial: Mapping[str, Json]) -> Batch:
        """What the trial is."""
        self._batches[batch_id] = replace(await self.batch(batch_id), trial=trial)
        return self._batches[batch_id]

    async def unfinished(self, batch_id: BatchId) -> tuple[PlannedRun, ...]:
        """Runs without an end."""
        return self._planned(batch_id, UNFINISHED)

    async def failed(self, batch_id: BatchId) -> tuple[PlannedRun, ...]:
        """Runs that failed."""
        return self._planned(batch_id, (RunStatus.FAILED,))

    async def reopen(self, batch_id: BatchId, runs: Sequence[PlannedRun], max_cost_usd: float | None) -> Batch:
        """Make them pending again."""
        self._requests[batch_id] = replace(self._requests[batch_id], max_cost_usd=max_cost_usd)
        self._batches[batch_id] = replace(self._batches[batch_id], max_cost_usd=max_cost_usd)
        for plan in runs:
            self._rows[plan.id] = pending_row(plan, self._asked[plan.id])
            self._expectations[plan.id] = self._asked[plan.id].draft.expectation
        return await self.set_batch_status(batch_id, BatchStatus.RUNNING)

    async def planned_cases(self, batch_id: BatchId) -> Mapping[CaseId, PlannedCase]:
        """As they were when it began."""
        plans = [plan for plan in self._plans.values() if plan.batch_id == batch_id]
        return planned_cases(plans, self._asked, self._outcomes, self._snapshots, self._offered)

    async def request(self, batch_id: BatchId) -> BatchRequest:
        return self._requests[batch_id]

    async def save_snapshot(
        self, tools: Sequence[OfferedTool], first_run: RunId, strangers: Collection[str] = (), *, listed: bool = True
    ) -> SnapshotId:
        snapshot = Snapshot(SnapshotId(new_id()), tuple(tools))
        self._snapshots[snapshot.id] = snapshot
        return snapshot.id

    async def plan_tools(self, ids: Sequence[RunId], snapshot_id: SnapshotId) -> None:
        self._offered = dict.fromkeys(ids, snapshot_id) | self._offered

    async def mark_running(self, ids: Sequence[RunId]) -> None:
        for run_id in ids:
            self._rows[run_id] = replace(self._rows[run_id], status=RunStatus.RUNNING)

    async def finish(self, outcomes: Sequence[RunResult]) -> tuple[RunSummary, ...]:
        """Keep the outcomes."""
        return tuple(self._finish(outcome) for outcome in outcomes)

    async def set_batch_status(self, batch_id: BatchId, status: BatchStatus, stopped: str | None = None) -> Batch:
        """Where it is in its life."""
        self._batches[batch_id] = replace(self._batches[batch_id], status=status, stopped=stopped)
        return await self.batch(batch_id)

    async def batches(self) -> tuple[Batch, ...]:
        """Newest first."""
        return tuple([await self.batch(batch_id) for batch_id in reversed(self._batches)])

    async def batch(self, batch_id: BatchId) -> Batch:
        """One with its counts."""
        if batch_id not in self._batches:
            raise NotFoundError("This batch is not there any more.")
        counts: dict[str, int] = {}
        for row in self._of(batch_id):
            key = row.classification.value if row.classification else row.status.value
            key = "pending" if row.status is RunStatus.RUNNING else key
            counts[key] = counts.get(key, 0) + 1
        interrupted = sum(row.interrupted for row in self._of(batch_id))
        tally = tally_of(self._of(batch_id), self._batches[batch_id].models)
        return replace(self._batches[batch_id], counts=counts, tally=tally, interrupted=interrupted)

    async def runs(self, where: RunFilter, *, limit: int | None = None, offset: int = 0) -> tuple[RunSummary, ...]:
        """Those that the filter lets through."""
        found = [row for row in self._rows.values() if passes(row, where)]
        if where.order is RunOrder.CASE:
            first = {(row.batch_id, row.case_id, row.model): place for place, row in reversed([*enumerate(found)])}
            found.sort(key=lambda row: first[row.batch_id, row.case_id, row.model])
        return tuple(found[offset : None if limit is None else offset + limit])

    async def count(self, where: RunFilter) -> int:
        """How many."""
        return len(await self.runs(where))

    async def detail(self, run_id: RunId) -> RunDetail:
        """Everything of one run."""
        if run_id not in self._rows or run_id not in self._plans:
            raise NotFoundError("This run is not there any more.")
        row, outcome, plan = self._rows[run_id], self._outcomes.get(run_id), self._plans[run_id]
        snapshot = outcome.snapshot_id if outcome else None
        return RunDetail(
            summary=row,
            settings=plan.settings,
            expectation=self._expectations[run_id],
            snapshot=self._snapshots[snapshot] if snapshot else None,
            answer=outcome.answer if outcome else None,
            verdict=outcome.verdict if outcome else None,
            attempts=outcome.attempts if outcome else 1,
            past_verdicts=self._past.get(run_id, ()),
        )

    async def batches_of(self, ids: Sequence[RunId]) -> Mapping[RunId, BatchId | None]:
        """Which batch each is of."""
        return {run_id: run.batch_id for run_id, run in (await self.summaries(ids)).items()}

    async def summaries(self, ids: Sequence[RunId]) -> Mapping[RunId, RunSummary]:
        """Some by id."""
        return {run_id: self._rows[run_id] for run_id in ids if run_id in self._rows}

    async def changed_definitions(self, ids: Sequence[RunId]) -> Mapping[RunId, tuple[str, ...]]:
        """As `outdated` says."""
        return {run_id: self.outdated[run_id] for run_id in ids if run_id in self.outdated}

    async def outcomes(self, batch_id: BatchId) -> tuple[PairableRun, ...]:
        """What pairing needs."""
        return tuple(
            PairableRun(
                id=row.id,
                case_id=row.case_id,
                model=row.model,
                repeat=row.repeat,
                mark=row.mark,
                posed=f"{row.query} {row.expected}",
            )
            for row in self._of(batch_id)
        )

    async def answering_models(self, batch_id: BatchId) -> frozenset[AnsweringModel]:
        """The models that answered."""
        outcomes = ((row.model, self._outcomes.get(row.id)) for row in self._of(batch_id))
        answers = ((model, outcome.answer) for model, outcome in outcomes if outcome and outcome.answer)
        return frozenset(AnsweringModel(model, one.answered_model) for model, one in answers if one.answered_model)

    async def answered(self, ids: Sequence[RunId]) -> tuple[AnsweredRun, ...]:
        """Those with an answer and a verdict."""
        details = [await self.detail(run_id) for run_id in ids if run_id in self._rows]
        return tuple(
            AnsweredRun(
                id=run.summary.id,
                case_id=run.summary.case_id,
                batch_id=run.summary.batch_id,
                expectation=run.expectation,
                snapshot=run.snapshot,
                answer=run.answer,
                verdict=run.verdict,
            )
            for run in details
            if run.answer and run.verdict and run.snapshot
        )

    async def rejudge(self, judgements: Sequence[Judgement]) -> tuple[RunSummary, ...]:
        """Keep the old verdicts, and take the new ones."""
        return tuple(map(self._rejudge, judgements))

    def _rejudge(self, judgement: Judgement) -> RunSummary:
        run_id, expectation = judgement.run_id, judgement.expectation
        self._past[run_id] = (*filter(None, (judgement.past,)), *self._past.get(run_id, ()))
        self._expectations[run_id] = expectation
        call = expectation.first_call
        self._rows[run_id] = replace(
            self._rows[run_id],
            expected=expectation.label,
            expected_tool=call.tool if call else None,
            expected_server=call.server if call else None,
        )
        outcome = replace(self._outcomes[run_id], verdict=judgement.verdict, expected_rank=judgement.expected_rank)
        if judgement.agreement is not None and (answer := outcome.answer):
            answer = replace(answer, confidence=judgement.agreement, confidence_source=ConfidenceSource.AGREEMENT)
            outcome = replace(outcome, answer=answer)
        return self._finish(outcome)

    async def rename_batch(self, batch_id: BatchId, name: str, *, seen: str | None = None) -> Batch:
        """Call it so from now on."""
        stored = (await self.batch(batch_id)).name
        merged_fields({"name": stored if seen is None else seen}, {"name": name}, {"name": stored}, "the batch")
        self._batches[batch_id] = replace(await self.batch(batch_id), name=name)
        return self._batches[batch_id]

    async def remove_batches(self, ids: Sequence[BatchId]) -> None:
        """Out of sight, with their runs."""
        for batch_id in ids:
            self._removed[batch_id] = (self._batches.pop(batch_id), self._of(batch_id))
            for row in self._of(batch_id):
                del self._rows[row.id]

    async def restore_batches(self, ids: Sequence[BatchId]) -> None:
        """Where they were, by the time they were made."""
        for batch_id in ids:
            self.put(*self._removed.pop(batch_id))
        self._batches = dict(sorted(self._batches.items(), key=lambda item: item[1].created_at))

    async def interrupt_leftovers(self) -> int:
        """A fresh workspace has none."""
        return 0

    def _of(self, batch_id: BatchId) -> list[RunSummary]:
        return [row for row in self._rows.values() if row.batch_id == batch_id]

    def _planned(self, batch_id: BatchId, statuses: Sequence[RunStatus]) -> tuple[PlannedRun, ...]:
        return tuple(self._plans[row.id] for row in self._of(batch_id) if row.status in statuses)

    def _finish(self, outcome: RunResult) -> RunSummary:
        self._outcomes[outcome.run_id] = outcome
        row = _finished(self._rows[outcome.run_id], outcome)
        self._rows[row.id] = row
        if row.status is RunStatus.COMPLETED:
            runs = self._cases.finished.setdefault(row.case_id, [])
            runs[:] = [row if known.id == row.id else known for known in runs]
            if row not in runs:
                runs.append(row)
        return row


def _finished(row: RunSummary, outcome: RunResult) -> RunSummary:
    row = replace(
        row,
        status=outcome.status,
        failure=outcome.failure,
        execution_time_ms=outcome.execution_time_ms,
        expected_rank=outcome.expected_rank,
        completed_at=NOW,
    )
    if outcome.answer is not None:
        row = _with_answer(row, outcome)
    if outcome.verdict is None:
        return row
    same = {one.name for one in fields(RunSummary)} & {one.name for one in fields(Verdict)} | {"findings"}
    return replace(row, **{name: getattr(outcome.verdict, name) for name in same})


def _with_answer(row: RunSummary, outcome: RunResult) -> RunSummary:
    answer = outcome.answer
    assert answer is not None
    calls = answer.calls or ()
    labels = [f"{call.server} / {call.tool}" if call.server else call.tool for call in calls]
    return replace(
        row,
        selected=" + ".join(labels) or "no tool",
        selected_tool=calls[0].tool if calls else None,
        selected_server=calls[0].server if calls else None,
        confidence=answer.confidence,
        confidence_source=answer.confidence_source.value if answer.confidence_source else None,
        tokens=(answer.tokens_in or 0) + (answer.tokens_out or 0) or None,
        cost_usd=answer.cost_usd,
    )


class MemoryMetrics:
    """Satisfies `MetricsStore`."""

    def __init__(self, runs: MemoryRuns) -> None:
        self._runs = runs

    async def history(self, where: RunFilter) -> History:
        """The runs that the filter lets through; those offered other tools only where their batch or run is named."""
        batches, runs = await self._runs.batches(), await self._runs.runs(where)
        if not (where.batch_id or where.batch_ids or where.run_ids):
            changed = {one.id for one in batches if one.trial and (one.trial.get("hints") or one.trial.get("against"))}
            runs = tuple(run for run in runs if run.batch_id not in changed and run.arm is not Arm.DRAFT)
        return history_of(runs, batches)

    async def choices(self) -> FilterChoices:
        """The models and tools of all runs."""
        runs = await self._runs.runs(RunFilter())
        tools = {name for run in runs for name in (run.expected_tool, run.selected_tool) if name}
        return FilterChoices(models=tuple(sorted({run.model for run in runs})), tools=tuple(sorted(tools)))


class MemoryStore:
    """Satisfies `Store`."""

    def __init__(self) -> None:
        self.servers = MemoryServers()
        self.calls = MemoryToolCalls()
        self.cases = MemoryCases()
        self.runs = MemoryRuns(self.cases)
        self.drafts = MemoryDrafts()
        self.library = MemoryLibrary()
        self.contacts = MemoryContacts()
        self.definitions = MemoryDefinitions()
        self.metrics = MemoryMetrics(self.runs)

    def together(self) -> AbstractAsyncContextManager[None]:
        """Nothing here fails half way."""
        return nullcontext()

    async def close(self) -> None:
        """Nothing is held."""
