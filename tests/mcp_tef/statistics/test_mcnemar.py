"""Paired outcomes against scipy: the exact test, the interval of the difference, and how many pairs would settle it."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, multinomial  # type: ignore[import-untyped]  # scipy ships no types

from mcp_tef.model.comparison import ComparisonConclusion
from mcp_tef.statistics.run_pairing import difference, mcnemar, more_pairs, paired_test

COUNTS = st.integers(0, 400)


@given(COUNTS, COUNTS)
def test_the_exact_test_is_the_binomial_one(fixed: int, regressed: int) -> None:
    wanted = binomtest(fixed, fixed + regressed).pvalue if fixed + regressed else 1.0
    assert mcnemar(fixed, regressed) == pytest.approx(wanted, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("fixed", "regressed"), [(20_000, 19_500), (60_000, 59_000), (100_000, 0)])
def test_it_holds_for_very_many_pairs(fixed: int, regressed: int) -> None:
    assert mcnemar(fixed, regressed) == pytest.approx(binomtest(fixed, fixed + regressed).pvalue, rel=1e-6, abs=1e-300)


@given(COUNTS, COUNTS)
def test_which_batch_comes_first_changes_no_probability(fixed: int, regressed: int) -> None:
    assert mcnemar(fixed, regressed) == mcnemar(regressed, fixed)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_interval_holds_the_difference_and_stays_within_its_bounds(a: int, b: int, c: int, d: int) -> None:
    found = difference(a + b + c + d, b, c)
    if a + b + c + d == 0:
        assert (found.value, found.low, found.high) == (None, None, None)
        return
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.high <= 1
    turned = difference(a + b + c + d, c, b)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


def coverage(n: int, up: float, down: float) -> float:
    """The exact chance that the interval holds the true difference: every outcome of n pairs, weighed."""
    held = 0.0
    for fixed, regressed in product(range(n + 1), repeat=2):
        if fixed + regressed <= n:
            found = difference(n, fixed, regressed)
            assert found.low is not None
            assert found.high is not None
            if found.low <= up - down <= found.high:
                held += multinomial.pmf([fixed, regressed, n - fixed - regressed], n, [up, down, 1 - up - down])
    return float(held)


@pytest.mark.parametrize("n", [10, 25, 40])
@pytest.mark.parametrize(("up", "down"), [(0.02, 0.02), (0.1, 0.05), (0.3, 0.1), (0.25, 0.25), (0.5, 0.05)])
def test_the_interval_covers_the_true_difference_as_often_as_it_says(n: int, up: float, down: float) -> None:
    assert coverage(n, up, down) > 0.94


def power(n: int, discordant: float, share: float) -> float:
    """The exact chance that n pairs give a probability below 5 %, for a share of discordant pairs that goes one way."""
    told = 0.0
    for number in range(n + 1):
        weight = binom.pmf(number, n, discordant)
        if weight > 1e-9:
            ways = (binom.pmf(k, number, share) for k in range(number + 1) if mcnemar(k, number - k) < 0.05)
            told += weight * float(sum(ways))
    return told


@pytest.mark.parametrize(("n", "fixed", "regressed"), [(40, 5, 2), (30, 3, 0), (60, 9, 4), (20, 4, 1), (100, 7, 3)])
def test_so_many_more_pairs_would_settle_it_four_times_in_five(n: int, fixed: int, regressed: int) -> None:
    more = more_pairs(n, fixed, regressed)
    assert more is not None
    discordant = fixed + regressed
    assert 0.78 < power(n + more, discordant / n, fixed / discordant) < 0.9


def test_pairs_that_point_nowhere_are_settled_by_no_number() -> None:
    assert more_pairs(50, 4, 4) is None
    assert more_pairs(50, 0, 0) is None


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_reading_follows_the_test_and_its_direction(a: int, b: int, c: int, d: int) -> None:
    found = paired_test(a, b, c, d)
    if found.reading is ComparisonConclusion.UNDECIDED:
        assert found.p is None or found.p >= 0.05
        assert (found.more_pairs is None) == (b == c)
    else:
        assert found.p is not None
        assert found.p < 0.05
        assert (found.reading is ComparisonConclusion.BETTER) == (b > c)
        assert found.more_pairs is None
    assert (found.before.successes, found.after.successes) == (a + c, a + b)


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((90, 14, 3, 13), "Better: 14 fixed and 3 regressed of 120 pairs (p = 0.013)."),
        ((90, 0, 12, 3), "Worse: 0 fixed and 12 regressed of 105 pairs (p < 0.001)."),
        ((10, 0, 0, 2), "Not enough runs to tell: none of 12 pairs changed."),
        ((0, 0, 0, 0), "Nothing to compare: no run was judged on both sides."),
        (
            (9, 1, 1, 1),
            "Not enough runs to tell: 1 fixed and 1 regressed of 12 pairs (p = 1.00); nothing points either way.",
        ),
    ],
)
def test_the_reading_in_words(counts: tuple[int, int, int, int], sentence: str) -> None:
    assert paired_test(*counts).sentence == sentence


def test_what_cannot_be_told_says_about_how_many_runs_would_tell() -> None:
    found = paired_test(50, 5, 0, 10)
    assert found.sentence.startswith("Not enough runs to tell: 5 fixed and 0 regressed of 65 pairs (p = 0.062). About ")
    assert found.sentence.endswith("more paired runs would settle it.")
