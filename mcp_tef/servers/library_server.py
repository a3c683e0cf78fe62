"""Serves tools of the library over MCP by the official SDK, and tells clients when their list changes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final
from weakref import WeakSet

import mcp_types
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError

from mcp_tef.errors import NotFoundError
from mcp_tef.model.installation import VERSION
from mcp_tef.ports.calling import ServedTools
from mcp_tef.servers.mcp_internals import connection_of
from mcp_tef.servers.serving import run_over_http, run_over_stdio

LIBRARY: Final = "mcp-tef library"
REFRESH_SECONDS: Final = 1.0
_LONGEST_CALLER: Final = 200


class LibraryServer(Server[Any]):
    """The SDK's server over tools that may change while clients are connected."""

    def __init__(self, tools: ServedTools, name: str = LIBRARY) -> None:
        self._tools = tools
        self._bus = InMemorySubscriptionBus()
        self._connections: WeakSet[Connection] = WeakSet()
        super().__init__(
            name,
            version=VERSION,
            get_tool_input_schema=self._schema_of,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return what a handshake tells: that the list of tools may change."""
        told = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)

    async def follow(self) -> None:
        """Read the tools again every second, and tell clients where they changed; for ever."""
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            if await self._tools.refresh():
                await self.tell_changed()

    async def tell_changed(self) -> None:
        """Tell every client that the list of tools is another."""
        await self._bus.publish(ToolsListChanged())
        for connection in tuple(self._connections):
            with contextlib.suppress(MCPError, OSError, RuntimeError):
                await connection.send_tool_list_changed()

    def _schema_of(self, name: str) -> Mapping[str, Any] | None:
        """Return the input schema of a tool, by which the SDK checks headers that repeat arguments."""
        return next((raw["inputSchema"] for raw in self._tools.definitions if raw["name"] == name), None)

    async def _list(
        self, context: ServerRequestContext[Any], _: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        self._connections.add(connection_of(context.session))
        tools = [mcp_types.Tool.model_validate(raw) for raw in self._tools.definitions]
        return mcp_types.ListToolsResult(tools=tools)

    async def _call(
        self, context: ServerRequestContext[Any], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        client = context.session.client_params
        caller = client.client_info.name[:_LONGEST_CALLER] if client else "client"
        trace = (context.meta or {}).get("traceparent")
        try:
            reply = await self._tools.call(
                params.name,
                params.arguments or {},
                caller_id=caller,
                trace_id=trace if isinstance(trace, str) else None,
            )
        except NotFoundError as error:
            raise MCPError(mcp_types.INVALID_PARAMS, error.message) from None
        return mcp_types.CallToolResult.model_validate(
            {"content": list(reply.content), "structuredContent": reply.structured, "isError": reply.is_error}
        )


@contextlib.asynccontextmanager
async def _followed(server: LibraryServer) -> AsyncIterator[None]:
    following = asyncio.create_task(server.follow())
    try:
        yield
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def serve_over_stdio(tools: ServedTools) -> None:
    """Serve until standard input ends."""
    await tools.refresh()
    server = LibraryServer(tools)
    async with _followed(server):
        await run_over_stdio(server)


async def serve_over_http(
    tools: ServedTools, port: int, token: str, tell: Callable[[str], object], name: str = LIBRARY
) -> None:
    """Serve on loopback, as `run_over_http` does."""
    await tools.refresh()
    server = LibraryServer(tools, name)
    async with _followed(server):
        await run_over_http(server, port, token, tell)
