"""Calls by hand in memory, and a caller that answers as a test says."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mcp_tef import FailureInfo
from mcp_tef.errors import TefError
from mcp_tef.model.ids import ServerId, ToolCallId
from mcp_tef.model.json import JsonObject
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply


class MemoryToolCalls:
    """Satisfies `ToolCallStore`, without a limit."""

    def __init__(self) -> None:
        self.kept: dict[ToolCallId, ToolCall] = {}

    async def begin(self, call: ToolCall) -> None:
        """Keep it."""
        self.kept[call.id] = call

    async def end(self, call: ToolCall) -> None:
        """Replace it."""
        if call.id in self.kept:
            self.kept[call.id] = call

    async def of_server(self, server_id: ServerId, tool: str | None = None) -> tuple[ToolCall, ...]:
        """Newest first."""
        found = [call for call in self.kept.values() if call.server_id == server_id and tool in (None, call.tool)]
        return tuple(reversed(found))

    async def remove(self, ids: Sequence[ToolCallId]) -> None:
        """Delete them."""
        self.kept = {call_id: call for call_id, call in self.kept.items() if call_id not in ids}

    async def restore(self, calls: Sequence[ToolCall]) -> None:
        """Keep them where they were."""
        every = sorted((*self.kept.values(), *calls), key=lambda call: call.asked_at)
        self.kept = {call.id: call for call in every}


Reply = ToolReply | TefError


def says(text: str, **fields: object) -> ToolReply:
    """A reply with one text."""
    made: Callable[..., ToolReply] = ToolReply
    return made(content=({"type": "text", "text": text},), execution_time_ms=7, **fields)


def ended_call(number: int, word: str, *, tool: str = "find", seconds: int = 1, failed: str = "") -> ToolCall:
    """Return a call with a word as its argument; answered, or failed with a sentence."""
    return ToolCall(
        id=ToolCallId(str(number)),
        server_id=ServerId("1"),
        server="desk",
        tool=tool,
        arguments={"text": word},
        asked_at=datetime(2026, 11, 22, 6, second=number, tzinfo=UTC),
        duration_ms=seconds * 1_000,
        status=ToolCallStatus.FAILED if failed else ToolCallStatus.ANSWERED,
        reply=None if failed else says(f"{word} found"),
        failure=FailureInfo("server_silent", failed, "Wait.") if failed else None,
    )


@dataclass
class FakeCaller:
    """Answers each call with `reply` once `gate` is open; `asked` holds what reached it, and `reached` that it did."""

    reply: Reply = field(default_factory=lambda: says("done"))
    asked: list[tuple[str, str, JsonObject]] = field(default_factory=list)
    gate: asyncio.Event | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def call_tool(
        self,
        spec: ServerSpec,
        tool: str,
        arguments: JsonObject,
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> ToolReply:
        """What the test said."""
        self.asked.append((spec.name, tool, arguments))
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        if isinstance(self.reply, TefError):
            raise self.reply
        return self.reply
