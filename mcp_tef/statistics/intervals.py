"""Rates with Wilson intervals, means and percentiles; undefined (None) without a denominator."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from mcp_tef.model.metrics import GroupMetrics, Rate
from mcp_tef.statistics.history import FAILED, Flags, History, Numbers

Z95 = 1.959963984540054


def wilson(successes: float, n: int) -> Rate:
    """Return a share with its 95 % Wilson score interval; nothing but n where n is 0.

    The successes may be a sum of shares: a mean of values from 0 to 1 varies no more than a share does, so the
    interval is then wide enough, or too wide.

    centre = (p + z²/2n) / (1 + z²/n), half width = z / (1 + z²/n) · √(p(1-p)/n + z²/4n²), z = 1.959964.
    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927), 209-212.
    """
    if n <= 0:
        return Rate(None, None, None, 0)
    share = successes / n
    spread = Z95 * Z95 / n
    centre = (share + spread / 2) / (1 + spread)
    half = Z95 / (1 + spread) * sqrt(share * (1 - share) / n + spread / (4 * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Rate(share, low, high, n)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of runs by classification, and of failed runs."""

    tp: int = 0
    fp: int = 0
    tn: int = 0
    fn: int = 0
    failed: int = 0

    @classmethod
    def of(cls, history: History) -> "Counts":
        """Count judged and failed runs; others are left out."""
        numbers = np.bincount(history.classification[history.is_judged], minlength=5)
        tp, fp, tn, fn = numbers[1:5].tolist()
        return cls(tp, fp, tn, fn, int(np.count_nonzero(history.status == FAILED)))

    @property
    def judged(self) -> int:
        """Runs with a verdict."""
        return self.tp + self.fp + self.tn + self.fn

    @property
    def precision(self) -> Rate:
        """TP / (TP + FP)."""
        return wilson(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Rate:
        """TP / (TP + FN)."""
        return wilson(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall."""
        whole = 2 * self.tp + self.fp + self.fn
        return 2 * self.tp / whole if whole else None

    @property
    def accuracy(self) -> Rate:
        """(TP + TN) / all judged."""
        return wilson(self.tp + self.tn, self.judged)

    def group(self, name: str) -> GroupMetrics:
        """Return these counts and their rates under a name."""
        return GroupMetrics(
            name=name,
            n=self.judged + self.failed,
            tp=self.tp,
            fp=self.fp,
            tn=self.tn,
            fn=self.fn,
            failed=self.failed,
            precision=self.precision,
            recall=self.recall,
            f1=self.f1,
            accuracy=self.accuracy,
        )


def share(answers: Flags) -> Rate:
    """Count of the answers that are yes."""
    return wilson(int(np.count_nonzero(answers)), len(answers))


def known(values: Numbers) -> Numbers:
    """Return the known values by size, so that their sum does not depend on the order in which runs ended."""
    return np.sort(values[~np.isnan(values)])


def mean(values: Numbers) -> float | None:
    """Return the arithmetic mean of the values that are known; None of nothing."""
    there = known(values)
    return float(there.mean()) if len(there) else None


def total(values: Numbers) -> float | None:
    """Return the sum of the values that are known; None of nothing."""
    there = known(values)
    return float(there.sum()) if len(there) else None


def percentiles(values: Numbers, *shares: float) -> tuple[float | None, ...]:
    """Return the values below which a share (0–1) of the known ones lies, interpolated linearly; None of nothing."""
    there = known(values)
    return tuple(np.quantile(there, shares).tolist()) if len(there) else (None,) * len(shares)
