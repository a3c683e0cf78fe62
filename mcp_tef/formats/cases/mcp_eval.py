"""Cases as a dataset of mcp-eval: inputs, and evaluators that look at the tools that were called."""

from collections.abc import Iterator, Mapping, Sequence

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import (
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
    text_in,
    with_beside,
)
from mcp_tef.formats.cases.texts import to_json, to_yaml
from mcp_tef.model.cases import CaseDraft, ExpectedCall
from mcp_tef.model.json import Json

MOST_CALLS = 100
_HINT = "Say which tools are right with ToolWasCalled, ToolCalledWith or ToolSequence."


def read(source: CaseSource) -> tuple[CaseEntry, ...]:
    """Return the entries of a dataset; its own evaluators and its server hold for every case."""
    document = parsed(source)
    items = document.get("cases") if isinstance(document, Mapping) else None
    if not isinstance(items, list):
        raise InputError(f"{source.name} holds no list of cases.", hint="Write them as a list under “cases”.")
    whole = shared_in(document, "cases", source.name)
    server = whole.get("server_name")
    servers = [server] if isinstance(server, str) and server else []
    return entries_of(counted(items), lambda item: _entry(an_object(item), servers, whole.get("evaluators")))


def _entry(item: Mapping[str, Json], servers: list[str], shared: Json) -> CaseEntry:
    query = text_in(item, "inputs", "text as inputs")
    name = item.get("name")
    reading = _Reading()
    asked = [*_evaluators(item.get("evaluators")), *_evaluators(shared)]
    left = [kind for kind, settings in asked if not reading.take(kind, settings)]
    if item.get("expected_output") is not None:
        left.append("expected_output")
    if not reading.says_which:
        kinds = ", ".join(dict.fromkeys(left)) or "there are none"
        raise InputError(f"None of its evaluators says which tool is right ({kinds}).", hint=_HINT)
    draft = CaseDraft(name=str(name) if name else first_line(query), query=query)
    notes = tuple(f"Not taken over: {kind}." for kind in dict.fromkeys(left))
    more = an_object(item.get("metadata") or {})
    entry = CaseEntry(label=draft.name, draft=draft, notes=notes)
    return with_beside(entry, {"servers": servers, **more}, reading.calls(), ordered=reading.ordered)


def _evaluators(values: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield each evaluator with its settings; none where nothing is listed."""
    values = values or []
    if not isinstance(values, list) or not all(isinstance(value, Mapping) for value in values):
        raise InputError("Its evaluators are not a list of names with settings.", hint=_HINT)
    for value in values:
        for kind, settings in value.items():
            yield kind, settings if isinstance(settings, Mapping) else {}


class _Reading:
    """Gathers what evaluators ask for: how often each tool, with which arguments, in which order."""

    def __init__(self) -> None:
        self.ordered = False
        self.says_which = False
        self._sequence: list[str] = []
        self._times: dict[str, int] = {}
        self._with: dict[str, list[ExpectedCall]] = {}

    def take(self, kind: str, settings: Mapping[str, Json]) -> bool:
        """Take an evaluator over; False where it is about something else than which tools are called."""
        if kind == "ToolSequence":
            self._in_order(settings)
        elif kind == "ToolCalledWith":
            self._called_with(settings)
        elif kind in ("ToolWasCalled", "ExactToolCount"):
            self._called(kind, settings)
        else:
            return False
        self.says_which = True
        return True

    def _in_order(self, settings: Mapping[str, Json]) -> None:
        names = settings.get("expected_sequence")
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            raise InputError("Its ToolSequence names no tools.", hint=_HINT)
        self._sequence = names
        self.ordered = bool(names)

    def _called_with(self, settings: Mapping[str, Json]) -> None:
        name, wanted = _tool(settings), settings.get("expected_args") or {}
        if not isinstance(wanted, Mapping):
            raise InputError(f"The arguments expected of {name} are not an object.", hint=_HINT)
        parameters = {key: literal(value) for key, value in wanted.items()}
        self._times.setdefault(name, 0)
        self._with.setdefault(name, []).append(ExpectedCall(tool=name, parameters=parameters or None))

    def _called(self, kind: str, settings: Mapping[str, Json]) -> None:
        key = "min_times" if kind == "ToolWasCalled" else "expected_count"
        name, times = _tool(settings), settings.get(key, 1)
        if not isinstance(times, int) or not 1 <= times <= MOST_CALLS:
            raise InputError(f"Its {kind} asks for {times} calls of {name}.", hint="Ask for at least one.")
        self._times[name] = max(times, self._times.get(name, 0))

    def calls(self) -> list[ExpectedCall]:
        """Return the calls: as the sequence goes, then by first mention; of each tool those with arguments first."""
        waiting = {name: list(calls) for name, calls in self._with.items()}
        calls = [_next(waiting, name) for name in self._sequence]
        for name, times in self._times.items():
            there = self._sequence.count(name)
            calls += [_next(waiting, name) for _ in range(max(times, len(self._with.get(name, []))) - there)]
        return calls


def _next(waiting: Mapping[str, list[ExpectedCall]], name: str) -> ExpectedCall:
    return waiting[name].pop(0) if waiting.get(name) else ExpectedCall(tool=name)


def _tool(settings: Mapping[str, Json]) -> str:
    return text_in(settings, "tool_name", "tool_name in an evaluator")


def row(item: Item) -> Json:
    """Return one case of a dataset."""
    draft = item.case.draft
    answer = only_answer(draft.expectation)
    calls = answer if draft.expectation.ordered else _by_tool(answer)
    return {
        "name": draft.name,
        "inputs": draft.query,
        "metadata": beside(item, calls),
        "evaluators": list(_asking(calls, draft.expectation.ordered)),
    }


def _by_tool(calls: Sequence[ExpectedCall]) -> list[ExpectedCall]:
    """Return the calls in the order in which they are read back."""
    tools = dict.fromkeys(call.tool for call in calls)
    return [call for tool in tools for call in sorted(calls, key=_is_bare) if call.tool == tool]


def _is_bare(call: ExpectedCall) -> bool:
    return not call.parameters


def _asking(calls: Sequence[ExpectedCall], ordered: bool) -> Iterator[Json]:
    """Yield the evaluators that ask for these calls."""
    names = [call.tool for call in calls]
    if ordered or not calls:
        yield {"ToolSequence": {"expected_sequence": names, "allow_other_calls": False}}
    for tool in dict.fromkeys(names):
        same = [call for call in calls if call.tool == tool]
        if not ordered and (len(same) > 1 or not same[0].parameters):
            yield {"ToolWasCalled": {"tool_name": tool, "min_times": len(same)}}
        yield from (_called_with(call) for call in same if call.parameters)


def _called_with(call: ExpectedCall) -> Json:
    wanted = {name: plain(value, name) for name, value in (call.parameters or {}).items()}
    return {"ToolCalledWith": {"tool_name": call.tool, "expected_args": wanted}}


def text(rows: Sequence[Json], suffix: str) -> str:
    """Return a whole dataset."""
    document = {"name": "Test cases of MCP tools", "cases": list(rows)}
    return to_json(document) if suffix == ".json" else to_yaml(document)
