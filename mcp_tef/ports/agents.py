"""Ports of the MCP server for coding agents: its operations, and the client that each call comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_tef.model.json import JsonObject
    from mcp_tef.model.tool_calls import ToolReply


class CallingAgent(Protocol):
    """The client of one call."""

    async def progress(self, done: int, total: int, message: str) -> None:
        """Report progress; nothing happens where the client did not ask for it."""
        ...

    async def confirm(self, question: str) -> bool | None:
        """Ask the user at the client for a yes or no; None where the client cannot ask."""
        ...


class AgentOperations(Protocol):
    """Tools, resources and prompts that a server for agents offers."""

    @property
    def definitions(self) -> Sequence[JsonObject]:
        """Definitions of the tools, as clients list them."""
        ...

    @property
    def resources(self) -> Sequence[JsonObject]:
        """Descriptions of the resources, as clients list them."""
        ...

    @property
    def prompts(self) -> Sequence[JsonObject]:
        """Descriptions of the prompts, as clients list them."""
        ...

    async def read(self, uri: str) -> str:
        """Return the text of a resource; NotFoundError."""
        ...

    def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """Return the text of a prompt; NotFoundError, InputError for a missing argument."""
        ...

    async def call(self, name: str, arguments: JsonObject, agent: CallingAgent) -> ToolReply:
        """Carry out a tool; NotFoundError for an unknown one. Every other failure is a reply that is an error.

        A cancelled call leaves nothing running.
        """
        ...
