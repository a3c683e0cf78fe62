"""Rates whose unit is the family of cases, against scipy, sums written out, and simulated batches."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used
from numpy.typing import NDArray

from mcp_tef.model.metrics import Rate
from mcp_tef.statistics.intervals import (
    clustered_rate,
    clustered_rates,
    f1_interval,
    intraclass_correlation,
    rates_of_families,
    rates_without,
    t_quantile,
    wilson,
)
from tests.benchmarks import coverage

Array = NDArray[Any]


@pytest.mark.parametrize(("degrees", "close"), [(2, 1e-2), (3, 2e-3), (5, 2e-4), (11, 1e-5), (400, 1e-6)])
def test_the_quantile_of_t_is_as_scipy_has_it(degrees: int, close: float) -> None:
    assert t_quantile(np.array(float(degrees))) == pytest.approx(scipy.stats.t.ppf(0.975, degrees), rel=close)


def figures(rate: Rate) -> tuple[float, float, float]:
    """The rate and its bounds, where it is defined."""
    assert rate.value is not None
    assert rate.low is not None
    assert rate.high is not None
    return rate.value, rate.low, rate.high


def bounds_by_root(share: float, n: float, families: int) -> tuple[float, float]:
    """Where a true share would be just that many standard errors away, found by a root."""
    quantile = float(scipy.stats.t.ppf(0.975, families + 1))

    def gap(true: float) -> float:
        return abs(share - true) - quantile * sqrt(true * (1 - true) / n)

    low = 0.0 if share == 0 else scipy.optimize.brentq(gap, 1e-12, share)
    return low, 1.0 if share == 1 else scipy.optimize.brentq(gap, share, 1 - 1e-12)


def size_by_sums(families: dict[int, list[bool]]) -> float:
    """The effective number of runs, written out run by run."""
    runs = [answer for answers in families.values() for answer in answers]
    share, cap = sum(runs) / len(runs), sum(len(answers) ** 2 for answers in families.values()) / len(runs)
    if share in (0, 1):
        return len(runs) / cap
    square = sum(sum(answer - share for answer in answers) ** 2 for answers in families.values())
    effect = min(max(square / (len(runs) * share * (1 - share)), 1.0), cap)
    informative = min(sum(any(answers) for answers in families.values()), sum(not all(a) for a in families.values()))
    return len(runs) / ((informative * effect + cap) / (informative + 1))


def batch(seed: int, cases: int, most: int) -> tuple[Array, Array]:
    """Cases with 1 to `most` runs each, that agree more than chance has it."""
    random = np.random.default_rng(seed)
    family = np.repeat(np.arange(cases), random.integers(1, most + 1, cases))
    return random.random(len(family)) < random.beta(1, 0.4, cases)[family], family


@pytest.mark.parametrize(("seed", "cases", "most"), [(1, 12, 1), (2, 12, 5), (3, 30, 9), (4, 5, 3), (5, 100, 6)])
def test_bounds_are_where_a_score_test_by_family_would_just_not_reject(seed: int, cases: int, most: int) -> None:
    yes, family = batch(seed, cases, most)
    rate = clustered_rate(yes, family)
    answers = {number: yes[family == number].tolist() for number in range(cases)}
    assert rate.value is not None
    low, high = bounds_by_root(rate.value, size_by_sums(answers), cases)
    assert rate.n == len(yes)
    assert figures(rate) == pytest.approx((yes.mean(), low, high), abs=2e-4)


@pytest.mark.parametrize("right", [0, 7, 20])
def test_repeats_that_all_agree_tell_no_more_than_one_run_of_each_case(right: int) -> None:
    once = np.arange(20) < right
    again, single = clustered_rate(np.repeat(once, 5), np.repeat(np.arange(20), 5)), clustered_rate(once, np.arange(20))
    assert figures(again) == pytest.approx(figures(single))
    assert (again.n, single.n) == (100, 20)


def test_repeats_that_differ_by_chance_narrow_the_interval() -> None:
    yes, family = np.tile([True, False, True, True, False], 20), np.repeat(np.arange(20), 5)
    repeated, once = clustered_rate(yes, family), clustered_rate(yes[:20], np.arange(20))
    assert repeated.low is not None
    assert once.low is not None
    assert repeated.low > once.low


def test_shares_of_none_and_of_all_reach_the_end_of_the_scale() -> None:
    none, every = clustered_rate(np.zeros(7), np.arange(7)), clustered_rate(np.ones(7), np.arange(7))
    assert (none.value, none.low, every.value, every.high) == (0.0, 0.0, 1.0, 1.0)


def test_nothing_is_not_defined() -> None:
    empty = np.zeros(0, dtype=np.int64)
    assert wilson(0, 0) == Rate(None, None, None, 0)
    assert clustered_rate(empty > 0, empty) == Rate(None, None, None, 0)


@pytest.mark.parametrize("scale", [1, 1_000_000])
def test_groups_have_the_rates_that_each_has_alone(scale: int) -> None:
    random = np.random.default_rng(7)
    yes, family = batch(8, 40, 6)
    group = random.integers(0, 4, len(yes))
    found = clustered_rates(yes, family * scale, group, 5)
    alone = [clustered_rate(yes[group == number], family[group == number]) for number in range(5)]
    assert found[4] == alone[4] == Rate(None, None, None, 0)
    for one, other in zip(found[:4], alone[:4], strict=True):
        assert figures(one) == pytest.approx(figures(other))
        assert one.n == other.n


@pytest.mark.parametrize("wrong", [[2, 2, 2, 1, 0], [1, 0, 0, 0, 0], [2, 2, 2, 2, 2], [0, 3, 1, 0, 4]])
def test_shares_without_errors_are_those_of_all_families(wrong: Sequence[int]) -> None:
    errors, n, group = np.array(wrong, dtype=float), np.array([2.0, 3.0, 2.0, 2.0, 4.0]), np.zeros(5, dtype=np.int64)
    errors = np.minimum(errors, n)
    there = errors > 0
    (found,) = rates_without(errors[there], group[there], 1, n, n[there])
    (whole,) = rates_of_families(n - errors, n, group, 1)
    assert figures(found) == pytest.approx(figures(whole))
    assert found.n == whole.n


def test_correlation_is_1_where_repeats_agree_and_0_where_they_are_chance() -> None:
    n = np.full(10, 5.0)
    assert intraclass_correlation(np.array([5.0, 0.0] * 5), n) == 1
    assert intraclass_correlation(np.array([2.0, 3.0] * 5), n) == 0
    assert intraclass_correlation(np.ones(10), np.ones(10)) is None
    assert intraclass_correlation(n, n) is None


def test_the_correlation_of_cases_with_other_numbers_of_runs_is_that_of_sums_over_runs() -> None:
    cases = [[1, 1, 0], [0], [1, 1, 1, 1, 0], [0, 0], [0, 0, 1, 0]]
    total, mean = sum(map(len, cases)), sum(map(sum, cases)) / sum(map(len, cases))
    means = [sum(runs) / len(runs) for runs in cases]
    between = sum((one - mean) ** 2 for one, runs in zip(means, cases, strict=True) for _ in runs) / 4
    within = sum((run - one) ** 2 for one, runs in zip(means, cases, strict=True) for run in runs) / (total - 5)
    size = (total - sum(len(runs) ** 2 for runs in cases) / total) / 4
    found = intraclass_correlation(np.array([*map(sum, cases)], float), np.array([*map(len, cases)], float))
    assert found == pytest.approx((between - within) / (between + (size - 1) * within))


def test_the_correlation_of_many_simulated_cases_is_the_one_they_were_drawn_with() -> None:
    random = np.random.default_rng(11)
    passed = coverage.passes(4_000, 0.7, 0.5, 5, 1, random)[0].astype(np.float64)
    assert intraclass_correlation(passed, np.full(4_000, 5.0)) == pytest.approx(0.5, abs=0.03)


def test_the_interval_of_f1_is_that_of_samples_of_families_drawn_one_by_one() -> None:
    random = np.random.default_rng(13)
    counts = random.multinomial(5, (0.6, 0.15, 0.25), 30).astype(np.float64)
    drawn = counts[random.integers(0, 30, (4_000, 30))].sum(axis=1)
    values = 2 * drawn[:, 0] / (2 * drawn[:, 0] + drawn[:, 1] + drawn[:, 2])
    assert f1_interval(counts[:, 0], counts[:, 1] + counts[:, 2]) == pytest.approx(
        np.quantile(values, (0.025, 0.975)), abs=0.01
    )
    assert f1_interval(np.zeros(3), np.zeros(3)) is None
    assert f1_interval(np.zeros(0), np.zeros(0)) is None


def test_intervals_of_repeated_cases_hold_the_true_rate_as_often_as_they_say() -> None:
    found = np.array(list(coverage.table(2_000, sizes=(10, 20), repeated=(5,)).values()))
    assert found[:, 0].min() >= coverage.LEAST
    assert found[:, 0].mean() >= coverage.LEAST_MEAN
    assert found[:, 2].mean() < 0.9, "Wilson over runs takes repeats for cases"
