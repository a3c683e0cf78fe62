"""Metrics of a set of runs: overall, by server, by model and over time; pass rates of repeated cases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from mcp_tef.model.answers import AnsweringModel
from mcp_tef.model.cases import CaseOrigin
from mcp_tef.model.metrics import (
    GroupMetrics,
    Metrics,
    ModelMetrics,
    OriginCounts,
    PassAllRate,
    Rate,
    RepeatedCase,
    RepeatStatistics,
    TrendPoint,
)
from mcp_tef.model.runs import is_baseline
from mcp_tef.model.verdicts import ConfidenceCategory
from mcp_tef.scoring.judge import HIGH
from mcp_tef.statistics.confusion import by_tool
from mcp_tef.statistics.history import Flags, History, Integers, Numbers, PastBatch
from mcp_tef.statistics.intervals import (
    clustered_rate,
    f1_interval,
    grouped_metrics,
    known,
    mean,
    mean_rate,
    percentiles,
    sums,
    total,
    wilson,
)
from mcp_tef.statistics.run_codes import CATEGORIES, CUT_OFF, FN, FP, TP


def by_model(ended: History) -> tuple[GroupMetrics, ...]:
    """Return the runs of each model; addresses of one model stand apart."""
    apart = ended.apart_by_address
    return _grouped(apart, apart.model, apart.models)


def by_server(ended: History) -> tuple[GroupMetrics, ...]:
    """Return the runs that each server had a part in: whose tool was expected, or picked where nothing was expected."""
    names = sorted({label.server for label in ended.tools.values() if label.server})
    numbers = {name: place for place, name in enumerate(names, start=1)}
    of_tool = np.zeros(max(ended.tools, default=0) + 1, dtype=np.int64)
    for key, label in ended.tools.items():
        of_tool[key] = numbers.get(label.server or "", 0)
    meant = np.where(ended.expected > 0, ended.expected, ended.selected)
    return _grouped(ended, of_tool[meant], {place: name for name, place in numbers.items()})


def _grouped(ended: History, keys: Integers, names: Mapping[int, str]) -> tuple[GroupMetrics, ...]:
    """Return counts by name of the key of each run; 0 is no key."""
    order = sorted(names, key=lambda key: names[key])
    place = np.zeros(max(names, default=0) + 1, dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)
    groups = grouped_metrics(ended, ["", *(names[key] for key in order)], place[keys])
    return tuple(group for group in groups[1:] if group.n or group.failed)


MOST_NAMES = 3
RECALL_DEPTHS = (1, 3, 5)


def summarise(history: History) -> Metrics:
    """Summarise judged and failed runs; others (pending, running, cancelled) are left out.

    Failed runs count in no rate, latency or confidence, and not in `n`. Parameter figures are over the
    true positives where they were judged. Cost and tokens are sums of what is known, failed runs included; the
    baseline costs nothing, so percentiles of cost leave it out.
    """
    every = history.ended
    ended = every.together
    judged = ended.judged
    right = judged.of(judged.classification == TP)
    family, typed = right.family, right.conformance > 0
    (counts,) = grouped_metrics(ended, [""], np.zeros(len(ended), dtype=np.int64))
    confidence = known(judged.confidence)
    return Metrics(
        n=len(judged),
        cases=len(np.unique(judged.case)),
        repeats=_most_repeats(judged),
        correct_call=counts.correct_call,
        correct_tool=counts.correct_tool,
        unreadable=counts.unreadable,
        not_offered=counts.not_offered,
        cut_off=int(np.count_nonzero(ended.failure == CUT_OFF)),
        tp=counts.tp,
        fp=counts.fp,
        tn=counts.tn,
        fn=counts.fn,
        failed=counts.failed,
        precision=counts.precision,
        recall=counts.recall,
        f1=counts.f1,
        accuracy=counts.accuracy,
        parameter_accuracy=mean_rate(right.correctness, family),
        completeness=mean_rate(right.completeness, family),
        type_conformance=clustered_rate(right.conformance[typed] == 2, family[typed]),
        hallucination=clustered_rate(right.hallucinated > 0, family),
        confidence_high=int(np.count_nonzero(confidence >= HIGH)),
        confidence_low=int(np.count_nonzero(confidence < HIGH)),
        confidence_none=len(judged) - len(confidence),
        robust=_in_category(judged, ConfidenceCategory.ROBUST),
        needs_clarity=_in_category(judged, ConfidenceCategory.NEEDS_CLARITY),
        misleading=_in_category(judged, ConfidenceCategory.MISLEADING),
        **_amounts(ended),
        recall_at=_recall_at(every.judged),
        by_tool=by_tool(ended),
        by_server=by_server(ended),
        by_model=by_model(every),
        f1_interval=_f1_interval(judged),
        by_origin={origin: _counts_of(judged.of(mask)) for origin, mask in _origins(judged)},
    )


def _origins(judged: History) -> tuple[tuple[CaseOrigin, Flags], ...]:
    return (CaseOrigin.WRITTEN, ~judged.is_generated), (CaseOrigin.GENERATED, judged.is_generated)


def _counts_of(judged: History) -> OriginCounts:
    return OriginCounts(len(np.unique(judged.case)), len(judged), int(np.count_nonzero(judged.correct_call)))


def _f1_interval(judged: History) -> tuple[float, float] | None:
    family, kind = np.unique(judged.family, return_inverse=True)[1], judged.classification
    tp = sums(kind == TP, family)
    return f1_interval(tp, sums((kind == FP) | (kind == FN), family))


def _amounts(ended: History) -> dict[str, Any]:
    """Return the fields of `Metrics` about time, cost and tokens."""
    judged, tokens = ended.judged, total(ended.tokens)
    p50, p95, p99 = percentiles(judged.latency, 0.5, 0.95, 0.99)
    cost_p50, cost_p95 = percentiles(judged.cost[~judged.is_baseline], 0.5, 0.95)
    return {
        "latency_mean_ms": mean(judged.latency),
        "latency_p50_ms": p50,
        "latency_p95_ms": p95,
        "latency_p99_ms": p99,
        "cost_usd": total(ended.cost),
        "priced": len(known(ended.cost)),
        "cost_p50_usd": cost_p50,
        "cost_p95_usd": cost_p95,
        "tokens": None if tokens is None else int(tokens),
    }


def _most_repeats(judged: History) -> int:
    """Return the most runs of one case by one model in one batch; 0 without a run."""
    models = int(judged.model.max(initial=0)) + 1
    batches = int(judged.batch.max(initial=0)) + 1
    keys = np.sort((judged.case.astype(np.int64) * batches + judged.batch) * models + judged.model)
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))
    return int(np.diff(starts).max()) if len(keys) else 0


def models(history: History) -> tuple[ModelMetrics, ...]:
    """Return all figures of each model, by label; addresses of one model stand apart."""
    ended = history.ended.apart_by_address
    apart = {ended.models[key]: runs for key, runs in ended.grouped(ended.model)}
    return tuple(
        ModelMetrics(model=label, baseline=is_baseline(label), metrics=summarise(apart[label]))
        for label in sorted(apart)
    )


def trend(history: History) -> tuple[TrendPoint, ...]:
    """Return the figures of each batch, oldest first."""
    ended = history.ended
    order = sorted(history.batches, key=lambda key: (history.batches[key].started, history.batches[key].id))
    place = np.zeros(max(order, default=0) + 1, dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)
    there = np.where(ended.batch < len(place), ended.batch, 0)
    groups = grouped_metrics(ended, ["", *(history.batches[key].name for key in order)], place[there])
    found = ((int(place[key]), key, runs) for key, runs in ended.grouped(there))
    points = {at: _point(history.batches[key], groups[at], runs) for at, key, runs in found if at}
    notes = _provider_notes([history.batches[key] for key in order if int(place[key]) in points])
    return tuple(replace(points[at], note=note) for at, note in zip(sorted(points), notes, strict=True))


def _provider_notes(batches: Sequence[PastBatch]) -> Iterator[str]:
    """Yield for each batch, oldest first, where a model was asked elsewhere, or answered as another, than before."""
    last = frozenset[AnsweringModel]()
    for batch in batches:
        yield " ".join(provider_changes(last, batch.answered))
        labels = {model.label for model in batch.answered}
        last = batch.answered.union(model for model in last if model.label not in labels)


def provider_changes(before: frozenset[AnsweringModel], after: frozenset[AnsweringModel]) -> tuple[str, ...]:
    """Return a sentence for each model that was asked elsewhere, or another version answered for, in the later batch.

    Providers use several fingerprints side by side, so these have changed only where they have none in common.
    """
    labels = {model.label for model in before} & {model.label for model in after}
    each = ([{model for model in batch if model.label == label} for batch in (before, after)] for label in labels)
    return tuple(sorted(chain.from_iterable(_provider_change(*models) for models in each)))


def _provider_change(before: AbstractSet[AnsweringModel], after: AbstractSet[AnsweringModel]) -> Iterator[str]:
    label = next(iter(after)).label
    places = [{model.address or "the provider's own address" for model in models} for models in (before, after)]
    if places[0] != places[1]:
        yield f"{label} was asked at {_listed(places[0])} before, {_listed(places[1])} after."
    old, new = {model.name for model in before}, {model.name for model in after}
    first, second = {model.fingerprint for model in before} - {None}, {model.fingerprint for model in after} - {None}
    if old != new:
        yield f"The provider of {label} answered as {_listed(old)} before, {_listed(new)} after."
    elif first and second and first.isdisjoint(second):
        yield f"The provider of {label} answered with fingerprint {_listed(first)} before, {_listed(second)} after."


def _listed(names: Iterable[str | None]) -> str:
    found = sorted(filter(None, names))
    return ", ".join(found[:MOST_NAMES]) + (f" and {len(found) - MOST_NAMES} more" if len(found) > MOST_NAMES else "")


def _point(batch: PastBatch, group: GroupMetrics, runs: History) -> TrendPoint:
    (latency,) = percentiles(runs.judged.latency, 0.5)
    priced, answered = len(known(runs.cost)), group.n + int(np.count_nonzero(runs.failure == CUT_OFF))
    return TrendPoint(
        batch_id=batch.id,
        name=batch.name,
        started=batch.started,
        n=group.n,
        failed=group.failed,
        unreadable=group.unreadable,
        correct_call=group.correct_call,
        correct_tool=group.correct_tool,
        latency_p50_ms=latency,
        cost_usd=total(runs.cost),
        priced=priced,
        unpriced=max(0, answered - priced),
    )


def _in_category(judged: History, category: ConfidenceCategory) -> int:
    return int(np.count_nonzero(judged.category == CATEGORIES.index(category)))


def _recall_at(judged: History) -> dict[int, Rate]:
    """Return recall@k by k: the share of ranked runs with the expected tool among the first k."""
    ranked = (judged.rank > 0) | judged.is_baseline
    ranks, family = (column[ranked & (judged.expected > 0)] for column in (judged.rank, judged.family))
    return {depth: clustered_rate((ranks > 0) & (ranks <= depth), family) for depth in RECALL_DEPTHS}


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
