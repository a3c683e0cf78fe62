"""Pairs of cases that two batches ran, with the pass rate on each side; pure."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mcp_tef.model.comparison import CasePair, CaseSide, PairableRun, PairChange, PairedBy, PassCriterion, ShareChange
from mcp_tef.model.metrics import Rate
from mcp_tef.statistics.history import Integers
from mcp_tef.statistics.intervals import intraclass_correlation, rates_of_families, sums
from mcp_tef.statistics.paired_evidence import NOTHING, PairedCases, clustered_difference


@dataclass(frozen=True, slots=True)
class CaseRuns:
    """The runs of one case (and model) in both batches, in the order of their repeats."""

    before: tuple[PairableRun, ...]
    after: tuple[PairableRun, ...]

    @property
    def left_out(self) -> int:
        """Number of runs without a verdict, of a case that both batches ran."""
        runs = (*self.before, *self.after) if self.before and self.after else ()
        return len(runs) - len(_judged(runs))

    @property
    def judged(self) -> "CaseRuns":
        """The runs that have a verdict."""
        return CaseRuns(_judged(self.before), _judged(self.after))


def _judged(runs: Sequence[PairableRun]) -> tuple[PairableRun, ...]:
    return tuple(run for run in runs if run.mark is not None)


def paired_by(before: Sequence[PairableRun], after: Sequence[PairableRun]) -> PairedBy:
    """By case and model where both batches asked the same models, else by case."""
    same = {run.model for run in before} == {run.model for run in after}
    return PairedBy.CASE_AND_MODEL if same else PairedBy.CASE


def runs_by_case(before: Sequence[PairableRun], after: Sequence[PairableRun], by: PairedBy) -> tuple[CaseRuns, ...]:
    """Return each case once: those of the later batch in its order, then those that only the earlier one ran."""

    def key(run: PairableRun) -> Hashable:
        return run.case_id if by is PairedBy.CASE else (run.case_id, run.model)

    sides: dict[Hashable, tuple[list[PairableRun], list[PairableRun]]] = defaultdict(lambda: ([], []))
    for place, runs in ((1, after), (0, before)):
        for run in sorted(runs, key=lambda run: run.repeat):
            sides[key(run)][place].append(run)
    order = dict.fromkeys([key(run) for run in (*after, *before)])
    return tuple(CaseRuns(tuple(sides[one][0]), tuple(sides[one][1])) for one in order)


def case_pair(runs: CaseRuns, criterion: PassCriterion) -> CasePair:
    """Return the change of one case's pass rate."""
    first, second = _shown(runs, criterion)
    posed = {run.posed for run in runs.before} == {run.posed for run in runs.after}
    return CasePair(
        change=_change(runs, criterion),
        case_id=(runs.after or runs.before)[0].case_id,
        before=_side(runs.before, first, criterion),
        after=_side(runs.after, second, criterion),
        posed_alike=posed or not runs.before or not runs.after,
    )


def _side(runs: Sequence[PairableRun], shown: PairableRun | None, criterion: PassCriterion) -> CaseSide | None:
    if shown is None:
        return None
    judged = _judged(runs)
    return CaseSide(
        runs=tuple(run.id for run in runs),
        judged=len(judged),
        passed=_passes(judged, criterion),
        shown=shown.id,
    )


def _shown(runs: CaseRuns, criterion: PassCriterion) -> tuple[PairableRun | None, PairableRun | None]:
    """Return the first pair of runs that differ as the pass rates do, else the first judged ones, else the first."""
    judged = runs.judged
    before, after = judged.before or runs.before, judged.after or runs.after
    if not before or not after:
        return next(iter(before), None), next(iter(after), None)
    rise = _pass_rate(after, criterion) - _pass_rate(before, criterion)
    wanted = [
        next((run for run in side if run.passed(criterion) == (rise > 0) ^ (side is before)), side[0])
        for side in (before, after)
    ]
    return (wanted[0], wanted[1]) if rise else (before[0], after[0])


def _passes(runs: Sequence[PairableRun], criterion: PassCriterion) -> int:
    return sum(run.passed(criterion) for run in runs)


def _change(runs: CaseRuns, criterion: PassCriterion) -> PairChange:
    if not runs.before or not runs.after:
        return PairChange.GONE if runs.before else PairChange.NEW
    judged = runs.judged
    if not judged.before or not judged.after:
        return PairChange.NOT_COMPARABLE
    return _rate_change(_pass_rate(judged.before, criterion), _pass_rate(judged.after, criterion))


def _pass_rate(runs: Sequence[PairableRun], criterion: PassCriterion) -> Fraction:
    return Fraction(_passes(runs, criterion), len(runs))


def _rate_change(was: Fraction, now: Fraction) -> PairChange:
    if was == now:
        return PairChange.UNCHANGED_RIGHT if now == 1 else PairChange.UNCHANGED_WRONG
    return PairChange.FIXED if now > was else PairChange.REGRESSED


def paired_cases(cases: Sequence[CaseRuns], criterion: PassCriterion, *, deterministic: bool = False) -> PairedCases:
    """Return the cases that were judged in both batches as numbers; runs pair first with first, second with second."""
    judged = [runs for case in cases if (runs := case.judged).before and runs.after]
    families: dict[str, int] = {}
    rows = [_numbers(runs, criterion, families) for runs in judged]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 7).T
    before, passed_before, after, passed_after, wins, losses, family = columns
    return PairedCases(
        runs_before=before,
        passed_before=passed_before,
        runs_after=after,
        passed_after=passed_after,
        wins=wins,
        losses=losses,
        family=family,
        deterministic=deterministic,
    )


def _numbers(runs: CaseRuns, criterion: PassCriterion, families: dict[str, int]) -> tuple[int, ...]:
    before = [run.passed(criterion) for run in runs.before]
    after = [run.passed(criterion) for run in runs.after]
    pairs = list(zip(before, after, strict=False))
    name = f"family {runs.after[0].family}" if runs.after[0].family else runs.after[0].case_id
    family = families.setdefault(name, len(families))
    wins, losses = pairs.count((False, True)), pairs.count((True, False))
    return len(before), sum(before), len(after), sum(after), wins, losses, family


def share_change(cases: PairedCases) -> ShareChange:
    """Return the share of runs that passed on both sides, and its change."""
    if not len(cases):
        nothing = Rate(None, None, None, 0)
        return ShareChange(nothing, nothing, NOTHING)
    before = _rate(cases.passed_before, cases.runs_before, cases.family)
    after = _rate(cases.passed_after, cases.runs_after, cases.family)
    return ShareChange(before, after, clustered_difference(cases).difference)


def _rate(passed: Integers, runs: Integers, family: Integers) -> Rate:
    one_group = np.zeros(int(family.max()) + 1, dtype=np.int64)
    return rates_of_families(sums(passed, family), sums(runs, family), one_group, 1)[0]


def correlation(cases: PairedCases) -> float | None:
    """Return how much the runs of one case in one batch agree."""
    passed = np.concatenate([cases.passed_before, cases.passed_after]).astype(np.float64)
    return intraclass_correlation(passed, np.concatenate([cases.runs_before, cases.runs_after]).astype(np.float64))
