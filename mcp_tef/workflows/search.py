"""Search of servers, tools, cases and batches by name. Names are cached until something changes."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_tef.events import (
    BatchesChanged,
    BatchQueued,
    BatchStarted,
    CasesChanged,
    Event,
    EventStream,
    ServersChanged,
    ServerStateChanged,
)
from mcp_tef.model.search import SearchHit, SearchHitKind
from mcp_tef.ports import Store

CHANGING: Final = (ServersChanged, ServerStateChanged, CasesChanged, BatchQueued, BatchStarted, BatchesChanged)
MOST: Final = 40


@dataclass(frozen=True, slots=True)
class _Named:
    found: SearchHit
    searched: str


class NameSearch:
    """Looks names up in a workspace."""

    def __init__(self, store: Store, events: EventStream) -> None:
        self._store = store
        self._names: Sequence[_Named] | None = None
        self._changes = 0
        events.subscribe(self._hear)

    async def find(self, text: str, limit: int = MOST) -> tuple[SearchHit, ...]:
        """Return hits that contain every word, name matches first; none without a word."""
        words = text.casefold().split()
        names = await self._read() if words else ()
        hits = [named for named in names if all(word in named.searched for word in words)]
        hits.sort(key=lambda named: not named.found.name.casefold().startswith(words[0]))
        return tuple(named.found for named in hits[:limit])

    def _hear(self, event: Event) -> None:
        if isinstance(event, CHANGING):
            self._names = None
            self._changes += 1

    async def _read(self) -> Sequence[_Named]:
        if self._names is not None:
            return self._names
        known = self._changes
        found = [one async for one in self._everything()]
        names = [_Named(one, f"{one.name} {one.server} {one.detail}".casefold()) for one in found]
        if known == self._changes:
            self._names = names
        return names

    async def _everything(self) -> AsyncIterator[SearchHit]:
        for server in await self._store.servers.all():
            yield SearchHit(kind=SearchHitKind.SERVER, id=server.id, name=server.name, detail=server.spec.address)
            listing = await self._store.servers.listing(server.id)
            for tool in listing.tools if listing else ():
                yield SearchHit(kind=SearchHitKind.TOOL, id=tool.name, name=tool.name, server=server.name)
        for case in await self._store.cases.all():
            yield SearchHit(kind=SearchHitKind.CASE, id=case.id, name=case.draft.query, detail=case.name)
        for batch in await self._store.runs.batches():
            detail = ", ".join(batch.models)
            yield SearchHit(kind=SearchHitKind.BATCH, id=batch.id, name=batch.name or "Batch", detail=detail)
