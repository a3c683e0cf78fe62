"""Cases as a promptfoo configuration: tests with vars, and assertions on the tools that were called."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import (
    CannotHoldError,
    CaseEntry,
    CaseSource,
    Item,
    an_object,
    beside,
    first_line,
    label_of,
    only_answer,
    parsed,
    plain,
    shared_in,
    shortened,
    with_beside,
)
from mcp_tef.formats.cases.promptfoo_templates import (
    TEMPLATE,
    PromptfooTemplate,
    PromptTemplates,
    combinations,
    filled,
    prompts_in,
    query_variable,
)
from mcp_tef.formats.cases.promptfoo_tests import (
    WILDCARD,
    ExpectedCallReading,
    ListedTest,
    counted_names,
    kinds_of,
    listed_tests,
)
from mcp_tef.formats.cases.promptfoo_texts import require_inert, require_plain_prompt
from mcp_tef.formats.cases.texts import SCHEME, FilesBeside, require_plain, to_json, to_yaml
from mcp_tef.model.cases import CaseDraft, EarlierMessage, ExpectedCall, Speaker
from mcp_tef.model.json import Json

_SAME_PROVIDERS = {"openai", "anthropic", "ollama", "mistral", "groq", "deepseek", "openrouter", "google"}
_CALL_KINDS = {"chat", "messages", "responses", "completion"}


def tools_and_notes(
    shared: Mapping[str, Json], files: FilesBeside
) -> tuple[tuple[Mapping[str, Json], ...], tuple[str, ...]]:
    """Return the tools of the first provider that lists some, and notes on what is not taken over."""
    notes: list[str] = []
    listings: list[list[Mapping[str, Json]]] = []
    for name, config in _providers(shared.get("providers", shared.get("targets"))):
        notes += _notes(name, config)
        try:
            listings += filter(None, [_functions(config.get("tools"), files)])
        except InputError as error:
            notes.append(f"The tools of a provider are not taken over: {error.message}")
    if any(one != listings[0] for one in listings):
        notes.append("Not taken over: other tools of the other providers.")
    return tuple(map(_definition, next(iter(listings), ()))), tuple(dict.fromkeys(notes))


def _notes(name: str, config: Mapping[str, Json]) -> Iterator[str]:
    if name:
        yield f"Not taken over: the provider {name}.{_model_hint(name)}"
    if keys := [key for key in config if key != "tools"]:
        yield f"Not taken over: settings of a provider ({', '.join(keys)})."


def _providers(providers: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the name and the settings of each provider; the key of an object may be its name."""
    for provider in providers if isinstance(providers, list) else [providers]:
        match provider:
            case str():
                yield provider, {}
            case {"id": str() as name}:
                yield name, _mapping_or_nothing(provider.get("config"))
            case {"config": Mapping() as config}:
                yield "", config
            case Mapping():
                for name, settings in provider.items():
                    yield name, _mapping_or_nothing(_mapping_or_nothing(settings).get("config"))


def _mapping_or_nothing(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _model_hint(name: str) -> str:
    provider, *rest = name.split(":")
    if rest and rest[0] in _CALL_KINDS:
        rest = rest[1:]
    if provider not in _SAME_PROVIDERS or not rest:
        return ""
    return f" Ask it with --model {'gemini' if provider == 'google' else provider}/{':'.join(rest)}."


def _functions(tools: Json, files: FilesBeside) -> list[Mapping[str, Json]]:
    if isinstance(tools, str) and tools.startswith(SCHEME):
        tools = files.document(files.matching(tools)[0])
    listed = tools if isinstance(tools, list) else []
    functions = (one.get("function", one) for one in listed if isinstance(one, Mapping))
    return [one for one in functions if isinstance(one, Mapping) and isinstance(one.get("name"), str)]


def _definition(function: Mapping[str, Json]) -> Mapping[str, Json]:
    schema = function.get("parameters") or function.get("input_schema") or {"type": "object"}
    return {"name": function["name"], "description": str(function.get("description") or ""), "inputSchema": schema}


MOST_CASES = 20_000
_HINT = "Say which tools are right with tool-call-f1 or trajectory:tool-args-match."
_READ = {"description", "prompts", "providers", "targets", "defaultTest", "assertionTemplates", "$schema"}
_READ_IN_TESTS = {"description", "vars", "assert", "metadata", "options"}
_READ_OPTIONS = {"prefix", "suffix", "disableVarExpansion", "disableDefaultAsserts"}
_OUR_METADATA = {"id", "servers", "suites", "tags", "family", "origin", "held_back", "calls"}


def read(source: CaseSource) -> tuple[CaseEntry, ...]:
    """Return the entries of a configuration; tools that a provider lists come with every case.

    A test becomes one case for each combination of its variables and each prompt that reads differently. Files are
    read where they lie below the folder of the configuration; programs in it are never run.
    """
    document = parsed(source)
    tests = document.get("tests") if isinstance(document, Mapping) else document
    if tests is None:
        has_scenarios = isinstance(document, Mapping) and "scenarios" in document
        reason = "its tests as scenarios, which are not read" if has_scenarios else "no tests"
        raise InputError(f"{source.name} holds {reason}.", hint="Write the tests as a list under “tests”.")
    reading = _ConfigReading(shared_in(document, "tests", source.name), FilesBeside(source.path))
    found = (entry for test in listed_tests(tests, reading.files) for entry in reading.entries(test))
    entries = tuple(islice(found, MOST_CASES + 1))
    if len(entries) > MOST_CASES:
        raise InputError(f"{source.name} stands for more than {MOST_CASES:,} cases.", hint="Split it.")
    return entries


class _ConfigReading:
    """Shared parts of a configuration, and the cases that each of its tests stands for."""

    def __init__(self, shared: Mapping[str, Json], files: FilesBeside) -> None:
        self.files = files
        self._shared = shared
        self._defaults = self._default_test()
        self._prompts: PromptTemplates = prompts_in(shared.get("prompts"), files)
        self._tools, told = tools_and_notes(shared, files)
        unread = [f"Not taken over: {key}." for key in shared if key not in _READ]
        self._notes = (*self._prompts.notes, *told, *unread)

    def entries(self, test: ListedTest) -> Iterator[CaseEntry]:
        """Yield the entries of a test; one that cannot be read is refused with the reason."""
        try:
            if test.problem:
                raise InputError(test.problem)
            require_plain(test.item)
            item = self._merged(an_object(test.item), test)
            asked = list(self._asked(item))
        except InputError as error:
            yield _refused(test.item, test.place, error)
            return
        for number, one in enumerate(asked, 1):
            entry = self._entry(item, one, number if len(asked) > 1 else 0)
            yield replace(entry, place=test.place if len(asked) == 1 else f"{test.place}, variant {number}")

    def _default_test(self) -> Mapping[str, Json]:
        default = self._shared.get("defaultTest")
        if isinstance(default, str):
            default = self.files.document(self.files.matching(default)[0])
        return an_object(default or {})

    def _merged(self, test: Mapping[str, Json], listed: ListedTest) -> Mapping[str, Json]:
        """Return the test with the values of the default test, whose own come first."""
        defaults = self._defaults
        own = self._with_variables(test, listed)
        merged = {key: {**_mapping(defaults, key), **_mapping(own, key)} for key in ("vars", "options", "metadata")}
        inherited = [] if merged["options"].get("disableDefaultAsserts") else _list(defaults, "assert")
        return {**defaults, **own, **merged, "assert": [*inherited, *_list(test, "assert")]}

    def _with_variables(self, test: Mapping[str, Json], listed: ListedTest) -> Mapping[str, Json]:
        """Return the test with variables that stand in files of their own."""
        named = test.get("vars")
        if not isinstance(named, str | list):
            return test
        values: dict[str, Json] = {}
        for reference in [named] if isinstance(named, str) else named:
            for path in self.files.matching(str(reference), listed.base):
                values |= _mapping({"vars": self.files.document(path)}, "vars")
        return {**test, "vars": values}

    def _asked(self, test: Mapping[str, Json]) -> Iterator["_AskedQuery"]:
        """Yield the different queries of a test: for each combination of its variables, one for each prompt."""
        options = test["options"]
        around = str(options.get("prefix", "")), str(options.get("suffix", ""))
        for values in combinations(test["vars"], self.files, expand=not options.get("disableVarExpansion")):
            templates = self._templates_with(values)
            if not templates:
                yield _from_variable(values, has_prompts=bool(self._prompts.templates))
            chats = dict.fromkeys(template.filled(values, around) for template in templates)
            yield from (_AskedQuery(values, messages) for messages in chats)

    def _templates_with(self, values: Mapping[str, Json]) -> list[PromptfooTemplate]:
        """Return the prompts that hold one of these variables; all of them where a test has none."""
        return [one for one in self._prompts.templates if not values or one.variables & values.keys()]

    def _entry(self, test: Mapping[str, Json], asked: "_AskedQuery", number: int) -> CaseEntry:
        """Return the entry of one query; `number` is 0 for the only one of its test."""
        try:
            *before, query = asked.messages
            if not query.content.strip():
                raise InputError("Its query is empty.", hint=_HINT)
            reading = self._reading(test, asked.values)
            name, family = _name_and_family(test.get("description"), query.content, number)
            draft = CaseDraft(name=name, query=query.content, before=tuple(before), family=family)
            notes = (*_counted_notes(reading.not_taken), *_unread(test), *asked.notes, *self._notes)
            entry = CaseEntry(label=draft.name, draft=draft, notes=notes, tools=self._tools)
            found = with_beside(entry, test["metadata"], reading.calls, ordered=reading.ordered)
            return replace(found, id=None) if number else found
        except InputError as error:
            return _refused(test, "", error)

    def _reading(self, test: Mapping[str, Json], values: Mapping[str, Json]) -> ExpectedCallReading:
        reading = ExpectedCallReading(values, self._shared, self.files)
        for assertion in test["assert"]:
            reading.take(assertion)
        if not reading.says_which:
            kinds = kinds_of(test["assert"])
            raise InputError(f"None of its assertions says which tool is right ({kinds}).", hint=_HINT)
        return reading


@dataclass(frozen=True, slots=True)
class _AskedQuery:
    """Messages to a model for one combination of variables: earlier ones, and the query last."""

    values: Mapping[str, Json]
    messages: tuple[EarlierMessage, ...]
    notes: tuple[str, ...] = ()


def _name_and_family(description: Json, query: str, number: int) -> tuple[str, str]:
    """Return the name of a case; where its test stands for several, with its number, and the test as their family."""
    named = description if isinstance(description, str) and description.strip() else ""
    if not number:
        return named or first_line(query), ""
    return (f"{named} ({number})" if named else first_line(query)), named or first_line(query)


def _from_variable(values: Mapping[str, Json], *, has_prompts: bool) -> _AskedQuery:
    """Return the variable that reads most like a request, where no prompt says what is asked."""
    name = query_variable(values)
    if name is None:
        raise InputError("It has neither a variable with text nor a prompt, so it asks nothing.", hint=_HINT)
    texts = [one for one in values.values() if isinstance(one, str)]
    notes = [f"Its query is the variable {name}."] if len(texts) > 1 else []
    notes += ["Not taken over: prompts that hold none of its variables."] if has_prompts else []
    text = filled(values[name], values)
    return _AskedQuery(values, (EarlierMessage(Speaker.USER, text),), tuple(notes))


def _refused(item: Json, place: str, error: InputError) -> CaseEntry:
    return CaseEntry(label=label_of(item, place), place=place, refused=shortened(error.message))


def _counted_notes(kinds: Sequence[str]) -> list[str]:
    return [f"Not taken over: {name}." for name in counted_names(kinds)]


def _unread(test: Mapping[str, Json]) -> list[str]:
    """Return a note for each setting of a test that no case has."""
    keys = [key for key in test if key not in _READ_IN_TESTS]
    keys += [f"options.{key}" for key in test["options"] if key not in _READ_OPTIONS]
    keys += [f"metadata.{key}" for key in test["metadata"] if key not in _OUR_METADATA]
    return _counted_notes(keys)


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


def row(item: Item) -> Json:
    """Return one case as a test."""
    draft = item.case.draft
    calls = only_answer(draft.expectation)
    require_plain_prompt(draft.query)
    made: Json = {
        "description": draft.name,
        "vars": {"query": draft.query},
        "assert": _assertions(calls, ordered=draft.expectation.ordered),
        "metadata": beside(item, calls),
    }
    require_inert(made)
    return made


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
    return bool(WILDCARD.search(name) or TEMPLATE.search(name)) or "," in name or name != name.strip()


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
    if expected == {"$any": True} and not WILDCARD.search(name):
        value.setdefault("ignore", []).append(name)
    elif isinstance(expected, Mapping) and set(expected) == {"$optional"} and exact:
        value.setdefault("defaults", {})[name] = plain(expected["$optional"], name)
    else:
        value["args"][name] = plain(expected, name)


def text(rows: Sequence[Json], suffix: str) -> str:
    """Return a whole configuration without models, which the user adds."""
    document = {"description": "Test cases of MCP tools", "prompts": ["{{query}}"], "tests": list(rows)}
    return to_json(document) if suffix == ".json" else to_yaml(document)
