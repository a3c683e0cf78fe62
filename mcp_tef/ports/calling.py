"""Port for calling a tool on behalf of a user; separate, so that evaluation code cannot import it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mcp_tef.model.json import JsonObject
    from mcp_tef.model.servers import ServerSpec
    from mcp_tef.model.tool_calls import ToolReply


class ToolCaller(Protocol):
    """Calls a tool for a user who asked for that very call. Nothing that evaluates is ever given one."""

    async def call_tool(
        self,
        spec: ServerSpec,
        tool: str,
        arguments: JsonObject,
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> ToolReply:
        """Return the tool's response without keys; raises ServerError within `timeout` seconds."""
        ...
