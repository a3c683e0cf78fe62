"""Frequency with which a search for a better text ends in "better" where no candidate is, and how often where one is.

`python -m tests.benchmarks.improve_sessions [SESSIONS]`

A session has 60 working and 40 sealed cases and up to three rounds of eight candidates. Each is screened by successive
halving on the cases that failed once, the best is gated in up to five rounds at the level of its round, and the first
that passes is tried once on the sealed cases; the product's own rules decide. Idle candidates leave all rates as they
are. Overfitted ones gain 60 points on half of the cases and lose 60 on the others, drawn anew, so that screening on
failing cases finds a large gain and other cases do not share it. In the last rows one of eight helps. Limit: the upper
95 % bound of false "better" is at most 5 % in each row.
"""

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np

from mcp_tef.model.improvements import ImprovementEnd
from mcp_tef.model.trials import TrialClaims, TrialGoal
from mcp_tef.statistics.candidate_selection import better_half, gate_level, halving_sizes, passes_gate, sealed_end
from mcp_tef.statistics.intervals import wilson
from mcp_tef.statistics.trial_decision import TrialDecision
from tests.support.run_histories import Array, pass_rates

WORKING, SEALED = 60, 40
ROUNDS, GATES, CANDIDATES = 5, 3, 8
MOST = 0.05
Change = Callable[[Array, int, np.random.Generator], Array]
Row = tuple[str, Callable[[np.random.Generator], Array], Change, bool]


def idle(rates: Array, _: int, __: np.random.Generator) -> Array:
    """A candidate that changes nothing."""
    return rates


def overfitted(rates: Array, _: int, random: np.random.Generator) -> Array:
    """A candidate that gains 60 points on half of the cases and loses them on the others: mean 0."""
    return np.where(random.random(len(rates)) < 0.5, rates + 0.6, rates - 0.6).clip(0.2, 0.8)


def one_helps(rates: Array, number: int, random: np.random.Generator, *, effect: float) -> Array:
    """Of eight candidates one passes more cases; the others are idle."""
    if number % CANDIDATES:
        return rates
    fixed = random.random(len(rates)) < effect / max(1e-9, 1 - float(rates.mean()))
    return np.where(fixed, np.maximum(rates, 0.95), rates)


def rows() -> list[Row]:
    """The name, the rates of the original, the change of each candidate, and if "better" is false."""
    found: list[Row] = []
    for icc in (0.0, 0.5, 0.84):
        draw = partial(lambda random, icc: pass_rates(0.6, icc, (WORKING + SEALED,), random), icc=icc)
        found.append((f"idle candidates, ICC {icc:g}", draw, idle, True))
    even: Callable[[np.random.Generator], Array] = lambda random: np.where(  # noqa: E731
        random.random(WORKING + SEALED) < 0.5, 0.2, 0.8
    )
    found.append(("overfitted candidates", even, overfitted, True))
    for effect in (0.1, 0.2, 0.3):
        draw = partial(lambda random: pass_rates(0.6, 0.5, (WORKING + SEALED,), random))
        found.append((f"one of eight helps {100 * effect:.0f} points", draw, partial(one_helps, effect=effect), False))
    return found


def tried(before: Array, after: Array, random: np.random.Generator, **options: object) -> TrialClaims:
    """The claims of a trial by the product's decision."""
    trial = TrialDecision(range(len(before)), rounds=ROUNDS, **options)  # type: ignore[arg-type]
    for round_ in range(ROUNDS):
        passed = [random.random(len(before)) < rates for rates in (before, after)]
        for case in random.permutation(len(before)).tolist():
            trial.add(case, round_, bool(passed[0][case]), bool(passed[1][case]))
            if trial.end:
                return trial.claims()
    return trial.claims()


def best_of(candidates: list[Array], failing: Array, random: np.random.Generator) -> Array:
    """The candidate that successive halving on the failing cases leaves."""
    scores = [0] * len(candidates)
    left = list(range(len(candidates)))
    for size in halving_sizes(len(candidates)):
        for place in left[:size]:
            scores[place] += int((random.random(failing.sum()) < candidates[place][:WORKING][failing]).sum())
        left = [left[at] for at in better_half([(float(scores[place]),) for place in left])]
    return candidates[left[0]]


def session(row: Row, random: np.random.Generator) -> ImprovementEnd:
    """The end of one session."""
    _, draw, change, _ = row
    rates = draw(random)
    failing = random.random(WORKING) >= rates[:WORKING]
    for number in range(GATES):
        candidates = [change(rates, number * CANDIDATES + place, random) for place in range(CANDIDATES)]
        best = best_of(candidates, failing, random)
        if passes_gate(tried(rates[:WORKING], best[:WORKING], random, alpha=gate_level(number + 1))):
            claims = tried(rates[WORKING:], best[WORKING:], random, goal=TrialGoal.SURE)
            return sealed_end(claims, SEALED)
    return ImprovementEnd.NO_CANDIDATE


def ends(row: Row, sessions: int, random: np.random.Generator) -> Counter[ImprovementEnd]:
    """Count how often each end was reached."""
    return Counter(session(row, random) for _ in range(sessions))


def main(sessions: int) -> bool:
    """Print the table; whether every limit is kept."""
    random = np.random.default_rng(20_261_126)
    print(f"ends of {sessions:,} sessions a row, of a quarter where a candidate helps; * would be false")
    print(f"{'':34} gate passed  better   promising  not confirmed or worse")
    kept = True
    for row in rows():
        often = sessions if row[3] else max(1, sessions // 4)
        found = ends(row, often, random)
        share = {end: found[end] / often for end in ImprovementEnd}
        gated = 1 - share[ImprovementEnd.NO_CANDIDATE]
        rest = share[ImprovementEnd.NOT_CONFIRMED] + share[ImprovementEnd.WORSE]
        better = share[ImprovementEnd.BETTER]
        good = not row[3] or (wilson(found[ImprovementEnd.BETTER], sessions).high or 0.0) <= MOST
        kept &= good
        mark = "*" if row[3] else " "
        line = f"{row[0]:34} {gated:11.3f} {better:7.3f}{mark} {share[ImprovementEnd.PROMISING]:10.3f} {rest:10.3f}"
        print(line + ("" if good else "  LIMIT MISSED"), flush=True)
    return kept


if __name__ == "__main__":
    within = main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
    sys.exit(0 if within else 1)
