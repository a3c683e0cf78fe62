"""Parts that all formats of case files share: entries with their place, names, and matchers around plain values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_json, parse_yaml, require_plain
from mcp_tef.model.cases import (
    CaseDraft,
    CaseOrigin,
    Expectation,
    ExpectedCall,
    TestCase,
    expectation_to_json,
    messages_to_json,
)
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.matchers import is_matcher

_HINT = "Each case has at least a query."
_LONGEST_SENTENCE = 500
_ALWAYS = frozenset({"query", "expectation"})


class CannotHoldError(Exception):
    """A form has no way to say what a case asks for; an export tells it and goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEntry:
    """One case of a file: its draft, or why it was refused. `id` is there when it was exported from a workspace.

    `tools` are definitions that the file itself brings for the case; `notes` say what was not taken over. `named` are
    the fields that the file names, if its format can leave some out: absent is not empty.
    """

    label: str
    place: str = ""
    id: CaseId | None = None
    draft: CaseDraft | None = None
    refused: str | None = None
    notes: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    named: frozenset[str] | None = None

    @property
    def lacks(self) -> str:
        """Return why this entry cannot become a new case, though it may change one that is stored; "" if it can."""
        absent = self.named is not None and "expectation" not in self.named
        return "It has no expected: write “expected: null” where no tool is right." if absent else ""

    def over(self, stored: CaseDraft, draft: CaseDraft) -> CaseDraft:
        """Return the draft for a case that is stored: a field that the file does not name stays as it is.

        Where the format does not tell, a field without a value is not named.
        """
        empty = CaseDraft(name="", query="")
        names = [one.name for one in fields(CaseDraft)]
        named = self.named
        if named is None:
            named = frozenset(name for name in names if getattr(draft, name) != getattr(empty, name)) | _ALWAYS
        return replace(draft, **{name: getattr(stored, name) for name in names if name not in named})


@dataclass(frozen=True, slots=True)
class CaseSource:
    """The text of a file; `path` is there where companions of the file may be looked for."""

    text: str
    name: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A case to be written, with the tools of its servers as last seen (None: a server was never seen)."""

    case: TestCase
    tools: tuple[Tool, ...] | None = None


Reader: TypeAlias = Callable[[Json], CaseEntry]


def entries_of(items: Iterable[tuple[str, Json]], read: Reader) -> tuple[CaseEntry, ...]:
    """Return an entry for each place and its value; one that cannot be read is refused, the rest stays."""
    return tuple(_entry(place, item, read) for place, item in items)


def _entry(place: str, item: Json, read: Reader) -> CaseEntry:
    try:
        require_plain(item)
        return replace(read(item), place=place)
    except InputError as error:
        return CaseEntry(label=label_of(item, place), place=place, refused=shortened(error.message))


def counted(items: Sequence[Json]) -> list[tuple[str, Json]]:
    """Return the items with their places: case 1, case 2."""
    return [(f"case {number}", item) for number, item in enumerate(items, 1)]


def shared_in(document: Json, cases: str, name: str) -> Mapping[str, Json]:
    """Return the values that a document shares among its cases; raises InputError if JSON cannot hold them."""
    shared = {key: value for key, value in document.items() if key != cases} if isinstance(document, Mapping) else {}
    try:
        require_plain(shared)
    except InputError as error:
        raise InputError(f"{name} cannot be read beside its {cases}. {error.message}", hint=error.hint) from error
    return shared


def label_of(item: Json, place: str) -> str:
    """Return a label for an unreadable case: its name, its query or its position."""
    keys = ("name", "description", "query", "inputs", "id")
    found = (item[key] for key in keys if isinstance(item.get(key), str)) if isinstance(item, Mapping) else ()
    return first_line(next((text for text in found if text.strip()), place))


def first_line(text: str) -> str:
    """Return the first line of a text, at most 80 characters."""
    return (text.strip().splitlines() or [""])[0][:80]


def shortened(text: str) -> str:
    """Return the text, cut where it is too long for a sentence."""
    return text if len(text) <= _LONGEST_SENTENCE else f"{text[: _LONGEST_SENTENCE - 1]}…"


def an_object(item: Json) -> Mapping[str, Json]:
    """Return the item, where it is an object."""
    if not isinstance(item, Mapping):
        raise InputError("It is not an object with a query.", hint=_HINT)
    return item


def text_in(item: Mapping[str, Json], key: str, what: str) -> str:
    """Return a text that has to be there."""
    value = item.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"It has no {what}.", hint=_HINT)
    return value


def names_in(item: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """Return a list of names, each once; none where there is no such list."""
    value = item.get(key) or []
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise InputError(f"Its {key} are not a list of names.", hint=f"Write {key}: [one, two].")
    return tuple(dict.fromkeys(value))


def family_in(item: Mapping[str, Json], otherwise: str = "") -> str:
    """Return the name of its family, in one line; `otherwise` where it names none."""
    value = item.get("family")
    if not isinstance(value, str | None):
        raise InputError("Its family is not text.", hint="Write a name that its paraphrases share.")
    return " ".join((value or "").split()) or otherwise


def held_back_in(item: Mapping[str, Json]) -> bool:
    """Return True if the case is held back from those who write drafts."""
    value = item.get("held_back")
    if not isinstance(value, bool | None):
        raise InputError("Its held_back is neither true nor false.", hint="Leave it out for a case that all may read.")
    return bool(value)


def origin_in(item: Mapping[str, Json]) -> CaseOrigin:
    """Return the origin, `written` where none is named."""
    value = item.get("origin") or CaseOrigin.WRITTEN
    if value not in list(CaseOrigin):
        raise InputError("Its origin is neither written nor generated.", hint="Leave it out for a case that you wrote.")
    return CaseOrigin(value)


def id_in(item: Mapping[str, Json]) -> CaseId | None:
    """Return the id, where there is one."""
    value = item.get("id")
    return CaseId(value) if isinstance(value, str) and value else None


def literal(value: Json) -> Json:
    """Return a plain value as an expected one: wrapped where it would be taken for a matcher."""
    return {"$literal": value} if _looks_like_matcher(value) else value


def plain(value: Json, what: str) -> Json:
    """Return an expected value without matchers; CannotHoldError where it has one."""
    if isinstance(value, Mapping) and set(value) == {"$literal"}:
        return value["$literal"]
    if _looks_like_matcher(value):
        raise CannotHoldError(f"The value expected of {what} is a matcher, which this form has no word for.")
    return value


def _looks_like_matcher(value: Json) -> bool:
    if isinstance(value, Mapping):
        return is_matcher(value) or any(map(_looks_like_matcher, value.values()))
    return isinstance(value, list) and any(map(_looks_like_matcher, value))


def only_answer(expectation: Expectation) -> tuple[ExpectedCall, ...]:
    """Return the calls of the only acceptable answer; CannotHoldError where there are several."""
    if len(expectation.alternatives) > 1:
        raise CannotHoldError("It accepts several answers, and this form holds one.")
    return expectation.alternatives[0]


def beside(item: Item, calls: Sequence[ExpectedCall] = (), *, exact: bool = False) -> dict[str, Json]:
    """Return everything of a case except messages and tool names, for the free fields of other formats.

    Calls are named only where one names its server, or where `exact` differs from what the form means by itself.
    """
    draft = item.case.draft
    values: dict[str, Json] = {"id": item.case.id, "servers": list(draft.servers)}
    values |= {"suites": list(draft.suites), "tags": list(draft.tags), "family": draft.family}
    values |= {} if draft.origin is CaseOrigin.WRITTEN else {"origin": draft.origin.value}
    values["held_back"] = draft.held_back
    if any(call.server or call.exact != exact for call in calls):
        values["calls"] = [{"server": call.server, "exact": call.exact} for call in calls]
    return {key: value for key, value in values.items() if value}


def with_beside(
    entry: CaseEntry, item: Mapping[str, Json], calls: Sequence[ExpectedCall], *, ordered: bool = False
) -> CaseEntry:
    """Return the entry with what `beside` wrote, and with the expectation that its calls make."""
    assert entry.draft is not None
    said = item.get("calls")
    if isinstance(said, list) and len(said) == len(calls):
        calls = [_with_said(call, more) for call, more in zip(calls, said, strict=True)]
    draft = replace(
        entry.draft,
        expectation=Expectation((tuple(calls),), ordered=ordered),
        servers=names_in(item, "servers"),
        suites=names_in(item, "suites"),
        tags=names_in(item, "tags"),
        family=family_in(item, entry.draft.family),
        origin=origin_in(item),
        held_back=held_back_in(item),
    )
    return replace(entry, id=id_in(item), draft=draft)


def _with_said(call: ExpectedCall, more: Json) -> ExpectedCall:
    if not isinstance(more, Mapping):
        return call
    server, exact = more.get("server"), more.get("exact")
    return replace(
        call,
        server=server if isinstance(server, str) and server else None,
        exact=exact if isinstance(exact, bool) else call.exact,
    )


def attached(entry: CaseEntry, servers: Sequence[str]) -> CaseEntry:
    """Return the entry for these servers: a single one replaces those of the case, several only where it names none."""
    if entry.draft is None or not servers or (len(servers) > 1 and entry.draft.servers):
        return entry
    draft = replace(entry.draft, servers=tuple(servers))
    if len(servers) == 1:
        draft = replace(draft, expectation=_of_any_server(draft.expectation))
    return replace(entry, draft=draft, named=entry.named and entry.named | {"servers"})


def _of_any_server(expectation: Expectation) -> Expectation:
    answers = (tuple(replace(call, server=None) for call in calls) for calls in expectation.alternatives)
    return replace(expectation, alternatives=tuple(answers))


def differences(one: CaseDraft, other: CaseDraft) -> dict[str, tuple[Json, Json]]:
    """Return the fields in which two drafts do not mean the same, each with both values."""
    pairs = {
        "name": (one.name, other.name),
        "query": (one.query, other.query),
        "expected": (_meaning(one.expectation), _meaning(other.expectation)),
        "servers": (list(one.servers), list(other.servers)),
        "suites": (list(one.suites), list(other.suites)),
        "tags": (list(one.tags), list(other.tags)),
        "family": (one.family, other.family),
        "before": (messages_to_json(one.before), messages_to_json(other.before)),
        "origin": (one.origin.value, other.origin.value),
        "held_back": (one.held_back, other.held_back),
    }
    return {field: pair for field, pair in pairs.items() if canonical(pair[0]) != canonical(pair[1])}


def _meaning(expectation: Expectation) -> Json:
    """Return the expectation in one form: no parameters as None, calls sorted if their order is free."""
    answers = [list(map(_without_empty, calls)) for calls in expectation.alternatives]
    if not expectation.ordered:
        answers = [sorted(calls, key=lambda call: canonical(_as_json(call))) for calls in answers]
    ordered = expectation.ordered and any(len(calls) > 1 for calls in answers)
    return expectation_to_json(Expectation(tuple(map(tuple, answers)), ordered=ordered))


def _without_empty(call: ExpectedCall) -> ExpectedCall:
    return replace(call, parameters=call.parameters or None)


def _as_json(call: ExpectedCall) -> Json:
    return expectation_to_json(Expectation(((call,),)))


def parsed(source: CaseSource) -> Json:
    """Return the document: JSON where the file is named so, else YAML."""
    if source.name.lower().endswith(".json"):
        return parse_json(source.text, source.name)
    return parse_yaml(source.text, source.name)
