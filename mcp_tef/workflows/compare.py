"""Comparison of two batches or two runs, and of tool definitions with what the user or a run last saw."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from mcp_tef.errors import ConflictError, InputError, NotFoundError
from mcp_tef.events import EventStream, ServersChanged
from mcp_tef.model.comparison import (
    BatchComparison,
    ComparedRuns,
    DefinitionChange,
    Drift,
    PairableRun,
    PairedBy,
    RunComparison,
    RunPair,
)
from mcp_tef.model.ids import BatchId, RunId, ServerId
from mcp_tef.model.runs import Batch, RunDetail
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.ports import RunStore, Store
from mcp_tef.scoring.phrases import counted
from mcp_tef.scoring.run_differences import (
    answer_changes,
    changes_since,
    setting_changes,
    tool_changes,
    tool_drift,
    verdict_changes,
)
from mcp_tef.statistics.run_pairing import paired_by, pairs, tested
from mcp_tef.workflows.consent import Consents


class DriftCheck:
    """Definitions that changed. What a server lists now is what its last check found; nothing here connects."""

    def __init__(self, store: Store, consents: Consents, events: EventStream) -> None:
        self._store = store
        self._consents = consents
        self._events = events

    async def of_server(self, server_id: ServerId) -> Drift | None:
        """Return the changes since the user last saw the server's tools; None if there are none."""
        seen = await self._store.servers.accepted_listing(server_id)
        now = await self._store.servers.listing(server_id) if seen else None
        if seen is None or now is None:
            return None
        spec = (await self._store.servers.get(server_id)).spec
        found = await asyncio.to_thread(tool_drift, seen, now)
        tools = tuple(tool for tool in found if tool.after is not None or spec.wants(tool.name))
        return Drift(listing=now, tools=tools, agreed=self._is_allowed_program(spec)) if tools else None

    async def accept(self, server_id: ServerId, drift: Drift, *, by: str = "") -> None:
        """Take it as seen; ConflictError where the server lists something else by now."""
        if not await self._store.servers.accept_listing(server_id, drift.listing):
            raise ConflictError("The tools changed once more.", hint="Look at them again.")
        self._events.publish(ServersChanged((server_id,), by))

    async def since_run(self, run: RunDetail) -> Mapping[str, DefinitionChange]:
        """Return the changes of the tools that a run was offered, by offered name; unchanged tools are left out."""
        if run.snapshot is None:
            return {}
        found: dict[str, DefinitionChange] = {}
        for name in sorted({item.tool.server for item in run.snapshot.tools}):
            spec, now = await self._now(name)
            if spec is not None and now is not None:
                found |= await asyncio.to_thread(changes_since, run.snapshot, now, spec.wants)
        return found

    async def outdated(self, run_ids: Sequence[RunId]) -> Mapping[RunId, tuple[str, ...]]:
        """Of some runs those whose expected or selected tool is defined otherwise now, with its name."""
        return await self._store.runs.redefined(run_ids)

    async def _now(self, name: str) -> tuple[ServerSpec | None, Listing | None]:
        try:
            server = await self._store.servers.find(name)
            return server.spec, await self._store.servers.listing(server.id)
        except NotFoundError:
            return None, None

    def _is_allowed_program(self, spec: ServerSpec) -> bool:
        return spec.transport is Transport.STDIO and not self._consents.needed(spec)


class Compare:
    """Reads two of a kind and tells them apart; nothing is written."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    async def batches(self, before: BatchId, after: BatchId) -> BatchComparison:
        """Compare two batches run by run. Raises InputError and NotFoundError."""
        if before == after:
            raise InputError("A batch cannot be compared with itself.", hint="Choose two batches.")
        first, second = await self._store.batch(before), await self._store.batch(after)
        old, new = await self._store.outcomes(before), await self._store.outcomes(after)
        return await asyncio.to_thread(_comparison, first, second, old, new)

    async def pairs(self, wanted: Sequence[RunPair]) -> tuple[ComparedRuns, ...]:
        """Return both runs of some pairs, such as a page of a table, in their order; a run that is gone is None."""
        ids = [run_id for pair in wanted for run_id in (pair.before, pair.after) if run_id]
        found = await self._store.summaries(ids)
        return tuple(
            ComparedRuns(
                pair=pair,
                before=found.get(pair.before) if pair.before else None,
                after=found.get(pair.after) if pair.after else None,
            )
            for pair in wanted
        )

    async def runs(self, before: RunId, after: RunId) -> RunComparison:
        """Return two runs side by side, down to settings and definitions. NotFoundError."""
        first, second = await self._store.detail(before), await self._store.detail(after)
        changes, alike = await asyncio.to_thread(tool_changes, first.snapshot, second.snapshot)
        return RunComparison(
            before=first,
            after=second,
            settings=setting_changes(first.settings, second.settings),
            verdict=verdict_changes(first, second),
            answer=answer_changes(first.answer, second.answer),
            tools=changes,
            tools_alike=alike,
        )


def _comparison(before: Batch, after: Batch, old: Sequence[PairableRun], new: Sequence[PairableRun]) -> BatchComparison:
    by = paired_by(old, new)
    found = pairs(old, new, by)
    otherwise = sum(not pair.posed_alike for pair in found)
    return BatchComparison(
        before=before,
        after=after,
        paired_by=by,
        pairs=found,
        selection=tested(pair.change for pair in found),
        parameters=tested(pair.parameters for pair in found),
        posed_otherwise=otherwise,
        notes=tuple(_notes(by, otherwise, found)),
    )


def _notes(by: PairedBy, otherwise: int, found: Sequence[RunPair]) -> Iterator[str]:
    if by is PairedBy.CASE:
        yield "The batches asked different models, so runs are paired by case."
    if otherwise:
        yield (
            f"{counted(otherwise, 'pair was', 'pairs were')} asked or judged otherwise the second time: the case was "
            "edited in between. "
            "Judge both batches again to compare them by the same expectation."
        )
    if len({pair.case_id for pair in found}) < len(found):
        yield "Cases were run several times: what is said holds for these cases, and less surely for others."
