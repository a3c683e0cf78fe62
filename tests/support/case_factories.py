"""Cases of every kind that a form may have to hold, and files of them written and read back."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from mcp_tef.formats.cases.case_formats import FORMS
from mcp_tef.formats.cases.entries import CannotHoldError, CaseEntry, CaseSource, Item
from mcp_tef.model.cases import CaseDraft, CaseOrigin, EarlierMessage, Expectation, ExpectedCall, Speaker, TestCase
from mcp_tef.model.ids import CaseId
from mcp_tef.model.tools import Tool
from mcp_tef.model.transfer import CaseFileFormat

NOW = datetime(2026, 11, 21, 14, 2, tzinfo=UTC)
TOOL = Tool(server="desk", name="find", description="Finds.", input_schema={"type": "object"}, raw={"name": "find"})

texts = st.text(max_size=20)
said = texts.filter(str.strip)
names = said.map(str.strip).filter(lambda name: not name.startswith("$"))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
plain_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)
matchers: st.SearchStrategy[Any] = st.one_of(
    plain_values.map(lambda value: {"$optional": value}),
    st.lists(plain_values, min_size=1, max_size=3).map(lambda values: {"$any_of": values}),
    st.just({"$any": True}),
    st.just({"$approx": 3.5, "$tolerance": 0.25}),
    st.just({"$regex": "^a+$"}),
    st.just({"$literal": {"$any": "thing"}}),
)
parameters = st.dictionaries(names, plain_values | matchers, max_size=3)
calls = st.builds(
    ExpectedCall,
    tool=names,
    server=st.none() | names,
    parameters=st.none() | parameters,
    exact=st.booleans(),
)
expectations = st.builds(
    Expectation,
    st.lists(st.lists(calls, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple),
    ordered=st.booleans(),
)
some_names = st.lists(names, max_size=2, unique=True).map(tuple)
drafts = st.builds(
    CaseDraft,
    name=said,
    query=said,
    expectation=expectations,
    servers=some_names,
    suites=some_names,
    tags=some_names,
    family=st.just("") | names.map(lambda name: " ".join(name.split())),
    before=st.lists(st.builds(EarlierMessage, st.sampled_from(Speaker), said), max_size=3).map(tuple),
    origin=st.sampled_from(CaseOrigin),
)


def stored(draft: CaseDraft, number: int = 1) -> TestCase:
    """The draft as a case that a workspace has."""
    return TestCase(id=CaseId(f"case-{number}"), draft=draft, created_at=NOW, updated_at=NOW)


def one_call(**changes: Any) -> CaseDraft:
    """A case that expects one call of `find`."""
    call = ExpectedCall(tool="find", **changes)
    return CaseDraft(name="Find it", query="Find it, please", expectation=Expectation(((call,),)), servers=("desk",))


def there_and_back(form: CaseFileFormat, draft: CaseDraft, suffix: str = ".yaml") -> CaseEntry | None:
    """The case as it reads after a file of the form; None where the form said that it cannot hold it."""
    way = FORMS[form]
    try:
        row = way.row(Item(stored(draft), (TOOL,)))
    except CannotHoldError:
        return None
    [entry] = way.read(CaseSource(way.text([row], suffix), f"cases{suffix}"))
    return entry


def read(form: CaseFileFormat, text: str, name: str = "cases.yaml") -> tuple[CaseEntry, ...]:
    """The entries of a text."""
    return FORMS[form].read(CaseSource(text, name))
