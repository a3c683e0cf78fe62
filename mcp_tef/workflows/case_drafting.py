"""Drafts of test cases for the tools of servers, by a model or from the definitions alone. Nothing is stored."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count

from mcp_tef.errors import InputError, ModelError, NotFoundError
from mcp_tef.model.config import CurrentConfig
from mcp_tef.model.drafted_cases import DraftedCase, DraftedCases, DraftKind, RefusedDraft
from mcp_tef.model.json import Json
from mcp_tef.model.runs import Estimate, FailureInfo, ModelSettings
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import FlagRule, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Progress, Writer
from mcp_tef.prompts.writing_prompts import SYSTEM, CaseRequestError, WrittenRequest, case_request, read_case_requests
from mcp_tef.scoring.call_pairing import argument_problems
from mcp_tef.scoring.case_drafting.offline_drafts import (
    drafted,
    expectation_of,
    is_near_duplicate,
    near_misses,
    no_tool_drafts,
    product_of,
    query_name,
    tool_drafts,
    why_none,
    why_refused,
)
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.workflows.estimate import CHARACTERS_PER_TOKEN, writing_cost
from mcp_tef.workflows.model_writing import CappedWriter, capped_writer, is_same_for_all
from mcp_tef.workflows.models import Models
from mcp_tef.workflows.similarity import SimilarityAnalyses

AT_ONCE = 4
ANSWER_TOKENS = 1_200
_NO_KEYS: Mapping[str, Secret] = {}


@dataclass(frozen=True, slots=True)
class DraftingPlan:
    """The tools to draft cases for, each with its flagged look-alikes, and all tools of their servers."""

    wanted: tuple[tuple[Tool, tuple[Tool, ...]], ...]
    servers: Mapping[str, tuple[Tool, ...]]
    seed: int = 0

    def with_query(self, case: DraftedCase, query: str) -> tuple[DraftedCase, str]:
        """Return a draft with another query, expecting only the values that it states, and the rule that it breaks."""
        tools = self.servers.get(case.server, ())
        draft, call = replace(case.draft, query=query, name=query_name(query)), case.draft.expectation.first_call
        if call:
            stated = {name: value for name, value in (call.parameters or {}).items() if _is_stated(value, query)}
            expected = ((replace(call, parameters=stated or None),),)
            draft = replace(draft, expectation=replace(draft.expectation, alternatives=expected))
            tools = tuple(tool for tool in tools if tool.name in (case.tool, case.other))
        return replace(case, draft=draft), why_refused(query, tools) or ""

    def prompts(self) -> list[str]:
        """Return the prompt for each tool."""
        return [case_request(tool, others, self.seed) for tool, others in self.wanted]


class CaseDrafting:
    """Drafts cases that wait for a review; `Cases.add` stores those that are kept."""

    def __init__(
        self, similarity: SimilarityAnalyses, writer: Callable[[], Writer], models: Models, config: CurrentConfig
    ) -> None:
        self._similarity = similarity
        self._writer = writer
        self._models = models
        self._config = config

    async def plan(self, tool_set: ToolSet, *, tools: Sequence[str] = (), seed: int = 0) -> DraftingPlan:
        """Find the look-alikes of the named tools, of all if none is named; NotFoundError for a name that none has."""
        every = [one.tool for one in tool_set.tools]
        _require_known(tools, {tool.name for tool in every})
        alike = await self._look_alikes(tool_set)
        wanted = [place for place, tool in enumerate(every) if not tools or tool.name in tools]
        servers = defaultdict[str, tuple[Tool, ...]](tuple)
        for tool in every:
            servers[tool.server] += (tool,)
        chosen = tuple((every[place], tuple(every[at] for at in alike[place][:MOST_LOOK_ALIKES])) for place in wanted)
        return DraftingPlan(chosen, servers, seed)

    async def _look_alikes(self, tool_set: ToolSet) -> Mapping[int, list[int]]:
        """Return the flagged look-alikes of each tool, the most alike first."""
        alike = defaultdict[int, list[int]](list)
        if len(tool_set.tools) > 1:
            found = await self._similarity.analyse(tool_set)
            for a, b in await asyncio.to_thread(_flagged, found, self._config.config.flag_rule):
                alike[a].append(b)
                alike[b].append(a)
        return alike

    async def estimate(self, plan: DraftingPlan, model: ModelSettings) -> Estimate:
        """Estimate asking a model: one request per tool; the cost is None if the price is unknown."""
        prompts = await asyncio.to_thread(plan.prompts)
        tokens_in = sum(len(SYSTEM) + len(prompt) for prompt in prompts) // CHARACTERS_PER_TOKEN
        tokens_out = ANSWER_TOKENS * len(prompts)
        cost = writing_cost(await self._models.info(model), tokens_in, tokens_out)
        return Estimate(runs=len(prompts), tokens=tokens_in + tokens_out, cost_usd=cost, seconds=None)

    async def draft(
        self,
        plan: DraftingPlan,
        *,
        model: ModelSettings | None = None,
        keys: Mapping[str, Secret] = _NO_KEYS,
        max_cost_usd: float | None = None,
        progress: Progress | None = None,
    ) -> DraftedCases:
        """Return drafts for each tool and 10 requests for no tool per server; without a model, from definitions alone.

        What a model writes has to keep the same rules; it never writes the requests for no tool. `progress` hears the
        share of tools that a model has drafted for (0–1). InputError for a baseline and for a cap that allows no
        request, ModelError where a key is missing.
        """
        negatives = await asyncio.to_thread(_no_tool_drafts, plan)
        if model is None:
            found = await asyncio.to_thread(_offline, plan)
            return replace(found, drafts=(*found.drafts, *negatives))
        writer = await capped_writer(self._writer(), self._models, model, keys, max_cost_usd)
        prompts = await asyncio.to_thread(plan.prompts)
        writer.require_one([SYSTEM + prompt for prompt in prompts], "draft")
        author, slots, done = _CaseAuthor(writer), asyncio.Semaphore(AT_ONCE), count(1)

        async def ask(place: int) -> DraftedCases:
            async with slots:
                made = await author.draft(*plan.wanted[place], prompts[place])
            if progress:
                progress(next(done) / len(prompts))
            return made

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(place)) for place in range(len(prompts))]
        return _joined([task.result() for task in tasks], negatives)


MOST_LOOK_ALIKES = 3


def _joined(parts: Sequence[DraftedCases], negatives: Iterable[DraftedCase]) -> DraftedCases:
    """Return the drafts of all tools as one; the cost is None if that of any answer is unknown."""
    costs = [part.cost_usd for part in parts if part.tokens]
    known = [cost for cost in costs if cost is not None]
    return DraftedCases(
        (*chain.from_iterable(part.drafts for part in parts), *negatives),
        tuple(chain.from_iterable(part.refused for part in parts)),
        tuple(chain.from_iterable(part.failures for part in parts)),
        sum(part.tokens for part in parts),
        sum(known) if len(known) == len(costs) else None,
    )


def _require_known(named: Iterable[str], names: Collection[str]) -> None:
    for name in named:
        if name not in names:
            hint = did_you_mean(name, names, "Look at the tools of the server.")
            raise NotFoundError(f"There is no tool named {name}.", hint=hint)


def _flagged(found: Similarity, rule: FlagRule) -> list[tuple[int, int]]:
    return [(pair.a, pair.b) for pair in found.flagged(rule)]


def _offline(plan: DraftingPlan) -> DraftedCases:
    found: list[DraftedCase] = []
    left_out: list[tuple[str, str]] = []
    for tool, others in plan.wanted:
        product = product_of(tool, plan.servers[tool.server])
        made = tool_drafts(tool, plan.seed, product)
        found += chain(made, *(near_misses(tool, other, plan.seed, product) for other in others))
        left_out += [] if made else [(tool.name, why_none(tool))]
    return DraftedCases(tuple(found), left_out=tuple(left_out))


def _no_tool_drafts(plan: DraftingPlan) -> list[DraftedCase]:
    names = dict.fromkeys(tool.server for tool, _ in plan.wanted)
    return [one for name in names for one in no_tool_drafts(name, plan.servers[name], plan.seed)]


class _CaseAuthor:
    """Asks one model for requests. What would fail alike for every tool, such as a wrong key, is asked only once."""

    def __init__(self, writer: CappedWriter) -> None:
        self._writer = writer
        self._hopeless: FailureInfo | None = None

    async def draft(self, tool: Tool, others: Sequence[Tool], prompt: str) -> DraftedCases:
        """Return the requests that keep the rules, those refused, or why there is none."""
        if self._hopeless:
            return DraftedCases((), failures=((tool.name, self._hopeless),))
        try:
            written = await self._writer.write(SYSTEM, prompt)
        except (InputError, ModelError) as error:
            failure = FailureInfo(error.code, error.message, error.hint)
            self._hopeless = failure if is_same_for_all(error) else self._hopeless
            return DraftedCases((), failures=((tool.name, failure),))
        spent = partial(
            DraftedCases, tokens=(written.tokens_in or 0) + (written.tokens_out or 0), cost_usd=written.cost_usd
        )
        try:
            requests = read_case_requests(written.text)
        except CaseRequestError as error:
            message = f"{self._writer.model.label} wrote no usable requests for {tool.name}: it {error}."
            failure = FailureInfo("requests_unusable", message, "Ask again, select another model, or draft offline.")
            return spent((), failures=((tool.name, failure),))
        return spent(*checked_requests(requests, tool, others))


def checked_requests(
    requests: Sequence[WrittenRequest], tool: Tool, others: Sequence[Tool]
) -> tuple[tuple[DraftedCase, ...], tuple[RefusedDraft, ...]]:
    """Return the requests that keep the rules as drafts, and the others with the rule that they break.

    An argument is expected only if the request states its value.
    """
    kept: list[DraftedCase] = []
    refused: list[RefusedDraft] = []
    numbers = Counter[DraftKind]()
    for request in requests:
        reason = _why_refused(request, tool, others, [one.draft.query for one in kept])
        if reason:
            refused.append(RefusedDraft(request.query, reason))
            continue
        numbers[request.kind] += 1
        stated = {name: value for name, value in request.parameters.items() if _is_stated(value, request.query)}
        made = drafted(
            request.kind,
            tool,
            tool.server,
            request.query,
            family=f"{tool.name} {request.kind} {numbers[request.kind]} (generated)",
            expectation=expectation_of(tool, stated),
        )
        kept.append(replace(made, other=request.other))
    return tuple(kept), tuple(refused)


def _why_refused(request: WrittenRequest, tool: Tool, others: Sequence[Tool], kept: Sequence[str]) -> str | None:
    if request.kind is DraftKind.NEAR_MISS and request.other not in {other.name for other in others}:
        return "It names no look-alike that it was asked about."
    if is_near_duplicate(request.query, kept):
        return "It is nearly the same as another one."
    if problem := next(iter(argument_problems(tool, request.parameters)), None):
        return f"Its arguments do not fit the schema: {problem.sentence}"
    return why_refused(request.query, [tool, *others])


def _is_stated(value: Json, query: str) -> bool:
    """Return True if a text or number stands in a request, or every item of a list does; of a matcher, its text."""
    if isinstance(value, dict):
        return all(_is_stated(inner, query) for inner in value.values())
    if isinstance(value, list):
        return bool(value) and all(_is_stated(item, query) for item in value)
    return isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).lower() in query.lower()
