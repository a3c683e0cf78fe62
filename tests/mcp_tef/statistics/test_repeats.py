"""Statistics of repeated runs, and calibration of confidence."""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.answers import ConfidenceSource
from mcp_tef.model.runs import RunSummary
from mcp_tef.statistics.calibration import calibration
from mcp_tef.statistics.intervals import mean
from mcp_tef.statistics.metrics import MOST_FLAKY, pass_power, repeats
from mcp_tef.statistics.run_history import history_of
from tests.support.run_histories import alike, any_runs, judged_run, one_each, rate_over

SEARCH = ("docs", "search")


def attempts(passes: str, case: int = 0, batch: int = 0) -> list[RunSummary]:
    """Runs of one case: `+` passed, `-` did not."""
    return [judged_run(SEARCH, SEARCH if mark == "+" else None, case=case, batch=batch) for mark in passes]


@given(st.integers(1, 40), st.data())
def test_the_chance_of_k_passes_is_as_scipy_counts_it(n: int, data: st.DataObject) -> None:
    passed, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    found = pass_power(np.array([n]), np.array([passed]), k)
    assert found == pytest.approx([scipy.special.comb(passed, k, exact=True) / scipy.special.comb(n, k, exact=True)])


def test_the_chance_of_k_passes_is_the_share_of_all_choices_of_k_runs_that_all_pass() -> None:
    marks = "++-+-"
    drawn = ["-" not in chosen for chosen in combinations(marks, 2)]
    found = repeats(history_of(attempts(marks)))
    assert found.pass_power[1].rate.value == pytest.approx(sum(drawn) / len(drawn))


def test_it_is_a_mean_over_cases_with_enough_runs() -> None:
    found = repeats(history_of([*attempts("+++", 0), *attempts("+-", 1)]))
    assert [(power.k, power.rate.n) for power in found.pass_power] == [(1, 2), (2, 2), (3, 1)]
    assert [power.rate.value for power in found.pass_power] == [pytest.approx(0.75), 0.5, 1.0]


def test_cases_that_pass_only_sometimes_are_flaky_and_the_most_even_comes_first() -> None:
    found = repeats(history_of([*attempts("+++", 0), *attempts("---", 1), *attempts("++-", 2), *attempts("+-", 3)]))
    assert (found.groups, found.always, found.never, found.mixed) == (4, 1, 1, 2)
    assert [(case.case_name, case.passed, case.n) for case in found.flaky] == [("Case 3", 1, 2), ("Case 2", 2, 3)]
    runs = [run for passes, case in (("+++", 0), ("---", 1), ("++-", 2), ("+-", 3)) for run in attempts(passes, case)]
    assert alike(found.pass_rate, rate_over(runs, lambda run: run.passes))


def test_a_right_tool_with_a_wrong_parameter_does_not_pass() -> None:
    wrong = replace(judged_run(SEARCH, SEARCH), parameters_ok=False)
    assert repeats(history_of([wrong, *attempts("+")])).mixed == 1


def test_both_baselines_count_in_nothing_where_a_model_was_asked_as_well() -> None:
    model = attempts("++-")
    baselines = [
        replace(run, model=label) for label in ("offline/words", "offline/meaning") for run in attempts("+-", case=1)
    ]
    assert repeats(history_of([*model, *baselines])) == repeats(history_of(model))
    assert repeats(history_of(baselines)).groups == 2


def test_cases_that_ran_once_say_nothing_about_repeats() -> None:
    once = [*attempts("+", 0), *attempts("-", 1), *attempts("+", 0, batch=1)]
    found = repeats(history_of(once))
    assert (found.groups, found.runs, found.pass_power, found.pass_rate.value) == (0, 0, (), None)


def test_of_very_many_flaky_cases_the_most_even_are_listed_and_all_are_counted() -> None:
    runs = [run for case in range(MOST_FLAKY + 5) for run in attempts("+-", case)]
    found = repeats(history_of(runs))
    assert (found.mixed, len(found.flaky)) == (MOST_FLAKY + 5, MOST_FLAKY)


@given(any_runs())
def test_groups_agree_with_counting_runs_one_by_one(runs: Sequence[RunSummary]) -> None:
    groups: defaultdict[tuple[object, ...], list[bool]] = defaultdict(list)
    for run in runs:
        groups[run.batch_id, run.case_id, run.model].append(run.classification in ("TP", "TN"))
    again = [marks for marks in groups.values() if len(marks) > 1]
    found = repeats(history_of(runs))
    assert (found.groups, found.runs) == (len(again), sum(map(len, again)))
    assert (found.always, found.never) == (sum(map(all, again)), sum(not any(marks) for marks in again))


def sure(confidence: float | None, *, right: bool = True, source: str = "self-reported", case: int = 0) -> RunSummary:
    run = judged_run(SEARCH, SEARCH if right else None, case=case)
    return replace(run, confidence=confidence, confidence_source=None if confidence is None else source)


def test_each_level_tells_how_often_runs_were_right() -> None:
    found = calibration(
        history_of([sure(0.95), sure(0.9, case=1), sure(0.91, right=False, case=2), sure(0.2, right=False), sure(None)])
    )
    high, low = found.overall.bins[9], found.overall.bins[2]
    assert (high.n, high.right) == (3, one_each(2, 3))
    assert high.mean == pytest.approx((0.95 + 0.9 + 0.91) / 3)
    assert (low.n, low.right) == (1, one_each(0, 1))
    assert (found.overall.n, found.overall.without) == (4, 1)


@pytest.mark.parametrize(
    ("confidence", "place"), [(0.0, 0), (0.1, 1), (0.29, 2), (0.3, 3), (0.7, 7), (0.99, 9), (1.0, 9)]
)
def test_a_level_takes_in_its_lower_end_and_the_last_one_takes_in_one(confidence: float, place: int) -> None:
    bins = calibration(history_of([sure(confidence)])).overall.bins
    assert [each.n for each in bins].index(1) == place
    assert bins[place].low <= confidence <= bins[place].high


def test_sources_are_told_apart_where_they_occur() -> None:
    found = calibration(history_of([sure(0.9), sure(0.4, source="margin"), sure(0.6, source="margin")]))
    assert [(each.source, each.n) for each in found.by_source] == [
        (ConfidenceSource.SELF_REPORTED, 1),
        (ConfidenceSource.MARGIN, 2),
    ]


@pytest.mark.parametrize(("source", "correct"), [("margin", 1), ("self-reported", 0)])
def test_the_margin_of_the_baseline_is_about_the_tool_and_other_confidence_about_the_whole_call(
    source: str, correct: int
) -> None:
    wrong_arguments = replace(sure(0.95, source=source), parameters_ok=False)
    assert calibration(history_of([wrong_arguments])).overall.bins[9].right == one_each(correct, 1)


def test_without_a_confidence_nothing_is_defined() -> None:
    found = calibration(history_of([sure(None)])).overall
    assert (found.n, found.mean_gap, found.brier) == (0, None, None)
    assert all(each.mean is None and each.right.value is None for each in found.bins)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_gap_and_brier_score_agree_with_scikit_learn_and_plain_counting(told: Sequence[tuple[float, bool]]) -> None:
    from sklearn.metrics import brier_score_loss  # type: ignore[import-untyped]  # scikit-learn ships no types

    found = calibration(history_of([sure(confidence, right=right) for confidence, right in told])).overall
    outcomes, confidences = [right for _, right in told], [confidence for confidence, _ in told]
    assert found.brier == pytest.approx(brier_score_loss(outcomes, confidences, pos_label=True))
    gap = 0.0
    for each in found.bins:
        inside = [(c, r) for c, r in told if each.low <= c < each.high or (c == 1 and each.high == 1)]
        assert each.n == len(inside)
        gap += abs(sum(right - confidence for confidence, right in inside)) / len(told)
    assert found.mean_gap == pytest.approx(gap, abs=1e-9)


def test_figures_are_the_same_in_whichever_order_runs_ended() -> None:
    values = np.array([0.1, 0.55, 0.9, 0.07, 0.4, np.nan])
    (told,) = {mean(values[list(order)]) for order in itertools.permutations(range(len(values)))}
    assert told == pytest.approx(0.404)
