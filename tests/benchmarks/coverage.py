"""How often the stated 95 % interval of a rate holds the true rate, in simulated samples.

`python -m tests.benchmarks.coverage [SAMPLES]`

Wilson's interval covers 95 % on average over p, less or more at single points, since counts are whole numbers.
"""

import sys

import numpy as np

from mcp_tef.statistics.intervals import wilson

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
SIZES = (5, 10, 20, 50, 100, 200)
LOWEST, LOWEST_MEAN, HIGHEST_MEAN = 0.80, 0.94, 0.97


def covered(p: float, n: int, samples: int, random: np.random.Generator) -> float:
    """The share of samples of n whose interval holds p."""
    rates = [wilson(count, n) for count in range(n + 1)]
    holds = np.array([rate.low is not None and rate.high is not None and rate.low <= p <= rate.high for rate in rates])
    return float(holds[random.binomial(n, p, samples)].mean())


def main(samples: int) -> bool:
    """Print the table; whether the interval is as wide as it says."""
    random = np.random.default_rng(20261121)
    table = np.array([[covered(p, n, samples, random) for n in SIZES] for p in SHARES])
    print("covered, by true rate (rows) and number of runs (columns), of stated 95 %")
    print("   p  " + "".join(f"{n:>8}" for n in SIZES))
    for p, row in zip(SHARES, table, strict=True):
        print(f"{p:5.2f} " + "".join(f"{value:8.3f}" for value in row))
    means = table.mean(axis=0)
    print(" mean " + "".join(f"{value:8.3f}" for value in means))
    print(f"lowest {table.min():.3f}, mean {table.mean():.3f}")
    return bool(table.min() >= LOWEST and means.min() >= LOWEST_MEAN and means.max() <= HIGHEST_MEAN)


if __name__ == "__main__":
    kept = main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    sys.exit(0 if kept else 1)
