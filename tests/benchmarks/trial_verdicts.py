"""How often a trial's verdicts are false, how often they are made, and what they cost, in simulated trials.

`python -m tests.benchmarks.trial_verdicts [TRIALS] [FIRST]`: from row FIRST on, from 0. Each row has its own seed.

Every round asks each case once in both arms, in a newly shuffled order, as trials do; the product's own decision class
judges. Rows: the same rates in both arms; half of the cases +60 and half −60 points exactly; a fifth 0 to 1 and the
rest 1 to .75 (false for the first claim only when drawn exactly, for both; drawn from a population, for the second
only). Effects stand beside five fixed rounds judged by the same rule. Guards: 20 of them without an effect. Limits:
the upper 95 % bound of false verdicts is at most 6.2 % per claim and row; at +20 points a trial takes at most 45 % of
the calls of five rounds, and its power on these cases is within 3 points of them; false breaks at most 5 %.
"""

import sys
from functools import partial

import numpy as np

from mcp_tef.model.trials import TrialGoal
from mcp_tef.statistics.trial_decision import TrialDecision, broken_guards
from tests.benchmarks.compare_claims import CHANGED, Draw, Rates, better, halves, lopsided, same, within_limit

ROUNDS = 5
SIZES = (40, 100)
CORRELATIONS = (0.0, 0.5, 0.84)
EFFECTS = (0.04, 0.09, 0.20)
MOST_CALLS, MOST_LOST_POWER, MOST_BREAKS = 0.45, 0.03, 0.05
GUARDS, AGAIN = 20, 6
SEED = 20_261_124
GUARD_RATES = (0.8, 0.9, 0.95)
Row = tuple[str, int, Draw, tuple[bool, bool]]


def rows() -> list[Row]:
    """The name, number of cases, rates, and which claims would be false, of each row; nulls first."""
    found: list[Row] = []
    for cases in SIZES:
        found += [
            (f"same rates, ICC {icc:g}", cases, partial(same, correlation=icc), (True, True)) for icc in CORRELATIONS
        ]
        found.append(("half +60, half −60", cases, partial(halves, drawn=False), (True, True)))
        found.append(("half +60, half −60, drawn", cases, partial(halves, drawn=True), (False, True)))
        found.append(("20 % 0→1, 80 % 1→.75", cases, partial(lopsided, drawn=False), (True, True)))
        found.append(("20 % 0→1, 80 % 1→.75, drawn", cases, partial(lopsided, drawn=True), (False, True)))
    return found + [
        (
            f"+{100 * effect:.0f} points, ICC {icc:g}",
            cases,
            partial(better, correlation=icc, effect=effect),
            (False, False),
        )
        for cases in SIZES
        for effect in EFFECTS
        for icc in CORRELATIONS
    ]


def simulated(rates: Rates, goal: TrialGoal, random: np.random.Generator) -> tuple[bool, bool, float]:
    """One trial: whether each claim is called changed, and the share of the calls of five rounds that it took."""
    cases = len(rates[0])
    trial = TrialDecision(range(cases), rounds=ROUNDS, goal=goal)
    asked = 0
    for round_ in range(ROUNDS):
        passed = [random.random(cases) < rate for rate in rates]
        for case in random.permutation(cases).tolist():
            trial.add(case, round_, bool(passed[0][case]), bool(passed[1][case]))
            asked += 1
            if trial.end:
                break
        if trial.end:
            break
    claims = trial.claims()
    changed = [claim.verdict in CHANGED for claim in (claims.on_these_cases, claims.for_queries_like_these)]
    return changed[0], changed[1], asked / (cases * ROUNDS)


def shares(row: Row, goal: TrialGoal, trials: int, random: np.random.Generator) -> tuple[float, float, float]:
    """The shares of trials that are called changed by each claim, and the mean share of calls."""
    found = np.array([simulated(row[2](row[1], random), goal, random) for _ in range(trials)], dtype=float)
    first, second, calls = found.mean(axis=0).tolist()
    return first, second, calls


def false_breaks(rate: float, trials: int, random: np.random.Generator) -> float:
    """The share of trials with a broken guard, where the draft changes nothing."""
    false = 0
    for _ in range(trials):
        nominated = np.count_nonzero(
            ((random.random((ROUNDS, GUARDS)) < rate) & (random.random((ROUNDS, GUARDS)) >= rate)).any(axis=0)
        )
        again = random.binomial(AGAIN, rate, (nominated, 2)).tolist()
        false += any(broken_guards([(original, AGAIN, draft, AGAIN) for original, draft in again]))
    return false / trials


def main(trials: int, first_row: int = 0) -> bool:
    """Print the tables; whether every limit is kept."""
    print(f"called better or worse in {trials:,} trials a row; * would be false")
    print(f"{'':30} cases  these cases  queries like these  calls   five rounds: these, queries")
    kept = True
    for number, row in list(enumerate(rows()))[first_row:]:
        random = np.random.default_rng((SEED, number))
        null = any(row[3])
        often = trials if null else max(1, trials // 4)
        first, second, calls = shares(row, TrialGoal.QUICK, often, random)
        good = all(within_limit(share, trials) for share, false in zip((first, second), row[3], strict=True) if false)
        fixed = ""
        if not null:
            whole = shares(row, TrialGoal.FULL, often, random)
            fixed = f"{whole[0]:20.3f} {whole[1]:8.3f}"
            if row[0].startswith("+20"):
                good = calls <= MOST_CALLS and first >= whole[0] - MOST_LOST_POWER
        else:
            sure = shares(row, TrialGoal.SURE, trials, random)
            good &= all(within_limit(share, trials) for share, false in zip(sure, row[3], strict=False) if false)
            fixed = f"   until sure: {sure[0]:.3f} {sure[1]:.3f}"
        kept &= good
        marks = ["*" if false else " " for false in row[3]]
        line = f"{row[0]:30} {row[1]:5} {first:12.3f}{marks[0]} {second:18.3f}{marks[1]} {calls:6.2f} {fixed}"
        print(line + ("" if good else "  LIMIT MISSED"), flush=True)
    for rate in GUARD_RATES:
        share = false_breaks(rate, trials, np.random.default_rng((SEED, round(100 * rate))))
        kept &= share <= MOST_BREAKS
        print(f"any false break among {GUARDS} guards at {rate:g}: {share:.3f}")
    return kept


if __name__ == "__main__":
    within = main(*map(int, sys.argv[1:] or ("2000",)))
    sys.exit(0 if within else 1)
