"""Preparation of crowd tests and steal tests: cases, strangers, crowds, queries for silence, and the plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from mcp_tef.errors import InputError
from mcp_tef.model.cases import CaseDraft, CaseOrigin, TestCase
from mcp_tef.model.crowds import CrowdKind, CrowdRequest, CrowdSource, StealRequest
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import Json, JsonObject, fingerprint
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.scoring.crowds import CROWDS, crowd_order, is_equivalent, tool_text
from mcp_tef.scoring.phrases import ticked
from mcp_tef.workflows.crowd_plan import CrowdPlan
from mcp_tef.workflows.crowd_steering import CrowdPool, ServerTool, expected_fifths, key_of, mean_tokens
from mcp_tef.workflows.estimate import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mcp_tef.model.tools import Listing, Tool
    from mcp_tef.ports import BaselineScorer, ServerGateway, Store
    from mcp_tef.workflows.cases import Cases
    from mcp_tef.workflows.trial_steering import ListedServer


@dataclass(frozen=True, slots=True)
class BundledCrowd:
    """Definitions by server as `tools/list` gives them; `silence` holds the queries. `version` changes with any."""

    version: int
    servers: dict[str, list[JsonObject]]
    silence: tuple[str, ...]


@cache
def read_bundled_crowd() -> BundledCrowd:
    """Read the crowd that is shipped with the program."""
    value: dict[str, Json] = json.loads(files("resources").joinpath("crowd.json").read_text(encoding="utf-8"))
    return BundledCrowd(value["version"], value["servers"], tuple(value["silence"]))


SILENCE_SUITE: Final = "Crowd test: no tool fits"
SERVABLE = 0.45
"""Overlap with a query from which a tool may serve it, so that the query says nothing about silence."""
OFFLINE_PASSES, REORDERED_PASSES = 1, 2


@dataclass(frozen=True, slots=True)
class PreparedCrowd:
    """Everything that a test needs: its plan, its tools, its cases by id, and the expected tool of each."""

    plan: CrowdPlan
    pool: CrowdPool
    cases: Mapping[CaseId, TestCase]

    @property
    def query_length(self) -> int:
        """The mean number of characters of a query."""
        return sum(len(case.draft.query) for case in self.cases.values()) // len(self.cases)


@dataclass(frozen=True, slots=True)
class TestedCases:
    """Cases with a listed expected tool, and the listings of their servers."""

    cases: tuple[TestCase, ...]
    expected: Mapping[CaseId, Tool]
    own: Mapping[str, ListedServer]

    def own_tools(self) -> list[Tool]:
        """Return the tools of all these servers."""
        return [tool for _, listing in self.own.values() for tool in listing.tools]

    def keys(self) -> dict[CaseId, ServerTool]:
        """Return server and name of the expected tool by case."""
        return {case_id: key_of(tool) for case_id, tool in self.expected.items()}

    def names(self) -> list[str]:
        """Return the names of the expected tools."""
        return list(dict.fromkeys(tool.name for tool in self.expected.values()))


class CrowdSetup:
    """Prepares tests from stored listings; no server is started."""

    def __init__(self, store: Store, cases: Cases, gateway: ServerGateway, scorer: BaselineScorer) -> None:
        self._store = store
        self._cases = cases
        self._gateway = gateway
        self._scorer = scorer

    async def crowd(self, request: CrowdRequest, *, storing: bool) -> PreparedCrowd:
        """Prepare a crowd test; with `storing`, queries for silence that are not there yet become cases. InputError."""
        tested = await self.tested(request.cases)
        strangers = await self.strangers(request.source, tuple(tested.own))
        silence = await self._silence(request, strangers, storing=storing) if request.silence else ()
        plan = _crowd_plan(request, tested, [case.id for case in silence], len(strangers))
        return await self._prepared(plan, tested, silence, strangers)

    async def steal(self, request: StealRequest) -> PreparedCrowd:
        """Prepare a steal test. InputError where no case is about a tool of the servers, or one was never listed."""
        among = tuple(dict.fromkeys(name for name in request.among if name != request.server))
        if not among:
            raise InputError("Name the servers whose tools may be taken.", hint="Add --among S.", code="bad_usage")
        listed = await self._listed([*among, request.server])
        new = listed.pop(request.server)[1].tools
        tested = _tested(await self._store.cases.select(ids=request.cases), listed, among)
        if not tested.cases:
            raise InputError("No case is about a tool of these servers.", hint="Write cases, or name other servers.")
        return await self._prepared(_steal_plan(request, tested, len(new)), tested, (), new)

    async def again(self, plan: CrowdPlan) -> PreparedCrowd:
        """Prepare a stored test once more. InputError where its cases or tools have changed."""
        ids = (*plan.cases, *plan.silence)
        found = {case.id: case for case in await self._store.cases.select(ids=ids)}
        if len(found) < len(ids):
            raise InputError("Some cases of this test were removed, so it cannot go on.", hint="Start a new test.")
        cases = [found[one] for one in plan.cases]
        tested = _tested(cases, await self._listed(plan.among or _servers_of(cases)), plan.among)
        source = CrowdSource(servers=plan.servers, files=plan.files)
        strangers = await self.strangers(source, tuple(tested.own))
        prepared = await self._prepared(plan, tested, [found[one] for one in plan.silence], strangers)
        if prepared.plan.tools_hash != plan.tools_hash or len(tested.cases) < len(cases):
            raise InputError("The tools of this test have changed, so it cannot go on.", hint="Start a new test.")
        return PreparedCrowd(plan, prepared.pool, prepared.cases)

    async def strangers(self, source: CrowdSource, own: Sequence[str]) -> tuple[Tool, ...]:
        """Return the tools of a source, those of own servers left out. InputError where nothing is left."""
        found: list[Listing] = []
        if source.bundled:
            for name, definitions in read_bundled_crowd().servers.items():
                found += await self._gateway.sort_catalogue(name, definitions)
        for path in source.files:
            found += await self._gateway.read_catalogue(path)
        found += [listing for _, listing in (await self._listed(source.servers)).values()]
        tools = {key_of(tool): tool for listing in found if listing.server not in own for tool in listing.tools}
        if not tools:
            raise InputError("The crowd has no tool.", hint="Select other servers, or the bundled crowd.")
        return tuple(tools.values())

    async def tested(self, ids: Sequence[CaseId]) -> TestedCases:
        """Return those of the cases that expect a tool which their servers list. InputError without any."""
        cases = await self._store.cases.select(ids=ids) if ids else ()
        tested = _tested(cases, await self._listed(_servers_of(cases)))
        if not tested.cases:
            raise InputError("No case expects a tool that its servers list.", hint="Select cases that expect a tool.")
        return tested

    async def _listed(self, names: Sequence[str]) -> dict[str, ListedServer]:
        found = {}
        for name in names:
            server = await self._store.servers.find(name)
            listing = await self._store.servers.listing(server.id)
            if listing is None:
                raise InputError(f"The tools of {name} were never listed.", hint="Check the server, then try again.")
            found[name] = (server.spec, listing)
        return found

    async def _prepared(
        self, plan: CrowdPlan, tested: TestedCases, silence: Sequence[TestCase], strangers: Sequence[Tool]
    ) -> PreparedCrowd:
        """Return the plan with all that is known before the first run."""
        wanted = {key_of(tool): tool for tool in tested.expected.values()}
        overlap = await self._overlaps([tool_text(tool) for tool in wanted.values()], strangers)
        own = tested.own_tools()
        scores = await self._searched((*tested.cases, *silence), (*own, *strangers)) if plan.search else {}
        pool = CrowdPool(tested.own, _crowds(plan, strangers, overlap.max(axis=0)), scores)
        plan = replace(
            plan,
            own=tuple(tested.own),
            tools_hash=fingerprint({"tools": [tool.fingerprint for tool in (*own, *strangers)]}),
            equivalents={} if plan.stealing else _equivalents(tested, list(wanted), strangers, overlap),
            fifths=expected_fifths(plan, pool, tested.cases, tested.keys()),
            tokens=mean_tokens(plan, pool, tested.cases, CHARACTERS_PER_TOKEN),
        )
        return PreparedCrowd(plan, pool, {case.id: case for case in (*tested.cases, *silence)})

    async def _overlaps(self, texts: Sequence[str], tools: Sequence[Tool]) -> NDArray[np.float32]:
        return (await self._scorer.scores(texts, offer(tools))).scores

    async def _searched(
        self, cases: Sequence[TestCase], tools: Sequence[Tool]
    ) -> dict[CaseId, dict[ServerTool, float]]:
        """Return what the search in front makes of every tool, weighed over all tools of the test."""
        scores = await self._overlaps([case.draft.query for case in cases], tools)
        keys = [key_of(tool) for tool in tools]
        return {case.id: dict(zip(keys, row.tolist(), strict=True)) for case, row in zip(cases, scores, strict=True)}

    async def _silence(self, request: CrowdRequest, strangers: Sequence[Tool], *, storing: bool) -> Sequence[TestCase]:
        """Return cases that no tool can serve: the negative ones of the request, then those of the bundled crowd.

        Those that a stranger may serve are left out.
        """
        asked = await self._store.cases.select(ids=request.cases)
        own = {case.draft.query: case for case in asked if case.draft.expectation.no_tool}
        stored = {case.draft.query: case for case in await self._cases.list() if SILENCE_SUITE in case.draft.suites}
        chosen = (await self._unservable([*own, *read_bundled_crowd().silence], strangers))[: request.silence]
        known = stored | own
        if storing and (missing := [_silent_case(query) for query in chosen if query not in known]):
            known |= {case.draft.query: case for case in await self._cases.add(missing)}
        return [known[query] for query in chosen if query in known]

    async def _unservable(self, queries: Sequence[str], strangers: Sequence[Tool]) -> list[str]:
        best = (await self._overlaps(queries, strangers)).max(axis=1).tolist()
        return list(dict.fromkeys(query for query, score in zip(queries, best, strict=True) if score < SERVABLE))

    def silence_left(self, request: CrowdRequest, prepared: PreparedCrowd) -> int:
        """Return how many queries for silence `storing` would add to a prepared test."""
        return max(0, min(request.silence, len(read_bundled_crowd().silence)) - len(prepared.plan.silence))


def _silent_case(query: str) -> CaseDraft:
    return CaseDraft(name=query, query=query, suites=(SILENCE_SUITE,), origin=CaseOrigin.GENERATED)


def _servers_of(cases: Iterable[TestCase]) -> list[str]:
    return sorted({name for case in cases for name in case.draft.servers})


def _tested(cases: Sequence[TestCase], own: Mapping[str, ListedServer], among: Sequence[str] = ()) -> TestedCases:
    """Return the cases that expect a tool of their own servers, or of those `among` which the test is."""
    tools = {(name, tool.name): tool for name, (_, listing) in own.items() for tool in listing.tools}
    found = {}
    for case in cases:
        names = among or case.draft.servers or tuple(own)
        if tool := _expected(case, tools, names):
            found[case.id] = tool
    return TestedCases(tuple(case for case in cases if case.id in found), found, own)


def _crowds(
    plan: CrowdPlan, strangers: Sequence[Tool], similarity: NDArray[np.float32]
) -> tuple[tuple[Tool, ...], ...]:
    number = CROWDS if plan.kind is CrowdKind.SERVERS else 1
    orders = [crowd_order(plan.kind, strangers, similarity, plan.seed + crowd) for crowd in range(number)]
    return tuple(tuple(strangers[place] for place in order) for order in orders)


def _equivalents(
    tested: TestedCases, wanted: Sequence[ServerTool], strangers: Sequence[Tool], overlap: NDArray[np.float32]
) -> dict[CaseId, tuple[ServerTool, ...]]:
    """Return by case the strangers that do the same as its tool. `overlap` has the shape (wanted, strangers)."""
    places = {key: place for place, key in enumerate(wanted)}
    found = {}
    for case_id, tool in tested.expected.items():
        pairs = zip(strangers, overlap[places[key_of(tool)]].tolist(), strict=True)
        if same := tuple(key_of(one) for one, score in pairs if is_equivalent(tool, one, score)):
            found[case_id] = same
    return found


def _crowd_plan(request: CrowdRequest, tested: TestedCases, silence: Sequence[CaseId], most: int) -> CrowdPlan:
    offline = all(model.offline for model in request.models)
    usual = CROWDS if request.kind is CrowdKind.SERVERS else OFFLINE_PASSES if offline else REORDERED_PASSES
    names = tested.names()
    return CrowdPlan(
        kind=request.kind,
        sizes=crowd_sizes(request.sizes, most),
        search=tuple(dict.fromkeys(request.search)),
        passes=usual if offline or request.rounds is None else request.rounds,
        cases=tuple(case.id for case in tested.cases),
        silence=tuple(silence),
        servers=request.source.servers,
        files=request.source.files,
        margin=request.margin,
        seed=request.seed,
        accept=request.accept_equivalents,
        subject=ticked(names[0]) if len(names) == 1 else f"the {len(names):,} tools of these cases",
        plural=len(names) > 1,
    )


def crowd_sizes(sizes: Iterable[int], most: int) -> tuple[int, ...]:
    """Return sizes in order, none above the strangers that there are, with that without strangers."""
    return tuple(sorted({0, *(min(size, most) for size in sizes)}))


def _steal_plan(request: StealRequest, tested: TestedCases, new: int) -> CrowdPlan:
    covered = set(tested.keys().values())
    rest = [tool for tool in tested.own_tools() if key_of(tool) not in covered]
    return CrowdPlan(
        kind=CrowdKind.NEAR,
        sizes=(0, new),
        search=(),
        passes=1 if request.settings.offline else request.rounds,
        cases=tuple(case.id for case in tested.cases),
        silence=(),
        servers=(request.server,),
        files=(),
        among=tuple(tested.own),
        stealing=request.server,
        margin=request.margin,
        seed=request.seed,
        accept=False,
        subject=request.server,
        plural=False,
        expected=tuple(key_of(tested.expected[case.id]) for case in tested.cases),
        unknown=tuple(f"{tool.server} / {tool.name}" for tool in rest),
    )


def _expected(case: TestCase, tools: Mapping[ServerTool, Tool], names: Sequence[str]) -> Tool | None:
    """Return the tool of the first expected call; a call without a server may be of any of some."""
    call = case.draft.expectation.first_call
    if call is None:
        return None
    servers = [call.server] if call.server else names
    return next((tools[name, call.tool] for name in servers if name in names and (name, call.tool) in tools), None)
