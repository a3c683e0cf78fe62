"""Decision where a tool is lost in a crowd: bands over families and crowds, step-down test and bracket; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.comparison import RateDifference
from mcp_tef.model.metrics import Rate
from mcp_tef.statistics.history import Integers, Numbers
from mcp_tef.statistics.intervals import SEED, clustered_rate, sums
from mcp_tef.statistics.paired_evidence import ALPHA, NOTHING, PairedCases, clustered_difference, holm, sign_flip
from mcp_tef.statistics.trial_decision import look_level

WAITING, LEFT_OUT = -1, -2
DRAWS = 1_000
NO_RATE = Rate(None, None, None, 0)


def two_way_interval(total: Numbers, runs: Numbers, level: float = ALPHA) -> tuple[float, float] | None:
    """Return percentiles of a ratio of sums, resampling crowds and families; None where one draw may hold no run.

    `total` and `runs` have the shape (crowds, families).
    Source: A. B. Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1 (2007), 386-411.
    """
    crowds, families = total.shape
    random = np.random.default_rng(SEED)
    by_family = random.multinomial(families, np.full(families, 1 / families), DRAWS).astype(np.float64)
    by_crowd = random.multinomial(crowds, np.full(crowds, 1 / crowds), DRAWS).astype(np.float64)
    found, n = ((by_crowd * (by_family @ values.T)).sum(axis=1) for values in (total, runs))
    if not (n > 0).all():
        return None
    low, high = np.quantile(found / n, (level / 2, 1 - level / 2)).tolist()
    return low, high


@dataclass(frozen=True, slots=True)
class SizeLoss:
    """Paired change at one size from no strangers, read at a level: lost, or a loss of the margin excluded."""

    difference: RateDifference
    lost: bool
    excluded: bool


class CrowdDecision:
    """Takes in the outcomes of one curve; tells which sizes are lost, which need no more runs, and the bracket.

    `sizes` begins with the size without strangers; `family` numbers the family of each case from 0. Sizes are tested
    from the largest down after each of `passes`, all looks together at 5 %, and the first that is not lost ends the
    test. A size is also done where a loss of the margin is excluded.
    """

    def __init__(self, family: Sequence[int], sizes: Sequence[int], *, passes: int, margin: float) -> None:
        self._family: Integers = np.array(family, dtype=np.int64)
        self.sizes = tuple(sizes)
        self.margin = margin
        self.level = look_level(passes, ALPHA)
        self._found: NDArray[np.int8] = np.full((len(sizes), passes, len(family)), WAITING, dtype=np.int8)
        self._next = len(sizes) - 1
        self.lost: set[int] = set()
        self._kept: int | None = None
        self._idle: set[int] = set()
        self.looks = 0

    def add(self, size: int, crowd: int, case: int, passed: bool | None) -> None:
        """Take in an outcome by the places of size and case; None leaves it out."""
        self._found[size, crowd, case] = LEFT_OUT if passed is None else passed

    def read(self) -> None:
        """Test at the end of a pass, from the largest size down."""
        self.looks += 1
        while self._next > 0 and self._kept is None:
            found = self.loss(self._next)
            if found.excluded:
                self._kept = self._next
            elif found.lost:
                self.lost.add(self._next)
                self._next -= 1
            else:
                break
        self._idle = {size for size in range(1, self._next) if self.loss(size).excluded}

    def open_sizes(self) -> list[int]:
        """Return the places of the sizes that the next pass asks, that without strangers first; none once decided."""
        if self._kept is not None or not self._next:
            return []
        return [0, *(size for size in range(1, self._next + 1) if size not in self._idle)]

    @property
    def bracket(self) -> tuple[int, int | None]:
        """The largest size at which a loss of the margin is excluded (else 0), and the smallest that is lost."""
        high = min(self.lost, default=None)
        sizes = range(self._next, 0, -1) if self.looks else ()
        low = next((size for size in sizes if self.loss(size).excluded), 0)
        return self.sizes[low], None if high is None else self.sizes[high]

    def loss(self, size: int) -> SizeLoss:
        """Return the paired change at the place of a size."""
        pair = self._pair(size)
        if not len(pair):
            return SizeLoss(NOTHING, lost=False, excluded=False)
        gap = self.difference(size, self.level)
        before, after = pair.shares
        value, low, high = gap.value or 0.0, gap.low or 0.0, gap.high or 0.0
        lost = high < 0 and value <= -self.margin and sign_flip(sums(after - before, pair.family)) < self.level
        return SizeLoss(gap, lost, excluded=low > -self.margin)

    def difference(self, size: int, level: float = ALPHA) -> RateDifference:
        """Return the paired change at the place of a size; the interval resamples crowds too, where there are two."""
        pair = self._pair(size)
        gap = clustered_difference(pair, -NormalDist().inv_cdf(level / 2)).difference
        shared = self._shared(size)
        crowds = shared.any(axis=1)
        if np.count_nonzero(crowds) < 2 or gap.low is None or gap.high is None:
            return gap
        moved = np.where(shared, self._found[size] - self._found[0], 0)[crowds]
        low, high = self._two_way(moved, shared[crowds], level) or (gap.low, gap.high)
        return RateDifference(gap.value, min(gap.low, low), max(gap.high, high))

    def rate(self, size: int) -> Rate:
        """Return the share of correct runs at the place of a size; its band resamples families and crowds."""
        found = self._found[size]
        known = found >= 0
        if not known.any():
            return NO_RATE
        rate = clustered_rate(found[known] > 0, np.broadcast_to(self._family, found.shape)[known])
        crowds = known.any(axis=1)
        if np.count_nonzero(crowds) < 2 or rate.low is None or rate.high is None:
            return rate
        low, high = self._two_way(found[crowds] > 0, known[crowds], ALPHA) or (rate.low, rate.high)
        return Rate(rate.value, min(rate.low, low), max(rate.high, high), rate.n)

    def _two_way(
        self, values: NDArray[np.generic], known: NDArray[np.bool_], level: float
    ) -> tuple[float, float] | None:
        totals, runs = (np.stack([sums(row, self._family) for row in rows]) for rows in (values, known))
        return two_way_interval(totals, runs, level)

    def _shared(self, size: int) -> NDArray[np.bool_]:
        """Return a mask (passes, cases) of the runs that were judged with and without strangers."""
        return np.asarray((self._found[0] >= 0) & (self._found[size] >= 0))

    def _pair(self, size: int) -> PairedCases:
        before, after, shared = self._found[0], self._found[size], self._shared(size)
        there = shared.any(axis=0)
        runs = shared.sum(axis=0)[there]
        return PairedCases(
            runs_before=runs,
            passed_before=(shared & (before > 0)).sum(axis=0)[there],
            runs_after=runs,
            passed_after=(shared & (after > 0)).sum(axis=0)[there],
            wins=(shared & (after > before)).sum(axis=0)[there],
            losses=(shared & (after < before)).sum(axis=0)[there],
            family=np.unique(self._family[there], return_inverse=True)[1],
        )

    def paired(self, cases: Sequence[int], size: int = -1) -> PairedCases:
        """Return the pairs of some cases with and without strangers, of the largest size unless another is given."""
        rest = CrowdDecision([int(self._family[case]) for case in cases], (0, 1), passes=1, margin=self.margin)
        rest._found = self._found[[0, size]][:, :, list(cases)]
        return rest._pair(1)

    @property
    def left_out(self) -> int:
        """Number of runs that were left out."""
        return int(np.count_nonzero(self._found == LEFT_OUT))


def stolen_tools(pairs: Sequence[PairedCases], margin: float) -> list[tuple[RateDifference, float | None, bool]]:
    """Return for each tool the paired change, its probability after Holm over all tools, and if it is worse.

    Worse is a tool whose share fell by more than the margin, where the sign-flip test over its families is below 5 %.
    """
    known = [pair for pair in pairs if len(pair)]
    chances = iter(holm([sign_flip(sums(pair.shares[1] - pair.shares[0], pair.family)) for pair in known]))
    return [_stolen(pair, next(chances), margin) if len(pair) else (NOTHING, None, False) for pair in pairs]


def _stolen(pair: PairedCases, p: float, margin: float) -> tuple[RateDifference, float | None, bool]:
    gap = clustered_difference(pair).difference
    return gap, p, p < ALPHA and (gap.value or 0.0) < -margin


def lost_sentence(subject: str, decision: CrowdDecision, *, plural: bool = False) -> str:
    """Return one sentence on where a tool is lost."""
    low, high = decision.bracket
    verb, most = "are" if plural else "is", decision.sizes[-1]
    first = subject[:1].upper() + subject[1:]
    if high is not None:
        between = f"between {low:,} and {high:,} other tools" if low else f"with at most {high:,} other tools"
        return f"{first} {verb} lost {between}."
    if low == most:
        return f"{first} {verb} not lost up to {most:,} other tools."
    gap = decision.difference(len(decision.sizes) - 1)
    if gap.low is None:
        return f"Cannot tell yet if {subject} {verb} lost: the first pass has not ended."
    loss = f"a loss of {-100 * gap.low:.0f} points with {most:,} other tools cannot be excluded"
    return f"Cannot tell yet if {subject} {verb} lost: {loss}."
