"""Rows of the run table, updated while a batch runs, and the details of one run."""

from dataclasses import replace

from app.screens.runs.batch_events import KnownBatches
from app.screens.runs.cell_styles import table_row
from app.screens.runs.labels import VerdictMark
from app.screens.runs.run_details import (
    MAX_RAW_LENGTH,
    offered_rows,
    raw_exchange,
    search_tools,
    settings_rows,
    tools_caption,
)
from app.screens.runs.run_table import MAX_PAGES, PAGE_SIZE, CellTextStyle, RunTable, filter_predicate, run_row
from mcp_tef import (
    Answer,
    BatchId,
    Classification,
    ConfidenceCategory,
    DefinitionChange,
    ModelSettings,
    RunDetail,
    RunFilter,
    RunStatus,
    VerdictKind,
)
from mcp_tef.model.runs import INTERRUPTED
from tests.support.run_factories import baseline_detail, detail, failed_run, run, waiting_run, wrong_detail, wrong_run

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


def test_the_confidence_is_loud_only_where_it_was_high_without_a_correct_call() -> None:
    assert run_row(wrong_run()).confident_but_wrong
    assert run_row(run(parameters_ok=False, confidence_category=ConfidenceCategory.MISLEADING)).confident_but_wrong
    assert not run_row(wrong_run(confidence=0.66, confidence_category=None)).confident_but_wrong
    assert not run_row(run(confidence=0.99)).confident_but_wrong


def test_wrong_arguments_have_a_mark_of_their_own_and_an_unreadable_answer_is_wrong_and_says_so() -> None:
    arguments = run_row(run(parameters_ok=False))
    assert arguments.mark is VerdictMark.WRONG_ARGUMENTS
    assert arguments.accessible_text.startswith("correct tool, wrong arguments: ")
    silent = run(classification=Classification.TN, kind=VerdictKind.NO_CALL_EXPECTED, selected_tool=None)
    junk = run_row(replace(silent, unreadable=True))
    assert (junk.mark, junk.selected) == (VerdictMark.WRONG, "unreadable answer")
    assert junk.accessible_text.startswith("unreadable answer: ")


def test_no_tool_is_said_in_words_and_not_set_as_a_name() -> None:
    made = run_row(
        run(classification=Classification.TN, kind=VerdictKind.NO_CALL_EXPECTED, selected="no tool", selected_tool=None)
    )
    assert (made.selected, made.text_style, made.mark) == ("no tool", CellTextStyle.NO_TOOL, VerdictMark.CORRECT)


def test_a_failed_run_says_why_in_place_of_a_tool() -> None:
    made = run_row(failed_run())
    assert (made.mark, made.selected, made.text_style, made.confidence) == (
        VerdictMark.FAILED,
        "timed out",
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
    assert filter_predicate(replace(ALL, unreadable=True))(run(unreadable=True))
    assert not filter_predicate(replace(ALL, unreadable=True))(wrong_run())
    assert filter_predicate(replace(ALL, kinds=(VerdictKind.WRONG_TOOL,)))(wrong_run())
    assert filter_predicate(replace(ALL, statuses=(RunStatus.FAILED,)))(failed_run())
    assert filter_predicate(replace(ALL, text="RETRY headers"))(wrong_run())
    assert not filter_predicate(replace(ALL, text="weather"))(wrong_run())


def test_a_page_is_missing_until_it_is_put() -> None:
    table = RunTable(KnownBatches().repeat_text)
    table.reset(ALL, 1000)
    assert table.request_missing_pages(150, 420) == (0, 1, 2)
    assert table.request_missing_pages(150, 420) == ()
    assert table.row(205) is None
    filled = table.put_page(1, [run(n) for n in range(200, 400)])
    assert (filled.first, len(filled.rows), filled.evicted) == (200, 200, range(0))
    assert (table.row(205) or run_row(run())).id == "run-205"


def test_a_run_that_ends_changes_its_row_where_it_stands() -> None:
    table = RunTable(KnownBatches().repeat_text)
    table.reset(ALL, 3)
    table.put_page(0, [waiting_run(n) for n in range(3)])
    updated = table.update_runs([run(1)])
    assert (updated.changed, updated.added, table.total) == ((1,), 0, 3)
    assert (table.row(1) or run_row(run())).mark is VerdictMark.CORRECT


def test_a_run_whose_tool_changed_says_so_until_it_is_run_again() -> None:
    table = RunTable(KnownBatches().repeat_text)
    table.reset(ALL, 2)
    filled = table.put_page(0, [run(0), run(1)], {run(1).id: ("search_code",)})
    words = "Definition changed since this run: search_code."
    assert [item.changed_tools_text for item in filled.rows] == ["", words]
    cells = [table_row(item).cells for item in filled.rows]
    assert [made[3].text.startswith("≠ ") for made in cells] == [False, True]
    assert (cells[1][3].tip, cells[1][0].tip.endswith(words)) == (words, True)
    table.update_runs([run(1)])
    assert (table.row(1) or run_row(run())).changed_tools == ("search_code",)
    for state in (waiting_run(1), run(1)):
        table.update_runs([state])
    assert (table.row(1) or run_row(run())).changed_tools == ()


def test_a_run_on_a_page_nobody_looked_at_adds_no_row() -> None:
    table = RunTable(KnownBatches().repeat_text)
    table.reset(ALL, 1000)
    table.put_page(0, [waiting_run(n) for n in range(PAGE_SIZE)])
    assert table.update_runs([run(700)]).added == 0
    assert table.total == 1000


def test_a_run_that_newly_passes_the_filter_comes_at_the_end() -> None:
    table = RunTable(KnownBatches().repeat_text)
    table.reset(WRONG, 1)
    table.put_page(0, [wrong_run(1)])
    updated = table.update_runs([wrong_run(2), run(3)])
    assert (updated.added, table.total) == (1, 2)
    assert (table.row(1) or run_row(run())).id == "run-2"


def test_a_run_that_passed_a_search_all_along_is_not_added_twice() -> None:
    table = RunTable(KnownBatches().repeat_text)
    table.reset(replace(ALL, text="parse_config"), 500)
    table.put_page(0, [waiting_run(n) for n in range(PAGE_SIZE)])
    assert table.update_runs([run(300)]).added == 0


def test_pages_looked_at_longest_ago_are_dropped() -> None:
    table = RunTable(KnownBatches().repeat_text)
    table.reset(ALL, 100_000)
    for page in range(MAX_PAGES):
        table.put_page(page, [waiting_run(page * PAGE_SIZE + n) for n in range(PAGE_SIZE)])
    filled = table.put_page(MAX_PAGES, [waiting_run(MAX_PAGES * PAGE_SIZE)])
    assert filled.evicted == range(PAGE_SIZE)
    assert table.row(0) is None
    assert table.row(MAX_PAGES * PAGE_SIZE) is not None
    assert table.position(waiting_run(0).id) is None


def setting(made: RunDetail, label: str) -> str:
    return next(row.value for row in settings_rows(made, "repeat 1") if row.label == label)


def test_the_deployment_that_answered_and_the_route_that_was_taken_are_shown() -> None:
    made = detail()
    assert made.answer is not None
    failed = [{"deployment": "openai/a", "failure": "No model server answers."}]
    group = {"deployment": "openai/b at http://127.0.0.1:1/v1", "failed": failed}
    route = {"asked": "group/large", "route": None, "score": None, "runner_up": "ollama/small", "runner_up_score": 0.2}
    shown = replace(made, answer=replace(made.answer, routing={**route, **group}))
    assert setting(shown, "Deployment") == "openai/b at http://127.0.0.1:1/v1"
    assert setting(shown, "Failed before it") == "openai/a: No model server answers."
    assert setting(shown, "Route") == "none, so the default; next ollama/small, 0.20"


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
    assert made.answer is not None
    usage = {"usage": {"prompt_tokens_details": {"cached_tokens": 768}}}
    cached = replace(made, answer=replace(made.answer, raw_response=usage))
    assert setting(cached, "Tokens") == "812 in (768 cached), 41 out"
    assert setting(made, "Attempts") == "2"


def test_an_unknown_cost_is_unknown_and_not_zero() -> None:
    assert setting(detail(), "Cost") == "unknown"


def test_the_baseline_costs_nothing_and_asked_no_model() -> None:
    assert setting(baseline_detail(), "Cost") == "none"
    assert setting(baseline_detail(), "Selector") == "offline baseline, no model"


def test_what_is_not_believed_of_an_answer_is_noted_beside_its_cost() -> None:
    answer = Answer(calls=(), raw_response={"mcp_tef_notes": ["The reported prompt_tokens is -5."]})
    assert setting(replace(detail(), answer=answer), "Note") == "The reported prompt_tokens is -5."
