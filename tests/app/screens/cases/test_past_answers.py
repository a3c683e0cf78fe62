"""The list under the editor says how the last answers would be judged, and what changed."""

from datetime import UTC, datetime

import pytest

from app.screens.cases.rows import JudgementChange, LastResult, rejudged_answers, relative_day
from mcp_tef import (
    CallMatch,
    CaseId,
    Classification,
    FindingReason,
    ParameterFinding,
    RunId,
    RunStatus,
    RunSummary,
    Verdict,
    VerdictKind,
)

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def run(classification: Classification, parameters_ok: bool | None = None) -> RunSummary:
    return RunSummary(
        id=RunId("r"),
        batch_id=None,
        case_id=CaseId("c"),
        case_name="n",
        query="q",
        model="offline/retrieval",
        repeat=0,
        status=RunStatus.COMPLETED,
        classification=classification,
        parameters_ok=parameters_ok,
        selected="docs / search_code",
        selected_tool="search_code",
        completed_at=datetime(2026, 3, 10, 9, 5, tzinfo=UTC),
    )


def verdict(classification: Classification, kind: VerdictKind, **more: object) -> Verdict:
    return Verdict(classification=classification, kind=kind, explanation="As judged.", **more)  # type: ignore[arg-type]


RIGHT = verdict(Classification.TP, VerdictKind.MATCH, parameters_ok=True)
WRONG_VALUE = verdict(
    Classification.TP,
    VerdictKind.MATCH,
    parameters_ok=False,
    matches=(
        CallMatch(
            expected=0,
            actual=0,
            findings=(
                ParameterFinding(parameter="a", reason=FindingReason.WRONG_VALUE, sentence="a is 1, expected 2."),
            )
            * 2,
        ),
    ),
)


def test_a_value_that_is_now_accepted_is_told_apart() -> None:
    result = rejudged_answers([(run(Classification.TP, False), RIGHT), (run(Classification.TP, True), RIGHT)], NOW)
    assert result.summary == "1 correct before, 2 now"
    assert [(line.selected, line.text, line.change) for line in result.lines] == [
        ("search_code", "Now accepted", JudgementChange.BETTER),
        ("search_code", "Correct tool and values", JudgementChange.NONE),
    ]


def test_a_wrong_value_is_named_and_never_makes_the_tool_wrong() -> None:
    (line,) = rejudged_answers([(run(Classification.TP, True), WRONG_VALUE)], NOW).lines
    assert (line.last, line.text, line.change) == (
        LastResult.TP,
        "a is 1, expected 2. (and 1 more)",
        JudgementChange.WORSE,
    )


@pytest.mark.parametrize(
    ("classification", "kind", "words"),
    [
        (Classification.FN, VerdictKind.WRONG_TOOL, "Another tool than expected"),
        (Classification.FN, VerdictKind.NO_TOOL, "No tool was called"),
        (Classification.FP, VerdictKind.UNEXPECTED_CALL, "Called a tool although none was expected"),
        (Classification.TN, VerdictKind.NO_CALL_EXPECTED, "Correctly called no tool"),
    ],
)
def test_each_outcome_has_plain_words(classification: Classification, kind: VerdictKind, words: str) -> None:
    (line,) = rejudged_answers([(run(classification), verdict(classification, kind))], NOW).lines
    assert line.text == words


def test_nothing_was_tried_where_there_are_no_answers() -> None:
    assert rejudged_answers([], NOW).lines == ()


def test_moments_are_told_as_people_do() -> None:
    assert relative_day(datetime(2026, 3, 10, 9, 5, tzinfo=UTC), NOW) == "09:05"
    assert relative_day(datetime(2026, 3, 9, 9, 5, tzinfo=UTC), NOW) == "Yesterday"
    assert relative_day(datetime(2026, 2, 1, tzinfo=UTC), NOW) == "1 Feb"
    assert relative_day(datetime(2025, 2, 1, tzinfo=UTC), NOW) == "1 Feb 2025"
    assert relative_day(None, NOW) == ""
