"""Batches that go on: they ask what they planned, whatever the cases and servers say by now."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from mcp_tef.errors import TefError
from mcp_tef.model.batch_plans import PlannedCase
from mcp_tef.model.cases import TestCase
from mcp_tef.model.comparison import AnsweredRun
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import PlannedRun
from mcp_tef.model.servers import Server, Transport
from mcp_tef.model.tools import Listing, Snapshot, Tool
from mcp_tef.ports import ServerGateway, Store
from mcp_tef.trust.field_changes import same
from mcp_tef.workflows.consent import Consents

_FILE_SECONDS: Final = 10.0
PlannedTools = Mapping[tuple[str, ...], Snapshot]
"""The tools that a batch offered, by the names of the servers."""


async def cases_as_planned(
    store: Store, batch_id: BatchId, ids: Collection[CaseId]
) -> tuple[tuple[TestCase, ...], PlannedTools]:
    """Return the cases of some runs of a batch as it began to ask them, and the tools that it offered."""
    planned = await store.runs.planned_cases(batch_id)
    cases = await store.cases.select(ids=sorted(ids)) if ids else ()
    asked = tuple(replace(case, draft=planned[case.id].of(case.draft)) for case in cases if case.id in planned)
    return asked, {one.servers: one.snapshot for one in planned.values() if one.snapshot}


async def changed_since_planned(
    store: Store, batch_id: BatchId, gateway: ServerGateway, consents: Consents
) -> tuple[str, ...]:
    """Return the names of the cases and tools that say something else by now than the batch asks; starts nothing."""
    planned = await store.runs.planned_cases(batch_id)
    cases = await store.cases.select(ids=sorted(planned)) if planned else ()
    names = [case.name for case in cases if not _asks_the_same(case, planned[case.id].of(case.draft))]
    tools = _offered(planned.values())
    servers = [one for one in await store.servers.all() if one.name in {tool.server for tool in tools}]
    listings = [await _listed_now(server, store, gateway, consents) for server in servers]
    return (*names, *_changed_tools(tools, listings))


def _offered(planned: Iterable[PlannedCase]) -> list[Tool]:
    offered = {one.snapshot.id: one.snapshot for one in planned if one.snapshot}
    return [one.tool for each in offered.values() for one in each.tools]


async def _listed_now(server: Server, store: Store, gateway: ServerGateway, consents: Consents) -> Listing | None:
    """Return what an allowed tools file holds, and what any other server listed last; starts nothing."""
    if server.spec.transport is not Transport.FILE:
        return await store.servers.listing(server.id)
    with suppress(TefError):
        consents.require(server.spec)
        return await gateway.list_tools(server.spec, timeout=_FILE_SECONDS)
    return None


def _changed_tools(tools: Sequence[Tool], listings: Sequence[Listing | None]) -> list[str]:
    """Return the tools that their servers list otherwise, or not at all, as far as is known."""
    listed = {one.server: {tool.name: tool.fingerprint for tool in one.tools} for one in listings if one}
    here = (tool for tool in tools if tool.server in listed)
    return sorted({f"{one.server}/{one.name}" for one in here if listed[one.server].get(one.name) != one.fingerprint})


async def answered_repeats(
    store: Store, batch_id: BatchId, runs: Sequence[PlannedRun]
) -> Mapping[tuple[CaseId, str], Sequence[AnsweredRun]]:
    """Return the answered repeats of these runs' cases and models in the batch."""
    of_batch = await store.runs.runs(RunFilter(batch_id=batch_id))
    again = {(run.case_id, run.settings.asked) for run in runs}
    groups = {run.id: group for run in of_batch if run.mark and (group := (run.case_id, run.model)) in again}
    found: defaultdict[tuple[CaseId, str], list[AnsweredRun]] = defaultdict(list)
    for run in await store.runs.answered(list(groups)):
        found[groups[run.id]].append(run)
    return found


def _asks_the_same(case: TestCase, asked: object) -> bool:
    return all(same(getattr(case.draft, name), getattr(asked, name)) for name in ("query", "expectation", "before"))
