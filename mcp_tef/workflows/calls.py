"""Manual tool calls: arguments are checked first, consent is required, and each call is kept for a while."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Final

from mcp_tef.errors import InputError, NotFoundError, TefError
from mcp_tef.events import EventStream, ToolCallsChanged
from mcp_tef.model.health import ContactKind
from mcp_tef.model.ids import ServerId, ToolCallId, new_id
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.limits import CALL_SECONDS
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.secrets import json_without_keys, without_keys
from mcp_tef.model.servers import Server, ServerSpec, Transport
from mcp_tef.model.times import moment_after
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import ParameterFinding
from mcp_tef.ports import ContactStore, ServerStore, ToolCallStore
from mcp_tef.ports.calling import ToolCaller
from mcp_tef.scoring.call_pairing import argument_problems
from mcp_tef.workflows.consent import Consents
from mcp_tef.workflows.servers import Servers
from mcp_tef.workflows.tool_sources import noted

MOST_ARGUMENTS: Final = 1024 * 1024
MOST_PROBLEMS: Final = 3


class WorkspaceCaller:
    """Satisfies `ToolCaller`, and notes each call as a contact with its server."""

    def __init__(self, caller: ToolCaller, contacts: ContactStore) -> None:
        self._caller = caller
        self._contacts = contacts

    async def call_tool(
        self,
        spec: ServerSpec,
        tool: str,
        arguments: Mapping[str, Json],
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> ToolReply:
        """Return the tool's response without keys."""
        call = self._caller.call_tool(spec, tool, arguments, timeout=timeout)
        return await noted(self._contacts, spec.name, ContactKind.CALL, call)


class ToolCalls:
    """Tools called because a user asked for that very call. Nothing that evaluates knows of this."""

    def __init__(
        self,
        store: ServerStore,
        calls: ToolCallStore,
        servers: Servers,
        caller: ToolCaller,
        consents: Consents,
        events: EventStream,
    ) -> None:
        self._store = store
        self._calls = calls
        self._servers = servers
        self._caller = caller
        self._consents = consents
        self._events = events

    async def call(
        self, server_id: ServerId, tool: str, arguments: Mapping[str, Json], *, seconds: float = CALL_SECONDS
    ) -> ToolCall:
        """Call a tool once and keep what came of it; an error that the tool itself tells of is in the reply.

        Raises InputError for arguments that its schema does not take, ConsentError, and ServerError.
        """
        server = await self._store.get(server_id)
        if server.spec.transport is Transport.FILE and not server.spec.is_library:
            message = f"{server.name} is a list of tools in a file, so there is nothing to call."
            raise InputError(message, hint="Call the tool on the server that the list is of.")
        self._consents.require(server.spec)
        sent = _sent(server, tool, arguments)
        await self._require_fit(await self._tool(server, tool), arguments)
        return await self._carried_out(server, sent, arguments, seconds)

    async def problems(self, tool: Tool, arguments: Mapping[str, Json]) -> tuple[ParameterFinding, ...]:
        """Return the reasons why arguments cannot be sent."""
        return await asyncio.to_thread(argument_problems, tool, arguments)

    async def history(self, server_id: ServerId, tool: str | None = None) -> tuple[ToolCall, ...]:
        """Return the calls of a server, or of one of its tools, newest first; of each tool the last fifty are kept."""
        return await self._calls.of_server(server_id, tool)

    async def remove(self, calls: Sequence[ToolCall]) -> None:
        """Delete calls from the history."""
        await self._calls.remove([call.id for call in calls])
        self._touched(calls)

    async def restore(self, calls: Sequence[ToolCall]) -> None:
        """Undo a removal."""
        await self._calls.restore(calls)
        self._touched(calls)

    def _touched(self, calls: Sequence[ToolCall]) -> None:
        for server_id, tool in dict.fromkeys((call.server_id, call.tool) for call in calls):
            self._events.publish(ToolCallsChanged(server_id, tool))

    async def _tool(self, server: Server, name: str) -> Tool:
        listing = await self._store.listing(server.id) or await self._servers.tools(server.id)
        tools = {tool.name: tool for tool in listing.tools}
        if name not in tools:
            hint = did_you_mean(name, tools, "Check the server again to see its tools.")
            raise NotFoundError(f"{server.name} has no tool named {name}.", hint=hint)
        return tools[name]

    async def _require_fit(self, tool: Tool, arguments: Mapping[str, Json]) -> None:
        problems = await self.problems(tool, arguments)
        if problems:
            told = " ".join(problem.sentence for problem in problems[:MOST_PROBLEMS])
            raise InputError(
                f"The arguments do not fit {tool.name}. {told}", hint="Nothing was sent.", code="bad_arguments"
            )

    async def _carried_out(
        self, server: Server, sent: ToolCall, arguments: Mapping[str, Json], seconds: float
    ) -> ToolCall:
        earlier = await self._calls.of_server(server.id, sent.tool)
        sent = replace(sent, asked_at=moment_after(call.asked_at for call in earlier))
        await self._calls.begin(sent)
        began = perf_counter()
        ended = replace(sent, status=ToolCallStatus.CANCELLED)
        try:
            reply = await self._caller.call_tool(server.spec, sent.tool, arguments, timeout=seconds)
            ended = replace(sent, status=_status(reply), reply=reply)
        except TefError as error:
            failure = FailureInfo(error.code, without_keys(error.message), error.hint)
            ended = replace(sent, status=ToolCallStatus.FAILED, failure=failure)
            raise
        finally:
            ended = replace(ended, duration_ms=round((perf_counter() - began) * 1000))
            await self._calls.end(ended)
            self._events.publish(ToolCallsChanged(server.id, sent.tool))
        return ended


def _sent(server: Server, tool: str, arguments: Mapping[str, Json]) -> ToolCall:
    try:
        size, clean = len(canonical(arguments)), json_without_keys(dict(arguments))
    except RecursionError:
        raise InputError(f"The arguments for {tool} nest too deep.", hint="Send something flatter.") from None
    if size > MOST_ARGUMENTS:
        raise InputError(f"The arguments for {tool} are larger than 1 MB.", hint="Send less at once.")
    return ToolCall(
        id=ToolCallId(new_id()),
        server_id=server.id,
        server=server.name,
        tool=tool,
        arguments=clean,
        asked_at=datetime.now(UTC),
    )


def _status(reply: ToolReply) -> ToolCallStatus:
    return ToolCallStatus.TOOL_ERROR if reply.is_error else ToolCallStatus.ANSWERED
