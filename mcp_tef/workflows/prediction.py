"""Predictions for a draft by rules and the offline baseline, and the cases that a trial of it is about."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from mcp_tef.model.drafts import name_of
from mcp_tef.model.prediction import Neighbour, Prediction, RankedCase, ScopeReason, ToolPrediction, TrialScope
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.similarity import ComparedTool, ToolSet
from mcp_tef.model.tools import OfferedTool, ToolLabel
from mcp_tef.ports import BaselineScores
from mcp_tef.scoring.lint.definition_size import definition_text
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import lint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mcp_tef.model.cases import ExpectedCall, TestCase
    from mcp_tef.model.drafts import Draft, ToolRevision
    from mcp_tef.model.ids import CaseId
    from mcp_tef.model.quality import LintFinding
    from mcp_tef.model.tools import Listing, Tool
    from mcp_tef.ports import BaselineScorer, CaseStore, RunStore, ServerStore, TokenCounter
    from mcp_tef.scoring.similarity.analysis import Similarity
    from mcp_tef.workflows.drafts import Drafts
    from mcp_tef.workflows.similarity import SimilarityAnalyses

NEAREST = 5
CLOSEST_SHARE = 0.1
FIRST_RANKS = 3
USUAL_GUARDS = 20
KEPT_ARMS = 4


@dataclass(frozen=True)
class _Scored:
    """Scores of the tools of an arm, and behind them those of other servers; below 0 where a case does not have it."""

    tools: tuple[Tool, ...]
    found: BaselineScores

    def places(self, calls: Iterable[ExpectedCall]) -> list[int]:
        """Return the places of the tools of some calls; a call that names no server may be of any."""
        found = (place for call in calls for place in self._named.get(call.tool, {}).get(call.server, ()))
        return list(dict.fromkeys(found))

    @cached_property
    def _named(self) -> Mapping[str, Mapping[str | None, list[int]]]:
        """Places by name and server, and by name and None for any server."""
        places: dict[str, dict[str | None, list[int]]] = {}
        for place, tool in enumerate(self.tools):
            for server in (tool.server, None):
                places.setdefault(tool.name, {}).setdefault(server, []).append(place)
        return places


@dataclass
class _Arm:
    """The tools of one arm, with all that a prediction needs and that does not change with the cases."""

    tools: tuple[Tool, ...]
    similarity: Similarity
    tokens: Mapping[str, int]
    scored: dict[tuple[str, ...], _Scored] = field(default_factory=dict)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Places of the tools by name."""
        return {tool.name: place for place, tool in enumerate(self.tools)}

    @cached_property
    def names(self) -> ListedNames:
        """Names of all tools, for the rules of lint that compare them."""
        return ListedNames(self.tools)

    def findings(self, name: str) -> tuple[LintFinding, ...]:
        """Return the findings of lint in one tool; none where it is not in this arm."""
        place = self.places.get(name)
        return () if place is None else lint(self.tools[place], self.tokens[name], self.names)

    def neighbours(self, name: str) -> tuple[Neighbour, ...]:
        """Return the five nearest tools of one tool that share anything with it, the most similar first."""
        place = self.places.get(name)
        if place is None or len(self.tools) < 2:
            return ()
        others = np.delete(np.arange(len(self.tools)), place)
        one = np.full_like(others, place)
        pairs = self.similarity.alone(np.minimum(one, others), np.maximum(one, others))
        found = [
            Neighbour(self.tools[other].name, pair.similarity, pair.confusability)
            for other, pair in zip(others.tolist(), pairs, strict=True)
            if pair.similarity > 0
        ]
        return tuple(sorted(found, key=lambda each: -each.similarity)[:NEAREST])


class Predictions:
    """Predicts effects of drafts. No model is asked; a newer prediction cancels an older one."""

    def __init__(
        self,
        drafts: Drafts,
        servers: ServerStore,
        cases: CaseStore,
        runs: RunStore,
        scorer: BaselineScorer,
        counter: TokenCounter,
        similarity: SimilarityAnalyses,
    ) -> None:
        self._drafts = drafts
        self._servers = servers
        self._cases = cases
        self._runs = runs
        self._scorer = scorer
        self._counter = counter
        self._similarity = similarity
        self._arms: dict[tuple[str, ...], _Arm] = {}
        self._tokens: dict[str, int] = {}
        self._current: asyncio.Task[Prediction | None] | None = None

    async def predict(self, draft: Draft) -> Prediction | None:
        """Predict the effects of a draft; None where a newer call came before this one was done."""
        if self._current is not None:
            self._current.cancel()
        self._current = task = asyncio.create_task(self._predict(draft))
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task is self._current or (caller and caller.cancelling()):
                raise
            return None

    async def _predict(self, draft: Draft) -> Prediction:
        cases = await self._cases_of(draft)
        before, after = await self._both(draft)
        tools = await asyncio.to_thread(lambda: tuple(_tool(each, before, after) for each in draft.revisions))
        return Prediction(
            tools=tools,
            set_tokens_before=sum(before.tokens.values()),
            set_tokens_after=sum(after.tokens.values()),
            cases=await self._ranked(draft, cases, before, after),
        )

    async def scope(
        self,
        draft: Draft,
        guards: int = USUAL_GUARDS,
        *,
        suites: Sequence[str] = (),
        seed: int = 0,
        among: Collection[CaseId] | None = None,
    ) -> TrialScope:
        """Return the cases that a draft affects, each with its reasons, and guards among the others.

        `seed` draws the guards. Where `among` is given, no other case counts.
        """
        cases = [case for case in await self._cases_of(draft, suites) if among is None or case.id in among]
        before, after = await self._both(draft)
        reasons = await self._reasons(draft, cases, before, after)
        affected, tightened = _tightened(reasons, len(cases))
        rest = [case for case in cases if case.id not in affected]
        return TrialScope(
            affected=affected, guards=_guards(rest, guards, seed), total=len(cases), tightened=tuple(tightened)
        )

    async def _cases_of(self, draft: Draft, suites: Sequence[str] = ()) -> list[TestCase]:
        """Return the cases of the draft's server; of a tools file all that expect one of its tools, or none."""
        cases = await self._cases.select(suites=suites)
        if draft.server is not None:
            return [case for case in cases if draft.server in case.draft.servers]
        names = {name_of(raw) for raw in (*draft.base, *draft.tools)}
        return [case for case in cases if not (found := case.draft.expectation.tool_names) or found & names]

    async def _both(self, draft: Draft) -> tuple[_Arm, _Arm]:
        original, changed = await self._drafts.arms(draft)
        return await self._arm(original), await self._arm(changed)

    async def _arm(self, listings: Sequence[Listing]) -> _Arm:
        tools = tuple(tool for listing in listings for tool in listing.tools)
        key = tuple(tool.fingerprint for tool in tools)
        arm = self._arms.pop(key, None) or await self._new_arm(tools)
        self._arms[key] = arm
        while len(self._arms) > KEPT_ARMS:
            self._arms.pop(next(iter(self._arms)))
        return arm

    async def _new_arm(self, tools: tuple[Tool, ...]) -> _Arm:
        compared = tuple(ComparedTool(str(place), tool) for place, tool in enumerate(tools))
        tokens = await asyncio.to_thread(self._count_tokens, tools)
        similarity = await self._similarity.analyse(ToolSet(tools=compared), full=False)
        return _Arm(tools, similarity, tokens)

    def _count_tokens(self, tools: Sequence[Tool]) -> Mapping[str, int]:
        """Count the tokens of each tool by name; definitions that were counted before are looked up."""
        new = {tool.fingerprint: definition_text(tool) for tool in tools if tool.fingerprint not in self._tokens}
        self._tokens |= dict(zip(new, self._counter.count(list(new.values())), strict=True))
        return {tool.name: self._tokens[tool.fingerprint] for tool in tools}

    async def _scores(self, draft: Draft, arm: _Arm, cases: Sequence[TestCase]) -> _Scored:
        others = await self._others(draft, cases)
        tools = [("", tool) for tool in arm.tools]
        tools += [(name, tool) for name, listed in others.items() for tool in listed]
        asked = (f"{case.draft.query}\n{case.draft.servers}" for case in cases)
        key = (*asked, *(tool.fingerprint for _, tool in tools[len(arm.tools) :]))
        if key not in arm.scored:
            arm.scored = {key: await self._scored(tools, cases)}
        return arm.scored[key]

    async def _scored(self, tools: Sequence[tuple[str, Tool]], cases: Sequence[TestCase]) -> _Scored:
        """Score the tools that each case is offered: those of the draft's server (""), and of its other servers."""
        scores = np.full((len(cases), len(tools)), -1, dtype=np.float32)
        picked = np.zeros(len(cases), dtype=np.bool_)
        queries = tuple(case.draft.query for case in cases)
        for names, rows in _by_servers(cases, dict.fromkeys(name for name, _ in tools)).items():
            columns = [place for place, (name, _) in enumerate(tools) if name in ("", *names)]
            offered = tuple(OfferedTool(str(place), tools[place][1]) for place in columns)
            found = await self._scorer.scores([queries[row] for row in rows], offered)
            scores[np.ix_(rows, columns)], picked[rows] = found.scores, found.picked
        return _Scored(tuple(tool for _, tool in tools), BaselineScores(queries, scores, picked))

    async def _others(self, draft: Draft, cases: Sequence[TestCase]) -> dict[str, tuple[Tool, ...]]:
        """Return the last listings of the cases' other servers; a draft of a tools file stands for all of them."""
        if draft.server is None:
            return {}
        names = dict.fromkeys(name for case in cases for name in case.draft.servers if name != draft.server)
        found = {server.name: server.id for server in await self._servers.all()} if names else {}
        listings = {name: await self._servers.listing(found[name]) for name in names if name in found}
        return {name: listing.tools for name, listing in listings.items() if listing}

    async def _ranked(
        self, draft: Draft, cases: Sequence[TestCase], before: _Arm, after: _Arm
    ) -> tuple[RankedCase, ...]:
        if not cases or not before.tools or not after.tools:
            return ()
        ranks = [_ranks(await self._scores(draft, arm, cases), cases) for arm in (before, after)]
        return tuple(
            RankedCase(
                case_id=case.id, rank_before=old[0], rank_after=new[0], passed_before=old[1], passed_after=new[1]
            )
            for case, old, new in zip(cases, *ranks, strict=True)
        )

    async def _reasons(
        self, draft: Draft, cases: Sequence[TestCase], before: _Arm, after: _Arm
    ) -> dict[CaseId, set[ScopeReason]]:
        reasons: defaultdict[CaseId, set[ScopeReason]] = defaultdict(set)
        changed = _changed_names(draft)
        near = await asyncio.to_thread(_near, changed, (before, after))
        selecting = await self._selecting(draft, changed)
        first = [
            await self._ranking_first(draft, arm, cases, changed) for arm in (before, after) if arm.tools and cases
        ]
        for case in cases:
            expected = _expected(case, draft)
            holds = {
                ScopeReason.EXPECTS_CHANGED: bool(expected & changed),
                ScopeReason.SELECTED_CHANGED: case.id in selecting,
                ScopeReason.NEAR_CHANGED: bool(expected & near),
                ScopeReason.RANKS_CHANGED: any(case.id in ids for ids in first),
            }
            found = {reason for reason, held in holds.items() if held}
            if found:
                reasons[case.id] = found
        return reasons

    async def _selecting(self, draft: Draft, changed: set[str]) -> set[CaseId]:
        """Return the cases whose stored runs ever selected a changed tool."""
        found: set[CaseId] = set()
        for name in changed:
            wanted = RunFilter(selected=ToolLabel(tool=name, server=draft.server))
            found |= {run.case_id for run in await self._runs.runs(wanted)}
        return found

    async def _ranking_first(
        self, draft: Draft, arm: _Arm, cases: Sequence[TestCase], changed: set[str]
    ) -> set[CaseId]:
        places = {arm.places[name] for name in changed & arm.places.keys()}
        scores = (await self._scores(draft, arm, cases)).found.scores
        first = np.argsort(-scores, axis=1, kind="stable")[:, :FIRST_RANKS]
        return {case.id for case, row in zip(cases, first.tolist(), strict=True) if places & set(row)}


def _changed_names(draft: Draft) -> set[str]:
    """Return the names of the tools that a draft changes, before and after."""
    raws = (raw for one in draft.revisions for raw in (one.before, one.after))
    return {name_of(raw or {}) for raw in raws} - {""}


def _expected(case: TestCase, draft: Draft) -> set[str]:
    """Return the names of the expected tools of the draft's server; a call that names no server may be any."""
    calls = [call for calls in case.draft.expectation.alternatives for call in calls]
    return {call.tool for call in calls if None in (call.server, draft.server) or call.server == draft.server}


def _by_servers(cases: Sequence[TestCase], others: Iterable[str]) -> Mapping[tuple[str, ...], list[int]]:
    """Return the places of the cases by which of the other servers they have."""
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, case in enumerate(cases):
        groups[tuple(name for name in others if name in case.draft.servers)].append(row)
    return groups


def _tool(revision: ToolRevision, before: _Arm, after: _Arm) -> ToolPrediction:
    old, new = name_of(revision.before or {}), name_of(revision.after or {})
    was, now = before.findings(old), after.findings(new)
    known = {(one.rule.id, one.place) for one in was}
    left = {(one.rule.id, one.place) for one in now}
    return ToolPrediction(
        name=revision.name,
        findings_gone=tuple(one for one in was if (one.rule.id, one.place) not in left),
        findings_new=tuple(one for one in now if (one.rule.id, one.place) not in known),
        tokens_before=before.tokens.get(old, 0),
        tokens_after=after.tokens.get(new, 0),
        neighbours_before=before.neighbours(old),
        neighbours_after=after.neighbours(new),
    )


def _ranks(scored: _Scored, cases: Sequence[TestCase]) -> list[tuple[int | None, bool]]:
    """Return the rank of the expected tool, and if the baseline would select just what is expected, for each case."""
    ranks: list[tuple[int | None, bool]] = []
    for case, row, picked in zip(cases, scored.found.scores, scored.found.picked.tolist(), strict=True):
        alternatives = case.draft.expectation.alternatives
        places = [place for place in scored.places(call for calls in alternatives for call in calls) if row[place] >= 0]
        best = int(np.argmax(row))
        passed = any(_passes(scored, best if picked else None, calls) for calls in alternatives)
        ranks.append((_rank(row, places) if places else None, passed))
    return ranks


def _passes(scored: _Scored, selected: int | None, calls: Sequence[ExpectedCall]) -> bool:
    """Return True if the selected tool, or none, is one of the acceptable answers."""
    return not calls if selected is None else len(calls) == 1 and selected in scored.places(calls)


def _rank(scores: NDArray[np.float32], places: Sequence[int]) -> int:
    """Return the rank (from 1) of the best of some places; of equal scores the first place is ahead."""
    best = max(places, key=lambda place: (scores[place], -place))
    return 1 + int(np.count_nonzero(scores > scores[best]) + np.count_nonzero(scores[:best] == scores[best]))


def _near(changed: set[str], arms: Sequence[_Arm]) -> set[str]:
    """Return the tools among the five nearest of a changed one that are in the closest tenth of all pairs."""
    found: set[str] = set()
    for arm in arms:
        if len(arm.tools) < 2:
            continue
        for name in changed:
            nearest = arm.neighbours(name)
            ranks = arm.similarity.percentiles(np.array([one.similarity for one in nearest], dtype=np.float32))
            found |= {one.tool for one, rank in zip(nearest, ranks, strict=True) if rank >= 1 - CLOSEST_SHARE}
    return found - changed


def _tightened(
    reasons: Mapping[CaseId, set[ScopeReason]], total: int
) -> tuple[dict[CaseId, tuple[ScopeReason, ...]], list[ScopeReason]]:
    """Leave out reasons, the weakest first, while more than half of all cases would be affected."""
    allowed = list(ScopeReason)
    tightened: list[ScopeReason] = []
    while True:
        affected = {
            case: kept for case, found in reasons.items() if (kept := tuple(one for one in allowed if one in found))
        }
        if 2 * len(affected) <= total or len(allowed) == 1:
            return affected, tightened
        tightened.append(allowed.pop())


def _guards(cases: Sequence[TestCase], wanted: int, seed: int) -> tuple[CaseId, ...]:
    """Return a sample in turns over the expected tools, so that each other tool has one where the number allows."""
    random = Random(seed)  # noqa: S311  # a sample that is the same every time, not a secret
    strata: defaultdict[str, list[CaseId]] = defaultdict(list)
    for case in cases:
        strata[min(case.draft.expectation.tool_names, default="")].append(case.id)
    queues = [strata[name] for name in sorted(strata)]
    for queue in queues:
        random.shuffle(queue)
    random.shuffle(queues)
    chosen: list[CaseId] = []
    while len(chosen) < wanted and any(queues):
        chosen += [queue.pop() for queue in queues if queue][: wanted - len(chosen)]
    return tuple(chosen)
