"""Search by name: hits in a workspace while typing, and batches and cases by id, beginning, name or `latest`."""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from mcp_tef.errors import InputError, NotFoundError
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
from mcp_tef.model.cases import TestCase
from mcp_tef.model.runs import Batch
from mcp_tef.model.search import SearchHit, SearchHitKind, did_you_mean
from mcp_tef.ports import Store
from mcp_tef.trust.name_keys import name_key, stored_name

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


Named = TypeVar("Named", Batch, TestCase)
_LATEST = re.compile(r"latest(?:~(\d{1,6}))?")
_SHORTEST_BEGINNING = 4


def find_batch(batches: Sequence[Batch], text: str) -> Batch:
    """Return the batch that is meant, among all, newest first. Raises NotFoundError and InputError.

    `latest` is the newest and `latest~1` the one before it.
    """
    if not batches:
        raise NotFoundError("Nothing was run in this workspace yet.", hint="Start with: mcp-tef run")
    if found := _LATEST.fullmatch(text):
        back = int(found[1] or 0)
        if back >= len(batches):
            raise NotFoundError(f"There is no batch {text}: there are {len(batches)}.", hint="See mcp-tef runs list.")
        return batches[back]
    return _find(batches, text, "batch", lambda batch: batch.name)


def find_case(cases: Sequence[TestCase], text: str) -> TestCase:
    """Return the case that is meant. Raises NotFoundError, and InputError where several have the name."""
    return _find(cases, text, "test case", lambda case: case.name)


def _find(items: Sequence[Named], text: str, kind: str, name_of: Callable[[Named], str]) -> Named:
    found = _matches(items, text, name_of)
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(item.id for item in found[:5])
        raise InputError(f"“{text}” could be {len(found)} of the {kind}s: {ids}.", hint="Give one of these ids.")
    known = filter(None, (text for item in items for text in (name_of(item), item.id)))
    raise NotFoundError(f"There is no {kind} “{text}”.", hint=did_you_mean(text, known, "Give its id or its name."))


def _named(items: Sequence[Named], text: str, name_of: Callable[[Named], str]) -> list[Named]:
    exactly = [item for item in items if name_of(item) == text]
    return exactly or [item for item in items if name_key(name_of(item)) == name_key(text)]


def _matches(items: Sequence[Named], text: str, name_of: Callable[[Named], str]) -> list[Named]:
    by_id = [item for item in items if item.id == text]
    return (
        by_id
        or _named(items, text, name_of)
        or [item for item in items if len(text) >= _SHORTEST_BEGINNING and item.id.startswith(text)]
    )


def known_names(kind: str, wanted: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the names as they are stored; NotFoundError with the nearest for one that is not known."""
    names = tuple(dict.fromkeys(known))
    found = [stored_name(text, names) or text for text in wanted]
    require_known(kind, found, names)
    return tuple(found)


def require_known(kind: str, wanted: Iterable[str | None], known: Iterable[str]) -> None:
    """Raise NotFoundError with the nearest name for one that is not known; None is no name."""
    names = sorted(set(known))
    for text in wanted:
        if text is not None and text not in names:
            some = f"There are {', '.join(names[:10])}." if names else "There is none yet."
            raise NotFoundError(f"There is no {kind} “{text}”.", hint=did_you_mean(text, names, some))
