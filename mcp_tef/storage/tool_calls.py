"""Tools that were called by hand, on disk."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import delete, insert, select, update
from sqlmodel import Session

from mcp_tef.model.ids import ServerId, ToolCallId
from mcp_tef.model.json import Json
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.storage.database import Database
from mcp_tef.storage.ids import one_of
from mcp_tef.storage.naming import row_of
from mcp_tef.storage.tables import SERVERS, TOOL_CALLS

MOST_KEPT: Final = 50


class SqliteToolCalls:
    """Satisfies `ToolCallStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, call: ToolCall) -> None:
        """Keep a call before it is sent, and no more than the last fifty of its tool."""
        await self._database.write(lambda session: _begin(session, call))

    async def end(self, call: ToolCall) -> None:
        """Keep what became of it, if it is still there."""
        statement = update(TOOL_CALLS).where(TOOL_CALLS.c.id == call.id).values(_outcome(call))
        await self._database.write(lambda session: session.execute(statement))

    async def of_server(self, server_id: ServerId, tool: str | None = None) -> tuple[ToolCall, ...]:
        """The calls of a server, or of one of its tools, newest first."""
        return await self._database.read(lambda session: _calls(session, server_id, tool))

    async def remove(self, ids: Sequence[ToolCallId]) -> None:
        """Delete calls."""
        statement = delete(TOOL_CALLS).where(TOOL_CALLS.c.id.in_(one_of(ids)))
        await self._database.write(lambda session: session.execute(statement))

    async def restore(self, calls: Sequence[ToolCall]) -> None:
        """Keep calls again that were removed, as they were."""
        if calls:
            await self._database.write(
                lambda session: session.execute(insert(TOOL_CALLS), [_row(call) for call in calls])
            )


def _row(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "mcp_server_id": call.server_id,
        "tool_name": call.tool,
        "arguments": dict(call.arguments),
        "asked_at": call.asked_at,
        **_outcome(call),
    }


def _begin(session: Session, call: ToolCall) -> None:
    session.execute(insert(TOOL_CALLS), [_row(call)])
    of_tool = (TOOL_CALLS.c.mcp_server_id == call.server_id, TOOL_CALLS.c.tool_name == call.tool)
    last = select(TOOL_CALLS.c.id).where(*of_tool).order_by(TOOL_CALLS.c.asked_at.desc()).limit(MOST_KEPT)
    session.execute(delete(TOOL_CALLS).where(*of_tool, TOOL_CALLS.c.id.not_in(last)))


def _outcome(call: ToolCall) -> dict[str, Any]:
    failure = call.failure
    return {
        "status": call.status.value,
        "execution_time_ms": call.duration_ms,
        "reply": _reply_to_json(call.reply) if call.reply else None,
        "error_code": failure.code if failure else None,
        "error_message": failure.message if failure else None,
        "error_hint": failure.hint if failure else None,
    }


def _calls(session: Session, server_id: ServerId, tool: str | None) -> tuple[ToolCall, ...]:
    found = select(TOOL_CALLS, SERVERS.c.name).join(SERVERS, SERVERS.c.id == TOOL_CALLS.c.mcp_server_id)
    found = found.where(TOOL_CALLS.c.mcp_server_id == server_id)
    if tool is not None:
        found = found.where(TOOL_CALLS.c.tool_name == tool)
    return tuple(_call(row) for row in session.execute(found.order_by(TOOL_CALLS.c.asked_at.desc())))


@row_of("tool_calls")
def _call(row: Any) -> ToolCall:
    failed = row.error_code is not None
    return ToolCall(
        id=ToolCallId(row.id),
        server_id=ServerId(row.mcp_server_id),
        server=row.name,
        tool=row.tool_name,
        arguments=row.arguments,
        asked_at=row.asked_at,
        status=ToolCallStatus(row.status),
        duration_ms=row.execution_time_ms,
        reply=_reply_from_json(row.reply) if row.reply is not None else None,
        failure=FailureInfo(row.error_code, row.error_message, row.error_hint) if failed else None,
    )


def _reply_to_json(reply: ToolReply) -> Json:
    return asdict(reply)


def _reply_from_json(value: Mapping[str, Any]) -> ToolReply:
    return ToolReply(**{**value, "content": tuple(value["content"])})
