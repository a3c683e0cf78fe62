"""Batches as cards, and the figure above the runs of one."""

from datetime import timedelta

import pytest

from app.screens.runs.batch_summaries import action_texts, batch_card, batch_summary, batch_tooltip, recall_text
from app.screens.runs.labels import VerdictMark
from mcp_tef import BatchStatus, ModelSettings, wilson
from tests.support.run_factories import NOW, batch


def test_a_card_says_when_what_which_model_and_how_much_was_right() -> None:
    made = batch_card(batch(), NOW)
    assert (made.title, made.when, made.model, made.result) == ("Everyday", "14:02", "gpt-4.1-mini", "81 % correct")


def test_the_bar_shows_right_before_wrong_as_shares_of_all_planned_runs() -> None:
    assert batch_card(batch(), NOW).bar == (
        (VerdictMark.RIGHT, 0.48),
        (VerdictMark.RIGHT_NONE, 0.08),
        (VerdictMark.WRONG, 0.1),
        (VerdictMark.EXTRA, 0.035),
    )


def test_the_baseline_is_never_shown_as_a_model() -> None:
    made = batch(models=(ModelSettings().label,))
    assert batch_card(made, NOW).model == "offline baseline"
    assert "offline baseline, not a model" in batch_summary(made).note
    assert "retrieval" not in batch_tooltip(made)


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


def test_the_figure_stands_with_its_interval_and_how_many_were_judged() -> None:
    made = batch_summary(batch())
    assert (made.value, made.caption, made.detail) == ("81 %", "correct so far", "(73–86) · 139 judged")


def test_the_counts_stand_wrong_ones_first() -> None:
    assert [(tally.mark, tally.count) for tally in batch_summary(batch()).counts] == [
        (VerdictMark.WRONG, 20),
        (VerdictMark.EXTRA, 7),
        (VerdictMark.RIGHT, 96),
        (VerdictMark.RIGHT_NONE, 16),
    ]


def test_failed_runs_count_in_no_rate_and_say_so() -> None:
    assert batch_summary(batch()).note == "3 failed, not counted"


def test_nothing_judged_is_a_dash_and_never_zero() -> None:
    made = batch(counts={"pending": 200})
    assert (batch_summary(made).value, batch_summary(made).detail) == ("–", "0 judged")
    assert batch_card(made, NOW).result == "running"


def test_a_batch_that_only_failed_says_so_on_its_card() -> None:
    made = batch(total=3, counts={"failed": 3}, status=BatchStatus.COMPLETED)
    assert batch_card(made, NOW).result == "all failed"


def test_a_running_batch_can_neither_be_deleted_nor_resumed() -> None:
    assert action_texts(batch()) == action_texts(batch(status=BatchStatus.PAUSED))
    assert (action_texts(batch()).resume, action_texts(batch()).retry, action_texts(batch()).delete) == ("", "", "")


def test_a_cancelled_batch_can_be_resumed_and_its_failed_runs_retried() -> None:
    counts = {"TP": 100, "failed": 3, "cancelled": 97}
    made = action_texts(batch(status=BatchStatus.CANCELLED, counts=counts))
    assert (made.resume, made.retry, made.delete) == ("Resume 97 runs", "Retry 3 failed", "Delete batch")


def test_what_was_interrupted_is_told_from_what_failed() -> None:
    counts = {"TP": 100, "FN": 20, "failed": 80}
    made = batch(status=BatchStatus.INTERRUPTED, counts=counts, interrupted=77)
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
    made = batch(total=3, counts={"failed": 3}, interrupted=3, status=BatchStatus.INTERRUPTED)
    assert batch_card(made, NOW).result == "interrupted"
    assert batch_summary(made).note == "3 interrupted, not judged yet"


def test_a_card_can_be_heard() -> None:
    assert batch_card(batch(), NOW).accessible_text == (
        "Everyday, 14:02, gpt-4.1-mini, 81 % correct, 96 correct tool, 16 correctly no tool, "
        "20 missed the expected tool, 7 unexpected call, 3 failed"
    )


def test_the_ranking_of_a_baseline_is_said_in_words() -> None:
    words = recall_text({3: wilson(2, 2), 1: wilson(1, 2), 5: wilson(0, 0)})
    assert words == "expected tool first in 50 %, in the first 3 in 100 %"
    assert batch_summary(batch(), words).note.endswith(words)
