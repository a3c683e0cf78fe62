"""Work of other processes on the same workspace, published as the same events as one's own."""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from mcp_tef.errors import NotFoundError
from mcp_tef.events import (
    BatchEnded,
    BatchesChanged,
    BatchProgressed,
    BatchStarted,
    CasesChanged,
    DefinitionsChanged,
    DraftsChanged,
    Event,
    EventStream,
    LibraryChanged,
    RunEnded,
    ServersChanged,
    ToolCallsChanged,
)
from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.model.ids import BatchId, CaseId, DraftId, LibraryToolId, RunId, ServerId
from mcp_tef.model.runs import Batch, BatchStatus
from mcp_tef.ports import RunStore
from mcp_tef.workflows.runs import Runs


class ForeignChangeReader(Protocol):
    """Tells what other processes changed since the last look."""

    async def look(self) -> Mapping[str, frozenset[str]]:
        """Return the ids of what changed, by kind."""
        ...

    async def under_way(self) -> frozenset[BatchId]:
        """Return the batches of other processes that have not ended."""
        ...

    async def finished(self, batch_id: BatchId) -> frozenset[RunId]:
        """Return the runs of a batch that have ended."""
        ...


_Publish = Callable[[frozenset[str]], list[Event]]
_EVENTS: Final[Mapping[str, _Publish]] = {
    "cases": lambda ids: [CasesChanged(tuple(map(CaseId, ids)))],
    "suites": lambda _: [CasesChanged(())],
    "servers": lambda ids: [ServersChanged(tuple(map(ServerId, ids)))],
    "calls": lambda ids: [ToolCallsChanged(ServerId(server), tool) for server, _, tool in _split(ids)],
    "drafts": lambda ids: [DraftsChanged(tuple(map(DraftId, ids)))],
    "definitions": lambda ids: [DefinitionsChanged(DefinitionKind(kind), name) for kind, _, name in _split(ids)],
    "library": lambda ids: [LibraryChanged(tuple(map(LibraryToolId, ids)))],
    "categories": lambda _: [LibraryChanged(())],
    "verdicts": lambda _: [BatchesChanged(())],
}


def _split(ids: frozenset[str]) -> list[tuple[str, str, str]]:
    return [one.partition("\n") for one in sorted(ids)]


class OtherProcesses:
    """Publishes what other processes did since the last look; the window looks once a second."""

    def __init__(self, changes: ForeignChangeReader, store: RunStore, runs: Runs, events: EventStream) -> None:
        self._changes = changes
        self._store = store
        self._runs = runs
        self._events = events
        self._finished: dict[BatchId, frozenset[RunId]] | None = None

    async def look(self) -> None:
        """Publish the changes, and mark batches whose process has ended as interrupted. Raises StoreError."""
        changed = dict(await self._changes.look())
        batches = frozenset(map(BatchId, changed.pop("batches", ())))
        for kind, ids in changed.items():
            for event in _EVENTS[kind](ids):
                self._events.publish(event)
        if self._finished is None:
            under_way = await self._changes.under_way()
            self._finished = {batch_id: await self._changes.finished(batch_id) for batch_id in under_way}
        if self._finished or batches:
            await self._follow(self._finished, batches)

    async def _follow(self, known: dict[BatchId, frozenset[RunId]], changed: frozenset[BatchId]) -> None:
        await self._store.interrupt_leftovers()
        for batch_id in sorted(changed | known.keys()):
            try:
                batch = await self._runs.batch(batch_id)
            except NotFoundError:
                known.pop(batch_id, None)
                self._events.publish(BatchesChanged((batch_id,)))
            else:
                await self._follow_batch(known, batch, is_changed=batch_id in changed)

    async def _follow_batch(self, known: dict[BatchId, frozenset[RunId]], batch: Batch, *, is_changed: bool) -> None:
        if batch.id in self._runs.active():  # it was resumed here
            known.pop(batch.id, None)
            return
        if batch.elsewhere and batch.id not in known:
            known[batch.id] = frozenset()
            self._events.publish(BatchStarted(batch))
        if batch.id in known:
            await self._publish_runs(known, batch)
        elif is_changed:
            self._events.publish(BatchesChanged((batch.id,)))
        if not batch.elsewhere and known.pop(batch.id, None) is not None:
            self._events.publish(BatchEnded(batch, _reason(batch)))

    async def _publish_runs(self, known: dict[BatchId, frozenset[RunId]], batch: Batch) -> None:
        finished = await self._changes.finished(batch.id)
        new, known[batch.id] = finished - known[batch.id], finished
        for run in (await self._store.summaries(tuple(new))).values() if new else ():
            self._events.publish(RunEnded(run))
        if new and batch.elsewhere:
            progress = BatchProgressed(
                batch=batch, done=len(finished), tokens=0, cost_usd=batch.cost_usd, seconds_left=None
            )
            self._events.publish(progress)


def _reason(batch: Batch) -> str | None:
    return "its program has ended" if batch.status is BatchStatus.INTERRUPTED else batch.stopped
