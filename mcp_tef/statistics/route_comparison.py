"""A router against always asking its smaller or its larger model, over the same cases and from stored runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcp_tef.model.metrics import Rate
from mcp_tef.model.model_routers import RouteDecision
from mcp_tef.statistics.intervals import rates_of_families, sums

CURVE_STEPS = 20


@dataclass(frozen=True, slots=True)
class TargetRuns:
    """Judged runs of one case with one model: correct calls of `runs`, mean US dollars (None: unknown) and seconds."""

    correct: int
    runs: int
    cost_usd: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class RoutedCase:
    """A case with the decision of the router, and its stored runs with each target."""

    family: str
    decision: RouteDecision
    runs: Mapping[str, TargetRuns]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteArm:
    """One way of asking over all cases: share of correct calls with its interval, mean cost and seconds of a query.

    `asked` counts the cases by the model that was asked.
    """

    name: str
    rate: Rate
    cost_usd: float | None
    seconds: float
    asked: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """Share of correct calls with its interval, and mean US dollars of a query, at one threshold of the router."""

    threshold: float
    share: float
    cost_usd: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteComparison:
    """Arms over `cases` cases; `left_out` lack a judged run with one of the targets.

    `went` splits the routed arm by the route that was taken; "" is the default, taken where no route was near enough.
    `suggested` is the cheapest threshold within one standard error of the best (L. Breiman and others, Classification
    and Regression Trees, 1984, 3.4.3). It was found on these cases, so try it on others.
    """

    router: str
    cases: int
    left_out: int
    missing: Mapping[str, int]
    arms: tuple[RouteArm, ...]
    went: tuple[RouteArm, ...]
    curve: tuple[ThresholdPoint, ...]
    suggested: ThresholdPoint | None


def route_arm(name: str, cases: Sequence[RoutedCase], pick: Callable[[RoutedCase], str]) -> RouteArm:
    """Return what asking the picked model for each case, at least one, gives."""
    names = list(map(pick, cases))
    runs = [case.runs[target] for case, target in zip(cases, names, strict=True)]
    _, families = np.unique([case.family for case in cases], return_inverse=True)
    counts = np.asarray([(one.correct, one.runs) for one in runs], dtype=np.float64)
    yes, judged = sums(counts[:, 0], families), sums(counts[:, 1], families)
    (rate,) = rates_of_families(yes, judged, np.zeros(len(yes), dtype=np.intp), 1)
    return RouteArm(
        name=name,
        rate=rate,
        cost_usd=_mean_cost(runs),
        seconds=float(np.mean([one.seconds for one in runs])),
        asked={target: names.count(target) for target in dict.fromkeys(names)},
    )


def routed_parts(cases: Sequence[RoutedCase]) -> tuple[RouteArm, ...]:
    """Return an arm for each route that was taken, in the order of the first case; "" names the default."""
    parts: dict[str, list[RoutedCase]] = {}
    for case in cases:
        parts.setdefault(case.decision.route.target if case.decision.route else "", []).append(case)
    return tuple(route_arm(name, part, lambda case: case.decision.target) for name, part in parts.items())


def _mean_cost(runs: Sequence[TargetRuns]) -> float | None:
    costs = [one.cost_usd for one in runs]
    known = [cost for cost in costs if cost is not None]
    return float(np.mean(known)) if len(known) == len(costs) else None


def threshold_curve(
    cases: Sequence[RoutedCase], decide: Callable[[RoutedCase, float], str]
) -> tuple[ThresholdPoint, ...]:
    """Return the share of correct calls and the cost at thresholds from 0 to 1."""
    points = []
    for step in range(CURVE_STEPS + 1):
        threshold = step / CURVE_STEPS
        arm = route_arm("", cases, lambda case, at=threshold: decide(case, at))  # type: ignore[misc]
        rate = arm.rate
        points.append(ThresholdPoint(threshold, rate.value or 0.0, arm.cost_usd, rate.low, rate.high))
    return tuple(points)


def suggested_threshold(curve: Sequence[ThresholdPoint], cases: int) -> ThresholdPoint:
    """Return the cheapest threshold of a curve within one standard error of the best; without costs the best."""
    best = max(point.share for point in curve)
    error = float(np.sqrt(best * (1 - best) / cases))
    unpriced = any(point.cost_usd is None for point in curve)
    good = [point for point in curve if point.share >= (best if unpriced else best - error)]
    return min(good, key=lambda point: (point.cost_usd or 0.0, -point.share, point.threshold))
