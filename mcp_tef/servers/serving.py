"""Transports of servers of ours: stdio, or streamable HTTP on loopback with a bearer token and bounded connections."""

import asyncio
import hmac
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 10.0
"""Time for the head of a request, after which its connection is closed."""
AsgiCall: TypeAlias = Callable[..., Awaitable[Any]]
AsgiApp: TypeAlias = Callable[[Any, AsgiCall, AsgiCall], Awaitable[None]]


class WithToken:
    """Another ASGI app, which answers only requests that bring a bearer token."""

    def __init__(self, app: AsgiApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Mapping[str, Any], receive: AsgiCall, send: AsgiCall) -> None:
        """Answer 401 without the token."""
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] != "http" or hmac.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def run_over_stdio(server: Server[Any]) -> None:
    """Serve until standard input ends."""
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


async def run_over_http(
    server: Server[Any],
    port: int,
    token: str | None,
    tell: Callable[[str], object],
    *,
    head_seconds: float = HEAD_SECONDS,
) -> None:
    """Serve on loopback until it is cancelled, without a token to everybody there; port 0 takes a free one.

    `tell` hears the address once connections are taken.
    """
    import uvicorn

    with socket.create_server(("127.0.0.1", port)) as listener:
        whole = server.streamable_http_app(host="127.0.0.1")
        app: Any = whole if token is None else WithToken(whole, token)
        config = uvicorn.Config(app, http=bounded_by(head_seconds), log_level="warning", timeout_graceful_shutdown=1)
        web = uvicorn.Server(config)
        tell(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
        serving = asyncio.create_task(web.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        finally:
            web.should_exit = True
            await asyncio.wait({serving})


MOST_CONNECTIONS: Final = 512
MOST_KEPT: Final = 64 * 1024


class JoinedWrites:
    """A transport that sends head and body together: on a busy machine, a system call may cost the thread its turn."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._written: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Keep the bytes until this turn of the loop ends, unless they are many: then pressure has to be felt."""
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)
        if sum(map(len, self._written)) > MOST_KEPT:
            self._send()

    def close(self) -> None:
        """Send what is left, and close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        written, self._written = self._written, []
        if written:
            self._transport.write(b"".join(written))


class BoundedProtocol(H11Protocol):
    """Closes connections beyond the bound, and those whose request does not arrive in time."""

    head_seconds: float
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless too many are open."""
        joined: Any = JoinedWrites(transport, self.loop)
        super().connection_made(joined)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; its head has to be whole by the deadline."""
        super().data_received(data)
        self._judge()

    def on_response_complete(self) -> None:
        """Let the caller end a body that nobody will read, but only until the deadline."""
        super().on_response_complete()
        self._judge()

    def _judge(self) -> None:
        state = repr(self.conn.their_state)
        is_unread = state == "SEND_BODY" and self.cycle is not None and self.cycle.response_complete
        if state == "IDLE" or is_unread:
            self._watch()
        else:
            self._unwatch()

    def _watch(self) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def bounded_by(seconds: float) -> type[BoundedProtocol]:
    """Return the protocol with another deadline."""
    return type("BoundedProtocol", (BoundedProtocol,), {"head_seconds": seconds})
