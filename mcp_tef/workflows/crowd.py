"""Crowd tests and steal tests: started as batches, estimated, continued, and read from their stored runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from mcp_tef.errors import InputError
from mcp_tef.model.crowds import SIZES, CrowdKind, CrowdRequest, CrowdSource, RetrievalPoint, StealRequest, StolenPair
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchRequest, BatchStatus, Estimate
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.scoring.crowds import crowd_of, crowd_order, tool_text
from mcp_tef.workflows.crowd_plan import CrowdPlan, is_crowd_plan
from mcp_tef.workflows.crowd_record import CrowdRecord, CrowdRun
from mcp_tef.workflows.crowd_results import crowd_result, steal_result
from mcp_tef.workflows.crowd_setup import CrowdSetup, PreparedCrowd, TestedCases, crowd_sizes, read_bundled_crowd
from mcp_tef.workflows.crowd_steering import CrowdSteering, CrowdTools, key_of
from mcp_tef.workflows.estimate import ANSWER_TOKENS, CHARACTERS_PER_TOKEN, PROMPT_TOKENS, run_cost

if TYPE_CHECKING:
    from mcp_tef.model.cases import TestCase
    from mcp_tef.model.config import Config, CurrentConfig
    from mcp_tef.model.crowds import CrowdPoint, CrowdResult, StealResult
    from mcp_tef.model.ids import BatchId, CaseId
    from mcp_tef.model.runs import Batch, ModelSettings, RunSummary
    from mcp_tef.model.secrets import Secret
    from mcp_tef.model.tools import Tool
    from mcp_tef.ports import BaselineScorer, ServerGateway, Store
    from mcp_tef.workflows.cases import Cases
    from mcp_tef.workflows.models import Models
    from mcp_tef.workflows.runs import Runs

RECALL_AT: Final = (1, 5, 10)


class Crowds:
    """Crowd tests and steal tests of a workspace. Each is a batch of `Runs`, which pauses, cancels and resumes it."""

    def __init__(
        self,
        store: Store,
        cases: Cases,
        runs: Runs,
        models: Models,
        gateway: ServerGateway,
        scorer: BaselineScorer,
        config: Config | CurrentConfig,
    ) -> None:
        self._store = store
        self._runs = runs
        self._models = models
        self._scorer = scorer
        self._config = config
        self._setup = CrowdSetup(store, cases, gateway, scorer)

    async def start(
        self, request: CrowdRequest, keys: Mapping[str, Secret] | None = None, *, may_pause: bool = False
    ) -> Batch:
        """Store a crowd test and begin, as `Runs.start` does. No server is started or contacted.

        Where the newest test of the same plan did not come to its end, that one goes on. Queries for silence become
        cases of a suite of their own. Raises InputError, NotFoundError, ConsentError, ModelError (no key).
        """
        prepared = await self._setup.crowd(request, storing=True)
        name = f"Crowd test, {request.kind.value}"
        limits = (request.max_cost_usd, request.concurrency)
        return await self._start(prepared, name, request.models, *limits, keys, may_pause=may_pause)

    async def start_steal(
        self, request: StealRequest, keys: Mapping[str, Secret] | None = None, *, may_pause: bool = False
    ) -> Batch:
        """Store a steal test and begin, as `start` does."""
        prepared = await self._setup.steal(request)
        limits = (request.max_cost_usd, request.concurrency)
        name = f"Steal test of {request.server}"
        return await self._start(prepared, name, (request.settings,), *limits, keys, may_pause=may_pause)

    async def estimate(self, request: CrowdRequest | StealRequest) -> Estimate:
        """Estimate the most that a test takes: all its sizes in all passes. Nothing is stored."""
        if isinstance(request, StealRequest):
            return await self._estimate(await self._setup.steal(request), (request.settings,), 0)
        prepared = await self._setup.crowd(request, storing=False)
        return await self._estimate(prepared, request.models, self._setup.silence_left(request, prepared))

    async def result(self, batch_id: BatchId) -> CrowdResult:
        """Return what a crowd test has shown so far. NotFoundError; InputError for other batches."""
        batch, record, families = await self._read(batch_id)
        if record.plan.stealing:
            raise InputError("That batch is a steal test.", hint="Select a batch of a crowd test.")
        return crowd_result(batch, record, families)

    async def steal_result(self, batch_id: BatchId) -> StealResult:
        """Return what a steal test has shown so far. NotFoundError; InputError for other batches."""
        batch, record, _ = await self._read(batch_id)
        if not record.plan.stealing:
            raise InputError("That batch is a crowd test.", hint="Select a batch of a steal test.")
        return steal_result(batch, record)

    async def tests(self, *, stealing: bool) -> tuple[Batch, ...]:
        """Return the steal tests, or the crowd tests, newest first."""
        found = [one for one in await self._runs.batches() if one.trial and is_crowd_plan(one.trial)]
        return tuple(one for one in found if one.trial and bool(one.trial["stealing"]) is stealing)

    async def wrong_runs(self, batch_id: BatchId, point: CrowdPoint) -> tuple[RunSummary, ...]:
        """Return the runs of a point that did not select the expected tool. NotFoundError; InputError."""
        _, record, _ = await self._read(batch_id)
        plan = record.plan
        wrong = record.wrong_at(point.model, plan.searches.index(point.search), plan.sizes.index(point.strangers))
        return tuple(run for run in await self._store.runs.runs(RunFilter(batch_id=batch_id)) if run.id in wrong)

    async def stolen_pairs(self, batch_id: BatchId) -> tuple[StolenPair, ...]:
        """Return the cases of a steal test that went differently with the new server. NotFoundError; InputError."""
        _, record, _ = await self._read(batch_id)
        runs = {run.id: run for run in await self._store.runs.runs(RunFilter(batch_id=batch_id))}
        keys = dict(zip(record.plan.cases, record.plan.expected, strict=True))
        return tuple(
            StolenPair(server=server, tool=tool, without=runs[before.id], with_new=runs[after.id])
            for before, after in record.changed_pairs(record.models[0])
            for server, tool in [keys[before.case_id]]
        )

    async def retrieval(
        self,
        cases: Sequence[CaseId],
        *,
        kind: CrowdKind = CrowdKind.NEAR,
        sizes: Sequence[int] = SIZES,
        source: CrowdSource | None = None,
    ) -> tuple[RetrievalPoint, ...]:
        """Return what a search by words finds among so many strangers, and its silence; no model is asked."""
        tested = await self._setup.tested(cases)
        strangers = await self._setup.strangers(source or CrowdSource(), tuple(tested.own))
        texts = [tool_text(tool) for tool in {key_of(tool): tool for tool in tested.expected.values()}.values()]
        overlap = (await self._scorer.scores(texts, offer(strangers))).scores.max(axis=0)
        ordered = [strangers[place] for place in crowd_order(kind, strangers, overlap, 0)]
        crowds = [(size, crowd_of(kind, ordered, size)) for size in crowd_sizes(sizes, len(strangers))]
        return tuple([await self._retrieved(tested, crowd, size) for size, crowd in crowds])

    async def _retrieved(self, tested: TestedCases, crowd: Sequence[Tool], size: int) -> RetrievalPoint:
        own, silence = tested.own_tools(), read_bundled_crowd().silence
        queries = [case.draft.query for case in tested.cases]
        wanted = [own.index(tested.expected[case.id]) for case in tested.cases]
        tools = (*own, *crowd)
        found = await self._scorer.scores([*queries, *silence], offer(tools))
        scores = found.scores[: len(queries)]
        mine = scores[np.arange(len(queries)), list(wanted)]
        ranks = (scores > mine[:, None]).sum(axis=1) + np.where(mine > 0, 0, len(tools))
        recall = tuple((most, float((ranks < most).mean())) for most in RECALL_AT)
        return RetrievalPoint(size, recall, float(1 - found.picked[len(queries) :].mean()))

    async def steering(self, batch: Batch) -> CrowdSteering:
        """Return the steering of a stored test, with what it has asked so far. InputError, StoreError."""
        plan = _plan_of(batch)
        prepared = await self._setup.again(plan)
        made = self._steering(prepared)
        made.begin(batch.id, (await self._store.runs.request(batch.id)).models)
        for run in await self._store.runs.runs(RunFilter(batch_id=batch.id)):
            made.record.put(CrowdRun.of(run, plan.cell(run.repeat)))
        return made

    async def _start(
        self,
        prepared: PreparedCrowd,
        name: str,
        models: Sequence[ModelSettings],
        cap: float | None,
        concurrency: int,
        keys: Mapping[str, Secret] | None,
        *,
        may_pause: bool,
    ) -> Batch:
        for batch in await self.tests(stealing=bool(prepared.plan.stealing)):
            if _plan_of(batch) == prepared.plan and await self._settings(batch) == tuple(models):
                if _is_cut_off(batch):
                    return await self._runs.resume(batch.id, keys, max_cost_usd=cap, may_pause=may_pause)
                break
        request = BatchRequest(
            cases=tuple(prepared.cases),
            models=tuple(models),
            repeats=1,
            concurrency=concurrency,
            max_cost_usd=cap,
            name=name,
            trial=prepared.plan.to_json(),
        )
        return await self._runs.start(request, keys, may_pause=may_pause, trial=self._steering(prepared))

    def _steering(self, prepared: PreparedCrowd) -> CrowdSteering:
        plan = prepared.plan
        tools = CrowdTools(plan, prepared.pool, self._store.runs, separator=self._config.separator)
        families = _families(plan, prepared.cases.values())
        return CrowdSteering(plan, families, tools, prepared.cases, self._store.runs)

    async def _estimate(self, prepared: PreparedCrowd, models: Sequence[ModelSettings], silent: int) -> Estimate:
        plan = prepared.plan
        each = PROMPT_TOKENS + prepared.query_length // CHARACTERS_PER_TOKEN
        runs = [(len(plan.cases_of(cell)) + silent * (cell.turn == 0), plan.number(cell)) for cell in plan.cells()]
        sent = sum(number * (each + plan.tokens[str(cell)]) for number, cell in runs)
        count = sum(number for number, _ in runs)
        costs = [await self._cost(one, sent / count) for one in models]
        return Estimate(
            runs=count * len(models),
            tokens=(sent + ANSWER_TOKENS * count) * len(models),
            cost_usd=None if None in costs else count * sum(cost or 0.0 for cost in costs),
            seconds=None,
        )

    async def _cost(self, model: ModelSettings, tokens: float) -> float | None:
        return 0.0 if model.offline else run_cost(tokens, await self._models.info(model))

    async def _read(self, batch_id: BatchId) -> tuple[Batch, CrowdRecord, list[int]]:
        batch = await self._runs.batch(batch_id)
        plan = _plan_of(batch)
        cases = await self._store.cases.select(ids=plan.cases)
        families = _families(plan, cases)
        models = [one.label for one in await self._settings(batch)]
        record = CrowdRecord(plan, families, models)
        for run in await self._store.runs.runs(RunFilter(batch_id=batch_id)):
            record.put(CrowdRun.of(run, plan.cell(run.repeat)))
        record.advance()
        return batch, record, families

    async def _settings(self, batch: Batch) -> tuple[ModelSettings, ...]:
        return (await self._store.runs.request(batch.id)).models


def _is_cut_off(batch: Batch) -> bool:
    return batch.status in (BatchStatus.CANCELLED, BatchStatus.INTERRUPTED) or (
        batch.status is BatchStatus.COMPLETED and bool(batch.stopped)
    )


def _plan_of(batch: Batch) -> CrowdPlan:
    if batch.trial is None or not is_crowd_plan(batch.trial):
        raise InputError("That batch is no crowd test.", hint="Select a batch of a crowd test or a steal test.")
    return CrowdPlan.from_json(batch.trial)


def _families(plan: CrowdPlan, cases: Iterable[TestCase]) -> list[int]:
    """Return the number of the family of each case; a case that was removed is a family of its own."""
    names = {case.id: case.draft.family for case in cases}
    texts = [f"family {names[one]}" if names.get(one) else one for one in plan.cases]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return [numbers[text] for text in texts]
