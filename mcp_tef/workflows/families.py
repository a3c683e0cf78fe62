"""Proposed families: cases with near-paraphrases as queries, which statistics should count as one."""

import asyncio
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import NotFoundError
from mcp_tef.model.cases import TestCase
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.similarity import EmbedderKind
from mcp_tef.ports import Embedders, Store

LEAST_WORDS, LEAST_MEANING = 0.4, 0.75
"""Least cosine of near-paraphrases with the same expected tools, read off 3,030 such pairs of BFCL queries."""


@dataclass(frozen=True, slots=True)
class FamilyProposal:
    """A family, new or in use already, and the cases without a family that would join it."""

    name: str
    cases: tuple[TestCase, ...]


class Families:
    """Proposals of families; nothing is stored. `Cases.edit_all` stores what the user confirms."""

    def __init__(self, store: Store, embedders: Embedders) -> None:
        self._store = store
        self._embedders = embedders

    async def propose(self, *, suites: Sequence[str] = (), tags: Sequence[str] = ()) -> tuple[FamilyProposal, ...]:
        """Return proposals for the cases in one of the suites or with one of the tags, by the best embedder here."""
        cases = await self._store.cases.select(suites=suites, tags=tags)
        if len(cases) < 2:
            return ()
        embedder = await self._embedders.best()
        vectors = await embedder.embed([case.draft.query for case in cases])
        least = LEAST_WORDS if embedder.name == EmbedderKind.TFIDF else LEAST_MEANING
        used = {case.draft.family for case in await self._store.cases.select()}
        return tuple(await asyncio.to_thread(lambda: list(_proposals(cases, vectors, least, used))))

    @staticmethod
    def named(names: Sequence[str], proposals: Sequence[FamilyProposal]) -> tuple[FamilyProposal, ...]:
        """Return the proposals with these names, all where no name is given; NotFoundError for any other name."""
        known = {proposal.name: proposal for proposal in proposals}
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known, "List them with: mcp-tef cases families")
                raise NotFoundError(f"No family named {name} is proposed.", hint=hint)
        return tuple(known[name] for name in names or known)


def _proposals(
    cases: Sequence[TestCase], vectors: NDArray[np.float32], least: float, used: set[str]
) -> Iterator[FamilyProposal]:
    """Yield a proposal for each group with a case to add, but not for groups that hold two families already."""
    for group in _groups(cases, vectors, least):
        members = [cases[place] for place in group]
        families = {case.draft.family for case in members if case.draft.family}
        new = tuple(case for case in members if not case.draft.family)
        if new and len(families) < 2:
            name = families.pop() if families else _unused(members[0].name, used)
            used.add(name)
            yield FamilyProposal(name, new)


def _groups(cases: Sequence[TestCase], vectors: NDArray[np.float32], least: float) -> Iterator[list[int]]:
    """Yield groups of cases that expect the same tools, and of which all pairs reach the least cosine."""
    alike: defaultdict[Hashable, list[list[int]]] = defaultdict(list)
    for place, case in enumerate(cases):
        groups = alike[_expected(case)]
        fitting = (group for group in groups if float((vectors[group] @ vectors[place]).min()) >= least)
        group = next(fitting, None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    for groups in alike.values():
        yield from (group for group in groups if len(group) > 1)


def _expected(case: TestCase) -> Hashable:
    calls = (call for answer in case.draft.expectation.alternatives for call in answer)
    return frozenset(case.draft.servers), frozenset((call.server, call.tool) for call in calls)


def _unused(name: str, used: set[str]) -> str:
    number = 1
    while (free := name if number == 1 else f"{name} ({number})") in used:
        number += 1
    return free
