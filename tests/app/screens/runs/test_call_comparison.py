"""Differences of names and descriptions, and parameters side by side."""

import pytest

from app.screens.runs.call_comparison import (
    NOT_JUDGED,
    ParameterRow,
    expected_text,
    name_difference,
    text_difference,
    value_text,
)
from app.screens.runs.labels import TextSpan, VerdictMark
from app.screens.runs.verdict import verdict_view
from mcp_tef import ActualCall, RunDetail
from tests.support.run_factories import SEARCH_CODE, SEARCH_FILES, detail, judged_detail, run, wrong_detail


def marked(spans: tuple[TextSpan, ...]) -> list[str]:
    return [span.text for span in spans if span.marked]


def test_names_differ_by_their_parts() -> None:
    left, right = name_difference("search_code", "search_files")
    assert (marked(left), marked(right)) == (["code"], ["files"])
    assert all(span.mono for span in left + right)


def test_camel_case_is_split_too() -> None:
    left, right = name_difference("getUserName", "getUserMail")
    assert (marked(left), marked(right)) == (["Name"], ["Mail"])


def test_words_that_only_one_description_has_are_marked_as_stretches() -> None:
    left, right = text_difference(SEARCH_CODE, SEARCH_FILES)
    assert marked(left) == ["source code", "lines with their file and line number."]
    assert marked(right) == ["files in the workspace", "paths, best match first."]


def test_all_text_is_kept_as_it_was() -> None:
    left, right = text_difference(SEARCH_CODE, SEARCH_FILES)
    assert "".join(span.text for span in left) == SEARCH_CODE
    assert "".join(span.text for span in right) == SEARCH_FILES


def test_equal_and_empty_texts_have_no_marks() -> None:
    assert marked(text_difference("Read a file.", "read a file")[0]) == []
    assert text_difference("", "Read a file.") == ((), (TextSpan("Read a file."),))


def test_an_endless_description_is_cut() -> None:
    left, _ = text_difference("word " * 5000, "other")
    assert "".join(span.text for span in left).endswith("…")


def test_texts_with_little_in_common_are_left_unmarked() -> None:
    left, right = text_difference("Find spare parts by name or purpose.", "Book a new repair on a day.")
    assert marked(left) == marked(right) == []
    assert marked(name_difference("find_parts", "book_repair")[0]) == []


def rows(made: RunDetail) -> list[ParameterRow]:
    return list(verdict_view(made).pairs[0].parameters.rows)


def test_judged_parameters_have_mark_both_values_and_the_reason() -> None:
    assert [(row.mark, row.name, row.expected, row.given, row.reason) for row in rows(judged_detail())] == [
        (VerdictMark.RIGHT, "query", "parse_config", "parse_config", "Equal"),
        (VerdictMark.WRONG, "path", "backend", "./backend", "Not the expected value; “contains” would accept it"),
        (VerdictMark.RIGHT, "language", "py or python", "Python", "One of the accepted values"),
        (VerdictMark.WRONG, "limit", "50 ± 10", "–", "Missing, though expected"),
        (VerdictMark.EXTRA, "recursive", "–", "true", "Hallucinated: not in the schema of search_code"),
    ]


def test_parameters_of_a_wrong_tool_are_shown_but_not_judged() -> None:
    table = verdict_view(wrong_detail()).pairs[0].parameters
    assert table.note == NOT_JUDGED
    assert [(row.mark, row.name, row.reason) for row in table.rows] == [
        (VerdictMark.NEUTRAL, "query", "Different wording"),
        (VerdictMark.NEUTRAL, "path", "Equal"),
        (VerdictMark.NEUTRAL, "language", "Only search_code has it"),
        (VerdictMark.NEUTRAL, "limit", "Not specified in the case"),
    ]


def test_a_value_nobody_expected_is_shown_and_not_judged() -> None:
    made = detail(run(), calls=(ActualCall(tool="search_code", server="docs", arguments={"query": "x"}),))
    assert [(row.mark, row.reason) for row in rows(made)] == [
        (VerdictMark.NEUTRAL, "Not specified in the case, so not judged")
    ]


def test_the_schema_is_judged_even_where_no_value_was_expected() -> None:
    made = detail(run(), calls=(ActualCall(tool="search_code", server="docs", arguments={"limit": 5}),))
    assert [(row.name, row.reason) for row in rows(made)] == [
        ("limit", "A number, but the schema wants text"),
        ("query", "Missing, though the schema requires it"),
    ]
    assert verdict_view(made).pairs[0].parameters.note.startswith("The case expects no values")


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
