"""Ports for tool calls: of servers, of the library and by agents; separate, so that evaluation cannot import them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_tef.model.json import Json, JsonObject
    from mcp_tef.model.servers import ServerSpec
    from mcp_tef.model.tool_calls import ToolReply
    from mcp_tef.trust.plans import ToolPlan


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
    """Carries out the plan of a tool, which was agreed to, with arguments that were checked."""

    async def execute(self, plan: ToolPlan, arguments: JsonObject) -> Json:
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
