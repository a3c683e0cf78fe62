"""Metrics of a set of runs: overall, by server, by model and over time, and the ranks of expected tools."""

from collections.abc import Mapping, Sequence

import numpy as np

from mcp_tef.model.answers import RankedTool
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.metrics import GroupMetrics, Metrics, ModelMetrics, Rate, TrendPoint
from mcp_tef.model.tools import OfferedTool
from mcp_tef.model.verdicts import ConfidenceCategory
from mcp_tef.scoring.judge import HIGH
from mcp_tef.statistics.confusion import by_tool
from mcp_tef.statistics.history import CATEGORIES, FAILED, RANKING_MODEL, TP, History, Integers
from mcp_tef.statistics.intervals import Counts, known, mean, percentiles, share, total


def rank_of_expected(
    expectation: Expectation, ranking: Sequence[RankedTool], tools: Sequence[OfferedTool]
) -> int | None:
    """Return the rank, from 1, down to which all tools of an acceptable answer are found; the best over all answers.

    None where no tool is expected, there is no ranking, or an expected tool is not in it. `tools` are those
    offered, under the names that the ranking uses.
    """
    offered = {tool.offered_name: tool.tool for tool in tools}
    ranked = [offered.get(item.offered_name) for item in ranking]
    depths = [
        _depth(calls, [(tool.server, tool.name) if tool else None for tool in ranked])
        for calls in expectation.alternatives
        if calls
    ]
    return min((depth for depth in depths if depth is not None), default=None)


def _depth(calls: Sequence[ExpectedCall], ranked: Sequence[tuple[str, str] | None]) -> int | None:
    ranks = [_rank(call, ranked) for call in calls]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) else None


def _rank(call: ExpectedCall, ranked: Sequence[tuple[str, str] | None]) -> int | None:
    for rank, name in enumerate(ranked, start=1):
        if name and name[1] == call.tool and (not call.server or name[0] in (call.server, "")):
            return rank
    return None


_OUTCOMES = 6
_FAILED = 5


def by_model(ended: History) -> tuple[GroupMetrics, ...]:
    """Return the runs of each model."""
    return _grouped(ended, ended.model, ended.models)


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
    outcome = np.where(ended.status == FAILED, _FAILED, ended.classification)
    size = _OUTCOMES * (max(names, default=0) + 1)
    table = np.bincount(keys * _OUTCOMES + outcome, minlength=size).reshape(-1, _OUTCOMES)
    found = ((name, table[key, 1:].tolist()) for key, name in sorted(names.items(), key=lambda item: item[1]))
    return tuple(Counts(*numbers).group(name) for name, numbers in found if any(numbers))


RECALL_DEPTHS = (1, 3, 5)


def summarise(history: History) -> Metrics:
    """Summarise judged and failed runs; others (pending, running, cancelled) are left out.

    `n` counts both; failed runs count in no rate, latency or confidence. Parameter figures are over the
    true positives where they were judged. Cost and tokens are sums of what is known, failed runs included.
    """
    ended = history.ended
    judged = ended.judged
    right = judged.of(judged.classification == TP)
    counts = Counts.of(ended)
    confidence = known(judged.confidence)
    p50, p95, p99 = percentiles(judged.latency, 0.5, 0.95, 0.99)
    cost_p50, cost_p95 = percentiles(judged.cost, 0.5, 0.95)
    tokens = total(ended.tokens)
    return Metrics(
        n=len(ended),
        tp=counts.tp,
        fp=counts.fp,
        tn=counts.tn,
        fn=counts.fn,
        failed=counts.failed,
        precision=counts.precision,
        recall=counts.recall,
        f1=counts.f1,
        accuracy=counts.accuracy,
        parameters_right=parameters_right(right),
        parameter_accuracy=mean(right.correctness),
        completeness=mean(right.completeness),
        type_conformance=share(right.conformance[right.conformance > 0] == 2),
        hallucination=share(right.hallucinated > 0),
        confidence_high=int(np.count_nonzero(confidence >= HIGH)),
        confidence_low=int(np.count_nonzero(confidence < HIGH)),
        confidence_none=len(judged) - len(confidence),
        robust=_in_category(judged, ConfidenceCategory.ROBUST),
        needs_clarity=_in_category(judged, ConfidenceCategory.NEEDS_CLARITY),
        misleading=_in_category(judged, ConfidenceCategory.MISLEADING),
        latency_p50_ms=p50,
        latency_p95_ms=p95,
        latency_p99_ms=p99,
        cost_usd=total(ended.cost),
        cost_p50_usd=cost_p50,
        cost_p95_usd=cost_p95,
        tokens=None if tokens is None else int(tokens),
        recall_at=_recall_at(judged),
        by_tool=by_tool(ended),
        by_server=by_server(ended),
        by_model=by_model(ended),
    )


def parameters_right(right: History) -> Rate:
    """Return the share of true positives with every judged parameter right; those without a judged one are left out."""
    return share(right.parameters_ok[right.parameters_ok > 0] == 2)


def models(history: History) -> tuple[ModelMetrics, ...]:
    """Return all figures of each model, by label."""
    apart = {history.models[key]: runs for key, runs in history.ended.grouped(history.ended.model)}
    return tuple(
        ModelMetrics(model=label, baseline=label == RANKING_MODEL, metrics=summarise(apart[label]))
        for label in sorted(apart)
    )


def trend(history: History) -> tuple[TrendPoint, ...]:
    """Return the figures of each batch, oldest first."""
    ended = history.ended
    points = [_point(key, runs) for key, runs in ended.grouped(ended.batch) if key in history.batches]
    return tuple(sorted(points, key=lambda point: (point.started, point.batch_id)))


def _point(key: int, runs: History) -> TrendPoint:
    counts, batch = Counts.of(runs), runs.batches[key]
    judged = runs.judged
    (latency,) = percentiles(judged.latency, 0.5)
    return TrendPoint(
        batch_id=batch.id,
        name=batch.name,
        started=batch.started,
        n=len(runs),
        failed=counts.failed,
        accuracy=counts.accuracy,
        parameters_right=parameters_right(judged.of(judged.classification == TP)),
        latency_p50_ms=latency,
        cost_usd=total(runs.cost),
    )


def _in_category(judged: History, category: ConfidenceCategory) -> int:
    return int(np.count_nonzero(judged.category == CATEGORIES.index(category)))


def _recall_at(judged: History) -> dict[int, Rate]:
    """Return recall@k by k: the share of ranked runs with the expected tool among the first k."""
    offline = [key for key, label in judged.models.items() if label == RANKING_MODEL]
    ranked = (judged.rank > 0) | np.isin(judged.model, offline)
    ranks = judged.rank[ranked & (judged.expected > 0)]
    return {depth: share((ranks > 0) & (ranks <= depth)) for depth in RECALL_DEPTHS}
