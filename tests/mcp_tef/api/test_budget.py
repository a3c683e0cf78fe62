"""Cost caps: typed amounts, and the offer of a higher one."""

import pytest

from mcp_tef.api.budget import UsedUpCap, parse_dollars


@pytest.mark.parametrize(
    ("spent", "left", "proposed"),
    [(0.0378, 0.0423, 0.09), (1.0, 0.0, 1.0), (0.0004, 0.0002, 0.00062), (12.341, 30.0, 45.35)],
)
def test_the_cap_that_is_proposed_is_enough_for_the_rest_with_a_tenth_to_spare(
    spent: float, left: float, proposed: float
) -> None:
    assert UsedUpCap(0.01, spent, left).suggestion == pytest.approx(proposed)


@pytest.mark.parametrize(
    ("typed", "dollars"), [("2", 2.0), (" $0.50 ", 0.5), ("1,000", None), ("inf", None), ("", None)]
)
def test_a_sum_that_is_none_or_could_be_read_in_two_ways_is_not_guessed(typed: str, dollars: float | None) -> None:
    assert parse_dollars(typed) == dollars
