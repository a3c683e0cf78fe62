"""The native format of case files: a list of cases as YAML or JSON, described by resources/case.schema.json."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import (
    CaseEntry,
    CaseSource,
    Item,
    an_object,
    counted,
    entries_of,
    family_in,
    first_line,
    held_back_in,
    id_in,
    names_in,
    origin_in,
    parsed,
    shortened,
    text_in,
)
from mcp_tef.formats.cases.texts import KeyPath, lines_of, to_json, to_yaml
from mcp_tef.model.cases import (
    CaseDraft,
    CaseOrigin,
    TestCase,
    expectation_from_json,
    expectation_to_json,
    messages_from_json,
    messages_to_json,
)
from mcp_tef.model.json import Json
from mcp_tef.model.search import did_you_mean
from mcp_tef.scoring.expectations import problems

FORM_VERSION = 1
_HINT = "Write a list under “cases”; each case has at least a query."
_FILE_KEYS = ("cases", "version", "$schema")
_CASE_KEYS = ("id", "name", "query", "servers", "expected", "suites", "tags", "family", "before", "origin", "held_back")
_ANSWER_KEYS = ("any_of", "calls", "ordered")
_CALL_KEYS = ("tool", "server", "parameters", "exact")
_MESSAGE_KEYS = ("role", "content")


def read(source: CaseSource) -> tuple[CaseEntry, ...]:
    """Return the entries of a file."""
    document = parsed(source)
    items = document.get("cases") if isinstance(document, Mapping) else document
    if not isinstance(items, list):
        raise InputError(f"{source.name} holds no list of cases.", hint=_HINT)
    version = document.get("version", FORM_VERSION) if isinstance(document, Mapping) else FORM_VERSION
    if version != FORM_VERSION:
        raise InputError(
            f"{source.name} is of version {shortened(str(version))}, and this program reads version 1.", hint=_HINT
        )
    whole = isinstance(document, Mapping)
    if whole and (unknown := next(_unknown_keys(document, _FILE_KEYS), None)):
        raise InputError(
            f"{source.name}{_at(source, (unknown,))}: {_unknown_sentence(unknown, _FILE_KEYS)}", hint=_HINT
        )
    return _with_lines(entries_of(counted(items), entry), items, source, ("cases",) if whole else ())


def _with_lines(
    entries: Sequence[CaseEntry], items: Sequence[Json], source: CaseSource, above: KeyPath
) -> tuple[CaseEntry, ...]:
    """Return the entries; the place of a refused one also names its line."""
    refused = {number for number, one in enumerate(entries) if one.refused or one.lacks}
    paths = {number: (*above, number, *_first_unknown(items[number])[0]) for number in refused}
    lines = dict(zip(paths, lines_of(source.text, list(paths.values())), strict=True)) if paths else {}
    return tuple(
        replace(one, place=f"{one.place}, line {lines[number]}") if lines.get(number) else one
        for number, one in enumerate(entries)
    )


def _at(source: CaseSource, path: KeyPath) -> str:
    [line] = lines_of(source.text, [path])
    return f", line {line}" if line else ""


def _unknown_keys(item: Json, known: Sequence[str]) -> Iterator[str]:
    yield from (key for key in item if key not in known) if isinstance(item, Mapping) else ()


def _unknown_sentence(key: str, known: Sequence[str]) -> str:
    return f"The key “{key}” is unknown. {did_you_mean(key, known, 'Known are ' + ', '.join(known) + '.')}"


def _first_unknown(item: Json) -> tuple[KeyPath, str]:
    """Return the path of the first unknown key of a case and a sentence about it; both empty where all are known."""
    for path, part, known in _parts(item):
        for key in _unknown_keys(part, known):
            return (*path, key), _unknown_sentence(key, known)
    return (), ""


def _parts(item: Json) -> Iterator[tuple[KeyPath, Json, Sequence[str]]]:
    """Yield the objects of a case: their paths, themselves, and the keys that they may have."""
    case = item if isinstance(item, Mapping) else {}
    yield (), case, _CASE_KEYS
    yield from ((("before", number), one, _MESSAGE_KEYS) for number, one in enumerate(_listed(case.get("before"))))
    yield from _expected_parts(case.get("expected"))


def _expected_parts(expected: Json) -> Iterator[tuple[KeyPath, Json, Sequence[str]]]:
    yield ("expected",), expected, _ANSWER_KEYS
    whole = expected if isinstance(expected, Mapping) else {}
    for path, calls in ((("expected",), expected), (("expected", "calls"), whole.get("calls"))):
        yield from (((*path, number), call, _CALL_KEYS) for number, call in enumerate(_listed(calls)))
    for place, answer in enumerate(_listed(whole.get("any_of"))):
        above = ("expected", "any_of", place)
        if isinstance(answer, Mapping):
            yield above, answer, _CALL_KEYS
        yield from (((*above, number), call, _CALL_KEYS) for number, call in enumerate(_listed(answer)))


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def entry(item: Json) -> CaseEntry:
    """Return one case."""
    fields = an_object(item)
    if sentence := _first_unknown(fields)[1]:
        raise InputError(sentence, hint="Correct or remove that key.")
    query = text_in(fields, "query", "query")
    name = fields.get("name")
    expectation = expectation_from_json(fields.get("expected"))
    if problem := next(problems(expectation), None):
        raise InputError(problem, hint="Correct that matcher.")
    draft = CaseDraft(
        name=str(name) if name else first_line(query),
        query=query,
        expectation=expectation,
        servers=names_in(fields, "servers"),
        suites=names_in(fields, "suites"),
        tags=names_in(fields, "tags"),
        family=family_in(fields),
        before=messages_from_json(fields.get("before")),
        origin=origin_in(fields),
        held_back=held_back_in(fields),
    )
    named = frozenset("expectation" if key == "expected" else key for key in fields) - ({"name"} if not name else set())
    return CaseEntry(label=draft.name, id=id_in(fields), draft=draft, named=named)


def row(item: Item) -> Json:
    """Return one case as it stands in a file."""
    return as_json(item.case)


def as_json(case: TestCase) -> dict[str, Json]:
    """Return a case with every field; id, family, earlier messages, origin and held_back where it has some."""
    draft = case.draft
    value: dict[str, Json] = {"id": case.id} if case.id else {}
    value["name"] = draft.name
    value |= {"family": draft.family} if draft.family else {}
    value |= {"before": messages_to_json(draft.before)} if draft.before else {}
    value["query"] = draft.query
    value["servers"] = list(draft.servers)
    value["expected"] = expectation_to_json(draft.expectation)
    value["suites"] = list(draft.suites)
    value["tags"] = list(draft.tags)
    value |= {} if draft.origin is CaseOrigin.WRITTEN else {"origin": draft.origin.value}
    value |= {"held_back": True} if draft.held_back else {}
    return value


def text(rows: Sequence[Json], suffix: str) -> str:
    """Return a whole file."""
    document = {"version": FORM_VERSION, "cases": list(rows)}
    return to_json(document) if suffix == ".json" else to_yaml(document)
