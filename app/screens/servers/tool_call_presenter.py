"""Finished calls of a tool as text, and the core calls of the dialog that makes one; knows no Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

from app.arguments.parameters import parameters_of
from app.arguments.values import ParsedArguments, dumps, errors_by_parameter
from app.screens.kit import FilterField, FilterFields, SortOrder, ViewState, in_order, matches_all_words
from app.screens.servers.presenter import CoreCalls
from app.text.formatting import count, duration
from mcp_tef import ConsentRequest, Json, Server, Tool, ToolCall, ToolCallStatus

MOST_SHOWN: Final = 8_000
CALL_STATUS_TEXTS: Final[Mapping[ToolCallStatus, str]] = {
    ToolCallStatus.SENT: "No answer yet",
    ToolCallStatus.ANSWERED: "Answered",
    ToolCallStatus.TOOL_ERROR: "Tool error",
    ToolCallStatus.FAILED: "Failed",
    ToolCallStatus.CANCELLED: "Cancelled",
}


def outcome(call: ToolCall) -> str:
    """Return the outcome of a call: "Answered after 10 ms (2.5 s in all)."."""
    word = CALL_STATUS_TEXTS[call.status]
    if call.status is ToolCallStatus.SENT:
        return "No answer was recorded. The server may have carried it out."
    whole = duration((call.duration_ms or 0) / 1000)
    if call.reply is None:
        return f"{word} after {whole}"
    cut = " Only the beginning was kept." if call.reply.cut else ""
    outcome_text = "The tool reported an error" if call.reply.is_error else "Answered"
    return f"{outcome_text} after {call.reply.execution_time_ms} ms ({whole} in all).{cut}"


def request_text(call: ToolCall) -> str:
    """Return the request as JSON, without keys."""
    asked = {"id": call.id, "at": call.asked_at.isoformat(timespec="milliseconds")}
    return _cut(dumps({**asked, "server": call.server, "tool": call.tool, "arguments": dict(call.arguments)}, indent=2))


def response_text(call: ToolCall) -> str:
    """Return the answer: texts as they are, anything else as JSON."""
    if call.failure is not None:
        return f"{call.failure.message}\n{call.failure.hint}".strip()
    if call.reply is None:
        return ""
    parts = [_block(block) for block in call.reply.content]
    if call.reply.structured is not None:
        parts.append(dumps(call.reply.structured, indent=2))
    return _cut("\n\n".join(parts)) or "The answer is empty."


def _cut(text: str) -> str:
    more = len(text) - MOST_SHOWN
    return f"{text[:MOST_SHOWN]}\n… ({count(more, 'more character')})" if more > 0 else text


def _block(block: Json) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else dumps(block, indent=2)


EVERY_TOOL: Final = "every_tool"
MOST_SEARCHED: Final = 4_000
CALL_FIELDS: Final[FilterFields[ToolCall]] = FilterFields(
    (
        FilterField(name=EVERY_TOOL, texts={"yes": "Calls of every tool of the server"}),
        FilterField(
            name="outcome",
            texts={status.value: text for status, text in CALL_STATUS_TEXTS.items()},
            fits=lambda call, value: call.status.value == value,
        ),
    )
)
"""Filters of calls; the core lists the calls of one tool or of all, which `EVERY_TOOL` decides."""

CALL_ORDERS: Final[Sequence[SortOrder[ToolCall]]] = (
    SortOrder(name="newest", text="Newest first"),
    SortOrder(name="oldest", text="Oldest first", descending=True),
    SortOrder(name="longest", text="Longest first", key=lambda call: call.duration_ms or 0, descending=True),
)


def listed_calls(calls: Sequence[ToolCall], view: ViewState) -> tuple[ToolCall, ...]:
    """Return the calls that pass search and filters, sorted; `calls` come newest first."""
    found = (call for call in calls if CALL_FIELDS.fits(call, view.filters) and _matches(call, view.text))
    return tuple(in_order(found, CALL_ORDERS, view.sort.name))


def _matches(call: ToolCall, query: str) -> bool:
    answer = call.failure.message if call.failure else str(call.reply.content)[:MOST_SEARCHED] if call.reply else ""
    arguments = dumps(dict(call.arguments))[:MOST_SEARCHED]
    return matches_all_words(f"{call.tool} {CALL_STATUS_TEXTS[call.status]} {arguments} {answer}", query)


def calls_as_json(calls: Sequence[ToolCall]) -> str:
    """Return calls with their answers, without keys, as JSON."""
    return dumps([_json_of(call) for call in calls], indent=2)


def _json_of(call: ToolCall) -> dict[str, Json]:
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


class ToolCallPresenter:
    """Core calls of the dialog for one tool: check of arguments, consent, the call, and the calls so far."""

    def __init__(self, core: CoreCalls, server: Server, tool: Tool) -> None:
        self._core = core
        self._server = server
        self._tool = tool
        self._parameters = parameters_of(tool.input_schema)

    async def history(self, *, every_tool: bool) -> Sequence[ToolCall]:
        """Return the calls of the tool, or of every tool of its server, newest first."""
        tool = None if every_tool else self._tool.name
        return await self._core.call(lambda core: core.calls.history(self._server.id, tool))

    async def errors(self, parsed: ParsedArguments) -> Mapping[str, str]:
        """Return what keeps the call from being made, by parameter."""
        arguments = parsed.arguments
        if arguments is None:
            return parsed.faults
        problems = await self._core.call(lambda core: core.calls.problems(self._tool, arguments))
        return errors_by_parameter(problems, self._parameters)

    async def missing_consent(self) -> ConsentRequest | None:
        """Return the question to ask before the server is started or contacted."""
        requests = await self._core.value(lambda core: core.consents.missing([self._server.spec]))
        return next(iter(requests), None)

    async def allow(self) -> None:
        """Allow the server as it is defined now."""
        await self._core.call(lambda core: core.consents.allow_server(self._server.spec))

    async def call(self, arguments: Mapping[str, Json]) -> None:
        """Call the tool; the answer is kept among its calls."""
        await self._core.call(lambda core: core.calls.call(self._server.id, self._tool.name, arguments))

    async def remove(self, calls: tuple[ToolCall, ...]) -> None:
        """Delete calls."""
        await self._core.call(lambda core: core.calls.remove(calls))

    async def restore(self, calls: tuple[ToolCall, ...]) -> None:
        """Restore deleted calls."""
        await self._core.call(lambda core: core.calls.restore(calls))
