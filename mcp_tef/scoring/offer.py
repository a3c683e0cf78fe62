"""Which tools were offered, and which of them a call means."""

from collections.abc import Sequence

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import ExpectedCall
from mcp_tef.model.json import canonical
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.schema import NO_SCHEMA, SHELF, ToolSchema


class Offer:
    """The tools that a selector could choose from, by name."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._named: dict[str, list[Tool]] = {}
        for tool in tools:
            self._named.setdefault(tool.name, []).append(tool)

    def server_of(self, call: ActualCall) -> str | None:
        """The server that a call goes to: its own word, or the only server that offers the tool."""
        if call.server:
            return call.server
        servers = {tool.server for tool in self._named.get(call.tool, ()) if tool.server}
        return servers.pop() if len(servers) == 1 else None

    def invented(self, call: ActualCall) -> bool:
        """Whether nobody offered this tool."""
        return not self._meant(call)

    def schema_of(self, call: ActualCall) -> ToolSchema:
        """The schema of the tool that a call means; one that takes anything where it was not offered."""
        meant = self._meant(call)
        if len(meant) > 1:
            meant = [min(meant, key=lambda tool: (tool.server, canonical(tool.input_schema)))]
        return SHELF.get(meant[0].input_schema) if meant else NO_SCHEMA

    def is_expected(self, expected: ExpectedCall, call: ActualCall) -> bool:
        """Whether a call is of the expected tool, and of its server where the expectation names one.

        Where neither the call nor any offered tool of that name tells a server, there is nothing to tell apart.
        """
        if expected.tool != call.tool:
            return False
        if not expected.server or self.server_of(call) == expected.server:
            return True
        return not call.server and not any(tool.server for tool in self._named.get(call.tool, ()))

    def _meant(self, call: ActualCall) -> list[Tool]:
        tools = self._named.get(call.tool, [])
        if not call.server:
            return tools
        return [tool for tool in tools if tool.server in (call.server, "")]
