"""Manual tool calls: the arguments that a user sent, and the reply."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mcp_tef.model.ids import ServerId, ToolCallId
from mcp_tef.model.json import Json
from mcp_tef.model.runs import FailureInfo


class ToolCallStatus(StrEnum):
    """State of a call; one that is still `sent` after a restart was cut off, and may have been carried out."""

    SENT = "sent"
    ANSWERED = "answered"
    TOOL_ERROR = "tool_error"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReply:
    """A server's answer: its content blocks and structured content as JSON, without keys.

    `is_error` is the tool's own word that it failed. `execution_time_ms` is the call alone, without the way to the
    server. `cut` says that not all of it was kept.
    """

    content: tuple[Json, ...] = ()
    structured: Json = None
    is_error: bool = False
    execution_time_ms: int = 0
    cut: bool = False

    @property
    def text(self) -> str:
        """The text blocks, one after the other."""
        texts = (block.get("text") for block in self.content if isinstance(block, Mapping))
        return "\n".join(text for text in texts if isinstance(text, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call by hand, as it is kept: no key is in its arguments or its reply; `duration_ms` is the whole of it."""

    id: ToolCallId
    server_id: ServerId
    server: str
    tool: str
    arguments: Mapping[str, Json]
    asked_at: datetime
    status: ToolCallStatus = ToolCallStatus.SENT
    duration_ms: int | None = None
    reply: ToolReply | None = None
    failure: FailureInfo | None = None
