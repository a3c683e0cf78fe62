"""Runs as rows, in pages that are mended while a batch runs."""

from dataclasses import replace

from app.screens.runs.cell_styles import table_row
from app.screens.runs.labels import VerdictMark
from app.screens.runs.run_table import MAX_PAGES, PAGE_SIZE, CellTextStyle, RunTable, filter_predicate, run_row
from mcp_tef import BatchId, Classification, ModelSettings, RunFilter, RunStatus, VerdictKind
from mcp_tef.model.runs import INTERRUPTED
from tests.support.run_factories import failed_run, run, waiting_run, wrong_run

ALL = RunFilter(batch_id=BatchId("batch-1"))
WRONG = replace(ALL, classifications=(Classification.FN, Classification.FP))


def test_a_row_has_mark_query_selected_and_confidence() -> None:
    made = run_row(wrong_run())
    assert (made.mark, made.query, made.selected, made.confidence) == (
        VerdictMark.WRONG,
        "Where are retry headers parsed?",
        "search_files",
        "0.91",
    )


def test_the_confidence_is_loud_only_where_it_was_high_and_wrong() -> None:
    assert run_row(wrong_run()).confident_but_wrong
    assert not run_row(wrong_run(confidence=0.66)).confident_but_wrong
    assert not run_row(run(confidence=0.99)).confident_but_wrong


def test_no_tool_is_said_in_words_and_not_set_as_a_name() -> None:
    made = run_row(
        run(classification=Classification.TN, kind=VerdictKind.NO_CALL_EXPECTED, selected="no tool", selected_tool=None)
    )
    assert (made.selected, made.text_style, made.mark) == ("no tool", CellTextStyle.NO_TOOL, VerdictMark.RIGHT_NONE)


def test_a_failed_run_says_why_in_place_of_a_tool() -> None:
    made = run_row(failed_run())
    assert (made.mark, made.selected, made.text_style, made.confidence) == (
        VerdictMark.FAILED,
        "The model gave no answer within 30 s.",
        CellTextStyle.STATUS,
        "–",
    )


def test_a_run_that_was_interrupted_says_so_and_not_that_it_failed() -> None:
    made = run_row(failed_run(failure=INTERRUPTED))
    assert (made.selected, made.text_style) == ("interrupted", CellTextStyle.STATUS)
    assert made.accessible_text.startswith("interrupted: ")


def test_runs_that_are_still_to_come_say_so() -> None:
    assert run_row(waiting_run()).selected == "waiting"
    assert run_row(waiting_run(status=RunStatus.RUNNING)).mark is VerdictMark.RUNNING


def test_a_query_of_many_lines_becomes_one() -> None:
    assert run_row(run(query="one\n\n  two")).query == "one two"


def test_a_row_of_the_baseline_names_the_baseline() -> None:
    assert run_row(run(model=ModelSettings().label)).model == "offline baseline"


def test_a_filter_admits_by_outcome_kind_state_and_words() -> None:
    assert filter_predicate(WRONG)(wrong_run())
    assert not filter_predicate(WRONG)(run())
    assert filter_predicate(replace(ALL, kinds=(VerdictKind.WRONG_TOOL,)))(wrong_run())
    assert filter_predicate(replace(ALL, statuses=(RunStatus.FAILED,)))(failed_run())
    assert filter_predicate(replace(ALL, text="RETRY headers"))(wrong_run())
    assert not filter_predicate(replace(ALL, text="weather"))(wrong_run())


def test_a_page_is_missing_until_it_is_put() -> None:
    table = RunTable()
    table.reset(ALL, 1000)
    assert table.request_missing_pages(150, 420) == (0, 1, 2)
    assert table.request_missing_pages(150, 420) == ()
    assert table.row(205) is None
    filled = table.put_page(1, [run(n) for n in range(200, 400)])
    assert (filled.first, len(filled.rows), filled.evicted) == (200, 200, range(0))
    assert (table.row(205) or run_row(run())).id == "run-205"


def test_a_run_that_ends_changes_its_row_where_it_stands() -> None:
    table = RunTable()
    table.reset(ALL, 3)
    table.put_page(0, [waiting_run(n) for n in range(3)])
    mended = table.update_runs([run(1)])
    assert (mended.changed, mended.added, table.total) == ((1,), 0, 3)
    assert (table.row(1) or run_row(run())).mark is VerdictMark.RIGHT


def test_a_run_whose_tool_changed_says_so_until_it_is_run_again() -> None:
    table = RunTable()
    table.reset(ALL, 2)
    filled = table.put_page(0, [run(0), run(1)], {run(1).id: ("search_code",)})
    words = "Definition changed since this run: search_code."
    assert [item.changed_tools_text for item in filled.rows] == ["", words]
    cells = [table_row(item).cells for item in filled.rows]
    assert [made[2].text.startswith("≠ ") for made in cells] == [False, True]
    assert (cells[1][2].tip, cells[1][0].tip.endswith(words)) == (words, True)
    table.update_runs([run(1)])
    assert (table.row(1) or run_row(run())).changed_tools == ("search_code",)
    for state in (waiting_run(1), run(1)):
        table.update_runs([state])
    assert (table.row(1) or run_row(run())).changed_tools == ()


def test_a_run_on_a_page_nobody_looked_at_adds_no_row() -> None:
    table = RunTable()
    table.reset(ALL, 1000)
    table.put_page(0, [waiting_run(n) for n in range(PAGE_SIZE)])
    assert table.update_runs([run(700)]).added == 0
    assert table.total == 1000


def test_a_run_that_newly_passes_the_filter_comes_at_the_end() -> None:
    table = RunTable()
    table.reset(WRONG, 1)
    table.put_page(0, [wrong_run(1)])
    mended = table.update_runs([wrong_run(2), run(3)])
    assert (mended.added, table.total) == (1, 2)
    assert (table.row(1) or run_row(run())).id == "run-2"


def test_a_run_that_passed_a_search_all_along_is_not_added_twice() -> None:
    table = RunTable()
    table.reset(replace(ALL, text="parse_config"), 500)
    table.put_page(0, [waiting_run(n) for n in range(PAGE_SIZE)])
    assert table.update_runs([run(300)]).added == 0


def test_pages_looked_at_longest_ago_are_dropped() -> None:
    table = RunTable()
    table.reset(ALL, 100_000)
    for page in range(MAX_PAGES):
        table.put_page(page, [waiting_run(page * PAGE_SIZE + n) for n in range(PAGE_SIZE)])
    filled = table.put_page(MAX_PAGES, [waiting_run(MAX_PAGES * PAGE_SIZE)])
    assert filled.evicted == range(PAGE_SIZE)
    assert table.row(0) is None
    assert table.row(MAX_PAGES * PAGE_SIZE) is not None
    assert table.position(waiting_run(0).id) is None
