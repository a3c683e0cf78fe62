"""Calibration of confidence: share of correct runs at each level of confidence."""

import numpy as np

from mcp_tef.model.answers import ConfidenceSource
from mcp_tef.model.metrics import CalibrationBin, CalibrationReport, SourceCalibration
from mcp_tef.statistics.history import SOURCES, Flags, History, Numbers
from mcp_tef.statistics.intervals import mean, share

BINS = 10
_EDGES = tuple(number / BINS for number in range(BINS + 1))


def calibration(history: History) -> CalibrationReport:
    """Compare confidence and outcome over judged runs, all together and for each source that occurs."""
    judged = history.judged
    there = sorted(set(judged.source[~np.isnan(judged.confidence)].tolist()) - {0})
    return CalibrationReport(
        overall=_calibrated(judged, None),
        by_source=tuple(_calibrated(judged.of(judged.source == number), SOURCES[number]) for number in there),
    )


def _calibrated(judged: History, source: ConfidenceSource | None) -> SourceCalibration:
    """Ten bins; mean gap = Σ (runs in a bin / runs) · |share right - mean confidence|.

    Source: M. P. Naeini, G. Cooper, M. Hauskrecht, Obtaining well calibrated probabilities using Bayesian
    binning, AAAI 2015. The Brier score is the mean of (confidence - outcome)².
    """
    sure = judged.of(~np.isnan(judged.confidence))
    right = sure.right
    bins = _bins(sure.confidence, right)
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


def _bins(confidence: Numbers, right: Flags) -> tuple[CalibrationBin, ...]:
    place = np.minimum(np.searchsorted(_EDGES, confidence, side="right") - 1, BINS - 1)
    masks = (place == number for number in range(BINS))
    return tuple(
        CalibrationBin(
            low=low, high=high, n=int(np.count_nonzero(mask)), mean=mean(confidence[mask]), right=share(right[mask])
        )
        for low, high, mask in zip(_EDGES, _EDGES[1:], masks, strict=False)
    )
