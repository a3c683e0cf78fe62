"""A tool's reply as it is kept: without the keys that its server was given, and cut where it is endless."""

from collections.abc import Mapping, Sequence
from math import isfinite

from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.secrets import Secret, json_without_keys
from mcp_tef.model.tool_calls import ToolReply

_LEAF = 8


def kept_reply(answer: JsonObject, secrets: Sequence[Secret], execution_time_ms: int, most: int) -> ToolReply:
    """The reply in a raw answer whose `content` is a list and which nests no deeper than a definition may.

    At most `most` characters of it are kept.
    """
    room = _Room(most)
    content = room.take(json_without_keys(answer["content"], secrets))
    structured = room.take(json_without_keys(answer.get("structuredContent"), secrets))
    return ToolReply(
        content=tuple(content),
        structured=structured,
        is_error=answer.get("isError") is True,
        execution_time_ms=execution_time_ms,
        cut=room.left < 0,
    )


class _Room:
    """What is left of the limit; what does not fit any more is left out."""

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, value: Json) -> Json:
        """As much of a value as there is room for."""
        if isinstance(value, str):
            shown = value[: max(0, self.left)]
            self.left -= len(value) + _LEAF
            return shown
        if isinstance(value, Mapping):
            return {name: self.take(inner) for name, inner in value.items() if self._fits(name)}
        if isinstance(value, list):
            return [self.take(inner) for inner in value if self._fits("")]
        return str(value) if isinstance(value, float) and not isfinite(value) else value

    def _fits(self, name: str) -> bool:
        self.left -= len(name) + _LEAF
        return self.left >= 0
