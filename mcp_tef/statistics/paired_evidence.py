"""Evidence from cases judged on both sides: E-value, sign-flip test, score interval and Fisher's test; pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb, inf, sqrt

import numpy as np

from mcp_tef.model.comparison import RateDifference
from mcp_tef.statistics.history import Integers, Numbers
from mcp_tef.statistics.intervals import SEED, Z95, shrunken_effect, sums

ALPHA = 0.05
DECISIVE = 40.0
MOST_EXACT = 20
DRAWS = 20_000
BISECTIONS = 45
NOTHING = RateDifference(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedCases:
    """Cases that were judged on both sides, a number each: runs, those that passed, and run pairs won and lost.

    `family` numbers the families from 0. `deterministic` says that each answer would be the same again.
    """

    runs_before: Integers
    passed_before: Integers
    runs_after: Integers
    passed_after: Integers
    wins: Integers
    losses: Integers
    family: Integers
    deterministic: bool = False

    def __len__(self) -> int:
        return len(self.family)

    @property
    def pairs(self) -> int:
        """Number of run pairs."""
        return int(np.minimum(self.runs_before, self.runs_after).sum())

    @property
    def families(self) -> int:
        """Number of families."""
        return len(np.unique(self.family))

    @property
    def shares(self) -> tuple[Numbers, Numbers]:
        """The share of runs that passed, of each case before and after."""
        return self.passed_before / self.runs_before, self.passed_after / self.runs_after


def evidence(wins: int, losses: int) -> float:
    """Return the E-value for "better": the mean likelihood ratio against a fair coin, uniform prior on (½, 1).

    E = Σ_{k ≤ w} C(n+1, k) / ((n+1) C(n, w)) = 2^(n+1) / ((n+1) C(n, w)) · P[Bin(n+1, ½) ≤ w]. It may be looked at
    after every pair: under no difference it ever reaches 40 with a chance of at most 1/40.
    Sources: P. Grünwald, R. de Heide, W. Koolen, Safe testing, Journal of the Royal Statistical Society B 86 (2024),
    1091-1128; J. Ville, Étude critique de la notion de collectif (1939), for the bound.
    """
    n = wins + losses
    logs = _log_factorials(1 << (n + 1).bit_length())
    places = np.arange(wins + 1)
    parts = logs[n + 1] - logs[places] - logs[n + 1 - places]
    top = parts.max()
    whole = top + np.log(np.exp(parts - top).sum())
    return float(np.exp(min(700.0, whole - np.log(n + 1) - logs[n] + logs[wins] + logs[losses])))


@cache
def _log_factorials(size: int) -> Numbers:
    """Return log 0! to log (size - 1)!; kept, since a trial asks for them after every pair."""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size)))])


def sign_flip(differences: Numbers) -> float:
    """Return the two-sided probability of a sum as far from 0 as this one, where each sign is a fair coin.

    Exact up to 20 differences that are not 0, else of 20,000 draws with a fixed seed, p = (1 + k) / (1 + draws).
    Equal differences are drawn together. Sources: R. A. Fisher, The Design of Experiments (1935), section 21; B.
    Phipson, G. K. Smyth, Permutation p-values should never be zero, Statistical Applications in Genetics and Molecular
    Biology 9 (2010), article 39.
    """
    sizes = np.abs(differences[differences != 0])
    reached = abs(float(differences.sum())) - 1e-9 * float(sizes.sum())
    if reached <= 0:
        return 1.0
    if len(sizes) <= MOST_EXACT:
        return _exact_sign_flip(sizes, reached)
    values, often = np.unique(np.round(sizes, 12), return_counts=True)
    flipped = np.zeros(DRAWS)
    for column, (value, number) in enumerate(zip(values.tolist(), often.tolist(), strict=True)):
        flipped += value * (2 * _heads(number, column) - number)
    return (1 + int(np.count_nonzero(np.abs(flipped) >= reached))) / (1 + DRAWS)


def _exact_sign_flip(sizes: Numbers, reached: float) -> float:
    """Count the signs that reach the sum: those of one half are looked up among the sorted sums of the other half."""
    few, others = _all_sums(sizes[::2]), np.sort(_all_sums(sizes[1::2]))
    below = np.searchsorted(others, reached - few, side="left").sum()
    lower = np.searchsorted(others, -reached - few, side="right").sum()
    return 1 - float(below - lower) / (len(few) * len(others))


def _all_sums(sizes: Numbers) -> Numbers:
    found = np.zeros(1)
    for size in sizes:
        found = np.concatenate([found + size, found - size])
    return found


@lru_cache(maxsize=256)
def _heads(coins: int, column: int) -> Integers:
    """Return the heads among so many fair coins, 20,000 times, with a seed of its own for each column.

    Kept, since a trial asks for nearly the same ones after each round.
    """
    return np.random.default_rng((SEED, column)).binomial(coins, 0.5, DRAWS).astype(np.int32)


def paired_interval(gained: float, lost: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Return the score interval of the difference of paired shares, at 95 % or another quantile z; n may be broken.

    `gained` and `lost` are the shares of n pairs that changed for the better and for the worse. The bounds are the d
    with (b - c - n d)² = z² n (2 q + d (1 - d)); b = n gained, c = n lost, q is the likeliest share lost, given d.
    Source: T. Tango, Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design, Statistics in Medicine 17 (1998), 891-908.
    """
    b, c = n * gained, n * lost
    slope, product = 2 * n - b + c, 8 * n * c

    def inside(gap: float) -> bool:
        linear = slope * gap - b - c
        root = sqrt(max(linear * linear + product * gap * (1 - gap), 0.0))
        variance = n * ((root - linear) / (2 * n) + gap * (1 - gap))
        return (b - c - n * gap) ** 2 <= z * z * max(variance, 1e-12)

    return _bound(inside, gained - lost, -1.0), _bound(inside, gained - lost, 1.0)


def _bound(inside: Callable[[float], bool], near: float, far: float) -> float:
    for _ in range(BISECTIONS):
        middle = (near + far) / 2
        near, far = (middle, far) if inside(middle) else (near, middle)
    return near


@dataclass(frozen=True, slots=True)
class ClusteredDifference:
    """The mean difference of pass rates over cases; `of_case` over the number of cases is its variance."""

    difference: RateDifference
    of_case: float


def clustered_difference(cases: PairedCases, z: float = Z95) -> ClusteredDifference:
    """Return the share of runs that passed after minus that before, with its interval by family.

    The interval is the score interval for paired shares at N / D: N run pairs, and the design effect D is the
    variance clustered by family over that of N independent pairs, at least 1; n is the families where no run differs.
    Source: E. Miller, Adding error bars to evals, 2024, arXiv 2411.00640.
    """
    if not len(cases):
        return ClusteredDifference(NOTHING, inf)
    before, after = cases.shares
    runs = np.stack([cases.runs_before / cases.runs_before.sum(), cases.runs_after / cases.runs_after.sum()])
    first, second = float(runs[0] @ before), float(runs[1] @ after)
    gap = second - first
    parts = runs[1] * (after - second) - runs[0] * (before - first)
    discordant = after + before - 2 * after * before
    changed = max(abs(gap), float(discordant.mean()))
    single = max(0.0, changed - gap * gap) / cases.pairs
    clustered = float((sums(parts, cases.family) ** 2).sum())
    size = sums(np.ones(len(cases)), cases.family)
    cap = cases.pairs * float((size * size).sum()) / len(cases) ** 2
    effect = clustered / single if single > 1e-12 else cap
    informative = np.count_nonzero(sums(discordant, cases.family) > 1e-12)
    effects = shrunken_effect(np.array([effect]), np.array([cap]), np.array([float(informative)]))
    n = cases.pairs / max(1.0, float(effects[0]))
    low, high = paired_interval((changed + gap) / 2, (changed - gap) / 2, n, z)
    of_case = len(cases) * single * cases.pairs / n
    return ClusteredDifference(RateDifference(gap, low, high), of_case)


def fisher(passed_before: int, before: int, passed_after: int, after: int) -> float:
    """Return the one-sided probability of so few passes after, where both sides pass equally often.

    Source: R. A. Fisher, The logic of inductive inference, Journal of the Royal Statistical Society 98 (1935), 39-82.
    """
    passed = passed_before + passed_after
    fewer = range(max(0, passed - before), passed_after + 1)
    return sum(comb(after, k) * comb(before, passed - k) for k in fewer) / comb(before + after, passed)


def holm(values: Sequence[float]) -> list[float]:
    """Return the probabilities corrected for their number, in their order.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979), 65-70.
    """
    corrected, largest = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, values[place] * (len(values) - rank)))
        corrected[place] = largest
    return corrected
