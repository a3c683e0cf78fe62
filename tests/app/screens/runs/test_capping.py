"""A cost cap that is used up: what is proposed instead."""

import pytest

from app.screens.runs.batch_actions import amount, enough


@pytest.mark.parametrize(
    ("spent", "left", "proposed"),
    [(0.0378, 0.0423, 0.09), (1.0, 0.0, 1.0), (0.0004, 0.0002, 0.00062), (12.341, 30.0, 45.35)],
)
def test_the_cap_that_is_proposed_is_enough_for_the_rest_with_a_tenth_to_spare(
    spent: float, left: float, proposed: float
) -> None:
    assert enough(spent, left) == pytest.approx(proposed)


@pytest.mark.parametrize(
    ("typed", "dollars"), [("2", 2.0), (" $0.50 ", 0.5), ("1,000", None), ("inf", None), ("", None)]
)
def test_a_sum_that_is_none_or_could_be_read_in_two_ways_is_not_guessed(typed: str, dollars: float | None) -> None:
    assert amount(typed) == dollars
