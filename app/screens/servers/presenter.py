"""State of the servers screen and its calls into the core; knows no Qt."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from app.core_link.refresh import Refresh
from app.screens.kit import ViewState, matches_all_words
from app.screens.servers.filters import BY_TOKENS, STATUS_TEXTS, listed_servers, listed_tools
from app.text.formatting import ago, count, duration
from mcp_tef import (
    ConsentKind,
    ConsentRequest,
    DefinitionWithoutSecrets,
    Drift,
    Event,
    InputError,
    Listing,
    NotFoundError,
    Server,
    ServerId,
    ServersChanged,
    ServerSpec,
    ServerStateChanged,
    ServerStatus,
    Tool,
    Transport,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
BY = "servers"
TRANSPORT_TEXTS = {
    Transport.STDIO: "command",
    Transport.SSE: "HTTP (SSE)",
    Transport.STREAMABLE_HTTP: "HTTP",
    Transport.FILE: "tools file",
}


class CoreCalls(Protocol):
    """Calls into the core, as the session makes them."""

    async def call(self, do: "Callable[[Engine], Awaitable[T]]") -> T: ...

    async def value(self, do: "Callable[[Engine], T]") -> T: ...


@dataclass(frozen=True, slots=True)
class _ServerDetails:
    """Tools, open consent and definition changes of one server."""

    server: ServerId
    listing: Listing | None
    request: ConsentRequest | None
    drift: Drift | None


async def _server_details(core: "Engine", server: Server) -> _ServerDetails | None:
    """Return the details of a server; None if it was removed meanwhile."""
    try:
        return _ServerDetails(
            server.id,
            await core.servers.known_tools(server.id),
            next(iter(core.consents.missing([server.spec])), None),
            await core.drift.of_server(server.id),
        )
    except NotFoundError:
        return None


@dataclass
class ServersPresenter:
    """Servers with the tools that they listed last, and the calls into the core that change them."""

    core: CoreCalls
    clock: Callable[[], float]
    servers: dict[ServerId, Server] = field(default_factory=dict)
    listings: dict[ServerId, Listing] = field(default_factory=dict)
    awaiting_consent: dict[ServerId, ConsentRequest] = field(default_factory=dict)
    drifts: dict[ServerId, Drift] = field(default_factory=dict)
    view: ViewState = field(default_factory=ViewState)
    tools_view: ViewState = field(default_factory=ViewState)
    _started: dict[ServerId, float] = field(default_factory=dict)
    _postponed: set[ServerId] = field(default_factory=set)
    _tokens: dict[ServerId, tuple[Listing, dict[str, int]]] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def load(self) -> None:
        """Read every server and what it listed when last seen."""
        servers = await self.core.call(lambda core: core.servers.list())
        self.servers = {server.id: server for server in servers}
        for server in servers:
            self._note_start(server)
        found = [one for one in await asyncio.gather(*map(self._read, servers)) if one]
        self.listings = {one.server: one.listing for one in found if one.listing}
        self.awaiting_consent = {one.server: one.request for one in found if one.request}
        self.drifts = {one.server: one.drift for one in found if one.drift}

    async def _read(self, server: Server) -> "_ServerDetails | None":
        return await self.core.call(lambda core: _server_details(core, server))

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        match event:
            case ServersChanged() | ServerStateChanged():
                return Refresh.NOW
            case _:
                return Refresh.NONE

    def take(self, events: Sequence[Event]) -> bool:
        """Take states that change one row; return False if more has to be read."""
        enough = True
        for event in events:
            match event:
                case ServerStateChanged(server) if server.status is ServerStatus.STARTING and server.id in self.servers:
                    self.servers[server.id] = server
                    self._note_start(server)
                case ServerStateChanged() | ServersChanged():
                    enough = False
        return enough

    def shown(self) -> list[Server]:
        """Return the servers that pass search and filters, sorted."""
        matching = [server for server in self.servers.values() if self._matches(server)]
        return listed_servers(matching, self.view, self.drifts.keys())

    def tools_of(self, server_id: ServerId | None) -> tuple[Tool, ...]:
        """Return the tools of a server that pass search and filter, sorted."""
        drift = self.drifts.get(server_id) if server_id else None
        changed = {tool.name for tool in drift.tools} if drift else set()
        return listed_tools(self._matching_tools(server_id), self.tools_view, changed, self.tokens_of(server_id))

    def tokens_of(self, server_id: ServerId | None) -> Mapping[str, int]:
        """Return the tokens of each tool of a server by name; empty until they are counted."""
        listing, counts = self._tokens.get(server_id, (None, {})) if server_id else (None, {})
        return counts if server_id and listing is self.listings.get(server_id) else {}

    def weights_of(self, server_id: ServerId) -> Mapping[str, int]:
        """Return the tokens of each tool where tools are sorted by them, else nothing."""
        return self.tokens_of(server_id) if self.tools_view.sort.name == BY_TOKENS else {}

    async def count_tokens(self, server_id: ServerId) -> bool:
        """Count the tokens of a server's tools once for each list of tools; return True if they were not known."""
        listing = self.listings.get(server_id)
        if listing is None or self.tokens_of(server_id) or not listing.tools:
            return False
        counts = await self.core.call(lambda core: core.quality.token_counts(listing.tools))
        self._tokens[server_id] = listing, {tool.name: n for tool, n in zip(listing.tools, counts, strict=True)}
        return listing is self.listings.get(server_id)

    def _matching_tools(self, server_id: ServerId | None) -> tuple[Tool, ...]:
        """Return the tools that match the search; all of them if the server itself does."""
        listing = self.listings.get(server_id) if server_id else None
        if listing is None or server_id is None:
            return ()
        if self._matches_itself(self.servers[server_id]):
            return listing.tools
        return tuple(tool for tool in listing.tools if self._matches_tool(tool))

    def summary(self) -> str:
        """Return the totals: "7 servers, 60 tools"."""
        tools = sum(len(listing.tools) for listing in self.listings.values())
        return f"{count(len(self.servers), 'server')}, {count(tools, 'tool')}" if self.servers else "No servers"

    def attention_count(self) -> int:
        """Return the number of servers that failed, or whose tools changed since the user accepted them."""
        failed = {server.id for server in self.servers.values() if server.status is ServerStatus.FAILED}
        return len(failed | self.drifts.keys())

    def status_text(self, server: Server) -> str:
        """Return the state in a word or two."""
        if server.spec.transport is Transport.FILE and server.status is ServerStatus.ACTIVE:
            return "Read"
        return STATUS_TEXTS[server.status]

    def state_detail(self, server: Server) -> str:
        """Return the text beside the state in the list."""
        if server.status is ServerStatus.STARTING:
            return f"{duration(max(1.0, round(self.seconds_starting(server.id))))} so far".replace(".0", "")
        if server.status is ServerStatus.FAILED:
            return (server.reason or "it did not answer").partition(": ")[2].rstrip(".") or server.reason or ""
        if server.id in self.awaiting_consent:
            return "needs your consent"
        return TRANSPORT_TEXTS[server.spec.transport]

    def state_summary(self, server: Server, now: datetime | None = None) -> str:
        """Return the state for the head of the detail: "Active · answered in 0.31 s · 2 min ago"."""
        parts = [self.status_text(server)]
        if server.status is ServerStatus.STARTING:
            parts.append(self.state_detail(server))
        elif server.status is ServerStatus.ACTIVE:
            if server.latency_ms is not None and server.spec.transport is not Transport.FILE:
                parts.append(f"answered in {duration(server.latency_ms / 1000)}")
            if server.last_connected_at is not None:
                parts.append(ago(server.last_connected_at, now))
        elif server.last_connected_at is not None:
            parts.append(f"last seen {ago(server.last_connected_at, now)}")
        return " · ".join(parts)

    def seconds_starting(self, server_id: ServerId) -> float:
        """Return for how many seconds a server has been starting."""
        return self.clock() - self._started.get(server_id, self.clock())

    def any_starting(self) -> bool:
        """Return True if any server is starting."""
        return any(server.status is ServerStatus.STARTING for server in self.servers.values())

    def consent_request(self, server_id: ServerId) -> ConsentRequest | None:
        """Return the question to ask now, before it is started or contacted."""
        return None if server_id in self._postponed else self.awaiting_consent.get(server_id)

    def postponed(self, server_id: ServerId) -> None:
        """Ask no more until the next start, or a test of the connection."""
        self._postponed.add(server_id)

    def ask_again(self, server_id: ServerId, request: ConsentRequest) -> None:
        """Ask again, because the user wants to connect."""
        self._postponed.discard(server_id)
        self.awaiting_consent[server_id] = request

    async def allow_and_check(self, server: Server) -> None:
        """Allow the server as it is defined now, and connect."""
        await self.core.call(lambda core: core.consents.allow_server(server.spec))
        self.awaiting_consent.pop(server.id, None)
        await self.check(server.id)

    async def sign_in_and_check(self, server: Server) -> None:
        """Wait until the user has signed in, and connect."""
        await self.core.call(lambda core: core.sign_ins.sign_in(server.spec))
        await self.check(server.id)

    async def accept(self, server_id: ServerId) -> None:
        """Accept the definition changes that were shown."""
        drift = self.drifts[server_id]
        await self.core.call(lambda core: core.drift.accept(server_id, drift, by=BY))

    async def check(self, server_id: ServerId) -> None:
        """Connect once; the result arrives as an event."""
        await self.core.call(lambda core: core.servers.check(server_id))

    async def probe(self, spec: ServerSpec) -> Listing:
        """Connect to a server that is not saved, and return its tools."""
        return await self.core.call(lambda core: core.servers.probe(spec))

    async def allow(self, spec: ServerSpec) -> None:
        """Allow a server as it is defined in a form."""
        await self.core.call(lambda core: core.consents.allow_server(spec))

    async def missing_consents(
        self, spec: ServerSpec, typed: ServerSpec | None, before: Server | None
    ) -> Sequence[ConsentRequest]:
        """Return the open questions of consent; an address that was just typed, and gets no secret, needs none."""

        async def missing(core: "Engine") -> Sequence[ConsentRequest]:
            if typed is not None and (before is None or (before.spec.url, before.spec.path) != (spec.url, spec.path)):
                await core.consents.add_typed_server(typed, spec)
            return core.consents.missing([spec])

        return await self.core.call(missing)

    async def without_secrets(self, spec: ServerSpec, before: ServerSpec | None) -> DefinitionWithoutSecrets:
        """Move secrets from a definition into memory; raise InputError if one cannot be moved."""
        return await self.core.value(lambda core: core.written_secrets.taken_out(spec, before))

    async def with_secrets_in_memory(self, definition: DefinitionWithoutSecrets) -> ServerSpec:
        """Keep the secrets of a definition until the program quits, and return the spec that refers to them."""
        await self.core.value(lambda core: core.written_secrets.hold(definition.values))
        return definition.spec

    async def has_keychain(self) -> bool:
        """Return True if secrets can be kept in the system keychain."""
        return bool(await self.core.value(lambda core: core.keys.keychain()))

    async def program_request(self, spec: ServerSpec) -> ConsentRequest | None:
        """Return the question about the program that a new server starts; None where nothing has to be asked."""
        try:
            found = (await self.without_secrets(spec, None)).spec
        except InputError:
            return None
        requests = await self.core.value(lambda core: core.consents.missing([found]))
        return next((one for one in requests if one.kind is ConsentKind.PROGRAM), None)

    async def save(
        self,
        definition: DefinitionWithoutSecrets,
        before: Server | None,
        typed: ServerSpec | None,
        *,
        in_keychain: bool,
        named: ConsentRequest | None = None,
    ) -> Server:
        """Add a server, or change `before`; its secrets go into memory, and into the keychain if wanted.

        `named` is the question about its program if the user saw it and answered yes.
        """
        spec = await self.with_secrets_in_memory(definition)
        if in_keychain:
            spec = await self.core.call(lambda core: core.written_secrets.remember(definition))
        await self.missing_consents(spec, typed, before)
        if named is not None and named in await self.core.value(lambda core: core.consents.missing([spec])):
            await self.allow(spec)
        return await self.add(spec) if before is None else await self.edit(before.id, spec, before.spec)

    async def keep_tools_file(self, text: str) -> Path:
        """Save a pasted list of tools as a file of the workspace, and return its path."""
        return await self.core.call(lambda core: core.case_files.keep_tools(text))

    async def add(self, spec: ServerSpec) -> Server:
        """Register a server."""
        return await self.core.call(lambda core: core.servers.add(spec, by=BY))

    async def edit(self, server_id: ServerId, spec: ServerSpec, seen: ServerSpec) -> Server:
        """Change a server where it differs from what was seen."""
        return await self.core.call(lambda core: core.servers.edit(server_id, spec, seen=seen, by=BY))

    async def exclude(self, server_id: ServerId, names: Sequence[str]) -> Sequence[str]:
        """Exclude tools, so that no model is offered them; return those that were offered before."""
        async with self._turn:
            spec = (await self.core.call(lambda core: core.servers.get(server_id))).spec
            fresh = [name for name in names if name not in spec.disallowed_tools]
            await self._set_excluded(server_id, spec, (*spec.disallowed_tools, *fresh))
        return fresh

    async def include(self, server_id: ServerId, names: Sequence[str]) -> Sequence[str]:
        """Offer excluded tools again; return those that were excluded."""
        async with self._turn:
            spec = (await self.core.call(lambda core: core.servers.get(server_id))).spec
            kept = tuple(name for name in spec.disallowed_tools if name not in names)
            await self._set_excluded(server_id, spec, kept)
        return [name for name in spec.disallowed_tools if name in names]

    async def _set_excluded(self, server_id: ServerId, spec: ServerSpec, names: tuple[str, ...]) -> None:
        if names != spec.disallowed_tools:
            await self.edit(server_id, replace(spec, disallowed_tools=names), spec)

    async def remove(self, ids: Sequence[ServerId]) -> Sequence[ServerId]:
        """Remove servers, which `restore` undoes; return those that were still there."""
        async with self._turn:
            there = {server.id for server in await self.core.call(lambda core: core.servers.list())}
            gone = [server_id for server_id in ids if server_id in there]
            await self.core.call(lambda core: core.servers.remove(gone, by=BY))
        return gone

    async def restore(self, ids: Sequence[ServerId]) -> None:
        """Undo a removal."""
        await self.core.call(lambda core: core.servers.restore(ids, by=BY))

    def _note_start(self, server: Server) -> None:
        if server.status is not ServerStatus.STARTING:
            self._started.pop(server.id, None)
        else:
            self._started.setdefault(server.id, self.clock())

    def _matches(self, server: Server) -> bool:
        listing = self.listings.get(server.id)
        tools = listing.tools if listing else ()
        return self._matches_itself(server) or any(map(self._matches_tool, tools))

    def _matches_itself(self, server: Server) -> bool:
        return matches_all_words(f"{server.name} {server.spec.address}", self.view.text)

    def _matches_tool(self, tool: Tool) -> bool:
        return matches_all_words(f"{tool.name} {tool.description}", self.view.text)


def failure_details(server: Server) -> str:
    """Return details for diagnosis: the exit code and the last lines that the program wrote."""
    lines = [] if server.exit_code is None else [f"Exit code {server.exit_code}"]
    if server.stderr_tail:
        lines += ["Last lines of its output:", server.stderr_tail.rstrip()]
    return "\n".join(lines)


def token_share(tool: Tool, tokens: Mapping[str, int]) -> str:
    """Return the tokens of a tool, among those of all tools of its server; empty until they are counted."""
    whole = sum(tokens.values())
    return f"{tokens[tool.name]:,} of the server’s {count(whole, 'token')}" if tool.name in tokens else ""


def probe_summary(listing: Listing) -> str:
    """Return the result of a connection test: "Answered in 0.3 s with 3 tools. search, …"."""
    answered = f"Answered in {duration(listing.latency_ms / 1000)} with {count(len(listing.tools), 'tool')}"
    rejected = f"; {len(listing.problems)} rejected" if listing.problems else ""
    names = ", ".join(tool.name for tool in listing.tools[:6])
    more = " …" if len(listing.tools) > 6 else ""
    return f"{answered}{rejected}." + (f" {names}{more}" if names else "")
