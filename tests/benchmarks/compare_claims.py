"""How often each claim of Compare is false, and how often it is made where there is an effect, in simulated batches.

`python -m tests.benchmarks.compare_claims [TRIALS]`

Each case is run as often on both sides. Nulls: the same pass rate in both batches; half of the cases +60 and half −60
points, exactly; half of the cases drawn so (for the second claim: a population with mean difference 0); 20 % of the
cases 0 to 1 and 80 % 1 to .75, exactly and drawn. Rows of a drawn population, where the test comes close to its 5 %,
get four times the trials. Limit: the upper 95 % bound of false verdicts, and of false verdicts of either claim, is at
most 6.2 % in each row.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.statistics.claims import for_queries_like_these, on_these_cases
from mcp_tef.statistics.intervals import wilson
from tests.support.run_histories import Array, compared, pass_rates

SIZES = (20, 40, 100)
CORRELATIONS = (0.0, 0.5, 0.84)
EFFECTS = (0.04, 0.09, 0.20)
REPEATS = 5
MORE_TRIALS = 4
MOST = 0.062
CHANGED = (ClaimVerdict.BETTER, ClaimVerdict.WORSE)
Rates = tuple[Array, Array]
Draw = Callable[[int, np.random.Generator], Rates]


@dataclass(frozen=True, slots=True)
class SimulatedTrials:
    """A row of the table: what is drawn, how often, and which claims would be false."""

    name: str
    cases: int
    repeats: int
    draw: Draw
    false: tuple[bool, bool]


def same(cases: int, random: np.random.Generator, *, correlation: float) -> Rates:
    """The same pass rates on both sides, mean .7."""
    rates = pass_rates(0.7, correlation, (cases,), random)
    return rates, rates


def better(cases: int, random: np.random.Generator, *, correlation: float, effect: float) -> Rates:
    """Cases that fail sometimes are more often right, on average by the effect."""
    rates = pass_rates(0.6, correlation, (cases,), random)
    fixed = random.random(cases) < effect / 0.4
    return rates, np.where(fixed, 1.0, rates)


def halves(cases: int, random: np.random.Generator, *, drawn: bool) -> Rates:
    """Half of the cases gain 60 points, half lose them: exactly, or each by a coin."""
    up = random.random(cases) < 0.5 if drawn else np.arange(cases) % 2 == 0
    return np.where(up, 0.2, 0.8), np.where(up, 0.8, 0.2)


def lopsided(cases: int, random: np.random.Generator, *, drawn: bool) -> Rates:
    """A fifth of the cases goes from 0 to 1, the rest from 1 to .75: mean 0."""
    up = random.random(cases) < 0.2 if drawn else np.arange(cases) % 5 == 0
    return np.where(up, 0.0, 1.0), np.where(up, 1.0, 0.75)


def rows() -> Iterator[SimulatedTrials]:
    """All rows, nulls first."""
    for cases in SIZES:
        for repeats in (1, REPEATS):
            for correlation in CORRELATIONS:
                draw = partial(same, correlation=correlation)
                yield SimulatedTrials(f"same rates, ICC {correlation:g}", cases, repeats, draw, (True, True))
    for cases in SIZES[1:]:
        yield SimulatedTrials("half +60, half −60", cases, REPEATS, partial(halves, drawn=False), (True, True))
        yield SimulatedTrials("half +60, half −60, drawn", cases, REPEATS, partial(halves, drawn=True), (False, True))
        yield SimulatedTrials("20 % 0→1, 80 % 1→.75", cases, REPEATS, partial(lopsided, drawn=False), (True, True))
        yield SimulatedTrials(
            "20 % 0→1, 80 % 1→.75, drawn", cases, REPEATS, partial(lopsided, drawn=True), (False, True)
        )
    for cases in SIZES[1:]:
        for effect in EFFECTS:
            for correlation in CORRELATIONS:
                draw = partial(better, correlation=correlation, effect=effect)
                name = f"+{100 * effect:.0f} points, ICC {correlation:g}"
                yield SimulatedTrials(name, cases, REPEATS, draw, (False, False))


def verdicts(row: SimulatedTrials, trials: int, random: np.random.Generator) -> tuple[float, float, float]:
    """The shares of trials that are called changed by the first claim, by the second, and by either."""
    changed = np.zeros((trials, 2), dtype=bool)
    for trial in range(trials):
        cases = compared(*row.draw(row.cases, random), row.repeats, random)
        found = (on_these_cases(cases), for_queries_like_these(cases))
        changed[trial] = [claim.verdict in CHANGED for claim in found]
    first, second = changed.mean(axis=0).tolist()
    return first, second, float(changed.any(axis=1).mean())


def within_limit(share: float, trials: int) -> bool:
    """Whether the upper 95 % bound of a share of false verdicts keeps the limit."""
    return (wilson(round(share * trials), trials).high or 0.0) <= MOST


def main(trials: int) -> bool:
    """Print the table; whether every false share keeps its limit."""
    random = np.random.default_rng(20_261_123)
    print(f"called better or worse, {trials:,} trials a row; * would be false, at most {MOST:.1%} as upper bound")
    print(f"{'':30} cases repeats   these cases   queries like these   either")
    kept = True
    for row in rows():
        often = trials * (MORE_TRIALS if row.name.endswith("drawn") else 1)
        first, second, either = verdicts(row, often, random)
        judged = [share for share, false in zip((first, second), row.false, strict=True) if false]
        good = all(within_limit(share, often) for share in [*judged, *[either] * all(row.false)])
        kept &= good
        marks = ["*" if false else " " for false in (*row.false, all(row.false))]
        cells = f"{first:12.3f}{marks[0]} {second:18.3f}{marks[1]} {either:9.3f}{marks[2]}"
        print(f"{row.name:30} {row.cases:5} {row.repeats:7} {cells}{'' if good else '  TOO OFTEN'}")
    return kept


if __name__ == "__main__":
    within = main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
    sys.exit(0 if within else 1)
