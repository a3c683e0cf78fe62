"""Messages and tools of recorded conversations, in the shapes of OpenAI, Anthropic and OpenTelemetry, read as one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import require_plain
from mcp_tef.model.cases import EarlierMessage, Speaker
from mcp_tef.model.json import Json, loads_bounded

_TEXTS = ("text", "input_text", "output_text")
_CALLS = ("tool_call", "tool_use", "function_call")
_RESULTS = ("tool_call_response", "tool_result", "function_call_output")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_OF_THE_CLIENT = ("<command-", "<local-command", "[Request interrupted", "Caveat: The messages below")


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call that a model made; `arguments` is None where what was recorded is no object."""

    tool: str
    arguments: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """One message. `id` joins the parts of an answer that was recorded in pieces."""

    role: str
    text: str = ""
    calls: tuple[RecordedCall, ...] = ()
    id: str = ""

    @property
    def is_request(self) -> bool:
        """True for text of a user that asks for something; a result of a tool, or what a client inserts, is none."""
        return self.role == "user" and bool(self.text) and not self.text.startswith(_OF_THE_CLIENT)


def messages_of(value: Json) -> tuple[RecordedMessage, ...]:
    """Read a list of messages, or a single one; text alone is a user's. What is no message is passed over."""
    value = decoded_text(value)
    if isinstance(value, str):
        return (RecordedMessage("user", value.strip()),)
    items = value if isinstance(value, list) else [value]
    return tuple(message for item in items if isinstance(item, Mapping) and (message := _message(item)))


def decoded_text(value: Json) -> Json:
    """Return what a text holds that is JSON, as attributes of spans often are; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        found = loads_bounded(value)
        require_plain(found)
    except (ValueError, RecursionError, InputError):
        return value
    return found


def _without_reminders(text: str) -> str:
    """Return a text without its reminders; behind the last end of one, no beginning is looked for an end."""
    last = text.rfind("</system-reminder>") + len("</system-reminder>")
    return _REMINDER.sub("", text[:last]) + text[last:]


def _message(item: Mapping[str, Json]) -> RecordedMessage | None:
    if item.get("type") in _CALLS:
        return RecordedMessage("assistant", calls=tuple(_calls([item])))
    content = item.get("parts", item.get("content"))
    parts = [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    role = _role(item, parts)
    if role is None:
        return None
    text = content if isinstance(content, str) else "\n".join(_texts(parts))
    called = item.get("tool_calls")
    calls = (*_calls(parts), *_calls(called if isinstance(called, list) else []))
    return RecordedMessage(role, _without_reminders(text).strip(), calls, str(item.get("id") or ""))


def _role(item: Mapping[str, Json], parts: list[Mapping[str, Json]]) -> str | None:
    """Return the role; results of tools have one of their own, also where they came as a message of the user."""
    if item.get("type") in _RESULTS or (parts and all(part.get("type") in _RESULTS for part in parts)):
        return "tool"
    role = item.get("role")
    return "assistant" if role == "model" else role if isinstance(role, str) else None


def _texts(parts: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    for part in parts:
        text = part.get("text", part.get("content"))
        if part.get("type") in _TEXTS and isinstance(text, str):
            yield text


def _calls(items: Iterable[Json]) -> Iterator[RecordedCall]:
    for item in filter(_is_call, items):
        function = item.get("function", item)
        given: Json = next((function[key] for key in ("arguments", "input", "args") if key in function), {})
        arguments = decoded_text(given)
        yield RecordedCall(function["name"], arguments if isinstance(arguments, Mapping) else None)


def _is_call(item: Json) -> bool:
    """Return True for a call: by its type, or as an item of `tool_calls` that has a function or arguments."""
    match item:
        case {"function": {"name": str()}} | {"name": str(), "arguments": _}:
            return True
        case {"name": str(), "type": kind}:
            return kind in _CALLS
    return False


def tools_of(value: Json) -> tuple[Mapping[str, Json], ...]:
    """Read the definitions of the tools that were offered, each name once."""
    value = decoded_text(value)
    items = map(decoded_text, value) if isinstance(value, list) else ()
    found = {tool["name"]: tool for item in items if isinstance(item, Mapping) and (tool := _tool(item))}
    return tuple(found.values())


def _tool(item: Mapping[str, Json]) -> Mapping[str, Json] | None:
    function = item.get("function", item)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return None
    keys = ("parameters", "input_schema", "inputSchema")
    schema = next((one for key in keys if isinstance(one := decoded_text(function.get(key)), Mapping)), {})
    described = function.get("description")
    return {
        "name": function["name"],
        "description": described if isinstance(described, str) else "",
        "inputSchema": {"type": "object", **schema},
    }


@dataclass(frozen=True, slots=True)
class RecordedConversation:
    """Messages in order, the tools that were offered, and the name of the whole it belongs to, if it has one."""

    place: str
    messages: tuple[RecordedMessage, ...]
    tools: tuple[Mapping[str, Json], ...] = ()
    name: str = ""

    def turns(self) -> Iterator["RecordedTurn"]:
        """Yield each request of the user that was answered, with the calls of the first answer."""
        for number, message in enumerate(self.messages):
            answer = _answer(self.messages[number + 1 :])
            if message.is_request and answer:
                before = _joined(_said(one) for one in self.messages[:number])
                yield RecordedTurn(self, before, message.text, answer.calls)


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One request of a user, the messages before it, and the calls that the model made first."""

    conversation: RecordedConversation
    before: tuple[EarlierMessage, ...]
    query: str
    calls: tuple[RecordedCall, ...]


def _answer(following: tuple[RecordedMessage, ...]) -> RecordedMessage | None:
    """Return the answer that follows at once; its pieces, which share an id, are put together."""
    if not following or following[0].role != "assistant":
        return None
    first = following[0]
    for other in following[1:]:
        if other.is_request:
            break
        if other.role == "assistant" and first.id and other.id == first.id:
            first = replace(first, calls=(*first.calls, *other.calls))
    return first


def _said(message: RecordedMessage) -> EarlierMessage | None:
    if message.is_request or (message.role == "assistant" and message.text):
        return EarlierMessage(Speaker(message.role), message.text)
    return None


def _joined(messages: Iterable[EarlierMessage | None]) -> tuple[EarlierMessage, ...]:
    return tuple(message for message in messages if message)
