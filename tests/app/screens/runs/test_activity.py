"""What the activity bar says of a batch under way."""

from app.screens.runs.activity_bars import activity, farewell
from mcp_tef import BatchProgressed, BatchStatus, ModelSettings
from tests.support.made_runs import batch


def test_the_bar_says_done_failed_cost_of_the_cap_and_time_left() -> None:
    made = batch(max_cost_usd=1.0)
    now = activity(made, BatchProgressed(batch=made, done=142, tokens=9000, cost_usd=0.04, seconds_left=12))
    assert (now.fraction, now.lead) == (0.71, "142 of 200")
    assert now.parts == ("Everyday", "3 failed", "$0.04 of $1.00", "12 s left")


def test_what_is_not_known_is_left_out() -> None:
    now = activity(batch(counts={"pending": 200}), None)
    assert (now.fraction, now.lead, now.parts) == (0.0, "0 of 200", ("Everyday",))


def test_a_cap_without_a_known_cost_says_so() -> None:
    assert activity(batch(max_cost_usd=1.0), None).parts == ("Everyday", "3 failed", "cost unknown, cap $1.00")


def test_the_baseline_spends_nothing_and_shows_no_cost() -> None:
    made = batch(models=(ModelSettings().label,), counts={}, cost_usd=0.0)
    assert activity(made, None).parts == ("Everyday",)


def test_a_paused_batch_says_paused_instead_of_a_time() -> None:
    made = batch(status=BatchStatus.PAUSED)
    now = activity(made, BatchProgressed(batch=made, done=142, tokens=0, cost_usd=None, seconds_left=12))
    assert now.paused
    assert now.parts == ("Everyday", "3 failed", "paused")


def test_the_end_is_told_with_its_result_or_why_it_stopped() -> None:
    assert farewell(batch(), "81 % right", None) == "Everyday: 81 % right, 3 failed."
    assert farewell(batch(), "", "The cost cap of $1 would be passed.") == (
        "Everyday stopped: The cost cap of $1 would be passed."
    )
    cancelled = farewell(batch(status=BatchStatus.CANCELLED), "", None)
    assert cancelled == "Everyday was cancelled. What is finished is kept."
