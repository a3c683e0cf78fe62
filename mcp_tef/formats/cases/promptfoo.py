"""Cases as a promptfoo configuration: tests with vars, and assertions on the tools that were called."""

import re
from collections.abc import Callable, Mapping, Sequence

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import (
    CannotHoldError,
    CaseEntry,
    CaseSource,
    Item,
    an_object,
    beside,
    counted,
    entries_of,
    first_line,
    literal,
    only_answer,
    parsed,
    plain,
    shared_in,
    with_beside,
)
from mcp_tef.formats.cases.texts import to_json, to_yaml
from mcp_tef.model.cases import CaseDraft, ExpectedCall
from mcp_tef.model.json import Json

QUERY_VARS = ("query", "question", "input", "prompt", "message", "user_input", "request", "user", "text")
_HINT = "Say which tools are right with tool-call-f1 or trajectory:tool-args-match."
_ONLY_VALID = {"is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call"}
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")
_WILDCARD = re.compile(r"[*?]")
MOST_CALLS = 100


def read(source: CaseSource) -> tuple[CaseEntry, ...]:
    """Return the entries of a configuration; tools that a provider lists come with every case."""
    document = parsed(source)
    tests = document.get("tests") if isinstance(document, Mapping) else document
    if not isinstance(tests, list):
        reason = "keeps its tests in another file" if isinstance(tests, str) else "holds no list of tests"
        raise InputError(f"{source.name} {reason}.", hint="Write the tests as a list under “tests”.")
    whole = shared_in(document, "tests", source.name)
    return entries_of(counted(tests), lambda item: _entry(an_object(item), whole))


def _entry(test: Mapping[str, Json], whole: Mapping[str, Json]) -> CaseEntry:
    defaults = _mapping(whole, "defaultTest")
    values = {**_mapping(defaults, "vars"), **_mapping(test, "vars")}
    query = _query(values, whole)
    asserted = [*_list(defaults, "assert"), *_list(test, "assert")]
    reading = _Reading(values)
    notes = tuple(f"Not taken over: {kind}." for kind in dict.fromkeys(filter(None, map(reading.take, asserted))))
    if not reading.says_which:
        kinds = ", ".join(dict.fromkeys(_kind(one) for one in asserted)) or "there are none"
        raise InputError(f"None of its assertions says which tool is right ({kinds}).", hint=_HINT)
    name = test.get("description")
    draft = CaseDraft(name=name if isinstance(name, str) and name.strip() else first_line(query), query=query)
    entry = CaseEntry(label=draft.name, draft=draft, notes=notes, tools=_tools(whole))
    return with_beside(entry, _mapping(test, "metadata"), reading.calls, ordered=reading.ordered)


def _mapping(item: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    value = item.get(key) or {}
    if not isinstance(value, Mapping):
        raise InputError(f"Its {key} are not written out as names with values.", hint="Write them into the file.")
    return value


def _list(item: Mapping[str, Json], key: str) -> list[Json]:
    value = item.get(key) or []
    if not isinstance(value, list):
        raise InputError(f"Its {key} is not a list.", hint=_HINT)
    return value


def _query(values: Mapping[str, Json], whole: Mapping[str, Json]) -> str:
    """Return the variable that is the question; else the only prompt, filled in."""
    texts = {name: value for name, value in values.items() if isinstance(value, str) and value.strip()}
    only = next(iter(texts)) if len(texts) == 1 else None
    name = next((name for name in QUERY_VARS if name in texts), only)
    text = _only_prompt(whole, values) if name is None else texts[name]
    if text.startswith("file://") or _TEMPLATE.search(text):
        raise InputError("Its question is in another file, or is a template.", hint="Write it out under vars.")
    return text


def _only_prompt(whole: Mapping[str, Json], values: Mapping[str, Json]) -> str:
    match whole.get("prompts"):
        case [str() as prompt]:
            return _filled(prompt, values)
    raise InputError("It does not say which of its vars is the question.", hint="Name it query.")


def _filled(text: str, values: Mapping[str, Json]) -> str:
    return _PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), text)


def _tools(whole: Mapping[str, Json]) -> tuple[Mapping[str, Json], ...]:
    """Return the definitions of the tools that the first provider with tools writes out."""
    providers = whole.get("providers")
    listed = map(_functions, providers) if isinstance(providers, list) else iter(())
    return tuple(map(_definition, next(filter(None, listed), [])))


def _functions(provider: Json) -> list[Mapping[str, Json]]:
    match provider:
        case {"config": {"tools": list() as tools}}:
            functions = [one.get("function", one) for one in tools if isinstance(one, Mapping)]
            return [one for one in functions if isinstance(one, Mapping) and isinstance(one.get("name"), str)]
    return []


def _definition(function: Mapping[str, Json]) -> Mapping[str, Json]:
    schema = function.get("parameters") or function.get("input_schema") or {"type": "object"}
    return {"name": function["name"], "description": str(function.get("description") or ""), "inputSchema": schema}


def _kind(assertion: Json) -> str:
    kind = assertion.get("type") if isinstance(assertion, Mapping) else None
    return kind if isinstance(kind, str) else "one without a type"


class _Reading:
    """Gathers the calls that assertions ask for, one assertion after the other."""

    def __init__(self, values: Mapping[str, Json]) -> None:
        self.calls: list[ExpectedCall] = []
        self.ordered = False
        self.says_which = False
        self._values = values
        self._readers: dict[str, Callable[[Mapping[str, Json]], None]] = {
            "tool-call-f1": self._f1,
            "trajectory:tool-used": self._used,
            "trajectory:tool-args-match": self._arguments,
            "trajectory:tool-sequence": self._sequence,
            "trajectory:step-count": self._count,
        }

    def take(self, assertion: Json) -> str | None:
        """Take an assertion over; its kind, where there is nothing in it to take."""
        kind = _kind(assertion)
        if kind not in self._readers:
            return None if kind in _ONLY_VALID else kind
        self._readers[kind](assertion)
        self.says_which = True
        return None

    def _f1(self, assertion: Mapping[str, Json]) -> None:
        if assertion.get("threshold", 1) != 1:
            raise InputError("Its tool-call-f1 accepts partly right answers (a threshold below 1).", hint=_HINT)
        self._require(_names(assertion.get("value"), "tool-call-f1"))

    def _used(self, assertion: Mapping[str, Json]) -> None:
        value = assertion.get("value")
        if isinstance(value, Mapping):
            times = value.get("min", 1)
            most = value.get("max", times)
            if not isinstance(times, int) or not isinstance(most, int) or not 1 <= times <= min(most, MOST_CALLS):
                raise InputError("Its trajectory:tool-used asks for a number of calls of no use.", hint=_HINT)
            value = [value.get("pattern")] * times
        self._require(_names(value, "trajectory:tool-used"))

    def _arguments(self, assertion: Mapping[str, Json]) -> None:
        value = an_object(assertion.get("value"))
        [tool] = _names([value.get("name", value.get("pattern"))], "trajectory:tool-args-match")
        parameters = self._parameters(tool, value)
        call = ExpectedCall(tool=tool, parameters=parameters or None, exact=value.get("mode") == "exact")
        bare = ExpectedCall(tool=tool)
        if bare in self.calls:
            self.calls[self.calls.index(bare)] = call
        else:
            self.calls.append(call)

    def _parameters(self, tool: str, value: Mapping[str, Json]) -> dict[str, Json]:
        wanted = value.get("args", value.get("arguments")) or {}
        if not isinstance(wanted, Mapping):
            raise InputError(f"The arguments expected of {tool} are not an object.", hint=_HINT)
        defaults = an_object(value.get("defaults") or {})
        ignored = value.get("ignore") or []
        names = _names([ignored] if isinstance(ignored, str) else ignored, "trajectory:tool-args-match")
        parameters = {name: literal(self._rendered(one)) for name, one in wanted.items()}
        parameters |= {name: {"$optional": literal(one)} for name, one in defaults.items()}
        return parameters | {name: {"$any": True} for name in names}

    def _sequence(self, assertion: Mapping[str, Json]) -> None:
        value = assertion.get("value")
        self._require(_names(value.get("steps") if isinstance(value, Mapping) else value, "trajectory:tool-sequence"))
        self.ordered = True

    def _count(self, assertion: Mapping[str, Json]) -> None:
        value = an_object(assertion.get("value"))
        if value.get("type") != "tool" or value.get("max") != 0:
            raise InputError("Its trajectory:step-count counts something else than no tools.", hint=_HINT)

    def _require(self, names: Sequence[str]) -> None:
        """Have at least as many calls of each tool as it is named, in this order where there were none."""
        for name in dict.fromkeys(names):
            missing = names.count(name) - sum(call.tool == name for call in self.calls)
            if self.calls or missing <= 0:
                self.calls += [ExpectedCall(tool=name)] * max(missing, 0)
                continue
            self.calls = [ExpectedCall(tool=one) for one in names]

    def _rendered(self, value: Json) -> Json:
        """Return the value with placeholders filled in."""
        if isinstance(value, str) and _TEMPLATE.search(value):
            text = _filled(value, self._values)
            if _TEMPLATE.search(text):
                raise InputError("An expected argument is a template.", hint="Write it out.")
            return text
        if isinstance(value, Mapping):
            return {name: self._rendered(inner) for name, inner in value.items()}
        return [self._rendered(item) for item in value] if isinstance(value, list) else value


def _names(value: Json, kind: str) -> list[str]:
    """Return names from a list, or from text with commas; none of them may be a pattern."""
    values = value.split(",") if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(one, str) and one.strip() for one in values):
        raise InputError(f"Its {kind} names no tools.", hint=_HINT)
    if _WILDCARD.search("".join(values)):
        raise InputError(f"Its {kind} has a pattern instead of a name.", hint=_HINT)
    return [one.strip() for one in values]


def row(item: Item) -> Json:
    """Return one case as a test."""
    draft = item.case.draft
    calls = only_answer(draft.expectation)
    if _TEMPLATE.search(draft.query):
        raise CannotHoldError("Its query holds {{, {% or {#, which promptfoo takes for a template.")
    return {
        "description": draft.name,
        "vars": {"query": draft.query},
        "assert": _assertions(calls, ordered=draft.expectation.ordered),
        "metadata": beside(item, calls),
    }


def _assertions(calls: Sequence[ExpectedCall], *, ordered: bool) -> list[Json]:
    if not calls:
        return [{"type": "trajectory:step-count", "value": {"type": "tool", "max": 0}}]
    names = [call.tool for call in calls]
    if special := next(filter(_is_pattern_or_list, names), None):
        raise CannotHoldError(f"promptfoo takes the tool name {special} for a pattern or a list.")
    if ordered:
        first: Json = {"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": names}}
    else:
        first = {"type": "tool-call-f1", "value": names}
    if ordered:
        _require_bare_last(calls)
    return [first, *map(_arguments, filter(_is_detailed, calls))]


def _is_pattern_or_list(name: str) -> bool:
    return bool(_WILDCARD.search(name) or _TEMPLATE.search(name)) or "," in name or name != name.strip()


def _is_detailed(call: ExpectedCall) -> bool:
    return bool(call.parameters) or call.exact


def _require_bare_last(calls: Sequence[ExpectedCall]) -> None:
    """Raise CannotHoldError where a call without an assertion comes before one of the same tool that has one.

    promptfoo would hold the assertion against the first of them.
    """
    for index, call in enumerate(calls):
        later = [other for other in calls[index + 1 :] if other.tool == call.tool]
        if not _is_detailed(call) and any(map(_is_detailed, later)):
            raise CannotHoldError(f"It calls {call.tool} several times in order, first without parameters.")


def _arguments(call: ExpectedCall) -> Json:
    value: dict[str, Json] = {"name": call.tool, "args": {}}
    for name, expected in (call.parameters or {}).items():
        _add_argument(value, name, expected, call.exact)
    if call.exact:
        value["mode"] = "exact"
    return {"type": "trajectory:tool-args-match", "value": value}


def _add_argument(value: dict[str, Json], name: str, expected: Json, exact: bool) -> None:
    if _TEMPLATE.search(str(expected)):
        raise CannotHoldError(f"The value expected of {name} holds {{{{, which promptfoo takes for a template.")
    if expected == {"$any": True} and not _WILDCARD.search(name):
        value.setdefault("ignore", []).append(name)
    elif isinstance(expected, Mapping) and set(expected) == {"$optional"} and exact:
        value.setdefault("defaults", {})[name] = plain(expected["$optional"], name)
    else:
        value["args"][name] = plain(expected, name)


def text(rows: Sequence[Json], suffix: str) -> str:
    """Return a whole configuration without models, which the user adds."""
    document = {"description": "Test cases of MCP tools", "prompts": ["{{query}}"], "tests": list(rows)}
    return to_json(document) if suffix == ".json" else to_yaml(document)
