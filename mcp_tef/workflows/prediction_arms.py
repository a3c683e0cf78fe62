"""Arms of predictions: tools of a listing or a draft with their similarity, tokens, findings and baseline scores."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from mcp_tef.model.prediction import Neighbour
from mcp_tef.model.similarity import ComparedTool, ToolSet
from mcp_tef.model.tools import OfferedTool
from mcp_tef.ports import BaselineScores
from mcp_tef.scoring.lint.definition_size import definition_text
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import lint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mcp_tef.model.cases import ExpectedCall, TestCase
    from mcp_tef.model.quality import LintFinding
    from mcp_tef.model.tools import Listing, Tool
    from mcp_tef.ports import BaselineScorer, TokenCounter
    from mcp_tef.scoring.similarity.analysis import Similarity
    from mcp_tef.workflows.similarity import SimilarityAnalyses

NEAREST = 5
KEPT_ARMS = 4
KEPT_TOOLS = 20_000
Others = Mapping[str, tuple["Tool", ...]]
"""Tools of the other servers of cases, by server."""


@dataclass(frozen=True)
class ScoredTools:
    """Scores of the tools of an arm, and behind them those of other servers; below 0 where a case does not have it."""

    tools: tuple[Tool, ...]
    found: BaselineScores

    def places(self, calls: Iterable[ExpectedCall]) -> list[int]:
        """Return the places of the tools of some calls; a call that names no server may be of any."""
        found = (place for call in calls for place in self._named.get(call.tool, ()) if self._is_of(call, place))
        return list(dict.fromkeys(found))

    def _is_of(self, call: ExpectedCall, place: int) -> bool:
        return call.server is None or call.server == self.tools[place].server

    @cached_property
    def _named(self) -> Mapping[str, Sequence[int]]:
        """Places by name."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, tool in enumerate(self.tools):
            places[tool.name].append(place)
        return places


@dataclass
class PredictionArm:
    """The tools of one arm, with all that a prediction needs and that does not change with the cases."""

    tools: tuple[Tool, ...]
    similarity: Similarity
    tokens: Mapping[str, int]
    scored: dict[tuple[object, ...], ScoredTools] = field(default_factory=dict)
    ranks: tuple[ScoredTools, Sequence[TestCase], Sequence[tuple[int | None, bool]]] | None = None
    _nearest: dict[int, tuple[Neighbour, ...]] = field(default_factory=dict)

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
        if place is None:
            return ()
        if place not in self._nearest:
            found = self.similarity.nearest(place, NEAREST)
            self._nearest[place] = tuple(Neighbour(self.tools[other].name, *scores) for other, *scores in found)
        return self._nearest[place]


class PredictionArms:
    """Makes arms, and keeps the last ones: of tools that did not change nothing is worked out again."""

    def __init__(self, scorer: BaselineScorer, counter: TokenCounter, similarity: SimilarityAnalyses) -> None:
        self._scorer = scorer
        self._counter = counter
        self._similarity = similarity
        self._arms: dict[tuple[str, ...], PredictionArm] = {}
        self._tokens: dict[str, int] = {}
        self._fingerprints: dict[int, tuple[Tool, str]] = {}

    async def of(self, listings: Sequence[Listing]) -> PredictionArm:
        """Return the arm of these tools."""
        tools = tuple(tool for listing in listings for tool in listing.tools)
        key = tuple(map(self._fingerprint, tools))
        arm = self._arms.pop(key, None) or await self._new(tools, key)
        self._arms[key] = arm
        while len(self._arms) > KEPT_ARMS:
            self._arms.pop(next(iter(self._arms)))
        return arm

    def _fingerprint(self, tool: Tool) -> str:
        """Return the fingerprint of a tool; of an unchanged tool, which is the same object, it is known."""
        known = self._fingerprints.get(id(tool))
        if known is not None and known[0] is tool:
            return known[1]
        if len(self._fingerprints) >= KEPT_TOOLS:
            self._fingerprints.clear()
        self._fingerprints[id(tool)] = tool, tool.fingerprint
        return self._fingerprints[id(tool)][1]

    async def _new(self, tools: tuple[Tool, ...], fingerprints: Sequence[str]) -> PredictionArm:
        compared = tuple(ComparedTool(str(place), tool) for place, tool in enumerate(tools))
        tokens = await asyncio.to_thread(self._count_tokens, tools, fingerprints)
        similarity = await self._similarity.analyse(ToolSet(tools=compared), full=False, square=False)
        return PredictionArm(tools, similarity, tokens)

    def _count_tokens(self, tools: Sequence[Tool], fingerprints: Sequence[str]) -> Mapping[str, int]:
        """Count the tokens of each tool by name; definitions that were counted before are looked up."""
        pairs = list(zip(fingerprints, tools, strict=True))
        new = {one: definition_text(tool) for one, tool in pairs if one not in self._tokens}
        self._tokens |= dict(zip(new, self._counter.count(list(new.values())), strict=True))
        return {tool.name: self._tokens[one] for one, tool in pairs}

    async def text_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the tokens of texts that are no tools, such as the instructions of a server."""
        return await asyncio.to_thread(self._counter.count, list(texts))

    async def scores(self, arm: PredictionArm, cases: Sequence[TestCase], others: Others) -> ScoredTools:
        """Return the scores of the baseline for cases, which are offered tools of other servers too."""
        tools = [("", tool) for tool in arm.tools]
        tools += [(name, tool) for name, listed in others.items() for tool in listed]
        asked = ((case.draft.query, case.draft.servers) for case in cases)
        key = (*asked, *(self._fingerprint(tool) for _, tool in tools[len(arm.tools) :]))
        if key not in arm.scored:
            arm.scored = {key: await self._scored(tools, cases)}
        return arm.scored[key]

    async def _scored(self, tools: Sequence[tuple[str, Tool]], cases: Sequence[TestCase]) -> ScoredTools:
        """Score the tools that each case is offered: those of the draft's server (""), and of its other servers."""
        scores = np.full((len(cases), len(tools)), -1, dtype=np.float32)
        picked = np.zeros(len(cases), dtype=np.bool_)
        queries = tuple(case.draft.query for case in cases)
        for names, rows in _by_servers(cases, dict.fromkeys(name for name, _ in tools)).items():
            columns = [place for place, (name, _) in enumerate(tools) if name in ("", *names)]
            offered = tuple(OfferedTool(str(place), tools[place][1]) for place in columns)
            found = await self._scorer.scores([queries[row] for row in rows], offered)
            scores[np.ix_(rows, columns)], picked[rows] = found.scores, found.picked
        return ScoredTools(tuple(tool for _, tool in tools), BaselineScores(queries, scores, picked))


def _by_servers(cases: Sequence[TestCase], others: Iterable[str]) -> Mapping[tuple[str, ...], list[int]]:
    """Return the places of the cases by which of the other servers they have."""
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, case in enumerate(cases):
        groups[tuple(name for name in others if name in case.draft.servers)].append(row)
    return groups


def ranked(scored: ScoredTools, cases: Sequence[TestCase]) -> list[tuple[int | None, bool]]:
    """Return the rank of the expected tool, and if the baseline would select just what is expected, for each case."""
    scores = scored.found.scores
    firsts = zip(np.argmax(scores, axis=1).tolist(), scored.found.picked.tolist(), strict=True)
    passes = [
        _passes_case(scored, case, first if picked else None)
        for case, (first, picked) in zip(cases, firsts, strict=True)
    ]
    best = [_best_place(scored, case, row) for case, row in zip(cases, scores, strict=True)]
    ranks = _ranks(scores, np.array(best, dtype=np.intp))
    return [(rank if place >= 0 else None, passed) for rank, place, passed in zip(ranks, best, passes, strict=True)]


def _best_place(scored: ScoredTools, case: TestCase, row: NDArray[np.float32]) -> int:
    """Return the place of the expected tool that scores best, the first of equals; −1 where none is offered."""
    expected = scored.places(chain.from_iterable(case.draft.expectation.alternatives))
    return max((place for place in expected if row[place] >= 0), key=lambda place: (row[place], -place), default=-1)


def _passes_case(scored: ScoredTools, case: TestCase, selected: int | None) -> bool:
    return any(_passes(scored, selected, calls) for calls in case.draft.expectation.alternatives)


def _passes(scored: ScoredTools, selected: int | None, calls: Sequence[ExpectedCall]) -> bool:
    """Return True if the selected tool, or none, is one of the acceptable answers."""
    return not calls if selected is None else len(calls) == 1 and selected in scored.places(calls)


def _ranks(scores: NDArray[np.float32], places: NDArray[np.intp]) -> list[int]:
    """Return the rank (from 1) of one place in each row; of equal scores the first place is ahead."""
    own = np.take_along_axis(scores, places[:, None], axis=1)
    ahead = np.arange(scores.shape[1]) < places[:, None]
    ranks: list[int] = (1 + np.count_nonzero(np.where(ahead, scores >= own, scores > own), axis=1)).tolist()
    return ranks
