"""Transports of servers of ours: over stdio, or over streamable HTTP on loopback with a bearer token."""

import asyncio
import hmac
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

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

    from mcp_tef.servers.bounded_protocol import bounded_by

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
