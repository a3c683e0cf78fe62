"""Comparison of a router with its smallest and its largest model, from the runs that are stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING

from mcp_tef.errors import InputError
from mcp_tef.model.model_catalogue import parse_model
from mcp_tef.model.model_routers import decide_route
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import Arm, ModelSettings
from mcp_tef.statistics.route_comparison import (
    RouteComparison,
    RoutedCase,
    TargetRuns,
    route_arm,
    routed_parts,
    suggested_threshold,
    threshold_curve,
)

if TYPE_CHECKING:
    from mcp_tef.model.cases import TestCase
    from mcp_tef.model.ids import CaseId
    from mcp_tef.model.model_routers import ModelRouter
    from mcp_tef.model.runs import RunSummary
    from mcp_tef.ports import RunStore
    from mcp_tef.workflows.model_targets import ModelTargets

StoredRuns = Mapping["CaseId", Mapping[str, TargetRuns]]


class RouteComparisons:
    """Compares routers over cases."""

    def __init__(self, targets: ModelTargets, runs: RunStore) -> None:
        self._targets = targets
        self._runs = runs

    async def compare(
        self, router: ModelRouter, cases: Sequence[TestCase], small: str = "", large: str = ""
    ) -> RouteComparison:
        """Return a router against always small and always large; EmbeddingError.

        Small and large are the cheapest and the dearest target by the catalogue where they are not named. Routing is
        computed anew, and each model's answers are those of its stored runs, so nothing is sent to a model.
        """
        small, large = await self._ends(router, small, large)
        wanted = tuple(dict.fromkeys((*router.targets, small, large)))
        stored = await self._stored(wanted)
        lacking = {case.id: set(wanted) - set(stored.get(case.id, {})) for case in cases}
        missing = Counter(chain.from_iterable(map(sorted, lacking.values())))
        whole = [case for case in cases if not lacking[case.id]]
        decisions = await self._targets.decisions(router, [case.draft.query for case in whole])
        routed = [
            RoutedCase(case.draft.family or case.id, decision, stored[case.id])
            for case, decision in zip(whole, decisions, strict=True)
        ]
        return _compared(router, routed, (small, large), len(cases) - len(whole), missing)

    async def _ends(self, router: ModelRouter, small: str, large: str) -> tuple[str, str]:
        for name in filter(None, (small, large)):
            if name not in router.targets:
                hint = f"Name one of {', '.join(router.targets)}."
                raise InputError(f"The router {router.name} never asks {name}.", hint=hint)
        cheapest, dearest = await self._by_price(router)
        return small or cheapest, large or dearest

    async def _by_price(self, router: ModelRouter) -> tuple[str, str]:
        """Return the cheapest and the dearest target; where a price is unknown, the default and the first route."""
        prices = {target: await self._price(target) for target in router.targets}
        known = {target: price for target, price in prices.items() if price is not None}
        if len(known) < len(prices):
            return router.default, router.routes[0].target
        return min(known, key=known.__getitem__), max(known, key=known.__getitem__)

    async def _price(self, target: str) -> float | None:
        provider, model = parse_model(target)
        info = await self._targets.info(ModelSettings(provider=provider, model=model))
        return None if info is None or info.input_price is None else info.input_price + (info.output_price or 0.0)

    async def _stored(self, targets: Sequence[str]) -> StoredRuns:
        found: defaultdict[CaseId, dict[str, TargetRuns]] = defaultdict(dict)
        for target in targets:
            by_case: defaultdict[CaseId, list[RunSummary]] = defaultdict(list)
            for run in await self._runs.runs(RunFilter(models=(target,))):
                if run.mark is not None and run.arm is not Arm.DRAFT:
                    by_case[run.case_id].append(run)
            for case_id, runs in by_case.items():
                found[case_id][target] = _summed(runs)
        return found


def _summed(runs: Sequence[RunSummary]) -> TargetRuns:
    costs = [run.cost_usd for run in runs if run.cost_usd is not None]
    seconds = fmean((run.execution_time_ms or 0) / 1000 for run in runs)
    cost = fmean(costs) if len(costs) == len(runs) else None
    return TargetRuns(sum(run.passes for run in runs), len(runs), cost, seconds)


def _compared(
    router: ModelRouter,
    cases: Sequence[RoutedCase],
    ends: tuple[str, str],
    left_out: int,
    missing: Mapping[str, int],
) -> RouteComparison:
    def at(case: RoutedCase, threshold: float) -> str:
        other = replace(router, threshold=threshold)
        thresholds = {route.target: other.threshold_of(route) for route in other.routes}
        scores = [replace(one, threshold=thresholds[one.target]) for one in case.decision.scores]
        return decide_route(other, scores).target

    small, large = ends
    picks: dict[str, Callable[[RoutedCase], str]] = {
        "routed": lambda case: case.decision.target,
        f"always {small}": lambda _case: small,
        f"always {large}": lambda _case: large,
    }
    curve = threshold_curve(cases, at) if cases else ()
    return RouteComparison(
        router=router.name,
        cases=len(cases),
        left_out=left_out,
        missing=dict(missing),
        arms=tuple(route_arm(name, cases, pick) for name, pick in picks.items()) if cases else (),
        went=routed_parts(cases),
        curve=curve,
        suggested=suggested_threshold(curve, len(cases)) if cases else None,
    )
