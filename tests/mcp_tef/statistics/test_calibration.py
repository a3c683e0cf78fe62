"""How often runs are right at each level of confidence."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss  # type: ignore[import-untyped]  # scikit-learn ships no types

from mcp_tef.model.answers import ConfidenceSource
from mcp_tef.model.runs import RunSummary
from mcp_tef.statistics.calibration import calibration
from mcp_tef.statistics.intervals import mean, wilson
from tests.support.run_histories import history_of, judged_run

SEARCH = ("docs", "search")


def sure(confidence: float | None, *, right: bool = True, source: str = "self-reported") -> RunSummary:
    run = judged_run(SEARCH, SEARCH if right else None)
    return replace(run, confidence=confidence, confidence_source=None if confidence is None else source)


def test_each_level_tells_how_often_runs_were_right() -> None:
    found = calibration(
        history_of([sure(0.95), sure(0.9), sure(0.91, right=False), sure(0.2, right=False), sure(None)])
    )
    high, low = found.overall.bins[9], found.overall.bins[2]
    assert (high.n, high.right) == (3, wilson(2, 3))
    assert high.mean == pytest.approx((0.95 + 0.9 + 0.91) / 3)
    assert (low.n, low.right) == (1, wilson(0, 1))
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


def test_without_a_confidence_nothing_is_defined() -> None:
    found = calibration(history_of([sure(None)])).overall
    assert (found.n, found.mean_gap, found.brier) == (0, None, None)
    assert all(each.mean is None and each.right.value is None for each in found.bins)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_gap_and_brier_score_agree_with_scikit_learn_and_plain_counting(told: Sequence[tuple[float, bool]]) -> None:
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
