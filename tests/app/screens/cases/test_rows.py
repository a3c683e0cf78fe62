"""Rows of the cases table, and past answers judged again by an edited expectation."""

from datetime import UTC, datetime

import pytest
from PySide6.QtWidgets import QAbstractButton

from app.core_link.targets import ShowCase, ShowToolCases
from app.screens.cases.commands import case_filter_actions
from app.screens.cases.page import CasesPage
from app.screens.cases.rows import (
    CaseTableRow,
    JudgementChange,
    LastResult,
    neighbour,
    rejudged_answers,
    relative_day,
    row_of_draft,
)
from app.screens.kit import ViewState
from mcp_tef import (
    CallMatch,
    CaseDraft,
    CaseId,
    Classification,
    FindingReason,
    Json,
    ParameterFinding,
    RunId,
    RunStatus,
    RunSummary,
    ToolLabel,
    Verdict,
    VerdictKind,
    expectation_from_json,
)
from tests.support.cases_page import BIKE, THANKS, Bench


def row(expectation: Json) -> CaseTableRow:
    draft = CaseDraft(name="n", query="One\n  two", expectation=expectation_from_json(expectation))
    return row_of_draft(CaseId("c"), draft)


@pytest.mark.parametrize(
    ("expectation", "server", "tools"),
    [
        (None, "", "no tool"),
        ([{"tool": "search", "server": "docs"}], "docs", "search"),
        ([{"tool": "search"}], "", "search"),
        ([{"tool": "search", "server": "docs"}, {"tool": "read", "server": "docs"}], "docs", "search + read"),
        ([{"tool": "search", "server": "docs"}, {"tool": "read", "server": "web"}], "", "search + read"),
        ({"any_of": [[{"tool": "search"}], []]}, "", "search or no tool"),
    ],
)
def test_what_is_expected_is_told_in_short(expectation: Json, server: str, tools: str) -> None:
    found = row(expectation)
    assert (found.server, found.tools) == (server, tools)


def test_a_query_of_several_lines_is_one_line_in_the_table() -> None:
    assert row(None).query == "One two"


@pytest.mark.parametrize(
    ("gone", "next_one"),
    [(["a"], "b"), (["b", "c"], "d"), (["d"], "c"), (["c", "d"], "b"), (["a", "b", "c", "d"], ""), ([], "a")],
)
def test_after_a_deletion_the_next_row_that_stays_is_looked_at(gone: list[str], next_one: str) -> None:
    assert neighbour(["a", "b", "c", "d"], gone) == next_one


async def test_what_was_searched_for_narrows_the_cases_at_the_next_start(bench: Bench) -> None:
    assert bench.page.header.search is not None
    bench.page.header.search.setText("bike")
    every = bench.page.table.rows.rowCount()
    await bench.until(lambda: bench.page.table.rows.rowCount() < every)
    page = await bench.again()
    assert page.header.searched_for == "bike"
    assert page.table.rows.ids() == bench.page.table.rows.ids()


async def test_searching_for_nothing_that_is_there_says_so_and_offers_the_way_back(bench: Bench) -> None:
    page = bench.page
    assert page.header.search is not None
    page.header.search.setText("tandem")
    await bench.until(lambda: page.view.nothing.isVisible())
    verb = next(made for made in page.view.nothing.findChildren(QAbstractButton) if made.text() == "Show all cases")
    verb.click()
    await bench.until(lambda: page.table.isVisible())
    assert page.table.rows.rowCount() == 4
    assert page.header.search.text() == ""


async def test_a_case_can_be_arrived_at_though_a_filter_hides_it(page: CasesPage) -> None:
    target = next(row.id for row in page.presenter.rows() if row.query == THANKS)
    page.presenter.view = ViewState(text="chain")
    page.open_target(ShowCase(target))
    assert page.presenter.current == target


async def test_the_cases_of_a_tool_can_be_arrived_at_and_let_go_again(page: CasesPage) -> None:
    page.open_target(ShowToolCases(ToolLabel(tool="search_bikes", server="Bike shop")))
    assert [row.query for row in page.presenter.rows()] == [BIKE]
    expected = next(
        action for action in case_filter_actions(page.presenter, page._filter, page.suites.ask) if action.checked
    )
    assert expected.text == "Expects: Bike shop / search_bikes"
    expected.do()
    assert page.table.rows.rowCount() == 4


async def test_a_case_that_is_gone_is_said_to_be_gone(bench: Bench) -> None:
    bench.page.open_target(ShowCase(CaseId("no such case")))
    assert bench.said == ["That case no longer exists"]


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
        ("search_code", "Correct tool and arguments", JudgementChange.NONE),
    ]


def test_a_wrong_value_is_named_and_never_makes_the_tool_wrong() -> None:
    (line,) = rejudged_answers([(run(Classification.TP, True), WRONG_VALUE)], NOW).lines
    assert (line.last, line.text, line.change) == (
        LastResult.WRONG_ARGUMENTS,
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
