"""How often the stated 95 % interval of a rate holds the true rate, in simulated batches with repeated cases.

`python -m tests.benchmarks.coverage [SAMPLES]`

Repeats of a case agree by the intraclass correlation (ICC). Plain Wilson over runs stands beside it: it takes repeats
for cases. Limits: on average at least 94 %, nowhere below 92 %; there is no upper limit.
"""

import sys
from collections.abc import Sequence
from itertools import product

import numpy as np

from mcp_tef.statistics.intervals import Z95, rates_of_families, score_interval
from tests.support.run_histories import Array, pass_rates

SIZES = (10, 20, 40, 100)
SHARES = (0.5, 0.8, 0.9, 0.95)
CORRELATIONS = (0.0, 0.5, 0.84)
REPEATS = (1, 5)
LEAST, LEAST_MEAN = 0.92, 0.94


def passes(cases: int, p: float, correlation: float, repeats: int, samples: int, random: np.random.Generator) -> Array:
    """How many repeats of each case passed, one sample a row."""
    return random.binomial(repeats, pass_rates(p, correlation, (samples, cases), random))


def covered(passed: Array, repeats: int, p: float) -> tuple[float, float]:
    """The share of samples whose interval holds p, and the mean width."""
    samples, cases = passed.shape
    group = np.repeat(np.arange(samples), cases)
    n = np.full(passed.size, float(repeats))
    rates = rates_of_families(passed.ravel().astype(np.float64), n, group, samples)
    bounds = np.array([(rate.low, rate.high) for rate in rates], dtype=np.float64)
    return _held(bounds[:, 0], bounds[:, 1], p)


def covered_by_runs(passed: Array, repeats: int, p: float) -> tuple[float, float]:
    """The same of Wilson's interval over runs."""
    n = passed.shape[1] * repeats
    return _held(*score_interval(passed.sum(axis=1) / n, np.array(float(n)), np.array(Z95)), p)


def _held(low: Array, high: Array, p: float) -> tuple[float, float]:
    return float(((low <= p) & (p <= high)).mean()), float((high - low).mean())


def table(
    samples: int, sizes: Sequence[int] = SIZES, repeated: Sequence[int] = REPEATS
) -> dict[tuple[int, float, float, int], tuple[float, float, float, float]]:
    """Coverage and width, then those of Wilson over runs, by cases, true rate, ICC and repeats."""
    random = np.random.default_rng(20_261_123)
    found = {}
    for cell in product(sizes, SHARES, CORRELATIONS, repeated):
        cases, p, correlation, repeats = cell
        passed = passes(cases, p, correlation, repeats, samples, random)
        found[cell] = (*covered(passed, repeats, p), *covered_by_runs(passed, repeats, p))
    return found


def main(samples: int) -> bool:
    """Print the table; whether the interval is as wide as it says."""
    found = table(samples)
    print(f"95 % interval of a rate, {samples:,} samples a row: covered and mean width, beside Wilson over runs")
    print("cases     p   ICC  repeats   covered  width    Wilson  width")
    for (cases, p, correlation, repeats), row in found.items():
        print(
            f"{cases:5} {p:5.2f} {correlation:5.2f} {repeats:8} {row[0]:9.3f} {row[1]:6.3f} {row[2]:9.3f} {row[3]:6.3f}"
        )
    shares, _, plain, _ = np.array(list(found.values())).T
    print(
        f"least {shares.min():.3f}, mean {shares.mean():.3f}; Wilson over runs: {plain.min():.3f}, {plain.mean():.3f}"
    )
    return bool(shares.min() >= LEAST and shares.mean() >= LEAST_MEAN)


if __name__ == "__main__":
    kept = main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
    sys.exit(0 if kept else 1)
