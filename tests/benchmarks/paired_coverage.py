"""How often the 95 % interval of a paired difference holds the true one, and how often the pairs asked for would tell.

Limit: on average at least 95 %, nowhere below 93 %; and a chance of 78 to 90 % to tell with as many pairs as
`more_pairs` asks for. Run as `python -m tests.benchmarks.paired_coverage`.
"""

import sys
from collections.abc import Iterator

import numpy as np

from mcp_tef.statistics.run_pairing import ALPHA, difference, mcnemar, more_pairs

DRAWS = 20_000
SIZES = (10, 20, 50, 100, 200)
RATES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
LIKENESS = (0.0, 0.5)
LEAST, MEAN = 0.93, 0.95
POWER = (0.78, 0.90)
SEEN = ((20, 4, 1), (40, 5, 2), (60, 9, 4), (100, 7, 3), (200, 12, 6), (50, 20, 12), (30, 3, 0))


def shares() -> Iterator[tuple[float, float]]:
    """How often a pair is fixed or regressed, for rates before and after, unlike one another or half alike."""
    for before in RATES:
        for after in RATES:
            for alike in LIKENESS:
                both = before * after + alike * (min(before, after) - before * after)
                yield after - both, before - both


def coverage(n: int, fixed: float, regressed: float, random: np.random.Generator) -> float:
    """The share of draws of n pairs whose interval holds the true difference."""
    drawn = random.multinomial(n, [fixed, regressed, max(0.0, 1 - fixed - regressed)], DRAWS)
    outcomes, often = np.unique(drawn[:, :2], axis=0, return_counts=True)
    held = 0
    for (up, down), times in zip(outcomes.tolist(), often.tolist(), strict=True):
        found = difference(n, up, down)
        if found.low is not None and found.high is not None and found.low <= fixed - regressed <= found.high:
            held += times
    return held / DRAWS


def told(n: int, fixed: float, regressed: float, random: np.random.Generator) -> float:
    """The share of draws of n pairs in which the exact test tells."""
    drawn = random.multinomial(n, [fixed, regressed, 1 - fixed - regressed], DRAWS)
    outcomes, often = np.unique(drawn[:, :2], axis=0, return_counts=True)
    pairs = zip(outcomes.tolist(), often.tolist(), strict=True)
    return float(sum(times for (up, down), times in pairs if mcnemar(up, down) < ALPHA)) / DRAWS


def main() -> int:
    """Print both tables; 1 where a limit is missed."""
    random = np.random.default_rng(20_261_121)
    good = True
    print(f"{'pairs':>6} {'least':>8} {'mean':>8} {'most':>8}    coverage of the 95 % interval, {DRAWS:,} draws each")
    for n in SIZES:
        found = [coverage(n, fixed, regressed, random) for fixed, regressed in shares()]
        good &= min(found) >= LEAST and sum(found) / len(found) >= MEAN
        print(f"{n:6} {min(found):8.3f} {sum(found) / len(found):8.3f} {max(found):8.3f}")
    print(f"\n{'seen':>14} {'more':>6} {'told':>6}    chance to tell with so many more pairs")
    for n, fixed, regressed in SEEN:
        more = more_pairs(n, fixed, regressed) or 0
        chance = told(n + more, fixed / n, regressed / n, random)
        good &= POWER[0] <= chance <= POWER[1]
        print(f"{f'{fixed}:{regressed} of {n}':>14} {more:6} {chance:6.2f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
