"""Expected against selected tools, and observed confusion beside similarity, most harmful first."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from mcp_tef.model.metrics import ConfusionMatrix, Rate
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.model.similarity import FlagRule, PairStatus
from mcp_tef.model.tools import INVENTED_TOOL_LABEL, NO_TOOL_LABEL, LabelKind, ToolLabel
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.statistics.confusion import Confusions, Past, confusions, work_list
from mcp_tef.statistics.run_history import history_of
from tests.support.run_histories import alike, any_runs, judged_run, rate_over
from tests.support.similarity_factories import a_tool, compared

Side = tuple[str, str] | str | None
SEARCH, READ, OTHER = ("docs", "search"), ("docs", "read"), ("wiki", "search")


def matrix(*runs: RunSummary) -> ConfusionMatrix:
    return confusions(history_of(runs))


def names(labels: Sequence[ToolLabel]) -> list[str]:
    return [label.text for label in labels]


def sides(run: RunSummary) -> tuple[Side, Side]:
    """Return the tools that a run expected and selected, read from its summary."""
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
        assert alike(figures.precision, share_of_hits(runs, tool, side=1))
        assert alike(figures.recall, share_of_hits(runs, tool, side=0))


def share_of_hits(runs: Sequence[RunSummary], tool: object, side: int) -> Rate:
    """Of the runs that expected a tool (0) or picked it (1), the share that did both."""
    return rate_over([run for run in runs if sides(run)[side] == tool], lambda run: sides(run) == (tool, tool))


FILES, CODE, MAIL, DOOR = ("docs", "search_files"), ("docs", "search_code"), ("mail", "search"), ("home", "unlock")


def four() -> Similarity:
    return compared(
        a_tool("search_files", "Search by text or pattern, best first", "docs"),
        a_tool("search_code", "Search by text or pattern, best first", "docs"),
        a_tool("search", "Search by text or pattern, best first, letters", "mail"),
        a_tool("unlock", "Open a door", "home"),
    )


def runs(expected: tuple[str, str], picked: tuple[str, str] | None, count: int) -> list[RunSummary]:
    return [judged_run(expected, picked)] * count


def past(*made: list[RunSummary], servers: tuple[str, ...] = ("docs", "mail")) -> Past:
    history = history_of([run for some in made for run in some])
    nothing = history.of(np.zeros(len(history), dtype=np.bool_))
    return Past(history, {server: history if server in servers else nothing for server in ("docs", "mail", "home")})


def test_a_pair_tells_how_often_each_was_taken_for_the_other() -> None:
    seen = Confusions(four().tools, past(runs(FILES, CODE, 3), runs(CODE, FILES, 1), runs(FILES, FILES, 6)))
    found = seen.between(0, 1)
    assert found is not None
    assert (found.confused, found.runs, found.a_taken_for_b, found.b_taken_for_a) == (4, 10, 3, 1)
    assert (found.label_a, found.label_b) == (ToolLabel("search_files", "docs"), ToolLabel("search_code", "docs"))
    assert (found.rate.value, found.rate.n) == (0.4, 10)


def test_runs_that_were_not_offered_the_other_do_not_count() -> None:
    seen = Confusions(four().tools, past(runs(FILES, FILES, 5), servers=("docs",)))
    assert seen.between(0, 2) is None
    assert seen.between(0, 3) is None
    tried = seen.between(0, 1)
    assert tried is not None
    assert (tried.confused, tried.runs) == (0, 5)


def test_what_is_no_tool_of_the_analysis_is_left_out() -> None:
    seen = Confusions(four().tools, past(runs(("docs", "gone"), FILES, 2), runs(FILES, ("docs", "gone"), 2)))
    assert seen.pairs == ()


def test_invented_tools_confuse_nobody() -> None:
    seen = Confusions(four().tools, past([judged_run(FILES, CODE, invented=True)]))
    assert seen.pairs == ()


def test_a_tool_without_a_server_counts_where_only_one_has_the_name() -> None:
    tools = compared(a_tool("find", "x", "one"), a_tool("find", "y", "two"), a_tool("read", "z", "one")).tools
    seen = Confusions(tools, past(runs(("", "read"), ("one", "find"), 1), runs(("", "find"), ("", "read"), 1)))
    assert dict(seen.taken) == {(2, 0): 1}


def test_the_square_holds_the_share_confused_and_nothing_where_nobody_tried() -> None:
    square = Confusions(four().tools, past(runs(FILES, CODE, 1), runs(CODE, CODE, 3))).matrix()
    assert square[0, 1] == square[1, 0] == pytest.approx(0.25)
    assert square[0, 2] == 0
    assert np.isnan(square[0, 3])
    assert np.all(np.isnan(np.diag(square)))


def test_without_any_run_the_square_is_empty() -> None:
    assert np.all(np.isnan(Confusions(four().tools, Past(history_of([]), {})).matrix()))


def test_the_list_begins_with_what_was_confused_most_and_says_how_each_pair_stands() -> None:
    similarity = four()
    seen = Confusions(similarity.tools, past(runs(FILES, CODE, 30), runs(FILES, FILES, 70), runs(MAIL, DOOR, 1)))
    items = work_list(similarity, seen, FlagRule(0.6))
    assert [(item.pair.a, item.pair.b, item.standing) for item in items] == [
        (0, 1, PairStatus.SIMILAR_AND_CONFUSED),
        (2, 3, PairStatus.CONFUSED_NOT_SIMILAR),
        (1, 2, PairStatus.SIMILAR_NOT_CONFUSED),
        (0, 2, PairStatus.SIMILAR_NOT_CONFUSED),
    ]
    assert [item.harm for item in items] == sorted((item.harm for item in items), reverse=True)


def test_harm_is_what_is_certain_then_what_was_seen_then_what_is_to_come() -> None:
    similarity = four()
    (item, *_) = work_list(
        similarity, Confusions(similarity.tools, past(runs(FILES, CODE, 30), runs(FILES, FILES, 70))), FlagRule(0.6)
    )
    assert item.observation is not None
    assert item.observation.rate.low is not None
    to_come = (30 + 4 * item.pair.confusability) / 104
    assert item.harm == pytest.approx(100 * item.observation.rate.low + 1 + to_come)


def test_without_runs_the_list_is_what_looks_alike_by_how_confusable_it_is() -> None:
    similarity = four()
    items = work_list(similarity, Confusions(similarity.tools, Past(history_of([]), {})), FlagRule(0.6))
    assert {item.standing for item in items} == {PairStatus.SIMILAR_UNTESTED}
    assert [item.harm for item in items] == pytest.approx(sorted((i.pair.confusability for i in items), reverse=True))
