"""Pairs of the runs of two batches, and the changes between them."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence

from mcp_tef.model.comparison import PairableRun, PairChange, PairedBy, PairedTest, RunPair
from mcp_tef.model.verdicts import Classification
from mcp_tef.statistics.mcnemar import paired_test

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
