"""Ports for calling tools, of servers and of the library; separate, so that evaluation code cannot import them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_tef.model.json import Json, JsonObject
    from mcp_tef.model.library import ToolDesign
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


class ToolExecutor(Protocol):
    """Carries out a tool whose arguments were checked and whose programs and addresses were agreed to."""

    async def execute(self, design: ToolDesign, arguments: JsonObject) -> Json:
        """Return the output; raises TefError. A cancelled one leaves no process behind."""
        ...


class ServedTools(Protocol):
    """Tools that a server of ours offers to its clients."""

    @property
    def definitions(self) -> Sequence[JsonObject]:
        """The definitions that clients list, as they were at the last refresh."""
        ...

    async def refresh(self) -> bool:
        """Read the tools again; True where clients have to list them anew."""
        ...

    async def call(self, name: str, arguments: JsonObject, *, caller_id: str, trace_id: str | None) -> ToolReply:
        """Carry out a tool; NotFoundError where it is not served. Every other failure is a reply that is an error."""
        ...
