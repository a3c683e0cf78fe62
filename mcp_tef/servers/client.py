"""Client of MCP servers: sign-ins by a browser, lists of tools page by page, and the gateway that workflows use."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.json import Json, JsonObject, deeper_than
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.secrets import without
from mcp_tef.model.servers import AuthType, ServerSpec, Transport
from mcp_tef.model.tools import LONGEST_INSTRUCTIONS, Listing, Tool, ToolProblem
from mcp_tef.ports import OpenAddress
from mcp_tef.servers.credential_store import CredentialStore, ServerAccess
from mcp_tef.servers.definitions import (
    CheckedDefinitions,
    check_definitions,
    read_catalogue,
    read_tools_file,
    sort_catalogue,
    why_unwieldy,
)
from mcp_tef.servers.error_mapping import ServerErrors
from mcp_tef.servers.observations import Observations, Stage
from mcp_tef.servers.session import ServerSession, UnfitAnswerError

if TYPE_CHECKING:
    from mcp_tef.servers.session import ServerRequest


def mirrors(session: ServerSession) -> bool:
    """Return whether arguments are mirrored in headers: over HTTP, by the modern protocol."""
    over_http = session.spec.transport is Transport.STREAMABLE_HTTP
    return over_http and session.client.protocol_version in MODERN_PROTOCOL_VERSIONS


def unmirrorable(tools: Sequence[Tool]) -> Iterator[ToolProblem]:
    """The tools that ask for headers which cannot be; the protocol forbids to offer them."""
    for tool in tools:
        reason = find_invalid_x_mcp_header(tool.input_schema)
        if reason is not None:
            yield ToolProblem(tool.name, f"It asks for a header that cannot be sent: {reason}.", tool.place, tool.raw)


def headers_of(definitions: Sequence[Json], tool: str, arguments: JsonObject, depth: int) -> Mapping[str, str]:
    """The headers of a call, by what the server says of the tool; none where it says nothing sound."""
    named = (raw for raw in definitions if isinstance(raw, dict) and raw.get("name") == tool)
    schema = next((raw.get("inputSchema") for raw in named), None)
    if not isinstance(schema, dict) or deeper_than(schema, depth) or find_invalid_x_mcp_header(schema) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(schema), arguments)


_SHORTEST_SECRET = 8  # a shorter one may be a word in definitions by chance


async def list_everything(session: ServerSession) -> Listing:
    """All that the server lists, bad definitions set aside."""
    session.observations.stage = Stage.LISTING
    definitions, problems = await list_pages(session)
    latency = round((perf_counter() - session.began) * 1000)
    found = await _sorted(session, definitions)
    unfit = tuple(unmirrorable(found.tools)) if mirrors(session) else ()
    names = {problem.tool for problem in unfit}
    return Listing(
        server=session.spec.name,
        tools=tuple(tool for tool in found.tools if tool.name not in names),
        problems=(*found.problems, *unfit, *problems),
        protocol=session.client.protocol_version,
        latency_ms=latency,
        instructions=_instructions(session),
    )


def _instructions(session: ServerSession) -> str:
    """Return the instructions that the server gave when it was greeted, without its secrets, and at most so long."""
    given = session.client.instructions or ""
    secrets = [secret for secret in session.observations.secrets if len(secret.reveal()) >= _SHORTEST_SECRET]
    told = without({"instructions": given[:LONGEST_INSTRUCTIONS]}, secrets)
    return str(told["instructions"]).strip()


async def _sorted(session: ServerSession, definitions: Sequence[Json]) -> CheckedDefinitions:
    """Return the definitions without the secrets that the server was given; the check ends with the session."""
    limits, left = session.observations.limits, threading.Event()
    secrets = [secret for secret in session.observations.secrets if len(secret.reveal()) >= _SHORTEST_SECRET]

    def cleaned() -> Iterator[Json]:
        for raw in definitions:
            if left.is_set():
                return
            yield without(raw, secrets) if secrets and why_unwieldy(raw, limits) is None else raw

    try:
        return await asyncio.to_thread(check_definitions, session.spec, cleaned(), limits)
    finally:
        left.set()


async def list_pages(session: ServerSession) -> tuple[list[Json], list[ToolProblem]]:
    """Every definition of every page, and a problem where the listing does not end by itself."""
    definitions: list[Json] = []
    cursors: set[str] = set()
    cursor: str | None = None
    limits = session.observations.limits
    for _ in range(limits.pages):
        cursor = await _next_page(session, cursor, definitions)
        if not cursor:
            return definitions, []
        if cursor in cursors:
            return definitions, [_stopped("its pages repeat")]
        if len(definitions) > limits.tools:
            return definitions[: limits.tools], [_stopped(f"it goes on after {limits.tools} tools")]
        cursors.add(cursor)
    return definitions, [_stopped(f"it goes on after {limits.pages} pages")]


async def _next_page(session: ServerSession, cursor: str | None, definitions: list[Json]) -> str | None:
    params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor else None
    try:
        result = await session.client.list_tools(params=params)
    except MCPError as error:
        capabilities = session.client.server_capabilities
        if error.code == mcp_types.METHOD_NOT_FOUND and capabilities is not None and capabilities.tools is None:
            return None
        raise
    page = session.dispatcher.answer.get("tools")
    if not isinstance(page, list):
        raise UnfitAnswerError("it holds no list of tools")
    definitions.extend(page)
    return result.next_cursor


def _stopped(why: str) -> ToolProblem:
    return ToolProblem(None, f"The listing was cut short because {why}.")


T = TypeVar("T")
_HoldSession: TypeAlias = Callable[..., Coroutine[None, None, None]]
_Told: TypeAlias = Callable[[BaseException, ServerErrors], ServerError]


class McpClient:
    """Sessions with servers under way.

    `${NAME}` in a spec is read from `environment` (default: this process's) when it connects.
    `show` opens the browser for a sign-in; without it nobody can sign in.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        limits: LimitsSource = USUAL,
        credentials: CredentialStore | None = None,
        show: OpenAddress | None = None,
    ) -> None:
        self._limits = limits
        self._access = ServerAccess(
            os.environ if environment is None else environment, credentials or CredentialStore(), show
        )
        self._under_way: set[asyncio.Task[None]] = set()

    async def address(self, spec: ServerSpec) -> str:
        """The url of an HTTP server with its references filled in; ServerError."""
        return (await self._access.resolved(spec)).url()

    async def list_tools(self, spec: ServerSpec, seconds: float, *, afresh: bool = False) -> Listing:
        """Every tool that a server lists now; raises ServerError. `afresh` signs in anew."""
        return await self.send(spec, _listing, seconds, afresh=afresh)

    async def send(
        self, spec: ServerSpec, load: "Callable[[], ServerRequest[T]]", seconds: float, *, afresh: bool = False
    ) -> T:
        """Return what a request brings back within so many seconds; raises ServerError. `afresh` signs in anew.

        `load` gives the request and may import the mcp library, so it is called off the loop: about 0.5 s the first
        time. A program is started without asking: consent is the caller's matter. It may still be ending when this
        returns; `close` waits for that.
        """
        loaded = "mcp_tef.servers.session" in sys.modules
        hold, told, request = _loaded(load) if loaded else await asyncio.to_thread(_loaded, load)
        observations = Observations(limits=self._limits.limits)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        task = self._start(hold(spec, replace(self._access, afresh=afresh), observations, answer, request))
        try:
            either: tuple[asyncio.Future[Any], ...] = (answer, task)
            with suppress(TimeoutError):
                async with observations.within(seconds):
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise _unanswered(task, told, ServerErrors(spec, observations), seconds)
        finally:
            if answer.cancel():
                task.cancel()
            elif not answer.cancelled():
                answer.exception()

    async def close(self) -> None:
        """Leave every server; returns when no connection and no program of ours is left."""
        for task in self._under_way:
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _start(self, session: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(session)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()


def _unanswered(task: "asyncio.Task[None]", told: _Told, errors: ServerErrors, seconds: float) -> ServerError:
    if not task.done():
        return errors.silent(seconds)
    error = None if task.cancelled() else task.exception()
    return errors.cut_short() if error is None else told(error, errors)


def _loaded(load: "Callable[[], ServerRequest[T]]") -> "tuple[_HoldSession, _Told, ServerRequest[T]]":
    """The half of this adapter that needs the mcp library, imported when first used."""
    from mcp_tef.servers.error_mapping import server_error_of
    from mcp_tef.servers.session import hold_session

    return hold_session, server_error_of, load()


def _listing() -> "ServerRequest[Listing]":

    return list_everything


class McpSignIns:
    """Satisfies `ports.SignIns`; the grants are in the credential store, for all sessions."""

    def __init__(
        self,
        credentials: CredentialStore,
        show: OpenAddress | None = None,
        environment: Mapping[str, str] | None = None,
        limits: LimitsSource = USUAL,
        require_consent: Callable[[ServerSpec], object] = lambda _: None,
    ) -> None:
        self._credentials = credentials
        self._require_consent = require_consent
        self._limits = limits
        self._visits = McpClient(environment, limits, credentials, show)

    async def needed(self, spec: ServerSpec) -> bool:
        """Return whether the server needs a sign-in by OAuth and has no grant; ServerError."""
        if spec.auth_type is not AuthType.OAUTH2:
            return False
        url = await self._visits.address(spec)
        return await self._credentials.grant(url, remembered=spec.oauth.remember) is None

    async def sign_in(self, spec: ServerSpec) -> None:
        """Send the user to a browser and wait until they are back; ServerError, ConsentError."""
        self._require_consent(spec)
        await self._visits.list_tools(spec, self._limits.limits.seconds, afresh=True)
        if await self.needed(spec):
            raise ServerError(
                ServerFault.SETTINGS, f"{spec.name} answers without a sign-in.", hint="Select no sign-in for it."
            )

    async def sign_out(self, spec: ServerSpec) -> None:
        """Forget what the sign-in brought; StoreError where the keychain refuses."""
        await self._credentials.drop(await self._visits.address(spec))

    async def close(self) -> None:
        """Leave every server."""
        await self._visits.close()


class McpToolLister:
    """Reaches MCP servers and tools files; satisfies `ports.ServerGateway`.

    `${NAME}` in a spec is read from `environment` (default: this process's) when it connects.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        limits: LimitsSource = USUAL,
        credentials: CredentialStore | None = None,
    ) -> None:
        self._limits = limits
        self._environment = environment
        self._credentials = credentials

    @cached_property
    def _client(self) -> "McpClient":

        return McpClient(self._environment, self._limits, self._credentials)

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """Every tool that the server lists now; raises ServerError within `timeout` seconds.

        A program is started without asking: consent is the caller's matter.
        """
        if spec.transport is Transport.FILE:
            return await self._read(spec, timeout)
        return await self._client.list_tools(spec, timeout)

    async def read_catalogue(self, path: str) -> tuple[Listing, ...]:
        """The tools that a file holds, by server; raises ServerError."""
        return await asyncio.to_thread(read_catalogue, path, self._limits.limits)

    async def sort_catalogue(self, name: str, definitions: Sequence[Json]) -> tuple[Listing, ...]:
        """Given definitions, by server; `name` is the server of those that name none."""
        return await asyncio.to_thread(sort_catalogue, name, definitions, self._limits.limits)

    async def close(self) -> None:
        """Leave every server; returns when no connection and no program of ours is left."""
        if "_client" in vars(self):
            await self._client.close()

    async def _read(self, spec: ServerSpec, seconds: float) -> Listing:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(read_tools_file, spec, self._limits.limits)
        except TimeoutError:
            raise ServerErrors(spec, Observations()).silent(seconds) from None
