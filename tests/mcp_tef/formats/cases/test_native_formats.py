"""Our own format of cases and CSV, the published JSON Schema, and round trips through every format."""

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from jsonschema import Draft202012Validator

from mcp_tef.errors import InputError
from mcp_tef.formats.cases import tef
from mcp_tef.formats.cases.entries import Item, differences
from mcp_tef.formats.cases.texts import parse_yaml
from mcp_tef.model.cases import CaseDraft, ExpectedCall
from mcp_tef.model.transfer import CaseFileFormat
from tests.support.case_factories import drafts, one_call, plain_values, read, stored, there_and_back

SCHEMA = json.loads(files("resources").joinpath("case.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def test_the_published_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@given(drafts)
def test_what_is_exported_fits_the_published_schema(draft: CaseDraft) -> None:
    document = json.loads(tef.text([tef.row(Item(stored(draft)))], ".json"))
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


def test_the_sample_suite_fits_the_published_schema() -> None:
    suite = files("resources").joinpath("sample/suite.yaml").read_text("utf-8")
    document = parse_yaml(suite, "suite.yaml")
    assert document == yaml.safe_load(suite)
    assert list(VALIDATOR.iter_errors(document)) == []


@pytest.mark.parametrize(
    "case",
    [
        {"name": "no query"},
        {"query": "  "},
        {"query": "x", "expected": 7},
        {"query": "x", "expected": [{"server": "desk"}]},
        {"query": "x", "expected": [{"tool": "find", "parameters": {"q": {"$anyof": [1]}}}]},
        {"query": "x", "tags": "one"},
        {"query": "x", "servers": [1]},
        {"query": "x", "family": 3},
        {"query": "x", "before": "Hello"},
        {"query": "x", "before": [{"role": "system", "content": "Be brief."}]},
        {"query": "x", "before": [{"role": "user", "content": " "}]},
    ],
)
def test_the_schema_and_the_reader_refuse_the_same(case: dict[str, Any]) -> None:
    assert list(VALIDATOR.iter_errors({"cases": [case]}))
    [entry] = read(CaseFileFormat.TEF, json.dumps([case]), "cases.json")
    assert entry.refused


def test_a_matcher_that_cannot_be_understood_is_refused_by_name() -> None:
    [entry] = read(CaseFileFormat.TEF, "[{query: x, expected: [{tool: find, parameters: {q: {$regex: '('}}}]}]")
    assert "$regex" in (entry.refused or "")


def test_a_file_of_a_later_version_is_refused() -> None:
    with pytest.raises(InputError, match="version 2"):
        read(CaseFileFormat.TEF, "version: 2\ncases: []")


def test_only_a_query_and_what_is_expected_are_needed() -> None:
    with pytest.raises(InputError, match="no column expected_tool or expected"):
        read(CaseFileFormat.CSV, "query\nWhere is it?\n")
    [entry] = read(CaseFileFormat.CSV, "query,expected_tool\nWhere is it?,\n")
    assert entry.draft
    assert (entry.draft.query, entry.draft.expectation.no_tool, entry.place) == ("Where is it?", True, "line 2")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_tool_and_its_parameters_come_from_columns_of_their_own(delimiter: str) -> None:
    lines = [
        ["query", "servers", "expected_tool", "expected_parameters", "tags"],
        ["Find it", "desk", "find", '"{""q"": ""it""}"', '"a;b"'],
    ]
    [entry] = read(CaseFileFormat.CSV, "\r\n".join(delimiter.join(cells) for cells in lines))
    assert entry.draft
    assert entry.draft.expectation.first_call == ExpectedCall(tool="find", parameters={"q": "it"})
    assert (entry.draft.servers, entry.draft.tags) == (("desk",), ("a", "b"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("question,tool\nx,y", "no column named query"),
        ("query,expected_tol\nx,y", "expected_tol.*Did you mean expected_tool"),
        ("query,tags,tags\nx,y,z", "the column tags twice"),
        ('query\n"never closed', "not valid CSV at line 2"),
    ],
)
def test_wrong_columns_are_named_and_nothing_is_read(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(CaseFileFormat.CSV, text, "cases.csv")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (",find,", "no query"),
        ("x,find,{", "not JSON"),
        ("x,,{}", "no tool"),
        ("x,find,{},more", "more cells"),
        ('x,find,"{""q"": {""$regex"": ""(""}}"', "regex"),
        ('x,find,"{""q"": NaN}"', "not finite"),
        ('x,find,"{""q"": {""$literal"": ' + "[" * 200 + "]" * 200 + '}}"', "too deep"),
    ],
)
def test_a_bad_line_is_refused_by_its_number_and_the_rest_stays(row: str, says: str) -> None:
    entries = read(CaseFileFormat.CSV, f"query,expected_tool,expected_parameters\n{row}\nfine,find,\n")
    assert [entry.place for entry in entries] == ["line 2", "line 3"]
    assert says in (entries[0].refused or "")
    assert entries[1].draft


def test_lines_are_counted_by_the_file_not_by_the_case() -> None:
    entries = read(CaseFileFormat.CSV, 'query,expected\n"two\nlines",\nnext,\n')
    assert [entry.place for entry in entries] == ["line 2", "line 4"]


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "'=x", "'", "''-", " ＝1", "\x1b[2J=1", "'\x00"])
def test_a_cell_is_never_a_formula_and_comes_back_as_it_was(text: str) -> None:
    draft = replace(one_call(parameters={"q": text}), query=f"{text} please")
    entry = there_and_back(CaseFileFormat.CSV, draft)
    assert entry
    assert entry.draft == draft


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@settings(max_examples=30)
@given(drafts)
def test_our_own_form_holds_every_case(suffix: str, draft: CaseDraft) -> None:
    entry = there_and_back(CaseFileFormat.TEF, draft, suffix)
    assert entry
    assert (entry.draft, entry.id) == (draft, stored(draft).id)


@settings(max_examples=30)
@given(drafts)
def test_csv_holds_every_case(draft: CaseDraft) -> None:
    entry = there_and_back(CaseFileFormat.CSV, draft, ".csv")
    assert entry
    assert entry.draft
    assert differences(entry.draft, draft) == {}


@pytest.mark.parametrize("form", [CaseFileFormat.BFCL, CaseFileFormat.PROMPTFOO, CaseFileFormat.MCP_EVAL])
@settings(max_examples=30)
@given(drafts)
def test_another_form_holds_a_case_or_says_that_it_cannot(form: CaseFileFormat, draft: CaseDraft) -> None:
    entry = there_and_back(form, draft)
    assume(entry)
    assert entry
    assert entry.draft
    lost = differences(draft, entry.draft)
    kept = {"before"} if form is CaseFileFormat.BFCL or not draft.before else set()
    assert set(lost) <= {"name", "expected", "before"} - kept, lost
    assert bool(kept) == ("before" not in lost)


@pytest.mark.parametrize("form", [form for form in CaseFileFormat if form.is_written])
@settings(max_examples=30)
@given(value=plain_values)
def test_every_form_holds_one_call_with_a_plain_value(form: CaseFileFormat, value: object) -> None:
    entry = there_and_back(form, one_call(parameters={"what": value}))
    assume(entry)
    assert entry
    assert entry.draft
    assert differences(entry.draft, one_call(parameters={"what": value})) == {}


@pytest.mark.parametrize("form", [form for form in CaseFileFormat if form.is_written])
@pytest.mark.parametrize("draft", [one_call(server="desk"), one_call(exact=True), one_call(parameters={"q": "it"})])
def test_every_form_holds_the_everyday_cases(form: CaseFileFormat, draft: CaseDraft) -> None:
    entry = there_and_back(form, draft)
    assert entry
    assert entry.draft
    assert differences(entry.draft, draft) == {}
