"""Rates with intervals by family of cases, since repeats of one case are not new cases; means and percentiles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcp_tef.model.metrics import GroupMetrics, Rate
from mcp_tef.statistics.history import Flags, History, Integers, Numbers
from mcp_tef.statistics.run_codes import FAILED, FN, FP, NOT_OFFERED, TN, TP

Z95 = 1.959963984540054
DENSE = 8
BOOTSTRAP_DRAWS, BOOTSTRAP_VALUES = 2_000, 4_000_000
SEED = 20_261_123


def sums(values: Numbers | Flags | Integers, place: Integers, places: int = 0) -> Numbers:
    """Return the sum of the values at each place, from 0."""
    return np.asarray(np.bincount(place, weights=values, minlength=places), dtype=np.float64)


def t_quantile(degrees: Numbers) -> Numbers:
    """Return the 97.5 % quantile of Student's t, to 0.1 % from three degrees of freedom on, to 1 % at two.

    Source: M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions (1964), 26.7.5, at z = 1.959964.
    """
    return Z95 + 2.372269 / degrees + 2.822475 / degrees**2 + 2.555816 / degrees**3 + 1.589500 / degrees**4


def score_interval(share: Numbers, n: Numbers, quantile: Numbers) -> tuple[Numbers, Numbers]:
    """Return the bounds of Wilson's score interval for shares of n; n need not be whole.

    centre = (p + z²/2n) / (1 + z²/n), half width = z / (1 + z²/n) · √(p(1-p)/n + z²/4n²).
    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927), 209-212.
    """
    spread = quantile * quantile / n
    centre = (share + spread / 2) / (1 + spread)
    half = quantile / (1 + spread) * np.sqrt(share * (1 - share) / n + spread / (4 * n))
    low = np.where(share <= 0, 0.0, np.maximum(0.0, centre - half))
    return low, np.where(share >= 1, 1.0, np.minimum(1.0, centre + half))


def shrunken_effect(effect: Numbers, cap: Numbers, informative: Numbers) -> Numbers:
    """Return a design effect from 1 to `cap`, its value where all repeats agree, which counts as one more family.

    Few families that differ from the rest say little of how much repeats agree: without the one more, the 95 %
    interval of 40 cases × 5 repeats at p = .95 and ICC .5 covers 92 %, with it 95 %
    (`tests/benchmarks/clustered_coverage.py`).
    """
    return (informative * np.clip(effect, 1.0, np.maximum(cap, 1.0)) + cap) / (informative + 1)


def rates_of_families(yes: Numbers, n: Numbers, group: Integers, groups: int) -> tuple[Rate, ...]:
    """Return the rate of each group from its families: `yes` of `n` runs in each, `n` above 0.

    A ratio estimator, so `n` may be a part of the family's runs, such as those that picked a tool (precision). The
    interval is Wilson's at N / D: the design effect D = Σ(y - p n)² / (N p (1 - p)) is the clustered variance over the
    binomial one, at least 1, and Σn² / N where all runs of each family agree: then n counts families. The
    quantile is Student's with families + 1 degrees, since few families tell little.
    Sources: E. Miller, Adding error bars to evals, 2024, arXiv 2411.00640; E. L. Korn, B. I. Graubard, Confidence
    intervals for proportions with small expected number of positive counts estimated from survey data, Survey
    Methodology 24 (1998), 193-201; C. Franco and others, Comparative study of confidence intervals for proportions
    in complex sample surveys, Journal of Survey Statistics and Methodology 7 (2019), 334-364.
    """
    # Rounded, so that the last digits do not depend on the order in which runs ended.
    runs, hits = sums(n, group, groups), np.round(sums(yes, group, groups), 9)
    share = hits / np.maximum(runs, 1.0)
    square = np.round(sums((yes - share[group] * n) ** 2, group, groups), 9)
    families = ClusterSizes(
        families=sums(n > 0, group, groups),
        squared=sums(n * n, group, groups),
        informative=np.minimum(sums(yes > 0, group, groups), sums(yes < n, group, groups)),
    )
    return clustered_wilson(share, runs, square, families)


def rates_without(errors: Numbers, group: Integers, groups: int, n: Numbers, n_there: Numbers) -> tuple[Rate, ...]:
    """Return for each group the share of all runs that are no error of it, from the families with such an error.

    `errors` of the group are among the `n_there` runs of that family; `n` are the runs of every family. As in
    `rates_of_families`, with Σ(y - p n)² = q² Σn² - 2q Σ n e + Σe² for the share q of errors e.
    """
    runs, whole = np.full(groups, n.sum()), float((n * n).sum())
    error = sums(errors, group, groups) / np.maximum(runs, 1.0)
    square = error * error * whole - 2 * error * sums(n_there * errors, group, groups)
    all_wrong = sums((errors > 0) & (errors >= n_there), group, groups)
    families = ClusterSizes(
        families=np.full(groups, float(np.count_nonzero(n))),
        squared=np.full(groups, whole),
        informative=np.minimum(sums(errors > 0, group, groups), np.count_nonzero(n) - all_wrong),
    )
    return clustered_wilson(1 - error, runs, square + sums(errors * errors, group, groups), families)


@dataclass(frozen=True, slots=True)
class ClusterSizes:
    """Of each group the number of families, Σn² over them, and how many differ from the majority of runs."""

    families: Numbers
    squared: Numbers
    informative: Numbers


def clustered_wilson(share: Numbers, runs: Numbers, square: Numbers, sizes: ClusterSizes) -> tuple[Rate, ...]:
    """Return rates with Wilson's interval at runs / design effect, see `rates_of_families`."""
    there, share = np.maximum(runs, 1.0), np.clip(share, 0.0, 1.0)
    cap = sizes.squared / there
    binomial = runs * share * (1 - share)
    effect = np.divide(square, binomial, out=cap.copy(), where=binomial > 1e-12)
    size = np.asarray(there / np.maximum(1.0, shrunken_effect(effect, cap, sizes.informative)), dtype=np.float64)
    low, high = score_interval(share, size, t_quantile(sizes.families + 1))
    columns = zip(share.tolist(), low.tolist(), high.tolist(), runs.astype(int).tolist(), strict=True)
    return tuple(Rate(*figures) if figures[-1] else Rate(None, None, None, 0) for figures in columns)


class FamilyCells:
    """Runs by group and family: one cell for each pair that may occur; `sides` are groupings of the same runs."""

    def __init__(self, family: Integers, groups: int, *sides: Integers) -> None:
        width = int(family.max(initial=0)) + 1
        self.groups = groups
        places = [side * width + family for side in sides]
        if groups * width > DENSE * len(family) + 1024:
            self._cells, inverse = np.unique(np.concatenate(places), return_inverse=True)
            self._places = list(inverse.reshape(len(sides), -1))
        else:
            seen = np.zeros(groups * width, dtype=np.bool_)
            for place in places:
                seen[place] = True
            self._cells = np.flatnonzero(seen)
            number = np.cumsum(seen) - 1
            self._places = [number[place] for place in places]
        self.group = np.asarray(self._cells // width)
        self.family = np.asarray(self._cells % width)

    def count(self, mask: Flags, side: int = 0) -> Numbers:
        """Return the number of runs of a mask in each cell."""
        return np.bincount(self._places[side][mask], minlength=len(self._cells)).astype(np.float64)

    def sums(self, values: Numbers, mask: Flags) -> Numbers:
        """Return the sum of the values of the runs of a mask in each cell."""
        return sums(values[mask], self._places[0][mask], len(self._cells))

    def totals(self, values: Numbers) -> Numbers:
        """Return the sum over the cells of each group."""
        return sums(values, self.group, self.groups)

    def rates(self, yes: Numbers, n: Numbers) -> tuple[Rate, ...]:
        """Return the rate of each group from counts by cell."""
        used = n > 0
        return rates_of_families(yes[used], n[used], self.group[used], self.groups)


def clustered_rates(yes: Flags | Numbers, family: Integers, group: Integers, groups: int) -> tuple[Rate, ...]:
    """Return the mean of `yes` (0 to 1) over the runs of each group (from 0 to `groups` - 1), intervals by family."""
    cells, every = FamilyCells(family, groups, group), np.ones(len(yes), dtype=np.bool_)
    return cells.rates(cells.sums(yes.astype(np.float64), every), cells.count(every))


def clustered_rate(yes: Flags | Numbers, family: Integers) -> Rate:
    """Return the mean of `yes` (0 to 1) over runs with its 95 % interval by family, a number from 0 for each run."""
    return clustered_rates(yes, family, np.zeros(len(yes), dtype=np.int64), 1)[0]


def intraclass_correlation(yes: Numbers, n: Numbers) -> float | None:
    """Return how much the runs of one case agree, 0 to 1, from `yes` of `n` runs of each; None if nothing can tell.

    ICC = (B - W) / (B + (n₀ - 1) W) with the mean squares between and within cases, and n₀ = (N - Σn²/N) / (F - 1).
    Source: M. S. Ridout, C. G. B. Demétrio, D. Firth, Estimating intraclass correlation for binary data,
    Biometrics 55 (1999), 137-148 (the analysis of variance estimator).
    """
    total, cases = float(n.sum()), len(n)
    if cases < 2 or total <= cases:
        return None
    share = yes / n
    between = float((n * (share - yes.sum() / total) ** 2).sum()) / (cases - 1)
    within = float((yes * (1 - share)).sum()) / (total - cases)
    size = (total - float((n * n).sum()) / total) / (cases - 1)
    whole = between + (size - 1) * within
    return min(1.0, max(0.0, (between - within) / whole)) if whole > 0 else None


def f1_interval(tp: Numbers, wrong: Numbers) -> tuple[float, float] | None:
    """Return the 95 % interval of F1 from TP, and from FP + FN, of each family; None where it is not defined.

    The percentiles of 2,000 bootstrap samples of families (fewer of more than 2,000 families), with a fixed seed;
    samples without F1 are left out.
    Source: B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    if not (tp.any() or wrong.any()):
        return None
    draws = max(200, min(BOOTSTRAP_DRAWS, BOOTSTRAP_VALUES // len(tp)))
    order = np.lexsort((tp, wrong))
    tp, wrong = tp[order], wrong[order]
    drawn = np.random.default_rng(SEED).integers(0, len(tp), (draws, len(tp)), dtype=np.int32)
    hits, misses = 2 * tp[drawn].sum(axis=1), wrong[drawn].sum(axis=1)
    defined = hits + misses > 0
    low, high = np.quantile(hits[defined] / (hits + misses)[defined], (0.025, 0.975)).tolist()
    return low, high


def wilson(successes: int, n: int) -> Rate:
    """Return a share with its 95 % Wilson score interval over independent runs, such as those of one case.

    Nothing but n where n is 0. Rates over several cases are those of `rates_of_families`.
    """
    if n <= 0:
        return Rate(None, None, None, 0)
    low, high = score_interval(np.array(successes / n), np.array(float(n)), np.array(Z95))
    return Rate(successes / n, float(low), float(high), n)


@dataclass(frozen=True, slots=True)
class OutcomeCells:
    """Counts of runs in the cells of groups and families, as `FamilyCells` has them.

    `expected` are the judged runs that the two shares are over: for a tool those that expected it, while the other
    counts speak of runs that expected another one.
    """

    expected: Numbers
    tp: Numbers
    fp: Numbers
    fn: Numbers
    failed: Numbers
    correct_calls: Numbers
    correct_tools: Numbers
    unreadable: Numbers
    not_offered: Numbers


def group_metrics(
    names: Sequence[str], cells: FamilyCells, of: OutcomeCells, whole: Numbers, accuracy: Sequence[Rate]
) -> tuple[GroupMetrics, ...]:
    """Return the counts and rates of each group, intervals by family; `whole` judged runs of each, right or wrong.

    Precision is TP / (TP + FP), recall TP / (TP + FN), F1 2 TP / (2 TP + FP + FN).
    """
    precision, recall = cells.rates(of.tp, of.tp + of.fp), cells.rates(of.tp, of.tp + of.fn)
    calls, tools = cells.rates(of.correct_calls, of.expected), cells.rates(of.correct_tools, of.expected)
    totals = [cells.totals(getattr(of, name)) for name in ("tp", "fp", "fn", "failed", "unreadable", "not_offered")]
    rows = np.stack([whole, *totals], axis=1).astype(int).tolist()
    return tuple(
        GroupMetrics(
            name=name,
            n=n,
            tp=tp,
            fp=fp,
            tn=n - tp - fp - fn,
            fn=fn,
            failed=failed,
            precision=precision[place],
            recall=recall[place],
            f1=f1(tp, fp, fn),
            accuracy=accuracy[place],
            correct_call=calls[place],
            correct_tool=tools[place],
            unreadable=unreadable,
            not_offered=not_offered,
        )
        for place, (name, (n, tp, fp, fn, failed, unreadable, not_offered)) in enumerate(zip(names, rows, strict=True))
    )


def grouped_metrics(history: History, names: Sequence[str], key: Integers) -> tuple[GroupMetrics, ...]:
    """Return the counts and rates of judged and failed runs by a key, its place in `names`; others are left out."""
    cells = FamilyCells(history.family, len(names), key)
    tp, fp, tn, fn, *others = (cells.count(mask) for mask in outcomes(history))
    judged = tp + fp + tn + fn
    of = OutcomeCells(judged, tp, fp, fn, *others)
    return group_metrics(names, cells, of, cells.totals(judged), cells.rates(tp + tn, judged))


def f1(tp: int, fp: int, fn: int) -> float | None:
    """Return 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall; None where it is not defined."""
    whole = 2 * tp + fp + fn
    return 2 * tp / whole if whole else None


def outcomes(history: History) -> tuple[Flags, ...]:
    """Return masks of runs: TP, FP, TN and FN, then failed, correct calls and tools, unreadable and not offered."""
    judged = history.is_judged
    kinds = (judged & (history.classification == number) for number in (TP, FP, TN, FN))
    marks = (judged & mask for mask in (history.correct_call, history.correct_tool, history.unreadable == 1))
    failed = history.status == FAILED
    return (*kinds, failed, *marks, failed & (history.failure == NOT_OFFERED))


def known(values: Numbers) -> Numbers:
    """Return the known values by size, so that their sum does not depend on the order in which runs ended."""
    return np.sort(values[~np.isnan(values)])


def mean(values: Numbers) -> float | None:
    """Return the arithmetic mean of the values that are known; None of nothing."""
    there = known(values)
    return float(there.mean()) if len(there) else None


def mean_rate(values: Numbers, family: Integers) -> Rate:
    """Return the mean of the known values, each 0–1, with the interval of a share, by family."""
    there = ~np.isnan(values)
    return clustered_rate(values[there], family[there])


def total(values: Numbers) -> float | None:
    """Return the sum of the values that are known; None of nothing."""
    there = known(values)
    return float(there.sum()) if len(there) else None


def percentiles(values: Numbers, *shares: float) -> tuple[float | None, ...]:
    """Return the values below which a share (0–1) of the known ones lies, interpolated linearly; None of nothing."""
    there = known(values)
    return tuple(np.quantile(there, shares).tolist()) if len(there) else (None,) * len(shares)
