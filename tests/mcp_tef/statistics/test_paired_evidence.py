"""The E-value, the sign-flip test, the score interval and Fisher's test, against scipy and sums written out."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used

from mcp_tef.model.comparison import RateDifference
from mcp_tef.statistics.paired_evidence import (
    PairedCases,
    clustered_difference,
    evidence,
    fisher,
    holm,
    paired_interval,
    sign_flip,
)
from tests.support.run_histories import compared, pass_rates


@pytest.mark.parametrize("n", [0, 1, 7, 8, 40, 300])
def test_evidence_is_the_mean_likelihood_ratio_over_chances_above_one_half(n: int) -> None:
    for wins in range(n + 1):
        losses = n - wins
        log_beta = scipy.special.betaln(1 + wins, 1 + losses)
        upper = scipy.special.betaincc(1 + wins, 1 + losses, 0.5)
        expected = np.exp((n + 1) * np.log(2) + log_beta) * upper
        assert evidence(wins, losses) == pytest.approx(expected, rel=1e-9)


def test_eight_wins_without_a_loss_decide_and_seven_do_not() -> None:
    assert evidence(8, 0) >= 40 > evidence(7, 0)
    assert evidence(11, 1) >= 40 > evidence(10, 1)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_evidence_is_1_on_average_where_neither_side_is_better(n: int) -> None:
    chances = scipy.stats.binom.pmf(np.arange(n + 1), n, 0.5)
    assert sum(chance * evidence(wins, n - wins) for wins, chance in enumerate(chances)) == pytest.approx(1)


def test_long_comparisons_have_evidence_too() -> None:
    assert evidence(20_000, 0) > 1e200
    assert evidence(0, 20_000) < 1


@pytest.mark.parametrize("seed", range(6))
def test_few_differences_are_flipped_in_every_way(seed: int) -> None:
    random = np.random.default_rng(seed)
    differences = random.integers(-5, 6, 11) / 5
    sums = [sum(signs * np.abs(differences)) for signs in product((-1, 1), repeat=11)]
    expected = np.mean(np.abs(sums) >= abs(differences.sum()) - 1e-9)
    assert sign_flip(differences) == pytest.approx(expected)
    assert sign_flip(-differences) == pytest.approx(expected)


def test_many_differences_are_flipped_at_random_and_alike_each_time() -> None:
    differences = np.array([0.2] * 30 + [-0.2] * 14)
    exact = scipy.stats.binomtest(30, 44).pvalue
    assert sign_flip(differences) == pytest.approx(exact, abs=0.004)
    assert sign_flip(differences) == sign_flip(differences[::-1])
    assert sign_flip(np.full(60, 1.0)) == 1 / 20_001
    mixed = np.repeat([0.2, -0.2, 0.6, -0.4], [12, 6, 8, 5])
    signs = np.random.default_rng(9).choice((-1, 1), (40_000, len(mixed)))
    assert sign_flip(mixed) == pytest.approx(np.mean(np.abs(signs @ mixed) >= mixed.sum() - 1e-9), abs=0.008)


def test_twenty_differences_are_flipped_in_every_way_and_more_are_drawn() -> None:
    assert sign_flip(np.full(20, 0.3)) == 2 / 2**20
    assert sign_flip(np.full(21, 0.3)) == 1 / 20_001


def test_no_difference_is_no_evidence() -> None:
    assert sign_flip(np.zeros(9)) == 1
    assert sign_flip(np.zeros(0)) == 1


def bound_by_likelihood(gained: float, lost: float, n: float, side: int) -> float:
    """The bound found by a root, where the nuisance share is the one that makes the counts likeliest."""

    def excess(gap: float) -> float:
        low, high = max(0.0, -gap), (1 - gap) / 2

        def unlikely(share: float) -> float:
            up, same = share + gap, 1 - 2 * share - gap
            parts = ((gained, up), (lost, share), (1 - gained - lost, same))
            return -float(sum(scipy.special.xlogy(weight, max(value, 1e-300)) for weight, value in parts))

        best = scipy.optimize.minimize_scalar(
            unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        ).x
        variance = (2 * best + gap - gap * gap) / n
        return float((gained - lost - gap) ** 2 / variance - scipy.stats.chi2.ppf(0.95, 1))

    return float(scipy.optimize.brentq(excess, gained - lost + side * 1e-6, side * (1 - 1e-6)))


@pytest.mark.parametrize(
    ("gained", "lost", "n"), [(0.2, 0.05, 40), (0.1, 0.1, 100), (0.3, 0.6, 12.5), (0.5, 0.02, 7.3)]
)
def test_bounds_are_where_a_score_test_with_likeliest_shares_would_just_not_reject(
    gained: float, lost: float, n: float
) -> None:
    low, high = paired_interval(gained, lost, n)
    assert low == pytest.approx(bound_by_likelihood(gained, lost, n, -1), abs=1e-4)
    assert high == pytest.approx(bound_by_likelihood(gained, lost, n, 1), abs=1e-4)


def test_no_difference_in_40_pairs_leaves_9_points_open() -> None:
    assert paired_interval(0, 0, 40) == pytest.approx((-0.0876, 0.0876), abs=1e-4)


def cases(seed: int, number: int, repeats: int, correlation: float = 0.5) -> PairedCases:
    random = np.random.default_rng(seed)
    rates = pass_rates(0.6, correlation, (number,), random)
    return compared(rates, np.minimum(1, rates + 0.1), repeats, random)


def test_the_difference_is_that_of_the_mean_pass_rates_of_cases() -> None:
    found = clustered_difference(cases(1, 30, 5)).difference
    before, after = cases(1, 30, 5).shares
    assert found.value == pytest.approx(after.mean() - before.mean())


def test_repeats_that_all_agree_are_worth_one_run_of_each_case() -> None:
    once = cases(2, 30, 1)
    again = PairedCases(
        runs_before=once.runs_before * 5,
        passed_before=once.passed_before * 5,
        runs_after=once.runs_after * 5,
        passed_after=once.passed_after * 5,
        wins=once.wins * 5,
        losses=once.losses * 5,
        family=once.family,
    )
    assert clustered_difference(again).difference.low == pytest.approx(clustered_difference(once).difference.low)
    assert clustered_difference(again).difference.high == pytest.approx(clustered_difference(once).difference.high)


def test_no_case_has_no_difference_and_no_variance_that_more_cases_could_settle() -> None:
    none = np.zeros(0, dtype=np.int64)
    found = clustered_difference(
        PairedCases(
            runs_before=none,
            passed_before=none,
            runs_after=none,
            passed_after=none,
            wins=none,
            losses=none,
            family=none,
        )
    )
    assert (found.difference, found.of_case) == (RateDifference(None, None, None), float("inf"))


def clustered_variance(found: PairedCases) -> float:
    """Variance of the difference between two shares by least squares on single runs, clustered by family (CR0)."""
    rows = []
    sides = ((0, found.runs_before, found.passed_before), (1, found.runs_after, found.passed_after))
    for side, runs, passed in sides:
        for number, right, family in zip(runs, passed, found.family, strict=True):
            rows += [(side, int(run < right), family) for run in range(number)]
    side, outcome, family = np.array(rows, float).T
    design = np.stack([np.ones(len(side)), side], axis=1)
    bread = np.linalg.inv(design.T @ design)
    residual = outcome - design @ (bread @ design.T @ outcome)
    scores = np.stack([(design * residual[:, None])[family == one].sum(axis=0) for one in np.unique(family)])
    return float((bread @ (scores.T @ scores) @ bread)[1, 1])


@pytest.mark.parametrize("seed", range(3))
def test_the_variance_is_that_of_a_regression_with_errors_clustered_by_family(seed: int) -> None:
    random = np.random.default_rng(seed)
    family = np.arange(1_200) // 2
    rates = pass_rates(0.6, 0.5, (1_200,), random)
    gains = random.normal(0.05, 0.4, 600)[family]  # what helps one query of a family helps the other
    found = replace(compared(rates, np.clip(rates + gains, 0, 1), 5, random), family=family)
    expected = clustered_variance(found)
    ours = clustered_difference(found)
    # Among 600 families, the one that is added weighs next to nothing.
    assert ours.of_case / len(found) == pytest.approx(expected, rel=0.02)
    assert ours.difference.low is not None
    assert ours.difference.high is not None
    assert ours.difference.high - ours.difference.low == pytest.approx(2 * 1.96 * np.sqrt(expected), rel=0.02)


def test_ten_small_gains_are_as_much_evidence_as_ten_large_ones() -> None:
    # 2 of the 1,024 ways to give ten equal differences signs reach their sum.
    assert sign_flip(np.full(10, 0.1)) == pytest.approx(2 / 1024)
    assert sign_flip(np.full(10, 0.01)) == sign_flip(np.full(10, 1.0)) == pytest.approx(2 / 1024)


@pytest.mark.parametrize(("correlation", "most"), [(0.0, 0.98), (0.5, 0.98), (0.84, 0.995)])
def test_intervals_of_the_difference_hold_the_true_one_and_are_no_wider_than_that_takes(
    correlation: float, most: float
) -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        rates = pass_rates(0.7, correlation, (40,), random)
        found = clustered_difference(compared(rates, rates, 5, random)).difference
        held += found.low is not None and found.high is not None and found.low <= 0 <= found.high
    assert 0.94 <= held / 400 <= most


@pytest.mark.parametrize("counts", [(3, 3, 0, 3), (4, 5, 2, 6), (6, 6, 6, 6), (0, 4, 4, 4), (1, 1, 0, 1), (5, 9, 1, 7)])
def test_fishers_test_is_as_scipy_has_it(counts: tuple[int, int, int, int]) -> None:
    passed, before, held, after = counts
    table = [[held, after - held], [passed, before - passed]]
    assert fisher(*counts) == pytest.approx(scipy.stats.fisher_exact(table, alternative="less").pvalue)


def test_corrected_probabilities_never_fall_below_smaller_ones() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []
