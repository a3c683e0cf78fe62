"""A session with a server, in one task: open, initialize, send the request, close."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar

import mcp_types
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp_types import RequestId
from pydantic import ValidationError

from mcp_tef.errors import ServerError
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.credential_store import ServerAccess
from mcp_tef.servers.error_mapping import is_closed, server_error_of
from mcp_tef.servers.error_messages import ServerErrors
from mcp_tef.servers.http_transport import connected
from mcp_tef.servers.mcp_internals import StrayAnswerDispatcher, TransportStreams
from mcp_tef.servers.oauth import signing_in
from mcp_tef.servers.observations import Observations, Stage, quoted
from mcp_tef.servers.stdio_process import running

_MODERN_ONLY = (mcp_types.UNSUPPORTED_PROTOCOL_VERSION, mcp_types.METHOD_NOT_FOUND, mcp_types.HEADER_MISMATCH)
_PROGRAM = mcp_types.Implementation(name="mcp-tef-desktop", version="0.1.0")

for _name in ("mcp.client", "mcp.shared", "client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)  # what they would log becomes our error, without traceback


_HOLLOW: Mapping[str, Mapping[str, Any]] = {"tools/list": {"tools": []}, "tools/call": {"content": []}}
_RESULT_ONLY = ("structuredContent", "isError")

T = TypeVar("T")


class UnfitAnswerError(Exception):
    """An answer does not hold what was asked for."""


class RawAnswers(StrayAnswerDispatcher):
    """The SDK's dispatcher, which keeps what came about tools as it came, before the SDK can stumble over it."""

    answer: Mapping[str, Any] = MappingProxyType({})
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, streams: TransportStreams, observations: Observations) -> None:
        super().__init__(*streams)
        self._observations = observations

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **private: Any
    ) -> dict[str, Any]:
        if method == "tools/call" and opts is not None:
            opts["headers"] = {**opts.get("headers", {}), **self.headers}
        answer = await super().send_raw_request(method, params, opts, **private)
        if method not in _HOLLOW:
            return answer
        self.answer = answer
        rest = {name: value for name, value in answer.items() if name not in _RESULT_ONLY}
        return {**rest, **_HOLLOW[method]}

    def note_stray_answer(self, request_id: RequestId | None, outcome: dict[str, Any] | mcp_types.ErrorData) -> None:
        request = "no request" if request_id is None else f"request {quoted(str(request_id))}, which nobody has made"
        words = f", saying “{quoted(outcome.message)}”" if isinstance(outcome, mcp_types.ErrorData) else ""
        self._observations.stray = request + words


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSession:
    """A greeted server, ready for a request; `began` is the start of its session, by `perf_counter`."""

    spec: ServerSpec
    client: ClientSession
    dispatcher: RawAnswers
    observations: Observations
    began: float


ServerRequest: TypeAlias = Callable[[ServerSession], Awaitable[T]]


async def hold_session(
    spec: ServerSpec,
    access: ServerAccess,
    observations: Observations,
    answer: asyncio.Future[T],
    request: ServerRequest[T],
) -> None:
    """Put what the request brings, or the ServerError, into `answer` as soon as it is known; return when all is closed.

    What a transport raises while it opens or breaks is raised, mostly in groups.
    """
    resolved = await access.resolved(spec)
    host = _Host(spec, observations, answer, request)
    if spec.transport is Transport.STDIO:
        launch = resolved.launch(partial(access.require_start, spec))
        observations.secrets = resolved.secrets
        async with running(launch, observations) as program:
            await host.receive(program.streams, program.last_words)
    else:
        async with (
            signing_in(resolved, access, observations) as auth,
            connected(resolved, observations, auth) as streams,
        ):
            await host.receive(streams, _nothing_to_wait_for)
            host.part()


async def _nothing_to_wait_for() -> None:
    """HTTP servers have no last words."""


class _Host(Generic[T]):
    """Leads the conversation with one server."""

    def __init__(
        self, spec: ServerSpec, observations: Observations, answer: asyncio.Future[T], request: ServerRequest[T]
    ) -> None:
        self._spec = spec
        self._observations = observations
        self._answer = answer
        self._request = request
        self._errors = ServerErrors(spec, observations)
        self._task = asyncio.current_task()
        self._began = perf_counter()

    async def receive(self, streams: TransportStreams, last_words: Callable[[], Awaitable[None]]) -> None:
        """Greet and send the request over open streams, and answer."""
        dispatcher = RawAnswers(streams, self._observations)
        async with ClientSession(dispatcher=dispatcher, client_info=_PROGRAM) as session:
            try:
                brought = await self._converse(session, dispatcher)
            except (MCPError, ValidationError, RuntimeError, ValueError, UnfitAnswerError) as error:
                if is_closed(error):
                    await last_words()
                self._fail(server_error_of(error, self._errors))
            else:
                if not self._answer.done():
                    self._answer.set_result(brought)

    def part(self) -> None:
        """Leave soon, heard or not."""
        task = self._task
        if task is not None:
            timer = asyncio.get_running_loop().call_later(self._observations.limits.part_seconds, task.cancel)
            task.add_done_callback(lambda _: timer.cancel())

    def _fail(self, error: ServerError) -> None:
        if not self._answer.done():
            self._answer.set_exception(error)

    async def _converse(self, session: ClientSession, dispatcher: RawAnswers) -> T:
        self._observations.stage = Stage.GREETING
        modern_first = self._spec.transport is Transport.STREAMABLE_HTTP
        await greet(session, self._observations, modern_first=modern_first)
        ready = ServerSession(
            spec=self._spec, client=session, dispatcher=dispatcher, observations=self._observations, began=self._began
        )
        return await self._request(ready)


async def greet(session: ClientSession, observations: Observations, *, modern_first: bool) -> None:
    """Agree on a protocol version, by a handshake or by discovery.

    Programs often ignore methods that they do not know, so they are greeted by the handshake first. Over HTTP what is
    not known is refused at once, and a modern server must never see a handshake.
    """
    if modern_first and await _discovered(session, observations):
        return
    try:
        await session.initialize()
    except MCPError as refusal:
        if modern_first or refusal.code not in _MODERN_ONLY or not await _discovered(session, observations):
            raise


async def _discovered(session: ClientSession, observations: Observations) -> bool:
    try:
        async with observations.within(observations.limits.discover_seconds):
            await session.discover()
    except (MCPError, ValidationError, RuntimeError, TimeoutError):
        return False
    return True
