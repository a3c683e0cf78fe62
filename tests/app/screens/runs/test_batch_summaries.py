"""Batches as cards, and the figure above the runs of one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.screens.runs.batch_summaries import action_texts, batch_card, batch_summary, batch_tooltip, recall_text
from app.screens.runs.labels import VerdictMark
from mcp_tef import BatchStatus, CaseOrigin, ModelSettings, wilson
from mcp_tef.model.metrics import OriginCounts
from mcp_tef.model.runs import READ_FROM_TEXT
from tests.support.report_factories import metrics
from tests.support.run_factories import NOW, batch


def test_a_card_says_when_what_which_model_and_both_shares() -> None:
    made = batch_card(batch(), NOW)
    assert (made.title, made.when, made.model, made.result) == (
        "Everyday",
        "14:02",
        "gpt-4.1-mini",
        "65 %",
    )


def test_the_bar_shows_right_before_wrong_as_shares_of_all_planned_runs() -> None:
    assert batch_card(batch(), NOW).bar == (
        (VerdictMark.CORRECT, 0.455),
        (VerdictMark.WRONG_ARGUMENTS, 0.105),
        (VerdictMark.WRONG, 0.135),
    )


def test_the_baseline_is_never_shown_as_a_model() -> None:
    made = batch(models=(ModelSettings().label,))
    assert batch_card(made, NOW).model == "offline baseline"
    assert "offline baseline, not a model" in batch_summary(made).note
    assert "retrieval" not in batch_tooltip(made)


def test_answers_with_calls_as_text_are_noted() -> None:
    assert "as text" not in batch_summary(batch()).note
    noted = batch(tally={READ_FROM_TEXT: 17})
    assert "17 of 139 answers held a call as text: try JSON mode" in batch_summary(noted).note


def test_a_batch_with_several_selectors_says_how_many() -> None:
    made = batch(models=("openai/gpt-4.1-mini", ModelSettings().label))
    assert batch_card(made, NOW).model == "2 selectors"
    assert batch_tooltip(made).startswith("openai/gpt-4.1-mini, offline baseline")


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(minutes=3), "14:02"),
        (timedelta(days=1), "Yesterday"),
        (timedelta(days=3), "18 Nov"),
        (timedelta(days=400), "17 Oct 2025"),
    ],
)
def test_the_moment_gets_coarser_with_age(ago: timedelta, words: str) -> None:
    assert batch_card(batch(created_at=NOW - ago), NOW).when == words


def test_both_shares_have_a_name_and_their_counts_and_an_interval_once_the_metrics_are_known() -> None:
    call, tool = batch_summary(batch()).shares
    assert (call.value, call.name, call.detail) == ("65 %", "correct call", "91/139")
    assert (tool.value, tool.name, tool.detail) == ("81 %", "correct tool", "112/139")
    known = replace(metrics(), correct_call=wilson(91, 139), correct_tool=wilson(112, 139))
    assert [share.detail for share in batch_summary(batch(), known).shares] == ["91/139 (57–73)", "112/139 (73–86)"]


def test_generated_and_written_cases_are_counted_apart_once_the_metrics_are_known() -> None:
    assert "generated" not in batch_summary(batch(), metrics()).note
    origins = {CaseOrigin.GENERATED: OriginCounts(12, 12, 8), CaseOrigin.WRITTEN: OriginCounts(28, 28, 25)}
    note = batch_summary(batch(), replace(metrics(), cases=40, by_origin=origins)).note
    assert "12 of 40 cases were generated" in note
    assert "8/12" in note
    assert "25/28" in note


def test_metrics_from_before_the_latest_verdicts_give_no_interval() -> None:
    older = replace(metrics(), correct_call=wilson(90, 138), correct_tool=wilson(112, 138))
    assert [share.detail for share in batch_summary(batch(), older).shares] == ["91/139", "112/139"]


def test_a_share_next_to_one_is_never_rounded_up() -> None:
    made = batch(total=2000, counts={"TP": 2000}, tally={"correct_call": 1999, "wrong_arguments": 1})
    assert batch_card(made, NOW).result == "99.9 %"


def test_the_counts_stand_wrong_ones_first() -> None:
    assert [(tally.mark, tally.count) for tally in batch_summary(batch()).counts] == [
        (VerdictMark.WRONG, 27),
        (VerdictMark.WRONG_ARGUMENTS, 21),
        (VerdictMark.CORRECT, 91),
    ]


def test_unreadable_and_failed_runs_stand_beside_the_shares_with_what_is_known_of_them() -> None:
    assert batch_summary(batch()).note == "4 unreadable, counted as wrong · 3 failed, not counted"
    made = batch(tally={"correct_call": 91, "expected_tool_not_offered": 2, "cut_off": 1})
    assert batch_summary(made).note == "3 failed, not counted (2 expected tool not offered, 1 cut off)"


def test_nothing_judged_is_a_dash_and_never_zero() -> None:
    made = batch(counts={"pending": 200}, tally={})
    assert [(share.value, share.detail) for share in batch_summary(made).shares] == [("–", "0 judged")] * 2
    assert batch_card(made, NOW).result == "running"


def test_a_batch_that_only_failed_says_so_on_its_card() -> None:
    made = batch(total=3, counts={"failed": 3}, tally={"failed": 3}, status=BatchStatus.COMPLETED)
    assert batch_card(made, NOW).result == "all failed"


def test_a_running_batch_can_neither_be_deleted_nor_resumed() -> None:
    assert action_texts(batch()) == action_texts(batch(status=BatchStatus.PAUSED))
    assert (action_texts(batch()).resume, action_texts(batch()).retry, action_texts(batch()).delete) == ("", "", "")


def test_a_cancelled_batch_can_be_resumed_and_its_failed_runs_retried() -> None:
    counts = {"TP": 100, "failed": 3, "cancelled": 97}
    made = action_texts(batch(status=BatchStatus.CANCELLED, counts=counts))
    assert (made.resume, made.retry, made.delete) == ("Resume 97 runs", "Retry 3 failed", "Delete batch")


def test_the_reason_of_an_early_end_is_still_shown_later() -> None:
    stopped = batch(status=BatchStatus.CANCELLED, stopped="The cost cap of $0.05 would be passed.")
    assert "The cost cap of $0.05 would be passed." in batch_summary(stopped).note


def test_what_was_interrupted_is_told_from_what_failed() -> None:
    counts = {"TP": 100, "FN": 20, "failed": 80}
    made = batch(status=BatchStatus.INTERRUPTED, counts=counts, tally={"correct_call": 100}, interrupted=77)
    assert batch_card(made, NOW).result == "interrupted"
    assert batch_card(made, NOW).accessible_text.endswith(", 3 failed, 77 interrupted")
    assert batch_summary(made).note == "3 failed, not counted · 77 interrupted, not judged yet"


def test_an_interrupted_batch_is_resumed_before_anything_of_it_is_retried() -> None:
    counts = {"TP": 120, "failed": 80}
    cut = action_texts(batch(status=BatchStatus.INTERRUPTED, counts=counts, interrupted=77))
    assert (cut.resume, cut.retry) == ("Resume 77 runs", "")
    resumed = action_texts(batch(status=BatchStatus.COMPLETED, counts={"TP": 197, "failed": 3}))
    assert (resumed.resume, resumed.retry) == ("", "Retry 3 failed")


def test_a_batch_that_was_interrupted_at_once_did_not_fail() -> None:
    made = batch(total=3, counts={"failed": 3}, tally={}, interrupted=3, status=BatchStatus.INTERRUPTED)
    assert batch_card(made, NOW).result == "interrupted"
    assert batch_summary(made).note == "3 interrupted, not judged yet"


def test_a_card_can_be_heard() -> None:
    assert batch_card(batch(), NOW).accessible_text == (
        "Everyday, 14:02, gpt-4.1-mini, 65 % correct call, 91 correct call, "
        "21 correct tool, wrong arguments, 27 wrong, 4 unreadable, 3 failed"
    )


def test_the_ranking_of_a_baseline_is_said_in_words() -> None:
    words = recall_text({3: wilson(2, 2), 1: wilson(1, 2), 5: wilson(0, 0)})
    assert words == "expected tool first in 50 %, in the first 3 in 100 %"
    ranked = batch(models=(ModelSettings().label,))
    known = replace(metrics(), recall_at={3: wilson(2, 2), 1: wilson(1, 2), 5: wilson(0, 0)})
    assert batch_summary(ranked, known).note.endswith(words)
    assert words not in batch_summary(batch(), known).note
