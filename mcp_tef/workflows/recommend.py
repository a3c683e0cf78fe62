"""Effect of a new description on test cases, by the built-in baseline: offline, and the same every time."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.model.cases import ExpectedCall, TestCase
from mcp_tef.model.runs import Estimate, FailureInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import CaseEffect, DifferentiationIssue, IssueType, PairAdvice, Recommendation
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.ports import CaseStore, Question, Selector, Writer, Written
from mcp_tef.prompts.templates import rewrite_text
from mcp_tef.prompts.writing_prompts import REWRITE_PROMPT
from mcp_tef.scoring.differentiation.descriptions import drafts
from mcp_tef.scoring.differentiation.patches import DraftOutcome, RecommendationWriter
from mcp_tef.scoring.differentiation.tool_pair import PairedTool, PairedTools, copies, issues, sides
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.workflows.estimate import CHARACTERS_PER_TOKEN, writing_cost
from mcp_tef.workflows.evaluate import Sleep
from mcp_tef.workflows.model_writing import DescriptionAuthor, RewriteAttempt, capped_writer
from mcp_tef.workflows.models import Models

MOST_CASES = 50
MOST_TOOLS = 200


class CaseEffects:
    """Asks the baseline the cases of a tool and its look-alikes, with the old description and with a new one."""

    def __init__(self, baseline: Selector, cases: Sequence[TestCase], tools: Sequence[Tool]) -> None:
        self._baseline = baseline
        self._cases = [case for case in cases if case.draft.expectation.first_call and not case.draft.before]
        self._tools = tools

    async def of(self, tool: Tool, others: Sequence[Tool], description: str) -> CaseEffect | None:
        """Return how many of at most 50 cases are right before and after; None where no case expects these tools.

        Offered are at most 200 tools of their servers, these first.
        """
        concerned = (tool, *others)
        cases = [case for case in self._cases if any(_expects(case, each) for each in concerned)][:MOST_CASES]
        if not cases:
            return None
        servers = {each.server for each in concerned}
        rest = [each for each in self._tools if each.server in servers and each not in concerned]
        offered = [*concerned, *rest][:MOST_TOOLS]
        changed = [replace(tool, description=description), *offered[1:]]
        return CaseEffect(len(cases), await self._count(cases, offered), await self._count(cases, changed))

    async def _count(self, cases: Iterable[TestCase], tools: Sequence[Tool]) -> int:
        offered = tuple(OfferedTool(str(place), tool) for place, tool in enumerate(tools))
        return sum([await self._is_right(case, offered) for case in cases])

    async def _is_right(self, case: TestCase, offered: tuple[OfferedTool, ...]) -> bool:
        answer = await self._baseline.select(Question(case.draft.query, offered, ModelSettings()))
        wanted = [call for calls in case.draft.expectation.alternatives for call in calls]
        return any(_is_meant(one, call.tool, call.server) for call in answer.calls or () for one in wanted)


def _expects(case: TestCase, tool: Tool) -> bool:
    first, servers = case.draft.expectation.first_call, case.draft.servers
    return first is not None and _is_meant(first, tool.name, tool.server) and (not servers or tool.server in servers)


def _is_meant(expected: ExpectedCall, tool: str, server: str | None) -> bool:
    return expected.tool == tool and expected.server in (None, server)


AT_ONCE = 4
MOST_RIVALS = 3
ANSWER_TOKENS = 300
_NO_KEYS: Mapping[str, Secret] = {}

Heard: TypeAlias = Callable[[PairAdvice], None]


class Recommendations:
    """Finds what is wrong between tools and what to do about it. Nothing of this is stored."""

    def __init__(
        self,
        writer: Writer,
        models: Models,
        cases: CaseStore,
        baseline: Selector,
        confused: Callable[[Similarity], Awaitable[Collection[frozenset[str]]]],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._writer = writer
        self._models = models
        self._cases = cases
        self._baseline = baseline
        self._confused = confused
        self._sleep = sleep

    async def pairs(
        self,
        similarity: Similarity,
        pairs: Sequence[tuple[int, int]],
        *,
        model: ModelSettings | None = None,
        keys: Mapping[str, Secret] = _NO_KEYS,
        max_cost_usd: float | None = None,
        heard: Heard | None = None,
    ) -> tuple[PairAdvice, ...]:
        """Return advice on each pair, in the order asked for; `heard` gets each as it is done.

        A tool gets one new description for all pairs, so that the patches of a whole selection apply together; in
        each advice, the one with which the baseline wins most cases comes first. With a model, a text that it wrote
        takes the place of the draft; what the model fails at is the advice's `failure`.
        Raises InputError for places that are none, for the built-in baseline and for a cost cap that allows no request,
        ModelError where a key is missing.
        """
        _check(pairs, len(similarity))
        selection = await asyncio.to_thread(_Selection, similarity, pairs, await self._confused(similarity))
        author = None
        if model:
            writer = await capped_writer(self._writer, self._models, model, keys, max_cost_usd)
            writer.require_one(selection.prompts(model), "rewrite")
            author = DescriptionAuthor(writer, self._sleep)
        tools = [compared.tool for compared in similarity.tools]
        job = _Job(selection, CaseEffects(self._baseline, await self._cases.all(), tools), author)
        return await _told(job, pairs, heard or _nobody)

    async def estimate(
        self, similarity: Similarity, pairs: Sequence[tuple[int, int]], model: ModelSettings
    ) -> Estimate:
        """Estimate asking a model about these pairs: one request per tool; the cost is None if the price is unknown."""
        _check(pairs, len(similarity))
        prompts = (await asyncio.to_thread(_Selection, similarity, pairs)).prompts(model)
        tokens_in = sum(len(prompt) for prompt in prompts) // CHARACTERS_PER_TOKEN
        tokens_out = ANSWER_TOKENS * len(prompts)
        cost = writing_cost(await self._models.info(model), tokens_in, tokens_out)
        return Estimate(runs=len(prompts), tokens=tokens_in + tokens_out, cost_usd=cost, seconds=None)


def _check(pairs: Sequence[tuple[int, int]], count: int) -> None:
    for a, b in pairs:
        if a == b or not (0 <= a < count and 0 <= b < count):
            raise InputError(
                f"There is no pair of the tools {a} and {b} in this analysis.",
                hint=f"Name two different places from 0 to {count - 1}.",
            )


def _nobody(_advice: PairAdvice) -> None:
    """Ignore the progress."""


def _scope_of(found: Sequence[DifferentiationIssue]) -> DifferentiationIssue:
    return next((issue for issue in found if issue.type is IssueType.SCOPE_CLARITY), found[0])


class _Selection:
    """The pairs that advice is asked for, and the look-alikes of each tool in them, the most confusable first."""

    def __init__(
        self,
        similarity: Similarity,
        pairs: Sequence[tuple[int, int]],
        confused: Collection[frozenset[str]] = (),
    ) -> None:
        self.desk = RecommendationWriter(similarity.tools)
        self._similarity = similarity
        self._confused = confused
        self._tools = {at: self.desk.paired(similarity.tools[at]) for at in {place for pair in pairs for place in pair}}
        self.found: dict[tuple[int, int], tuple[PairedTools, tuple[DifferentiationIssue, ...]]] = {}
        rivals: dict[str, list[tuple[float, PairedTool, DifferentiationIssue]]] = defaultdict(list)
        for a, b in dict.fromkeys((min(pair), max(pair)) for pair in pairs):
            pair, found = self._compared(a, b)
            for side, other in pair.both() if found and not copies(pair) else ():
                rivals[side.id].append((pair.confusability, other, _scope_of(found)))
        self.rivals = {
            key: sorted(each, key=lambda rival: (-rival[0], rival[1].id))[:MOST_RIVALS] for key, each in rivals.items()
        }

    def _compared(self, a: int, b: int) -> tuple[PairedTools, tuple[DifferentiationIssue, ...]]:
        scores = self._similarity.pair(a, b)
        pair = sides(self._tools[a], self._tools[b], scores.similarity, scores.confusability)
        self.found[a, b] = self.found[b, a] = pair, issues(pair)
        return self.found[a, b]

    def prompts(self, model: ModelSettings) -> list[str]:
        """Return the prompts of the requests for these pairs: one for each tool that has a look-alike."""
        asked = [(tool, self.others(tool)) for tool in self._tools.values() if self.others(tool)]
        return [
            REWRITE_PROMPT.system + rewrite_text(model, tool.tool, [other.tool for other in others])
            for tool, others in asked
        ]

    def confused(self, tool: PairedTool) -> frozenset[str]:
        """Return the ids of those that runs confused a tool with."""
        return frozenset(other.id for other in self.others(tool) if {tool.id, other.id} in self._confused)

    def others(self, tool: PairedTool) -> list[PairedTool]:
        """Return the tools that a new description has to tell it from."""
        return [other for _, other, _ in self.rivals.get(tool.id, ())]


async def _told(job: "_Job", pairs: Sequence[tuple[int, int]], heard: Heard) -> tuple[PairAdvice, ...]:
    async def tell(a: int, b: int) -> PairAdvice:
        advice = await job.advise(a, b)
        heard(advice)
        return advice

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(tell(a, b)) for a, b in pairs]
    return tuple(task.result() for task in tasks)


@dataclass(frozen=True, slots=True)
class _ToolAdvice:
    """The recommendation for one tool, if there is one, and what the asked model made of it."""

    recommendation: Recommendation | None = None
    failure: FailureInfo | None = None
    written: Written | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    """One request for advice: its selection, and what is needed to advise on its tools, each of them once."""

    selection: _Selection
    effects: CaseEffects
    author: DescriptionAuthor | None
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    locks: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    made: dict[str, _ToolAdvice] = field(default_factory=dict)

    async def advise(self, a: int, b: int) -> PairAdvice:
        """Return issues, recommendations, and what the model made of them."""
        pair, found = self.selection.found[a, b]
        told, paid = [], []
        for side, _ in pair.both():
            async with self.locks[side.id]:
                if side.id not in self.made:
                    async with self.slots:
                        self.made[side.id] = await self._advise_on(side)
                    paid.append(self.made[side.id].written)  # what a tool costs is counted for its first pair only
                told.append(self.made[side.id])
        made = [each.recommendation for each in told if each.recommendation]
        written = [each for each in paid if each]
        return PairAdvice(
            a=pair.a.id,
            b=pair.b.id,
            similarity=pair.similarity,
            issues=found,
            recommendations=tuple(sorted(made, key=lambda each: -_gain(each.cases))),
            failure=next((each.failure for each in told if each.failure), None),
            tokens=_sum([count for each in written for count in (each.tokens_in, each.tokens_out)]),
            cost_usd=_total([each.cost_usd for each in written]),
        )

    async def _advise_on(self, side: PairedTool) -> _ToolAdvice:
        others = self.selection.others(side)
        if not others:
            return _ToolAdvice()
        attempt = await self.author.rewrite(side, others) if self.author else RewriteAttempt()
        if attempt.outcome:
            outcomes = [attempt.outcome]
        else:
            texts = await asyncio.to_thread(drafts, side, others, self.selection.confused(side))
            outcomes = [DraftOutcome(description=each.text, named=each.named) for each in texts]
        measured = [await self._measured(side, outcome) for outcome in outcomes]
        best = max(measured, key=lambda each: _gain(each.cases), default=None)
        made = self._recommended(side, best) if best else None
        return _ToolAdvice(made, attempt.failure, attempt.written)

    async def _measured(self, side: PairedTool, outcome: DraftOutcome) -> DraftOutcome:
        others = [other.tool for other in self.selection.others(side)]
        return replace(outcome, cases=await self.effects.of(side.tool, others, outcome.description))

    def _recommended(self, side: PairedTool, outcome: DraftOutcome) -> Recommendation | None:
        """Return the recommendation; None where its patch would not apply to the server's document."""
        made = self.selection.desk.recommendation(side, self.selection.rivals[side.id][0][2], outcome)
        return made if made.patch else None


def _gain(effect: CaseEffect | None) -> int:
    return effect.gain if effect else 0


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _total(costs: Sequence[float | None]) -> float | None:
    """Return the sum; None where any is unknown, since a part of a cost is no cost."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
