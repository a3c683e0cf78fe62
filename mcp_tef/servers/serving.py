"""Transports of servers of ours: over stdio, or over streamable HTTP on loopback with a bearer token."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from mcp_tef.servers.standard_input import StandardInput
from mcp_tef.trust.bounds import HeldBodies
from mcp_tef.trust.listeners import bears, strong_token

if TYPE_CHECKING:
    from anyio import AsyncFile

HEAD_SECONDS: Final = 10.0
"""Time for the head of a request, after which its connection is closed."""
AsgiCall: TypeAlias = Callable[..., Awaitable[Any]]
AsgiApp: TypeAlias = Callable[[Any, AsgiCall, AsgiCall], Awaitable[None]]


class WithToken:
    """Another ASGI app, which answers only requests that bring a bearer token."""

    def __init__(self, app: AsgiApp, token: str) -> None:
        self._app = app
        self._token = strong_token(token)
        self._held = HeldBodies()

    async def __call__(self, scope: Mapping[str, Any], receive: AsgiCall, send: AsgiCall) -> None:
        """Answer 401 without the token; a body beyond what all may hold at once ends its request."""
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if scope["type"] == "lifespan" or bears(given, self._token):
            with self._held.request() as take:
                await self._app(scope, partial(_received, receive, take), send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def _received(receive: AsgiCall, take: Callable[[int], bool]) -> Any:
    message = await receive()
    return message if take(len(message.get("body", b""))) else {"type": "http.disconnect"}


async def run_over_stdio(server: Server[Any]) -> None:
    """Serve until standard input ends, or until it is cancelled, also while a client keeps its end open."""
    # The library's own reader waits for a line that cannot be interrupted. Of a file, it only takes the lines.
    lines = cast("AsyncFile[str]", StandardInput())
    async with stdio_server(stdin=lines) as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


async def run_over_http(
    server: Server[Any],
    port: int,
    token: str,
    tell: Callable[[str], object],
    *,
    head_seconds: float = HEAD_SECONDS,
) -> None:
    """Serve on loopback, to callers with the token, until it is cancelled; port 0 takes a free one.

    `tell` hears the address once connections are taken. Raises InputError for a token that could be guessed.
    """
    await listen(WithToken(server.streamable_http_app(host="127.0.0.1"), token), port, tell, head_seconds)


async def listen(app: AsgiApp, port: int, tell: Callable[[str], object], head_seconds: float = HEAD_SECONDS) -> None:
    """Serve an app that refuses strangers by itself, on loopback, until it is cancelled."""
    import uvicorn

    from mcp_tef.servers.bounded_protocol import bounded_by

    with socket.create_server(("127.0.0.1", port)) as listener:
        config = uvicorn.Config(
            app, http=bounded_by(head_seconds), ws="none", log_level="warning", timeout_graceful_shutdown=1
        )
        web = uvicorn.Server(config)
        tell(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
        serving = asyncio.create_task(web.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        finally:
            web.should_exit = True
            await asyncio.wait({serving})
