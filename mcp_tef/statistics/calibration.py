"""Calibration of confidence: share of correct runs at each level of confidence."""

import numpy as np

from mcp_tef.model.answers import ConfidenceSource
from mcp_tef.model.metrics import CalibrationBin, CalibrationReport, SourceCalibration
from mcp_tef.statistics.history import Flags, History, Integers, Numbers
from mcp_tef.statistics.intervals import clustered_rates, mean
from mcp_tef.statistics.run_codes import SOURCES

BINS = 10
ENOUGH_REPEATS, ENOUGH_CASES, SMALL_GAP = 5, 30, 0.1
_MARGIN = SOURCES.index(ConfidenceSource.MARGIN)
_SELF_REPORTED = SOURCES.index(ConfidenceSource.SELF_REPORTED)
_EDGES = tuple(number / BINS for number in range(BINS + 1))


def calibration(history: History) -> CalibrationReport:
    """Compare confidence and outcome over judged runs, all together and for each source that occurs."""
    judged = history.together.judged
    there = sorted(set(judged.source[~np.isnan(judged.confidence)].tolist()) - {0})
    return CalibrationReport(
        overall=_calibrated(judged, None),
        by_source=tuple(_calibrated(judged.of(judged.source == number), SOURCES[number]) for number in there),
    )


def shows_misleading(source: str | None, repeats: History, of_model: History) -> bool:
    """Return True if the confidence of a confident wrong run is strong enough to blame the tool's description.

    Source: PRODUCT.md §5: a log probability, agreement of ≥ 5 `repeats` of its case, or self-reports that ≥ 30 cases
    `of_model` have shown to be calibrated. Calibrated means a mean gap of at most 0.1.
    """
    if source == ConfidenceSource.AGREEMENT:
        return int(np.count_nonzero(repeats.judged.unreadable == 0)) >= ENOUGH_REPEATS
    if source == ConfidenceSource.SELF_REPORTED:
        judged = of_model.judged
        told = judged.of((judged.source == _SELF_REPORTED) & ~np.isnan(judged.confidence))
        gap = _calibrated(told, ConfidenceSource.SELF_REPORTED).mean_gap
        return len(np.unique(told.family)) >= ENOUGH_CASES and gap is not None and gap <= SMALL_GAP
    return source == ConfidenceSource.LOGPROB


def _calibrated(judged: History, source: ConfidenceSource | None) -> SourceCalibration:
    """Ten bins; mean gap = Σ (runs in a bin / runs) · |share right - mean confidence|.

    Source: M. P. Naeini, G. Cooper, M. Hauskrecht, Obtaining well calibrated probabilities using Bayesian
    binning, AAAI 2015. The Brier score is the mean of (confidence - outcome)².
    """
    sure = judged.of(~np.isnan(judged.confidence))
    # The baseline fills arguments by plain rules: its margin speaks of the tool alone.
    right = np.where(sure.source == _MARGIN, sure.correct_tool, sure.correct_call)
    bins = _bins(sure.confidence, right, sure.family)
    gaps = [
        each.n * abs(each.right.value - each.mean)
        for each in bins
        if each.mean is not None and each.right.value is not None
    ]
    return SourceCalibration(
        source=source,
        n=len(sure),
        without=len(judged) - len(sure),
        bins=bins,
        mean_gap=sum(gaps) / len(sure) if len(sure) else None,
        brier=mean((sure.confidence - right) ** 2),
    )


def _bins(confidence: Numbers, right: Flags, family: Integers) -> tuple[CalibrationBin, ...]:
    place = np.minimum(np.searchsorted(_EDGES, confidence, side="right") - 1, BINS - 1)
    rates = clustered_rates(right, family, place, BINS)
    return tuple(
        CalibrationBin(low=low, high=high, n=rate.n, mean=mean(confidence[place == number]), right=rate)
        for number, (low, high, rate) in enumerate(zip(_EDGES, _EDGES[1:], rates, strict=False))
    )
