"""Cases as CSV."""

from dataclasses import replace

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.cases import ExpectedCall
from mcp_tef.model.transfer import CaseFileFormat
from tests.support.case_factories import one_call, read, there_and_back


def test_only_a_query_is_needed() -> None:
    [entry] = read(CaseFileFormat.CSV, "query\nWhere is it?\n")
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
    entries = read(CaseFileFormat.CSV, 'query\n"two\nlines"\nnext\n')
    assert [entry.place for entry in entries] == ["line 2", "line 4"]


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "'=x", "'", "''-", " ＝1", "\x1b[2J=1", "'\x00"])
def test_a_cell_is_never_a_formula_and_comes_back_as_it_was(text: str) -> None:
    draft = replace(one_call(parameters={"q": text}), query=f"{text} please")
    entry = there_and_back(CaseFileFormat.CSV, draft)
    assert entry
    assert entry.draft == draft
