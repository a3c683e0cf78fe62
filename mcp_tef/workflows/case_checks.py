"""Checks of test cases: expectations that are probably wrong, duplicates, and queries that name the tool.

Near-paraphrases are proposed as families, which statistics count as one.
"""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall, TestCase
from mcp_tef.model.drafted_cases import CaseAction, CaseDoubt, CaseFinding
from mcp_tef.model.ids import CaseId
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import RunStatus, RunSummary, is_baseline
from mcp_tef.model.search import did_you_mean, nearest
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.similarity import EmbedderKind
from mcp_tef.model.tools import Listing
from mcp_tef.ports import Embedders, Store
from mcp_tef.scoring.case_drafting.offline_drafts import names_tool
from mcp_tef.scoring.differentiation.text_terms import plain_words
from mcp_tef.scoring.missing_tools import ListedServers, offered_names, why_not_asked

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
    """Yield groups of cases that expect the same tools, where all pairs reach the least cosine."""
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


_Choice: TypeAlias = tuple[str, str | None]
"""A tool and its server; an empty name for none."""
LEAST_REPEATS, LEAST_SHARE, LEAST_MODELS = 5, 0.8, 2


class CaseChecks:
    """Finds doubtful cases. Nothing is stored: `with_action` returns the draft that `Cases.edit` stores."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, *, suites: Sequence[str] = (), tags: Sequence[str] = ()) -> tuple[CaseFinding, ...]:
        """Return the doubts about the cases in one of the suites or with one of the tags, in the order of the cases."""
        cases = await self._store.cases.select(suites=suites, tags=tags)
        runs, listed = await self._runs_of(cases), await self._listed()
        first: dict[tuple[object, ...], TestCase] = {}
        found: list[CaseFinding] = []
        for case in cases:
            servers = [listed[name] for name in case.draft.servers if name in listed]
            whole = servers if len(servers) == len(case.draft.servers) else []
            doubts = (_other_tool(case, runs[case.id]), _duplicate(case, first), _named(case), _missing(case, whole))
            found += chain.from_iterable(doubts)
        return tuple(found)

    async def _runs_of(self, cases: Sequence[TestCase]) -> Mapping[CaseId, list[RunSummary]]:
        """Return the completed runs of each case, without those of baselines, which are no models."""
        where = RunFilter(case_ids=tuple(case.id for case in cases), statuses=(RunStatus.COMPLETED,))
        runs = defaultdict[CaseId, list[RunSummary]](list)
        for run in await self._store.runs.runs(where) if cases else ():
            if not is_baseline(run.model):
                runs[run.case_id].append(run)
        return runs

    async def _listed(self) -> dict[str, tuple[ServerSpec, Listing]]:
        """Return the servers that were seen, by name."""
        servers = await self._store.servers.all()
        listings = [(server.spec, await self._store.servers.listing(server.id)) for server in servers]
        return {spec.name: (spec, listing) for spec, listing in listings if listing}

    @staticmethod
    def with_action(draft: CaseDraft, finding: CaseFinding, action: CaseAction, query: str = "") -> CaseDraft:
        """Return the draft after an action; `query` is the new one for a rewrite. InputError where that cannot be.

        Removing is not an edit: `Cases.remove` does it.
        """
        if action is CaseAction.REWRITE_QUERY and query.strip():
            return replace(draft, query=query.strip())
        if action is CaseAction.CHANGE_EXPECTATION and finding.proposed:
            return replace(draft, expectation=finding.proposed)
        if action is CaseAction.ACCEPT_BOTH and finding.proposed:
            both = dict.fromkeys((*draft.expectation.alternatives, *finding.proposed.alternatives))
            return replace(draft, expectation=replace(draft.expectation, alternatives=tuple(both)))
        raise InputError("The case cannot be changed in this way.", hint="Write the query or select another action.")


def _finding(
    case: TestCase, doubt: CaseDoubt, sentence: str, *actions: CaseAction, proposed: Expectation | None = None
) -> CaseFinding:
    return CaseFinding(case=case.id, name=case.name, doubt=doubt, sentence=sentence, actions=actions, proposed=proposed)


def _other_tool(case: TestCase, runs: Sequence[RunSummary]) -> Iterator[CaseFinding]:
    """Yield a finding for each tool that models agree on although the case does not accept it."""
    picks = _picks(case, runs)
    for choice in dict.fromkeys(counts.most_common(1)[0][0] for counts in picks.values()):
        agreeing = {model: counts for model, counts in picks.items() if 2 * counts[choice] > counts.total()}
        agreed = len(agreeing) >= LEAST_MODELS or any(map(_is_steady, agreeing.values()))
        if agreed and not _accepts(case.draft.expectation, choice):
            yield _chosen(case, choice, agreeing)


def _picks(case: TestCase, runs: Sequence[RunSummary]) -> Mapping[str, Counter[_Choice]]:
    """Count the choices of each model in the runs that asked the present query."""
    picks = defaultdict[str, Counter[_Choice]](Counter)
    for run in runs:
        if run.query == case.draft.query:
            picks[run.model][(run.selected_tool or "", run.selected_server)] += 1
    return picks


def _chosen(case: TestCase, choice: _Choice, picks: Mapping[str, Counter[_Choice]]) -> CaseFinding:
    shares = ", ".join(f"{model} {_share(counts[choice], counts.total())}" for model, counts in picks.items())
    return _finding(
        case,
        CaseDoubt.OTHER_TOOL_CHOSEN,
        f"The case expects {case.draft.expectation.label}, but {choice[0]} was selected by {shares}.",
        CaseAction.ACCEPT_BOTH,
        CaseAction.CHANGE_EXPECTATION,
        CaseAction.REWRITE_QUERY,
        proposed=Expectation(((ExpectedCall(tool=choice[0], server=choice[1]),),)),
    )


def _share(times: int, runs: int) -> str:
    if runs == 1:
        return "in its only run"
    return f"in all {runs} runs" if times == runs else f"in {times} of {runs} runs"


def _is_steady(picks: Mapping[_Choice, int]) -> bool:
    total = sum(picks.values())
    return total >= LEAST_REPEATS and max(picks.values()) >= LEAST_SHARE * total


def _accepts(expectation: Expectation, choice: _Choice) -> bool:
    """Return True if an acceptable answer has a call of this tool; for no tool always, as it says too little."""
    calls = (call for calls in expectation.alternatives for call in calls)
    servers = [call.server for call in calls if call.tool == choice[0]]
    return not choice[0] or any(None in (server, choice[1]) or server == choice[1] for server in servers)


def _duplicate(case: TestCase, first: dict[tuple[object, ...], TestCase]) -> Iterator[CaseFinding]:
    draft = case.draft
    key = (tuple(plain_words(draft.query)) or draft.query, draft.before, frozenset(draft.servers))
    other = first.setdefault(key, case)
    if other is not case:
        same = other.draft.expectation == draft.expectation
        more = "" if same else f" They expect different calls: {other.draft.expectation.label} there."
        sentence = f"The case {other.name} has the same query.{more}"
        yield _finding(case, CaseDoubt.DUPLICATE, sentence, CaseAction.REMOVE, CaseAction.REWRITE_QUERY)


def _named(case: TestCase) -> Iterator[CaseFinding]:
    """Yield a finding for a query that has the identifier of an expected tool; plain words such as `search` may be."""
    tools = {call.tool for calls in case.draft.expectation.alternatives for call in calls}
    for tool in sorted(tools):
        quoted = re.search(
            rf"[`“\"']{re.escape(tool)}[`”\"']|\b{re.escape(tool)} (?:tool|function)\b", case.draft.query
        )
        whole = len(plain_words(tool)) > 1 and re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", case.draft.query)
        if names_tool(case.draft.query, tool) and (quoted or whole):
            sentence = f"The query names the tool {tool}, so that selecting it proves nothing."
            yield _finding(case, CaseDoubt.NAMES_TOOL, sentence, CaseAction.REWRITE_QUERY)


def _missing(case: TestCase, servers: ListedServers) -> Iterator[CaseFinding]:
    """Yield a finding where no acceptable answer can be given with the tools as last seen."""
    reason = why_not_asked(case.draft.expectation, servers) if servers else None
    call = case.draft.expectation.first_call
    if reason and call:
        close = nearest(call.tool, offered_names(replace(call, server=None), servers), cutoff=0.6)
        proposed = Expectation(((ExpectedCall(tool=close),),)) if close else None
        change = (CaseAction.CHANGE_EXPECTATION,) if close else ()
        yield _finding(case, CaseDoubt.NOT_OFFERED, reason, *change, CaseAction.REMOVE, proposed=proposed)
