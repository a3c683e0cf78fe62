"""Search for better texts of a server's tools: candidates made, screened and judged by themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mcp_tef.errors import InputError
from mcp_tef.model.improvements import (
    ImprovementPlan,
    ImprovementRequest,
    ImprovementResult,
    ImprovementStep,
    WorkingFailure,
)
from mcp_tef.model.run_fields import REPEATS, require_amount
from mcp_tef.model.trials import TrialRequest
from mcp_tef.scoring.phrases import counted
from mcp_tef.statistics.candidate_selection import related_groups, sealed_places
from mcp_tef.statistics.improvement_text import gain_text
from mcp_tef.workflows.estimate import writing_cost
from mcp_tef.workflows.improve_candidates import CandidateSource
from mcp_tef.workflows.improve_session import ARMS, MOST_ROUNDS, ImprovementSession, SearchParts
from mcp_tef.workflows.model_writing import capped_writer, check_can_write

if TYPE_CHECKING:
    from mcp_tef.model.cases import TestCase
    from mcp_tef.model.drafts import Draft
    from mcp_tef.model.ids import CaseId, DraftId
    from mcp_tef.model.secrets import Secret
    from mcp_tef.model.tools import Tool
    from mcp_tef.ports import Embedders, Store, TokenCounter, Writer
    from mcp_tef.workflows.drafts import Drafts
    from mcp_tef.workflows.models import Models
    from mcp_tef.workflows.prediction import Predictions
    from mcp_tef.workflows.runs import Runs
    from mcp_tef.workflows.trials import Trials

WRITER_TOKENS_IN, WRITER_TOKENS_OUT = 4_000, 1_200
_NO_KEYS: Mapping[str, Secret] = {}


@dataclass(frozen=True)
class Improvements:
    """Searches for better texts. Each leaves at most one draft; nothing is accepted by itself."""

    store: Store
    drafts: Drafts
    trials: Trials
    runs: Runs
    predictions: Predictions
    embedders: Embedders
    counter: TokenCounter
    writer: Callable[[], Writer]
    models: Models

    async def plan(self, request: ImprovementRequest) -> ImprovementPlan:
        """Split the cases by the seed, and estimate the most that the search takes. No model is asked.

        Raises NotFoundError, InputError (no cases, too few calls, a writer that cannot write), EmbeddingError.
        """
        REPEATS.check(request.rounds)
        require_amount(request.max_cost_usd)
        if request.writer:
            check_can_write(request.writer)
        cases = await self._cases(request)
        working, sealed = await self._split(request, cases)
        least = 2 * ARMS * len(working) + ARMS * len(sealed)
        if request.budget < least:
            raise InputError(
                f"A budget of {request.budget:,} calls is too small for {len(cases):,} cases.",
                hint=f"Allow at least {least:,}: failing cases, one candidate, and the sealed cases.",
            )
        families = {case.draft.family or case.id for case in sealed}
        return ImprovementPlan(
            request=request,
            working=tuple(case.id for case in working),
            sealed=tuple(case.id for case in sealed),
            gain=gain_text(len(sealed), len(families)),
            calls=request.budget,
            cost_usd=await self._most_cost(request, cases),
            writer_calls=MOST_ROUNDS if request.writer else 0,
        )

    async def run(
        self,
        plan: ImprovementPlan,
        keys: Mapping[str, Secret] = _NO_KEYS,
        *,
        tell: Callable[[ImprovementStep], None] | None = None,
    ) -> ImprovementResult:
        """Search; the final text is left as a draft, and no draft where there is none. `tell` hears each step.

        Raises NotFoundError, ServerError, ConsentError, ModelError (no key).
        """
        request = plan.request
        draft = await self.drafts.new(await self._free_name(request), server=request.server)
        kept = False
        try:
            if request.tool is not None:
                self.drafts.require_tool(draft, request.tool)
            result = await ImprovementSession(plan, draft, await self._parts(plan, draft, keys, tell)).search()
            kept = result.draft is not None
            return result
        finally:
            if not kept:
                await self.drafts.remove([draft.id])

    async def _cases(self, request: ImprovementRequest) -> list[TestCase]:
        """Return the cases of the request's server; InputError where there is none."""
        server = await self.store.servers.find(request.server)
        cases = [
            one for one in await self.store.cases.select(suites=request.suites) if server.name in one.draft.servers
        ]
        if not cases:
            said = f"No test case is about the server {server.name}, so there is nothing to search with."
            raise InputError(said, hint="Write or draft cases, or name another suite.")
        return cases

    async def _split(
        self, request: ImprovementRequest, cases: Sequence[TestCase]
    ) -> tuple[list[TestCase], list[TestCase]]:
        embedder = await self.embedders.best()
        vectors = await embedder.embed([case.draft.query for case in cases])
        groups = related_groups([case.draft.family for case in cases], vectors)
        held_back = [place for place, case in enumerate(cases) if case.draft.held_back]
        places = sealed_places(groups, [_first_tool(case) for case in cases], request.seed, held_back)
        if not 0 < len(places) < len(cases):
            found = counted(len(cases), "case", "cases"), counted(len(set(groups)), "group", "groups")
            said = f"{found[0]} in {found[1]} of related queries cannot be split in two."
            raise InputError(said, hint="Write more cases with other queries.")
        halves: tuple[list[TestCase], list[TestCase]] = ([], [])
        for place, case in enumerate(cases):
            halves[place in places].append(case)
        return halves

    async def _most_cost(self, request: ImprovementRequest, cases: Sequence[TestCase]) -> float | None:
        """Estimate US dollars of all calls of the budget; None where a price is not known."""
        ids = tuple(case.id for case in cases)
        once = await self.trials.estimate(TrialRequest(draft=_NO_DRAFT, settings=request.settings, cases=ids, rounds=1))
        asking = None if once.cost_usd is None else once.cost_usd / once.runs * request.budget
        if request.writer is None or asking is None:
            return asking
        info = await self.models.info(request.writer)
        writing = writing_cost(info, WRITER_TOKENS_IN, WRITER_TOKENS_OUT)
        return None if writing is None else asking + writing * MOST_ROUNDS

    async def _free_name(self, request: ImprovementRequest) -> str:
        taken = {one.name.casefold() for one in await self.drafts.list()}
        name = f"Better text for {request.tool or request.server}"[:90]
        names = [name, *(f"{name} {number}" for number in range(2, len(taken) + 3))]
        return next(one for one in names if one.casefold() not in taken)

    async def _parts(
        self,
        plan: ImprovementPlan,
        draft: Draft,
        keys: Mapping[str, Secret],
        tell: Callable[[ImprovementStep], None] | None,
    ) -> SearchParts:
        cases = {one.id: one for one in await self.store.cases.select(ids=(*plan.working, *plan.sealed))}
        original, _ = await self.drafts.arms(draft)
        writer, for_writer = plan.request.writer, keys
        if writer:
            targets, writers = await self.runs.preparation.destinations([plan.request.settings]), (writer.destination,)
            asked = (*targets, *writers)
            keys, for_writer = (self.models.given_for(part, asked, keys) for part in (targets, writers))
            await capped_writer(self.writer(), self.models, writer, for_writer, plan.request.max_cost_usd)
        return SearchParts(
            drafts=self.drafts,
            trials=self.trials,
            runs=self.runs,
            predictions=self.predictions,
            source=partial(self._source, plan, cases, original[0].tools),
            writer=partial(capped_writer, self.writer(), self.models, writer, for_writer) if writer else None,
            cases=cases,
            keys=keys,
            tell=tell or (lambda _: None),
        )

    def _source(
        self,
        plan: ImprovementPlan,
        cases: Mapping[CaseId, TestCase],
        tools: Sequence[Tool],
        failures: Sequence[WorkingFailure],
    ) -> CandidateSource:
        requests = defaultdict[str, list[str]](list)
        for case in (cases[case_id] for case_id in plan.working):
            for name in case.draft.expectation.tool_names or {""}:
                requests[name].append(case.draft.query)
        queries = [case.draft.query for case in cases.values()]
        return CandidateSource(tools, failures, requests, queries, self.counter)


def _first_tool(case: TestCase) -> str:
    first = case.draft.expectation.first_call
    return first.tool if first else ""


_NO_DRAFT: DraftId = ""  # type: ignore[assignment]
