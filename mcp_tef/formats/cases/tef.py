"""The native format of case files: a list of cases as YAML or JSON, described by resources/case.schema.json."""

from collections.abc import Mapping, Sequence

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
    id_in,
    names_in,
    origin_in,
    parsed,
    shortened,
    text_in,
)
from mcp_tef.formats.cases.texts import to_json, to_yaml
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
from mcp_tef.scoring.expectations import problems

FORM_VERSION = 1
_HINT = "Write a list under “cases”; each case has at least a query."


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
    return entries_of(counted(items), entry)


def entry(item: Json) -> CaseEntry:
    """Return one case."""
    fields = an_object(item)
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
    )
    return CaseEntry(label=draft.name, id=id_in(fields), draft=draft)


def row(item: Item) -> Json:
    """Return one case as it stands in a file."""
    return as_json(item.case)


def as_json(case: TestCase) -> dict[str, Json]:
    """Return a case with every field; id, family, earlier messages and origin where it has some."""
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
    return value


def text(rows: Sequence[Json], suffix: str) -> str:
    """Return a whole file."""
    document = {"version": FORM_VERSION, "cases": list(rows)}
    return to_json(document) if suffix == ".json" else to_yaml(document)
