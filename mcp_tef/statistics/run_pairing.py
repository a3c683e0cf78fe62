"""Pairs of the runs of two batches, the changes between them, and McNemar's test on these."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import ceil, exp, lgamma, log, log10, sqrt

from mcp_tef.model.comparison import (
    ComparisonConclusion,
    PairableRun,
    PairChange,
    PairedBy,
    PairedTest,
    RateDifference,
    RunPair,
)
from mcp_tef.model.verdicts import Classification
from mcp_tef.scoring.phrases import counted
from mcp_tef.statistics.intervals import Z95, wilson

ALPHA = 0.05
Z80 = 0.8416212335729143
TINY = 1e-17


def paired_test(both_right: int, fixed: int, regressed: int, both_wrong: int) -> PairedTest:
    """Return the conclusion from counts of pairs: `fixed` were wrong and are right, `regressed` the reverse.

    The reading rests on McNemar's exact test at 5 %, two-sided. It is about these cases: runs of one case count as
    independent draws, so repeats make the figures of these cases surer, and say nothing of other cases.
    """
    n = both_right + fixed + regressed + both_wrong
    p = mcnemar(fixed, regressed) if n else None
    reading = _reading(p, fixed - regressed)
    more = more_pairs(n, fixed, regressed) if reading is ComparisonConclusion.UNDECIDED else None
    return PairedTest(
        n=n,
        both_right=both_right,
        fixed=fixed,
        regressed=regressed,
        both_wrong=both_wrong,
        before=wilson(both_right + regressed, n),
        after=wilson(both_right + fixed, n),
        difference=difference(n, fixed, regressed),
        p=p,
        reading=reading,
        more_pairs=more,
        sentence=_sentence(n, fixed, regressed, p, reading, more),
    )


def mcnemar(fixed: int, regressed: int) -> float:
    """Return the exact two-sided probability of a split as uneven as this where neither way is likelier; 1 of no pair.

    p = min(1, 2 · P(X ≤ min(b, c))) for X binomial with b + c trials of chance ½, b and c the discordant pairs.
    Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions or percentages,
    Psychometrika 12 (1947), 153-157; as an exact binomial test in F. Mosteller, Some statistical problems in
    measuring the subjective response to drugs, Biometrics 8 (1952), 220-226.
    """
    trials, fewer = fixed + regressed, min(fixed, regressed)
    largest = exp(lgamma(trials + 1) - lgamma(fewer + 1) - lgamma(trials - fewer + 1) - trials * log(2))
    tail, share = 0.0, 1.0
    for number in range(fewer, -1, -1):
        tail += share
        share *= number / (trials - number + 1)
        if share < tail * TINY:
            break
    return min(1.0, 2 * largest * tail)


def difference(n: int, fixed: int, regressed: int) -> RateDifference:
    """Return the later share minus the earlier one, with a 95 % interval for paired shares; nothing of no pair.

    The estimate is (b - c) / n. The interval is Wald's with the adjustment of Bonett and Price: one is added to b
    and to c, two to n; with p = (b + 1) / (n + 2), q = (c + 1) / (n + 2) and d = p - q it is
    d ± z √((p + q - d²) / (n + 2)).
    Source: D. G. Bonett, R. M. Price, Adjusted Wald confidence interval for a difference of binomial proportions
    based on paired data, Journal of Educational and Behavioral Statistics 37 (2012), 479-488.
    """
    if n <= 0:
        return RateDifference(None, None, None)
    up, down = (fixed + 1) / (n + 2), (regressed + 1) / (n + 2)
    half = Z95 * sqrt((up + down - (up - down) ** 2) / (n + 2))
    return RateDifference((fixed - regressed) / n, max(-1.0, up - down - half), min(1.0, up - down + half))


def more_pairs(n: int, fixed: int, regressed: int) -> int | None:
    """About how many further pairs the exact test needs to tell, with a chance of 80 %, if the trend is real.

    None where the discordant pairs split evenly or there is none. With the observed shares p = (b + c) / n of
    discordant pairs and d = |b - c| / n of difference, the number of pairs is ((z √p + z' √(p - d²)) / d)² + 1 / d,
    z = 1.960 for 5 % two-sided, z' = 0.842 for a power of 80 %; the last term is the correction for continuity.
    Sources: R. J. Connor, Sample size for testing differences in proportions for the paired-sample design,
    Biometrics 43 (1987), 207-211; the correction: J. L. Fleiss, B. Levin, M. C. Paik, Statistical Methods for Rates
    and Proportions, 3rd edition (2003), chapter 13.
    """
    if fixed == regressed:
        return None
    discordant, gap = (fixed + regressed) / n, abs(fixed - regressed) / n
    needed = ((Z95 * sqrt(discordant) + Z80 * sqrt(max(0.0, discordant - gap * gap))) / gap) ** 2 + 1 / gap
    return max(1, ceil(needed) - n)


def _reading(p: float | None, gain: int) -> ComparisonConclusion:
    if p is None or p >= ALPHA:
        return ComparisonConclusion.UNDECIDED
    return ComparisonConclusion.BETTER if gain > 0 else ComparisonConclusion.WORSE


def _sentence(
    n: int, fixed: int, regressed: int, p: float | None, reading: ComparisonConclusion, more: int | None
) -> str:
    if p is None:
        return "Nothing to compare: no run was judged on both sides."
    if not fixed and not regressed:
        return f"Not enough runs to tell: none of {counted(n, 'pair', 'pairs')} changed."
    found = f"{fixed:,} fixed and {regressed:,} regressed of {counted(n, 'pair', 'pairs')} ({_told(p)})"
    if reading is not ComparisonConclusion.UNDECIDED:
        return f"{reading.value.capitalize()}: {found}."
    if more is None:
        return f"Not enough runs to tell: {found}; nothing points either way."
    return f"Not enough runs to tell: {found}. About {_about(more):,} more paired runs would settle it."


def _told(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def _about(number: int) -> int:
    """Round up to two significant digits."""
    step = int(10 ** max(0, int(log10(number)) - 1))
    return ceil(number / step) * step


RIGHT = frozenset({Classification.TP, Classification.TN})
_CHANGES = {
    (False, True): PairChange.FIXED,
    (True, False): PairChange.REGRESSED,
    (True, True): PairChange.UNCHANGED_RIGHT,
    (False, False): PairChange.UNCHANGED_WRONG,
}
_KEYS: dict[PairedBy, Callable[[PairableRun], Hashable]] = {
    PairedBy.RUN: lambda run: (run.case_id, run.repeat, run.model),
    PairedBy.CASE: lambda run: run.case_id,
}


def paired_by(before: Sequence[PairableRun], after: Sequence[PairableRun]) -> PairedBy:
    """By case, repeat and model where both batches asked the same models, else by case."""
    return PairedBy.RUN if {run.model for run in before} == {run.model for run in after} else PairedBy.CASE


def pairs(before: Sequence[PairableRun], after: Sequence[PairableRun], by: PairedBy) -> tuple[RunPair, ...]:
    """Each run in one pair: those of the later batch in its order, then those of the earlier one without a partner.

    Runs with the same key are paired first with first, second with second, as both batches have them.
    """
    key = _KEYS[by]
    waiting: defaultdict[Hashable, deque[PairableRun]] = defaultdict(deque)
    for run in before:
        waiting[key(run)].append(run)
    met = [_pair(waiting[key(run)].popleft() if waiting.get(key(run)) else None, run) for run in after]
    taken = {pair.before for pair in met}
    return (*met, *(_gone(run) for run in before if run.id not in taken))


def _gone(run: PairableRun) -> RunPair:
    return RunPair(change=PairChange.GONE, case_id=run.case_id, before=run.id, after=None)


def _pair(before: PairableRun | None, after: PairableRun) -> RunPair:
    if before is None:
        return RunPair(change=PairChange.NEW, case_id=after.case_id, before=None, after=after.id)
    return RunPair(
        change=_change(before, after),
        case_id=after.case_id,
        before=before.id,
        after=after.id,
        parameters=_of_parameters(before, after),
        posed_alike=before.posed == after.posed,
    )


def _change(before: PairableRun, after: PairableRun) -> PairChange:
    if before.classification is None or after.classification is None:
        return PairChange.NOT_COMPARABLE
    return _CHANGES[before.classification in RIGHT, after.classification in RIGHT]


def _of_parameters(before: PairableRun, after: PairableRun) -> PairChange | None:
    """Return the change of right parameters where both runs chose the right tool; None if they were not judged."""
    both_chose = before.classification is after.classification is Classification.TP
    if not both_chose or before.parameters_ok is None or after.parameters_ok is None:
        return None
    return _CHANGES[before.parameters_ok, after.parameters_ok]


def tested(changes: Iterable[PairChange | None]) -> PairedTest:
    """Return the conclusion from all changes; those without an outcome on both sides are left out."""
    often = Counter(changes)
    return paired_test(
        both_right=often[PairChange.UNCHANGED_RIGHT],
        fixed=often[PairChange.FIXED],
        regressed=often[PairChange.REGRESSED],
        both_wrong=often[PairChange.UNCHANGED_WRONG],
    )
