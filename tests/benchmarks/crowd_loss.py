"""Share of crowd tests whose bracket holds the true size, and how often a loss is called where there is none.

`python -m tests.benchmarks.crowd_loss [CROWDS]`

A stand-in is right with a chance that falls by some points from a known number of strangers on, the true size, drawn
anew for each test from 0 to 450 on a scale of ratios. Cases differ (beta, ICC .5), and so do crowds (points of
standard deviation, the same for all cases of a crowd at one size). The product's own class decides. Rows without a
loss are flat. Limits: the bracket holds the true size in at least 93 %, and "lost" is said in at most 5 % without a
loss (upper 95 % bound 6.2 %). The calls are shares of those without an early end.
"""

import sys
from dataclasses import dataclass

import numpy as np

from mcp_tef.model.crowds import SIZES
from mcp_tef.statistics.crowd_loss import CrowdDecision
from mcp_tef.statistics.intervals import wilson

ICC = 0.5


@dataclass(frozen=True)
class Row:
    """Cases, passes, mean chance without strangers, points that are lost (0 for none), spread of the crowds."""

    cases: int
    passes: int
    rate: float
    fall: float
    spread: float = 0.0


ROWS = [
    Row(cases, passes, rate, fall, spread)
    for cases in (40, 100)
    for passes, spread in ((1, 0.0), (5, 0.0), (5, 0.05))
    for rate, fall in ((0.9, 0.0), (0.95, 0.0), (0.9, 0.25), (0.9, 0.5))
    if not (spread and not fall)
]


def tested(row: Row, random: np.random.Generator) -> tuple[bool, bool, bool, float]:
    """One test: if anything is called lost, if the bracket holds the true size, if it is narrow, the share of calls."""
    true = float(np.exp(random.uniform(0, np.log(450)))) if row.fall else np.inf
    scale = (1 - ICC) / ICC
    ability = random.beta(row.rate * scale, (1 - row.rate) * scale, row.cases)
    decision = CrowdDecision(range(row.cases), SIZES, passes=row.passes, margin=0.10)
    calls = 0
    for crowd in range(row.passes):
        for size in decision.open_sizes():
            fallen = SIZES[size] >= true
            shift = (row.fall + row.spread * random.standard_normal()) if fallen else 0.0
            chance = np.clip(ability * (1 - shift / row.rate), 0.0, 1.0)
            for case, passed in enumerate((random.random(row.cases) < chance).tolist()):
                decision.add(size, crowd, case, passed)
            calls += row.cases
        decision.read()
    low, high = decision.bracket
    holds = (not low or low < true) and (high is None or true <= high)
    narrow = low == max(size for size in SIZES if size < max(true, 1)) and (high is None) == (true > SIZES[-1])
    return (
        bool(decision.lost),
        holds,
        narrow and high == min((s for s in SIZES if s >= true), default=None),
        calls / (row.cases * row.passes * len(SIZES)),
    )


def shares(row: Row, crowds: int, seed: int = 1) -> tuple[int, int, int, float]:
    """The number of tests with a loss, whose bracket holds, and is as narrow as can be; the mean share of calls."""
    random = np.random.default_rng(seed)
    found = np.array([tested(row, random) for _ in range(crowds)], dtype=float)
    lost, holds, narrow, calls = found.sum(axis=0).tolist()
    return int(lost), int(holds), int(narrow), calls / crowds


def main() -> None:
    """Print the table; stop at a row beyond its limit."""
    crowds = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print("cases passes  rate  fall spread   lost   held narrow  calls")
    for row in ROWS:
        lost, holds, narrow, calls = shares(row, crowds)
        print(
            f"{row.cases:5} {row.passes:6} {row.rate:5.0%} {row.fall:5.0%} {row.spread:6.0%}"
            f" {lost / crowds:6.1%} {holds / crowds:6.1%} {narrow / crowds:6.1%} {calls:6.0%}",
            flush=True,
        )
        assert holds >= 0.93 * crowds, row
        assert row.fall or (wilson(lost, crowds).low or 0.0) <= 0.05, row


if __name__ == "__main__":
    main()
