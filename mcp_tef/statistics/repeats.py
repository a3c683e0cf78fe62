"""Statistics of repeated cases: pass rate, probability that k runs all pass, and flaky cases."""

from collections.abc import Sequence

import numpy as np

from mcp_tef.model.metrics import PassAllRate, RepeatedCase, RepeatStatistics
from mcp_tef.statistics.history import History, Integers, Numbers
from mcp_tef.statistics.intervals import clustered_rate, wilson

MOST_RUNS_IN_A_ROW = 10
MOST_FLAKY = 500


def repeats(history: History) -> RepeatStatistics:
    """Look at every case that a model ran twice or more in one batch, over judged runs.

    Where a model was asked as well, the runs of a baseline count in none of it.
    """
    judged = history.together.judged
    keys = np.stack([judged.batch, judged.case, judged.model], axis=1).astype(np.int64)
    groups, member = _groups(keys)
    n = np.bincount(member, minlength=len(groups))
    passed = np.bincount(member, weights=judged.correct_call, minlength=len(groups)).astype(np.int64)
    again = n >= 2
    groups, sizes, passes = groups[again], n[again], passed[again]
    mixed = (passes > 0) & (passes < sizes)
    family = np.zeros(len(again), dtype=np.int64)
    family[member] = judged.family
    repeated = again[member]
    return RepeatStatistics(
        groups=len(groups),
        runs=int(sizes.sum()),
        pass_rate=clustered_rate(judged.correct_call[repeated], judged.family[repeated]),
        pass_power=_pass_powers(sizes, passes, family[again]),
        always=int(np.count_nonzero(passes == sizes)),
        never=int(np.count_nonzero(passes == 0)),
        mixed=int(np.count_nonzero(mixed)),
        flaky=_flaky(history, groups[mixed], sizes[mixed], passes[mixed]),
    )


def _groups(keys: Integers) -> tuple[Integers, Integers]:
    """Return the different rows of `keys`, and for each row the place of its equal among them."""
    order = np.lexsort(keys.T[::-1])
    ordered = keys[order]
    starts = np.ones(len(keys), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    member = np.empty(len(keys), dtype=np.int64)
    member[order] = np.cumsum(starts) - 1
    return ordered[starts], member


def pass_power(n: Integers, passed: Integers, k: int) -> Numbers:
    """Return the chance that k runs of a case all pass, unbiased, from `passed` of `n` runs: C(passed, k) / C(n, k).

    Source: S. Yao and others, τ-bench, 2024, pass^k.
    """
    steps = np.arange(k)
    numerators = np.maximum(passed[:, None] - steps, 0)
    return np.asarray((numerators / (n[:, None] - steps)).prod(axis=1), dtype=np.float64)


def _pass_powers(n: Integers, passed: Integers, family: Integers) -> tuple[PassAllRate, ...]:
    deepest = min(int(n.max(initial=0)), MOST_RUNS_IN_A_ROW)
    return tuple(_power(n[n >= k], passed[n >= k], family[n >= k], k) for k in range(1, deepest + 1))


def _power(n: Integers, passed: Integers, family: Integers, k: int) -> PassAllRate:
    return PassAllRate(k=k, rate=clustered_rate(pass_power(n, passed, k), family))


def _flaky(history: History, groups: Integers, n: Integers, passed: Integers) -> tuple[RepeatedCase, ...]:
    """Return the closest to 50 % first, of equals those with more runs."""
    order = np.lexsort((groups[:, 1], -n, np.abs(2 * passed / n - 1)))[:MOST_FLAKY]
    rows = np.column_stack([groups, n, passed])[order].tolist()
    return tuple(_repeated(history, row) for row in rows if row[1] in history.cases)


def _repeated(history: History, row: Sequence[int]) -> RepeatedCase:
    batch, case, model, n, passed = row
    known, past = history.batches.get(batch), history.cases[case]
    return RepeatedCase(
        batch_id=known.id if known else None,
        case_id=past.id,
        case_name=past.name,
        model=history.models.get(model, ""),
        n=n,
        passed=passed,
        rate=wilson(passed, n),
    )
