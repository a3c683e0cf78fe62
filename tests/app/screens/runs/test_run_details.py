"""Tools offered, raw exchange and settings of a run."""

from dataclasses import replace

from app.screens.runs.run_details import (
    MAX_RAW_LENGTH,
    offered_rows,
    raw_exchange,
    search_tools,
    settings_rows,
    tools_caption,
)
from mcp_tef import Answer, DefinitionChange, RunDetail
from tests.support.run_factories import baseline_detail, detail, failed_run, wrong_detail


def setting(made: RunDetail, label: str) -> str:
    return next(row.value for row in settings_rows(made) if row.label == label)


def test_the_tools_are_listed_as_they_were_offered_with_what_became_of_them() -> None:
    assert [(row.name, row.role) for row in offered_rows(wrong_detail(), {})] == [
        ("search_code", "expected"),
        ("search_files", "selected"),
        ("read_file", ""),
    ]


def test_a_ranking_sorts_the_tools_and_shows_rank_and_score() -> None:
    assert [(row.rank, row.name, row.score) for row in offered_rows(baseline_detail(), {})] == [
        ("1", "search_files", "0.61"),
        ("2", "search_code", "0.58"),
        ("3", "read_file", "0.20"),
    ]


def test_tools_are_found_by_every_word_typed() -> None:
    rows = offered_rows(wrong_detail(), {})
    found = search_tools(rows, "search workspace")
    assert [row.name for row in found] == ["search_files"]
    assert tools_caption(found, len(rows)) == "1 of 3 tools"


def test_tools_that_changed_or_went_after_the_run_say_so() -> None:
    since = {"search_code": DefinitionChange.CHANGED, "read_file": DefinitionChange.REMOVED}
    rows = offered_rows(wrong_detail(), since)
    assert [row.change for row in rows] == ["changed since", "", "removed since"]
    assert tools_caption(rows, len(rows)) == "3 tools, as they were; 2 changed since"


def test_the_exchange_is_indented_json() -> None:
    made = raw_exchange(detail())
    assert made.request.startswith('{\n  "model": "gpt-4.1-mini"')
    assert made.response == '{\n  "choices": []\n}'


def test_a_huge_answer_is_cut_and_says_so() -> None:
    made = detail()
    assert made.answer is not None
    huge = raw_exchange(replace(made, answer=replace(made.answer, raw_response="x" * (MAX_RAW_LENGTH + 5))))
    assert len(huge.response) == MAX_RAW_LENGTH + 2
    assert "Cut after 200,000 characters." in huge.note


def test_a_failed_run_exchanged_nothing() -> None:
    assert raw_exchange(detail(failed_run())).note == "Nothing was exchanged."


def test_settings_say_what_was_really_used() -> None:
    made = detail(attempts=2)
    assert setting(made, "Model") == "openai/gpt-4.1-mini"
    assert setting(made, "Calling mode") == "native tool calling (selected automatically)"
    assert setting(made, "Time") == "1.2 s"
    assert setting(made, "Tokens") == "812 in, 41 out"
    assert setting(made, "Attempts") == "2"


def test_an_unknown_cost_is_unknown_and_not_zero() -> None:
    assert setting(detail(), "Cost") == "unknown"


def test_the_baseline_costs_nothing_and_asked_no_model() -> None:
    assert setting(baseline_detail(), "Cost") == "none"
    assert setting(baseline_detail(), "Selector") == "offline baseline, no model"


def test_what_is_not_believed_of_an_answer_is_noted_beside_its_cost() -> None:
    answer = Answer(calls=(), raw_response={"mcp_tef_notes": ["The reported prompt_tokens is -5."]})
    assert setting(replace(detail(), answer=answer), "Note") == "The reported prompt_tokens is -5."
