"""Simulated cases with repeats that agree, and the comparison of two batches of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_tef.statistics.paired_evidence import PairedCases

Array = NDArray[Any]


def pass_rates(p: float, correlation: float, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Pass rates of cases: beta with mean p, so that two runs of a case correlate so much; all p at 0."""
    if correlation == 0:
        return np.full(shape, p)
    weight = (1 - correlation) / correlation
    return random.beta(p * weight, (1 - p) * weight, shape)


def compared(before: Array, after: Array, repeats: int, random: np.random.Generator) -> PairedCases:
    """The cases of two batches, each case a family of its own, from its pass rates on both sides."""
    cases = len(before)
    first = random.random((cases, repeats)) < before[:, None]
    second = random.random((cases, repeats)) < after[:, None]
    runs = np.full(cases, repeats)
    return PairedCases(
        runs_before=runs,
        passed_before=first.sum(axis=1),
        runs_after=runs,
        passed_after=second.sum(axis=1),
        wins=(second & ~first).sum(axis=1),
        losses=(first & ~second).sum(axis=1),
        family=np.arange(cases),
    )
