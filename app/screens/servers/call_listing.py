"""Which calls by hand are listed, in which order and words; remembered between starts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Final

from app.arguments.typed_json import dumps
from app.screens.servers.trying import STATUS_WORDS
from app.widgets import Action
from mcp_tef import Json, ToolCall, ToolCallStatus

KEPT: Final = "servers.calls_shown"
MOST_SEARCHED: Final = 4_000


class CallOrder(StrEnum):
    """What the list is sorted by."""

    NEWEST = "newest"
    OLDEST = "oldest"
    LONGEST = "longest"


ORDER_WORDS: Final[Mapping[CallOrder, str]] = {
    CallOrder.NEWEST: "Newest first",
    CallOrder.OLDEST: "Oldest first",
    CallOrder.LONGEST: "Longest first",
}


@dataclass(frozen=True, slots=True)
class CallsShown:
    """Calls of one tool, or of every tool of its server, of one outcome or of all."""

    outcome: ToolCallStatus | None = None
    every_tool: bool = False
    order: CallOrder = CallOrder.NEWEST

    def of(self, calls: Sequence[ToolCall], text: str) -> tuple[ToolCall, ...]:
        """Those that are wanted and hold every word; `calls` come newest first."""
        words = text.casefold().split()
        found = [call for call in calls if self.outcome in (None, call.status) and _holds(call, words)]
        if self.order is CallOrder.OLDEST:
            found.reverse()
        elif self.order is CallOrder.LONGEST:
            found.sort(key=lambda call: -(call.duration_ms or 0))
        return tuple(found)

    def to_keep(self) -> dict[str, Any]:
        """As plain values."""
        outcome = self.outcome.value if self.outcome else ""
        return {"outcome": outcome, "every_tool": self.every_tool, "order": self.order.value}


def calls_shown_of(kept: Mapping[str, object]) -> CallsShown:
    """What was kept; whatever does not fit is left out."""
    return CallsShown(
        outcome=next((status for status in ToolCallStatus if status.value == kept.get("outcome")), None),
        every_tool=kept.get("every_tool") is True,
        order=next((order for order in CallOrder if order.value == kept.get("order")), CallOrder.NEWEST),
    )


def calls_shown_actions(now: CallsShown, show: Callable[[CallsShown], object]) -> Sequence[Action]:
    """Every choice, ticked while it is in force."""

    def choice(text: str, then: CallsShown, *, apart: bool = False) -> Action:
        return Action(text=text, do=lambda: show(then), checked=now == then, apart=apart)

    return [
        choice("Calls of this tool", replace(now, every_tool=False)),
        choice("Calls of every tool of the server", replace(now, every_tool=True)),
        choice("Any outcome", replace(now, outcome=None), apart=True),
        *(choice(word, replace(now, outcome=status)) for status, word in STATUS_WORDS.items()),
        *(
            choice(word, replace(now, order=order), apart=order is CallOrder.NEWEST)
            for order, word in ORDER_WORDS.items()
        ),
    ]


def calls_as_json(calls: Sequence[ToolCall]) -> str:
    """Calls with their answers, without keys, for the clipboard."""
    return dumps([_plain(call) for call in calls], indent=2)


def _plain(call: ToolCall) -> dict[str, Json]:
    ended: dict[str, Json] = {"duration_ms": call.duration_ms} if call.duration_ms is not None else {}
    if call.reply is not None:
        ended["reply"] = asdict(call.reply) | {"content": list(call.reply.content)}
    if call.failure is not None:
        ended["failure"] = {"message": call.failure.message, "hint": call.failure.hint}
    return {
        "id": call.id,
        "asked_at": call.asked_at.isoformat(timespec="milliseconds"),
        "server": call.server,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "status": call.status.value,
        **ended,
    }


def _holds(call: ToolCall, words: Sequence[str]) -> bool:
    if not words:
        return True
    answer = call.failure.message if call.failure else str(call.reply.content)[:MOST_SEARCHED] if call.reply else ""
    asked = dumps(dict(call.arguments))[:MOST_SEARCHED]
    text = f"{call.tool} {STATUS_WORDS[call.status]} {asked} {answer}".casefold()
    return all(word in text for word in words)
