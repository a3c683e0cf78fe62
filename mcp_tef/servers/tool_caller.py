"""Calls a tool of a server for a user who asked for that very call."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mcp_tef.model.json import JsonObject
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.ports import OpenAddress
from mcp_tef.servers.client import McpClient
from mcp_tef.servers.credential_store import CredentialStore

if TYPE_CHECKING:
    from mcp_tef.servers.session import ServerRequest


class McpToolCaller:
    """Satisfies `ToolCaller`; apart from the gateway, so that no evaluation holds what could call a tool."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        limits: LimitsSource = USUAL,
        credentials: CredentialStore | None = None,
        show: OpenAddress | None = None,
    ) -> None:
        self._visits = McpClient(environment, limits, credentials, show)

    async def call_tool(
        self,
        spec: ServerSpec,
        tool: str,
        arguments: JsonObject,
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> ToolReply:
        """Return the reply of the tool; raises ServerError within `timeout` seconds.

        A program is started without asking.
        """

        def request() -> "ServerRequest[ToolReply]":
            from mcp_tef.servers.tool_call_request import calling

            return calling(tool, arguments)

        return await self._visits.send(spec, request, timeout)

    async def close(self) -> None:
        """Leave every server."""
        await self._visits.close()
