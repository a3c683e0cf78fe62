"""Recorded conversations with models as drafts of cases.

They are read from OpenTelemetry traces, from requests with responses, and from sessions of Claude Code.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import CannotHoldError, CaseEntry, CaseSource, Item, first_line, literal
from mcp_tef.formats.cases.recorded_messages import (
    RecordedCall,
    RecordedConversation,
    RecordedMessage,
    RecordedTurn,
    decoded_text,
    messages_of,
    tools_of,
)
from mcp_tef.model.cases import CaseDraft, CaseOrigin, Expectation, ExpectedCall
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.secrets import json_without_keys, without_keys

_Record: TypeAlias = tuple[str, Mapping[str, Json]]

_OTLP = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
_PREFIX = "gen_ai."
_PLAIN_VALUES = {"stringValue", "boolValue", "intValue", "doubleValue"}
_REQUESTS = ("request", "body", "input")
_RESPONSES = ("response", "output", "completion")
_SESSION_TYPES = ("user", "assistant")


def is_recording(source: CaseSource) -> bool:
    """Return True if the first record of a text is one of a trace, a chat log or a session."""
    try:
        first = next(_records(source), None)
    except InputError:  # The reader of case files names the place of the error more closely.
        return False
    return first is not None and _is_record(first[1])


def _is_record(record: Mapping[str, Json]) -> bool:
    if _OTLP.keys() & record.keys() or "trace_id" in str(record.get("context")) or _events_of(record):
        return True
    if isinstance(record.get("message"), Mapping) or {"sessionId", "leafUuid"} & record.keys():
        return True
    return bool(_chat("", record))


def conversations(source: CaseSource) -> Iterator[RecordedConversation]:
    """Yield every conversation with a model of a text; other records are passed over. InputError for no JSON."""
    pieces = _Pieces()
    for place, record in _records(source):
        if not pieces.takes_message(record):
            for span in _spans(record):
                if not pieces.takes_event(span):
                    yield from _of_span(place, span)
            yield from filter(None, [_chat(place, record)])
    yield from pieces.conversations()


class _Pieces:
    """Conversations that are recorded one message a record: sessions of clients, and events of spans."""

    def __init__(self) -> None:
        self._sessions: defaultdict[str, list[RecordedMessage]] = defaultdict(list)
        self._events: defaultdict[str, list[Mapping[str, Json]]] = defaultdict(list)

    def takes_message(self, record: Mapping[str, Json]) -> bool:
        """Take in a message of a session; False for any other record. What a client does by itself is left out."""
        if record.get("type") not in _SESSION_TYPES or not isinstance(record.get("message"), Mapping):
            return False
        if not (record.get("isSidechain") or record.get("isMeta")):
            self._sessions[str(record.get("sessionId") or "")] += messages_of(record["message"])
        return True

    def takes_event(self, span: Mapping[str, Json]) -> bool:
        """Take in an event with one message; False for any other record."""
        if _name(span) not in _EVENTS:
            return False
        self._events[_span_id(span)].append(span)
        return True

    def conversations(self) -> Iterator[RecordedConversation]:
        """Yield what was put together."""
        for name, messages in self._sessions.items():
            yield RecordedConversation("the session", tuple(messages), name=name)
        for found in self._events.values():
            yield _of_events("the events", found)


def _records(source: CaseSource) -> Iterator[_Record]:
    """Yield the objects of JSON lines, or of one document, with their places."""
    text = source.text.removeprefix("\ufeff").strip()
    whole = decoded_text(text)
    if not isinstance(whole, str):
        items = enumerate(whole if isinstance(whole, list) else [whole], 1)
        yield from ((f"record {number}", item) for number, item in items if isinstance(item, Mapping))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"line {number}", _parsed(line, f"{source.name}, line {number}")


def _parsed(line: str, place: str) -> Mapping[str, Json]:
    item = decoded_text(line)
    if not isinstance(item, Mapping):
        raise InputError(f"{place} is no JSON object that can be read.", hint="Correct or remove that line.")
    return item


def _spans(record: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """Yield the spans and log records of an export, or the record itself, with attributes as a plain object."""
    if "attributes" in record or "events" in record:
        yield _plain(record)
    for key, (scopes, items) in _OTLP.items():
        found = (scope for resource in _objects(record.get(key)) for scope in _objects(resource.get(scopes)))
        yield from (_plain(item) for scope in found for item in _objects(scope.get(items)))


def _objects(value: Json) -> list[Mapping[str, Json]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _plain(span: Mapping[str, Json]) -> Mapping[str, Json]:
    events = [{**event, "attributes": _attributes(event.get("attributes"))} for event in _objects(span.get("events"))]
    return {
        **span,
        "attributes": _attributes(span.get("attributes")),
        "events": events,
        "body": _value(span.get("body")),
    }


def _attributes(value: Json) -> dict[str, Json]:
    if isinstance(value, Mapping):
        return dict(value)
    return {str(one.get("key")): _value(one.get("value")) for one in _objects(value)}


def _value(value: Json) -> Json:
    """Return a value of OTLP as plain JSON."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    [(kind, inner)] = value.items()
    if kind in _PLAIN_VALUES:
        return inner
    values = _objects(inner.get("values")) if isinstance(inner, Mapping) else []
    if kind == "kvlistValue":
        return _attributes(values)
    return list(map(_value, values)) if kind == "arrayValue" else value


def _name(span: Mapping[str, Json]) -> str:
    attributes = span.get("attributes")
    named = attributes.get("event.name") if isinstance(attributes, Mapping) else None
    return str(span.get("eventName") or span.get("event_name") or named or span.get("name") or "")


def _span_id(span: Mapping[str, Json]) -> str:
    return str(span.get("spanId") or span.get("span_id") or span.get("context"))


def _events_of(record: Mapping[str, Json]) -> bool:
    attributes = record.get("attributes")
    has_attributes = isinstance(attributes, Mapping) and any(str(key).startswith(_PREFIX) for key in attributes)
    return has_attributes or ("body" in record and _name(record).startswith(_PREFIX))


def _of_span(place: str, span: Mapping[str, Json]) -> Iterator[RecordedConversation]:
    """Yield what a span, or an event with all details, says of a conversation; older spans say it in their events."""
    for holder in (span, *span["events"]):
        attributes = holder["attributes"]
        asked = messages_of(attributes.get("gen_ai.input.messages") or [])
        if asked:
            messages = (*asked, *messages_of(attributes.get("gen_ai.output.messages") or []))
            tools = tools_of(attributes.get("gen_ai.tool.definitions"))
            yield RecordedConversation(_place(place, span), messages, tools, _conversation_id(attributes))
    if told := [event for event in span["events"] if _name(event) in _EVENTS]:
        yield _of_events(_place(place, span), told, span["attributes"])


def _place(place: str, span: Mapping[str, Json]) -> str:
    name = _span_id(span) if span.get("spanId") or span.get("span_id") else _name(span)
    return f"{place}, span {name}" if name else place


def _conversation_id(attributes: Mapping[str, Json]) -> str:
    return str(attributes.get("gen_ai.conversation.id") or "")


def _of_events(
    place: str, events: list[Mapping[str, Json]], attributes: Mapping[str, Json] | None = None
) -> RecordedConversation:
    """Return the conversation that events of one message each tell, in the older convention."""
    messages = [message for event in events for message in messages_of(_event_message(event))]
    tools = tools_of((attributes or {}).get("gen_ai.tool.definitions"))
    return RecordedConversation(place, tuple(messages), tools, _conversation_id(attributes or {}))


def _event_message(event: Mapping[str, Json]) -> Json:
    attributes = event["attributes"]
    body = decoded_text(attributes.get("gen_ai.event.content", event.get("body"))) or attributes
    body = body if isinstance(body, Mapping) else {"content": body}
    said = decoded_text(body.get("message"))
    body = {**body, **said} if isinstance(said, Mapping) else body
    calls = decoded_text(body.get("tool_calls"))
    return {"role": _EVENTS[_name(event)], **body, "tool_calls": calls, "id": ""}


def _chat(place: str, record: Mapping[str, Json]) -> RecordedConversation | None:
    """Return the conversation of a request with its response, or of one list of messages; None for other records."""
    request = next((record[key] for key in _REQUESTS if isinstance(record.get(key), Mapping)), record)
    response: Json = next((record[key] for key in _RESPONSES if isinstance(record.get(key), Mapping | list)), {})
    response = response.get("body", response) if isinstance(response, Mapping) else response
    asked = request.get("messages", request.get("input"))
    if not isinstance(asked, str | list):
        return None
    messages = (*messages_of(asked), *_answered(response))
    if not any(message.role == "user" for message in messages):
        return None
    return RecordedConversation(place, messages, tools_of(request.get("tools", request.get("functions"))))


def _answered(response: Json) -> tuple[RecordedMessage, ...]:
    match response:
        case {"choices": [{"message": Mapping() as message}, *_]}:
            return messages_of(message)
        case {"output": list() as items}:
            return messages_of(items)
        case {"role": _} | [_, *_]:
            return messages_of(response)
    return ()


MOST_DRAFTS = 5_000
TAG = "recorded"
_MCP = "mcp__"
_OTHER_CALL = "Another recording of this request made another call."


def read(source: CaseSource) -> tuple[CaseEntry, ...]:
    """Return a draft for each request of a user that was answered; equal ones come once. Secrets are masked."""
    found: dict[str, CaseEntry] = {}
    turns = (turn for conversation in conversations(source) for turn in conversation.turns())
    for turn in islice(turns, MOST_DRAFTS):
        entry = _entry(turn)
        assert entry.draft is not None
        key = canonical([entry.draft.query, [one.content for one in entry.draft.before]])
        found[key] = _joined(found[key], entry) if key in found else entry
    if not found:
        raise InputError(
            f"{source.name} holds no request of a user that a model answered.",
            hint="Record the content of messages: in OpenTelemetry it is off unless it is asked for.",
        )
    return _with_families(list(found.values()))


def _joined(first: CaseEntry, again: CaseEntry) -> CaseEntry:
    """Return the first of two recordings of a request, with tools of either, and a note where the calls differ."""
    assert first.draft is not None
    assert again.draft is not None
    same = first.draft.expectation == again.draft.expectation
    notes = first.notes if same else tuple(dict.fromkeys((*first.notes, _OTHER_CALL)))
    return replace(first, tools=first.tools or again.tools, notes=notes)


def _entry(turn: RecordedTurn) -> CaseEntry:
    query = without_keys(turn.query)
    before = tuple(replace(one, content=without_keys(one.content)) for one in turn.before)
    tools = tuple(json_without_keys(tool) for tool in turn.conversation.tools)
    calls = tuple(map(_expected, turn.calls))
    masked = query != turn.query or before != turn.before
    notes = ["A secret in it is masked."] if masked else []
    notes += [
        "The arguments of a call are no object and are left out." for call in turn.calls if call.arguments is None
    ]
    draft = CaseDraft(
        name=first_line(query),
        query=query,
        expectation=Expectation((calls,)),
        servers=tuple(dict.fromkeys(call.server for call in calls if call.server)),
        tags=(TAG,),
        family=turn.conversation.name,
        before=before,
        origin=CaseOrigin.GENERATED,
    )
    return CaseEntry(
        label=draft.name, place=turn.conversation.place, draft=draft, notes=tuple(dict.fromkeys(notes)), tools=tools
    )


def _expected(call: RecordedCall) -> ExpectedCall:
    """Return the call as an expectation; clients name tools of MCP servers mcp__SERVER__TOOL."""
    server, _, tool = call.tool.removeprefix(_MCP).partition("__")
    of_mcp = call.tool.startswith(_MCP) and server and tool
    parameters = {name: _argument(name, value) for name, value in (call.arguments or {}).items()}
    return ExpectedCall(
        tool=tool if of_mcp else call.tool, server=server if of_mcp else None, parameters=parameters or None
    )


def _argument(name: str, value: Json) -> Json:
    """Return the value that was given; anything is right where it held a secret."""
    masked: Mapping[str, Json] = json_without_keys({name: value})
    return literal(value) if masked == {name: value} else {"$any": True}


def _with_families(entries: Sequence[CaseEntry]) -> tuple[CaseEntry, ...]:
    """Keep the name of a conversation as a family only where several drafts come from it, and number equal places."""
    families = Counter(entry.draft.family for entry in entries if entry.draft)
    return tuple(_placed(number, entry, families) for number, entry in enumerate(entries, 1))


def _placed(number: int, entry: CaseEntry, families: Mapping[str, int]) -> CaseEntry:
    assert entry.draft is not None
    family = entry.draft.family if families[entry.draft.family] > 1 else ""
    return replace(entry, draft=replace(entry.draft, family=family), place=f"row {number}, {entry.place}")


def row(_item: Item) -> Json:
    """Raise CannotHoldError: a recording is only read."""
    raise CannotHoldError("A recording says what happened and is only read.")


def text(_rows: Sequence[Json], _suffix: str) -> str:
    """Return nothing, since no case can be in a recording."""
    return ""
