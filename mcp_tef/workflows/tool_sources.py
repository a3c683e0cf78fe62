"""Tools from servers, addresses, files or definitions: those that a case offers, and those to compare."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from time import perf_counter
from types import MappingProxyType
from typing import Final, TypeVar

from mcp_tef.errors import InputError, ServerError, ServerFault, StoreError, TefError
from mcp_tef.model.cases import TestCase
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.health import ContactKind, ServerContact
from mcp_tef.model.ids import RunId
from mcp_tef.model.json import Json
from mcp_tef.model.library import EVALUATED
from mcp_tef.model.secrets import without_keys
from mcp_tef.model.servers import Server, ServerSpec, Transport
from mcp_tef.model.similarity import ComparedTool, SourceKind, ToolSet, ToolSource, UnreachableSource
from mcp_tef.model.tools import Listing, Snapshot, Tool, ToolProblem
from mcp_tef.ports import CaseTools, ContactStore, RunStore, ServerGateway, ServerStore, Store
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.workflows.batch_plans import PlannedTools
from mcp_tef.workflows.consent import Consents
from mcp_tef.workflows.servers import Servers

T = TypeVar("T")
_LONGEST_PROBLEM: Final = 300


async def noted(store: ContactStore, server: str, kind: ContactKind, contact: Awaitable[T]) -> T:
    """Return what a contact brings, and keep when it was, how long it took and how it ended.

    What cannot be kept is left out: a sample is never worth a failure.
    """
    at, began = datetime.now(UTC), perf_counter()
    try:
        brought = await contact
    except ServerError as error:
        await _keep(store, server, kind, at, perf_counter() - began, without_keys(error.message)[:_LONGEST_PROBLEM])
        raise
    await _keep(store, server, kind, at, perf_counter() - began)
    return brought


async def _keep(
    store: ContactStore, server: str, kind: ContactKind, at: datetime, seconds: float, error: str | None = None
) -> None:
    sample = ServerContact(
        server=server,
        kind=kind,
        at=at,
        duration_ms=round(seconds * 1000),
        error=error,
        failures=int(error is not None),
    )
    with suppress(StoreError):
        await store.record_contacts([sample])


class WorkspaceGateway:
    """Satisfies `ServerGateway`: lists the tool library itself, asks another gateway for all else, and notes that."""

    def __init__(self, gateway: ServerGateway, store: Store) -> None:
        self._gateway = gateway
        self._store = store

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """Return every tool that the server lists now; of the library those that are not disabled."""
        if spec.is_library:
            tools = [tool for tool in await self._store.library.all() if tool.status in EVALUATED]
            return Listing(server=spec.name, tools=tuple(one.design.listed_as(spec.name, one.status) for one in tools))
        listing = self._gateway.list_tools(spec, timeout=timeout)
        if spec.transport is Transport.FILE:
            return await listing
        return await noted(self._store.contacts, spec.name, ContactKind.LISTING, listing)

    async def read_catalogue(self, path: str) -> tuple[Listing, ...]:
        """Return the tools that a file holds, by server."""
        return await self._gateway.read_catalogue(path)

    async def sort_catalogue(self, name: str, definitions: Sequence[Json]) -> tuple[Listing, ...]:
        """Return given definitions, checked one by one, by server."""
        return await self._gateway.sort_catalogue(name, definitions)


class ToolCache:
    """The tools of one batch, as its servers list them; satisfies `ToolOffering`.

    A server that fails fails every case that needs it, and no other. `asked` are the runs by servers of their cases;
    what servers list is stored with all their runs before one is asked. `planned` is what was stored so before.
    """

    def __init__(
        self,
        gateway: ServerGateway,
        servers: ServerStore,
        runs: RunStore,
        consents: Consents,
        *,
        seconds: float,
        separator: str,
        planned: PlannedTools = MappingProxyType({}),
        asked: Mapping[tuple[str, ...], Sequence[RunId]] = MappingProxyType({}),
    ) -> None:
        self._asked = asked
        self._planned = planned
        self._gateway = gateway
        self._servers = servers
        self._runs = runs
        self._consents = consents
        self._seconds = seconds
        self._separator = separator
        self._listings: dict[str, asyncio.Task[Listing]] = {}
        self._case_tools: dict[tuple[str, ...], asyncio.Task[CaseTools]] = {}

    async def tools_for(self, case: TestCase, run_id: RunId) -> CaseTools:
        """Return the tools of a case; raises ServerError with the server's name, InputError where there are none."""
        names = case.draft.servers
        if names not in self._case_tools:
            known = self._planned.get(names)
            work = self._as_planned(names, known) if known else self._assemble(names, run_id)
            self._case_tools[names] = asyncio.create_task(work)
        return await asyncio.shield(self._case_tools[names])

    async def close(self) -> None:
        """Stop what is still fetching."""
        tasks = [*self._case_tools.values(), *self._listings.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _assemble(self, names: tuple[str, ...], run_id: RunId) -> CaseTools:
        if not names:
            raise InputError("The case names no server, so there is no tool to offer.", hint="Select its servers.")
        servers = [await self._agreed(name) for name in names]
        listings = await self._listed(servers)
        tools = [tool for listing in listings for tool in listing.tools]
        if not tools:
            raise InputError(f"{', '.join(names)} listed no usable tool.", hint="Look at the server's problems.")
        offered = offer(tools, self._separator, aliases=_aliases(servers))
        snapshot_id = await self._runs.save_snapshot(offered, run_id)
        await self._runs.plan_tools(self._asked.get(names, ()), snapshot_id)
        listed = zip((server.spec for server in servers), listings, strict=True)
        return CaseTools(offered, tuple(item.tool for item in offered), snapshot_id, tuple(listed))

    async def _as_planned(self, names: Sequence[str], known: Snapshot) -> CaseTools:
        """Return the tools that the batch has offered before, whatever the servers list by now."""
        tools = tuple(item.tool for item in known.tools)
        specs = [(await self._servers.find(name)).spec for name in names]
        listed = [
            (spec, Listing(server=spec.name, tools=tuple(tool for tool in tools if tool.server == spec.name)))
            for spec in specs
        ]
        return CaseTools(known.tools, tools, known.id, listed)

    async def _listed(self, servers: Sequence[Server]) -> list[Listing]:
        fetches = [asyncio.shield(self._listing(server)) for server in servers]
        return list(map(_raised, await asyncio.gather(*fetches, return_exceptions=True)))

    async def _agreed(self, name: str) -> Server:
        """Return the server as it is now: it may have been changed since the batch began."""
        server = await self._servers.find(name)
        self._consents.require(server.spec)
        return server

    def _listing(self, server: Server) -> asyncio.Task[Listing]:
        if server.name not in self._listings:
            self._listings[server.name] = asyncio.create_task(self._list(server))
        return self._listings[server.name]

    async def _list(self, server: Server) -> Listing:
        """List a server, as the batch has offered its tools before among others where it has."""
        for known in self._planned.values():
            if tools := tuple(one.tool for one in known.tools if one.tool.server == server.name):
                return Listing(server=server.name, tools=tools)
        return await self._gateway.list_tools(server.spec, timeout=self._seconds)


def _aliases(servers: Sequence[Server]) -> dict[str, str]:
    return {server.name: server.spec.alias for server in servers if server.spec.alias}


def _raised(item: Listing | BaseException) -> Listing:
    if isinstance(item, BaseException):
        raise item
    return item


PASTED = "pasted"
_NO_OTHER_WAY = (ServerFault.UNAUTHORIZED, ServerFault.REFUSED)


@dataclass(frozen=True, slots=True)
class _Found:
    """Result of reading one source: listings, or the reason for none."""

    listings: tuple[Listing, ...] = ()
    unreachable: tuple[UnreachableSource, ...] = ()


class ToolSources:
    """Turns a source into tools with ids, naming whatever it could not read."""

    def __init__(self, servers: Servers, gateway: ServerGateway, config: Config | CurrentConfig) -> None:
        self._servers = servers
        self._gateway = gateway
        self._config = config

    async def gather(
        self, source: ToolSource, *, fresh: bool = False, at_least: int = 2, broken_too: bool = False
    ) -> ToolSet:
        """Return the tools of a source. A registered server is asked again only where `fresh` or never seen.

        A server or address that cannot be read is in `unreachable`, and never raises. InputError for an unknown
        server, a malformed address, a file that holds no tools, and for fewer than `at_least` tools in all where
        nothing was unreachable; definitions that were set aside count where `broken_too`.
        """
        found = await asyncio.gather(*await self._places(source, fresh))
        listings = list(chain.from_iterable(place.listings for place in found))
        unreachable = tuple(chain.from_iterable(place.unreachable for place in found))
        tools = _named(tool for listing in listings for tool in listing.tools)
        problems = _problems(listings)
        if len(tools) + broken_too * _broken(problems) < at_least and not unreachable:
            raise _too_few(len(tools), at_least, problems)
        instructions = tuple((one.server, one.instructions) for one in listings if one.instructions)
        return ToolSet(tools=tools, unreachable=unreachable, problems=problems, instructions=instructions)

    async def _places(self, source: ToolSource, fresh: bool) -> Sequence[Awaitable[_Found]]:
        names = tuple(dict.fromkeys(source.names))
        match source.kind:
            case SourceKind.SERVERS:
                servers = [await self._servers.find(name) for name in names] or await self._servers.list()
                return [_tried(server.name, partial(self._of_server, server, fresh)) for server in servers]
            case SourceKind.URLS:
                return [_tried(_called(url), partial(self._of_url, url)) for url in list(map(_checked, names))]
            case SourceKind.FILES:
                return list(map(self._of_file, names))
            case SourceKind.TOOLS:
                return [self._of_definitions(source)]

    async def _of_server(self, server: Server, fresh: bool) -> tuple[Listing, ...]:
        known = None if fresh else await self._servers.known_tools(server.id)
        return (known or await self._servers.tools(server.id),)

    async def _of_url(self, url: str) -> tuple[Listing, ...]:
        """By streamable HTTP; where that is not spoken there, by SSE. The first error is the one to tell."""
        try:
            return (await self._listed(url, Transport.STREAMABLE_HTTP),)
        except ServerError as error:
            if error.fault in _NO_OTHER_WAY:
                raise
            (other,) = await asyncio.gather(self._listed(url, Transport.SSE), return_exceptions=True)
            if isinstance(other, ServerError):
                raise error from other
            if isinstance(other, BaseException):
                raise other from error
            return (other,)

    async def _listed(self, url: str, transport: Transport) -> Listing:
        spec = ServerSpec(name=_called(url), transport=transport, url=url)
        return await self._gateway.list_tools(spec, timeout=self._config.limits.seconds)

    async def _of_file(self, path: str) -> _Found:
        try:
            return _Found(await self._gateway.read_catalogue(path))
        except ServerError as error:
            raise InputError(error.message, hint=error.hint, context=error.context) from error

    async def _of_definitions(self, source: ToolSource) -> _Found:
        return _Found(await self._gateway.sort_catalogue(PASTED, source.definitions))


async def _tried(name: str, read: Callable[[], Awaitable[tuple[Listing, ...]]]) -> _Found:
    try:
        return _Found(await read())
    except TefError as error:
        return _Found(unreachable=(UnreachableSource(name, error.message, error.hint),))


def _checked(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InputError(
            f"{_called(url)} is not a web address.", hint="Write one that begins with http:// or https://."
        )
    return url


def _called(url: str) -> str:
    """Return an address for results that others may read: without user, password and keys."""
    start, _, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    return without_keys(f"{start}://{place.rpartition('@')[2]}{slash}{path}") if rest else without_keys(url)


def _named(tools: Iterable[Tool]) -> tuple[ComparedTool, ...]:
    """Return each under `server/name`, with #2, #3 … where that was had already."""
    taken: Counter[str] = Counter()
    named = []
    for tool in tools:
        name = f"{tool.server}/{tool.name}"
        taken[name] += 1
        named.append(ComparedTool(name if taken[name] == 1 else f"{name}#{taken[name]}", tool))
    return tuple(named)


def _problems(listings: Iterable[Listing]) -> tuple[tuple[str, ToolProblem], ...]:
    return tuple((listing.server, problem) for listing in listings for problem in listing.problems)


def _broken(problems: Iterable[tuple[str, ToolProblem]]) -> int:
    """Count the definitions that were set aside."""
    return sum(problem.place is not None for _, problem in problems)


def _too_few(count: int, at_least: int, problems: Sequence[tuple[str, ToolProblem]]) -> InputError:
    found = {0: "No tool was found", 1: "Only 1 tool was found"}.get(count, f"Only {count} tools were found")
    hint = f"{len(problems)} set aside, the first because: {problems[0][1].reason}" if problems else ""
    return InputError(f"{found}; it takes at least {at_least}.", hint=hint or "Name more servers or files.")
