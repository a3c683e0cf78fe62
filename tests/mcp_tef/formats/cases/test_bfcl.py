"""Cases of the Berkeley Function Calling Leaderboard."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.case_formats import FORMS
from mcp_tef.formats.cases.entries import CaseEntry, CaseSource
from mcp_tef.model.transfer import CaseFileFormat
from tests.support import bfcl_cases
from tests.support.case_factories import one_call, read, there_and_back

SHARED_RAW = bfcl_cases.SHARED.with_name("bfcl_raw.jsonl.gz")
FUNCTION = {
    "name": "area.circle",
    "description": "The area of a circle.",
    "parameters": {
        "type": "dict",
        "properties": {
            "radius": {"type": "float"},
            "type": {"type": "string"},
            "at": {"type": "tuple", "items": {"type": "any"}},
        },
        "required": ["radius"],
    },
}


def row(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": "simple_1",
        "question": [[{"role": "user", "content": "How large is it?"}]],
        "function": [FUNCTION],
        "ground_truth": [{"area.circle": {"radius": [5.0], "type": ["exact", ""], "at": [[1, 2], [1.0, 2.0]]}}],
    }
    return {key: value for key, value in {**made, **changes}.items() if value != "absent"}


def entry_of(**changes: Any) -> CaseEntry:
    [entry] = read(CaseFileFormat.BFCL, json.dumps(row(**changes)), "b.jsonl")
    return entry


def test_accepted_values_become_matchers_and_nothing_else_may_be_given() -> None:
    entry = entry_of()
    assert entry.draft
    call = entry.draft.expectation.first_call
    assert call
    assert call.exact
    assert call.parameters == {"radius": 5.0, "type": {"$optional": "exact"}, "at": {"$any_of": [[1, 2], [1.0, 2.0]]}}
    assert (entry.draft.name, entry.draft.query) == ("simple_1", "How large is it?")


def test_functions_become_tools_with_types_of_json_schema() -> None:
    [tool] = entry_of().tools
    schema = tool["inputSchema"]
    assert schema["type"] == "object"
    assert schema["properties"] == {
        "radius": {"type": "number"},
        "type": {"type": "string"},
        "at": {"type": "array", "items": {}},
    }


def test_fields_of_objects_hold_accepted_values_themselves() -> None:
    truth = [{"area.circle": {"where": [{"city": ["Lisbon", "Lisboa"], "zip": ["", "1100"]}]}}]
    entry = entry_of(ground_truth=truth)
    assert entry.draft
    call = entry.draft.expectation.first_call
    assert call
    assert call.parameters == {"where": {"city": {"$any_of": ["Lisbon", "Lisboa"]}, "zip": {"$optional": "1100"}}}


@pytest.mark.parametrize("question", ["How large?", [{"role": "user", "content": "How large?"}]])
def test_a_question_may_be_plain_text_or_one_turn(question: Any) -> None:
    draft = entry_of(question=question).draft
    assert draft
    assert draft.query == "How large?"


def test_earlier_messages_of_the_turn_stay_and_those_of_the_system_are_noted() -> None:
    said = [("system", "Be brief."), ("user", "Circles?"), ("assistant", "Yes."), ("user", "How large?")]
    entry = entry_of(question=[[{"role": role, "content": content} for role, content in said]])
    assert entry.draft
    assert [message.content for message in entry.draft.before] == ["Circles?", "Yes."]
    assert (entry.draft.query, len(entry.notes)) == ("How large?", 1)


@pytest.mark.parametrize(
    ("row_id", "family"), [("bfcl_v4/live_simple_19-3-15", "live_simple 3"), ("simple_python_12", "")]
)
def test_rows_of_one_group_of_functions_are_a_family(row_id: str, family: str) -> None:
    draft = entry_of(id=row_id).draft
    assert draft
    assert draft.family == family


def test_no_truth_means_no_tool_where_the_row_is_about_irrelevance() -> None:
    draft = entry_of(id="irrelevance_3", ground_truth="absent").draft
    assert draft
    assert draft.expectation.no_tool


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"question": "absent"}, "no question"),
        ({"ground_truth": "absent"}, "no ground_truth"),
        ({"question": [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]]}, "several turns"),
        ({"id": "live_relevance_1", "ground_truth": None}, "some call is right, but not which"),
        ({"function": "absent"}, "no list of functions"),
        ({"ground_truth": ["area.circle(5)"]}, "something else than"),
        ({"ground_truth": [{"": {"r": [5]}}]}, "a call without a name"),
    ],
)
def test_a_row_that_makes_no_case_is_refused_with_the_reason(changes: dict[str, Any], says: str) -> None:
    assert says in (entry_of(**changes).refused or "")


def test_a_line_that_is_not_json_is_refused_by_its_number() -> None:
    entries = read(CaseFileFormat.BFCL, json.dumps(row()) + "\n\n{oops\n", "b.jsonl")
    assert [(entry.place, entry.refused) for entry in entries] == [("line 1", None), ("line 3", "It is not JSON.")]


def test_a_file_without_rows_of_bfcl_is_refused() -> None:
    with pytest.raises(InputError, match="holds no BFCL rows"):
        read(CaseFileFormat.BFCL, '{"a": 1}', "b.jsonl")


def test_answers_are_found_in_the_folder_that_bfcl_keeps_them_in(tmp_path: Path) -> None:
    asked, answers = tmp_path / "BFCL_simple.json", tmp_path / "possible_answer" / "BFCL_simple.json"
    answers.parent.mkdir()
    answers.write_text(json.dumps({"id": "simple_1", "ground_truth": [{"area.circle": {"radius": [5]}}]}))
    text = json.dumps(row(ground_truth="absent"))
    [entry] = FORMS[CaseFileFormat.BFCL].read(CaseSource(text, asked.name, asked))
    assert entry.draft
    assert not entry.draft.expectation.no_tool


@pytest.mark.parametrize(
    "expected", [{"$regex": "a"}, {"$approx": 1}, "", [""], {"in": {"$unordered": [1]}}, {"$any_of": [{"$any": True}]}]
)
def test_what_bfcl_has_no_word_for_is_left_out(expected: Any) -> None:
    assert there_and_back(CaseFileFormat.BFCL, one_call(parameters={"q": expected}, exact=True)) is None


def raw_rows() -> list[dict[str, Any]]:
    """Every shared row of BFCL's own with its question, where the shared data is beside the repository."""
    if not SHARED_RAW.exists():
        return [row()]
    asked = {case["id"]: case["query"] for case in bfcl_cases.bfcl_cases()}
    with gzip.open(SHARED_RAW, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [{**one, "question": [[{"role": "user", "content": asked[one["id"]]}]]} for one in rows]


def test_every_real_row_comes_in_but_those_that_do_not_say_which_call_is_right() -> None:
    rows = raw_rows()
    entries = read(CaseFileFormat.BFCL, "\n".join(map(json.dumps, rows)), "b.jsonl")
    refused = [one for one, entry in zip(rows, entries, strict=True) if entry.refused]
    assert all(one["category"] == "live_relevance" for one in refused)


def test_functions_read_as_the_definitions_that_others_made_of_them() -> None:
    theirs = {case["id"]: [tool["input_schema"] for tool in case["tools"]] for case in bfcl_cases.bfcl_cases()}
    entries = read(CaseFileFormat.BFCL, "\n".join(map(json.dumps, raw_rows())), "b.jsonl")
    ours = {entry.label: [tool["inputSchema"] for tool in entry.tools] for entry in entries if entry.draft}
    differing = [name for name, schemas in ours.items() if name in theirs and theirs[name] != schemas]
    assert differing == []
