"""Expected against selected."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given

from mcp_tef.model.metrics import ConfusionMatrix
from mcp_tef.model.runs import RunFilter, RunStatus, RunSummary
from mcp_tef.model.tools import INVENTED_TOOL_LABEL, NO_TOOL_LABEL, LabelKind, ToolLabel
from mcp_tef.statistics.confusion import confusions
from mcp_tef.statistics.intervals import wilson
from tests.support.run_histories import any_runs, history_of, judged_run

Side = tuple[str, str] | str | None
SEARCH, READ, OTHER = ("docs", "search"), ("docs", "read"), ("wiki", "search")


def matrix(*runs: RunSummary) -> ConfusionMatrix:
    return confusions(history_of(runs))


def names(labels: Sequence[ToolLabel]) -> list[str]:
    return [label.text for label in labels]


def sides(run: RunSummary) -> tuple[Side, Side]:
    """What a run expected and selected, read from its summary."""
    expected = (run.expected_server or "", run.expected_tool) if run.expected_tool else None
    if run.kind == "invented_tool":
        return expected, "invented"
    return expected, (run.selected_server or "", run.selected_tool) if run.selected_tool else None


def key(label: ToolLabel) -> Side:
    if label.kind is LabelKind.INVENTED:
        return "invented"
    return None if label.kind is LabelKind.NO_TOOL else (label.server or "", label.tool or "")


def test_cells_count_what_was_expected_and_what_was_selected() -> None:
    found = matrix(
        judged_run(SEARCH, SEARCH),
        judged_run(SEARCH, READ),
        judged_run(SEARCH, READ),
        judged_run(READ, None),
        judged_run(None, SEARCH),
        judged_run(None, None),
    )
    assert names(found.rows) == ["read", "search", "no tool"]
    assert names(found.columns) == ["read", "search", "no tool", "invented tool"]
    assert found.cells == {(1, 1): 1, (1, 0): 2, (0, 2): 1, (2, 1): 1, (2, 2): 1}
    assert (found.row_totals, found.column_totals, found.n) == ((1, 3, 2), (2, 2, 2, 0), 6)
    assert (found.count(1, 0), found.count(0, 0)) == (2, 0)


def test_tools_that_nobody_offered_share_a_column_and_have_no_row() -> None:
    found = matrix(judged_run(SEARCH, ("", "look_up"), invented=True), judged_run(SEARCH, ("", "seek"), invented=True))
    assert names(found.rows) == ["search", "no tool"]
    assert found.cells == {(0, 2): 2}
    assert found.columns[2] == INVENTED_TOOL_LABEL


def test_tools_of_one_name_are_named_with_their_server_and_others_are_not() -> None:
    found = matrix(judged_run(SEARCH, OTHER), judged_run(READ, READ))
    assert [found.name(label) for label in found.columns] == [
        "read",
        "docs / search",
        "wiki / search",
        "no tool",
        "invented tool",
    ]


def test_what_a_tool_is_most_often_taken_for() -> None:
    found = matrix(judged_run(SEARCH, READ), judged_run(SEARCH, READ), judged_run(SEARCH, None), judged_run(READ, READ))
    read, search = found.tools
    assert (search.taken_for, search.taken_for_count) == (found.rows[0], 2)
    assert (read.taken_for, read.taken_for_count) == (None, 0)
    assert matrix(judged_run(SEARCH, None)).tools[0].taken_for == NO_TOOL_LABEL


def test_failed_and_pending_runs_are_in_no_cell() -> None:
    failed = replace(judged_run(SEARCH, None), status=RunStatus.FAILED, classification=None)
    assert matrix(failed, replace(failed, status=RunStatus.PENDING)).cells == {}


def test_nothing_has_a_matrix_of_no_tool_alone() -> None:
    found = matrix()
    assert (names(found.rows), found.n, found.tools) == (["no tool"], 0, ())


def test_a_cell_leads_to_a_filter_that_keeps_the_rest() -> None:
    found = matrix(judged_run(SEARCH, READ))
    where = found.runs_of(RunFilter(suites=("Everyday",)), 1, 0)
    assert where.suites == ("Everyday",)
    assert (where.expected, where.selected) == (found.rows[1], found.columns[0])


@given(any_runs())
def test_each_cell_and_each_tool_against_the_rest_agree_with_counting_runs_one_by_one(
    runs: Sequence[RunSummary],
) -> None:
    found = matrix(*runs)
    told = [sides(run) for run in runs]
    for row, expected in enumerate(found.rows):
        for column, selected in enumerate(found.columns):
            assert found.count(row, column) == told.count((key(expected), key(selected)))
    for figures in found.tools:
        tool = key(figures.label)
        hits = sum(pair == (tool, tool) for pair in told)
        wanted, picked = sum(one == tool for one, _ in told), sum(two == tool for _, two in told)
        assert (figures.tp, figures.fn, figures.fp) == (hits, wanted - hits, picked - hits)
        assert figures.tn == len(told) - sum(tool in pair for pair in told)
        assert (figures.precision, figures.recall) == (wilson(hits, picked), wilson(hits, wanted))
