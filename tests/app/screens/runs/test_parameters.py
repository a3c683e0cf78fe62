"""Parameters side by side, with a reason for each."""

import pytest

from app.screens.runs.call_comparison import NOT_JUDGED, ParameterRow, expected_text, value_text
from app.screens.runs.labels import Mark
from app.screens.runs.verdict import verdict_view
from mcp_tef import Call, RunDetail
from tests.support.made_runs import detail, judged_detail, run, wrong_detail


def rows(made: RunDetail) -> list[ParameterRow]:
    return list(verdict_view(made).pairs[0].parameters.rows)


def test_judged_parameters_have_mark_both_values_and_the_reason() -> None:
    assert [(row.mark, row.name, row.expected, row.given, row.reason) for row in rows(judged_detail())] == [
        (Mark.RIGHT, "query", "parse_config", "parse_config", "Equal"),
        (Mark.WRONG, "path", "backend", "./backend", "Not what was expected; “contains” would accept it"),
        (Mark.RIGHT, "language", "py or python", "Python", "One of the accepted values"),
        (Mark.WRONG, "limit", "50 ± 10", "–", "Missing, though expected"),
        (Mark.EXTRA, "recursive", "–", "true", "Made up: not in the schema of search_code"),
    ]


def test_parameters_of_a_wrong_tool_are_shown_but_not_judged() -> None:
    table = verdict_view(wrong_detail()).pairs[0].parameters
    assert table.note == NOT_JUDGED
    assert [(row.mark, row.name, row.reason) for row in table.rows] == [
        (Mark.NEUTRAL, "query", "Worded differently"),
        (Mark.NEUTRAL, "path", "The same"),
        (Mark.NEUTRAL, "language", "Only search_code has it"),
        (Mark.NEUTRAL, "limit", "Not in the expectation"),
    ]


def test_a_value_nobody_expected_is_shown_and_not_judged() -> None:
    made = detail(run(), calls=(Call(tool="search_code", server="docs", arguments={"query": "x"}),))
    assert [(row.mark, row.reason) for row in rows(made)] == [(Mark.NEUTRAL, "Not in the expectation, so not judged")]


def test_the_schema_is_judged_even_where_no_value_was_expected() -> None:
    made = detail(run(), calls=(Call(tool="search_code", server="docs", arguments={"limit": 5}),))
    assert [(row.name, row.reason) for row in rows(made)] == [
        ("limit", "A number, but the schema wants text"),
        ("query", "Missing, though the schema requires it"),
    ]
    assert verdict_view(made).pairs[0].parameters.note.startswith("The case expects no particular values")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("src/", "src/"),
        ("5", '"5"'),
        ("true", '"true"'),
        ("", '""'),
        (" padded", '" padded"'),
        (5, "5"),
        (None, "null"),
        ({"a": [1]}, '{"a": [1]}'),
    ],
)
def test_text_that_could_be_taken_for_something_else_is_quoted(value: object, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"$any_of": ["py", "python"]}, "py or python"),
        ({"$approx": 3.0, "$tolerance": 0.01}, "3.0 ± 0.01"),
        ({"$any": True}, "anything"),
        ({"$contains": "retry"}, "contains retry"),
        ({"$regex": "^a"}, "matches ^a"),
        ({"$optional": 5}, "if given, 5"),
        ({"$literal": {"$any": 1}}, '{"$any": 1}'),
        ({"plain": 1}, '{"plain": 1}'),
    ],
)
def test_matchers_are_said_in_words(value: object, text: str) -> None:
    assert expected_text(value) == text
