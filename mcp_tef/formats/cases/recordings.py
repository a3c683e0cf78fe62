"""Recorded conversations as drafts of cases: the query, the tools that were offered, and the call that was made.

What a model did is only a proposal for what is right, so a person has to review each draft.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import CannotHoldError, CaseEntry, CaseSource, Item, first_line, literal
from mcp_tef.formats.cases.recorded_logs import conversations
from mcp_tef.formats.cases.recorded_messages import RecordedCall, RecordedTurn
from mcp_tef.model.cases import CaseDraft, CaseOrigin, Expectation, ExpectedCall
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.secrets import json_without_keys, without_keys

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
    parameters = {name: _value(name, value) for name, value in (call.arguments or {}).items()}
    return ExpectedCall(
        tool=tool if of_mcp else call.tool, server=server if of_mcp else None, parameters=parameters or None
    )


def _value(name: str, value: Json) -> Json:
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
