"""State of the Routes tab: routers, the route of a query, and the comparison with asking one model; knows no Qt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.text.formatting import count, error_text, money, percent
from mcp_tef import (
    DefinitionKind,
    DefinitionsChanged,
    Event,
    InputError,
    ModelRoute,
    ModelRouter,
    RouteArm,
    RouteComparison,
    RouteDecision,
    RouteScore,
    TefError,
    interval_text,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

EMBEDDERS: Final[Mapping[str, str]] = {"tfidf": "Words (TF-IDF)", "fastembed": "Meaning (local model)"}
HUNDRED: Final = 100
ROUTED: Final = "routed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteComparisonRequest:
    """Cases of a suite (all without one), and the ends that routing is compared with; "" is decided by the price."""

    suite: str = ""
    small: str = ""
    large: str = ""


@dataclass(slots=True)
class RoutesPresenter:
    """The routers as they were read last; a comparison belongs to a router as it was then."""

    ask: CoreCall
    routers: dict[str, ModelRouter] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    decision: RouteDecision | None = None
    problem: str = ""
    comparisons: dict[ModelRouter, RouteComparison] = field(default_factory=dict)
    requests: dict[str, RouteComparisonRequest] = field(default_factory=dict)
    _asked: int = 0

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        changed = isinstance(event, DefinitionsChanged) and event.kind in (DefinitionKind.ROUTE, DefinitionKind.GROUP)
        return Refresh.NOW if changed else Refresh.NONE

    async def load(self) -> None:
        """Read the routers, and what they may ask."""
        routers, self.known, self.suites = await self.ask(_read)
        self.routers = {router.name: router for router in routers}

    async def save(self, router: ModelRouter, seen: ModelRouter | None = None) -> ModelRouter:
        """Keep what differs from the router seen (None: none was there); ChangedMeanwhileError, NotFoundError."""
        return await self.ask(lambda core: core.targets.edit_router(router, seen))

    async def add(self, name: str, route: ModelRoute, default: str) -> ModelRouter:
        """Keep a new router with its first route; InputError where its name is taken or anything is wrong."""
        if name.strip() in self.routers:
            raise InputError(f"There is a router named {name.strip()} already.", hint="Use another name.")
        made = ModelRouter(name=name.strip(), routes=(route,), default=default, embedder=next(iter(EMBEDDERS)))
        return await self.save(made)

    async def change(self, name: str, change: Callable[[ModelRouter], ModelRouter]) -> tuple[ModelRouter, ModelRouter]:
        """Keep a changed router; return it as it was seen and as it was to be. InputError, NotFoundError."""
        before = self.routers[name]
        after = change(before)
        if after != before:
            self.routers[name] = await self.save(after, before)
            if before in self.comparisons:
                await self.compare(name, self.requests.get(name, RouteComparisonRequest()))
        return before, after

    async def remove(self, name: str) -> ModelRouter:
        """Remove a router and return it."""
        await self.ask(lambda core: core.targets.remove_router(name))
        return self.routers[name]

    async def decide(self, name: str, query: str) -> bool:
        """Compute the route of a query; return False if a newer query was asked meanwhile."""
        self._asked += 1
        mine, decision, problem = self._asked, None, ""
        try:
            if query.strip() and name in self.routers:
                decision = await self.ask(lambda core: core.targets.decide(name, query.strip()))
        except TefError as error:
            words = error_text(error)
            problem = f"{words.message} {words.hint}".strip()
        if mine != self._asked:
            return False
        self.decision, self.problem = decision, problem
        return True

    async def compare(self, name: str, request: RouteComparisonRequest) -> RouteComparison:
        """Compare a router with its ends by stored runs; EmbeddingError."""
        router = self.routers[name]

        async def work(core: "Engine") -> RouteComparison:
            cases = await core.cases.list()
            wanted = [case for case in cases if not request.suite or request.suite in case.draft.suites]
            return await core.route_comparisons.compare(router, wanted, request.small, request.large)

        self.requests[name] = request
        found = self.comparisons[router] = await self.ask(work)
        return found

    def score_of(self, target: str) -> RouteScore | None:
        """Return the score of a route for the query."""
        scores = self.decision.scores if self.decision else ()
        return next((one for one in scores if one.target == target), None)


async def _read(core: "Engine") -> tuple[tuple[ModelRouter, ...], tuple[str, ...], tuple[str, ...]]:
    groups = [f"group/{group.name}" for group in await core.targets.groups()]
    models = [info.label for info in await core.models.catalogue()]
    return await core.targets.routers(), (*groups, *models), await core.cases.suites()


# ------------------------------------------------------------ changes of a router


def route_of(router: ModelRouter, target: str) -> ModelRoute | None:
    """Return the route to a target."""
    return next((route for route in router.routes if route.target == target), None)


def made_route(target: str, utterances: Sequence[str]) -> ModelRoute:
    """Return a new route; InputError without a model or an utterance."""
    if not target.strip():
        raise InputError("No model is selected for the route.", hint="Select a model or a group.")
    if not utterances:
        hint = "Write at least one sentence that calls for it."
        raise InputError(f"The route {target} has no utterance.", hint=hint)
    return ModelRoute(target=target.strip(), utterances=tuple(utterances))


def with_route(router: ModelRouter, before: str, route: ModelRoute) -> ModelRouter:
    """Return a router with a route in the place of the one to `before`, or one more if there is none."""
    if route_of(router, before) is None:
        return replace(router, routes=(*router.routes, route))
    return replace(router, routes=tuple(route if one.target == before else one for one in router.routes))


def without_route(router: ModelRouter, target: str) -> ModelRouter:
    """Return a router without a route; InputError for its last one."""
    kept = tuple(one for one in router.routes if one.target != target)
    if not kept:
        raise InputError(f"{target} is the only route of {router.name}.", hint="Delete the router, or add a route.")
    return replace(router, routes=kept)


def threshold_from(text: str, what: str) -> float:
    """Return the threshold of a typed text; InputError."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        message = f"The threshold of the {what} is “{text.strip()[:40]}”."
        raise InputError(message, hint="Write a number from 0 to 1.") from None


# ------------------------------------------------------------ sentences


def decision_texts(decision: RouteDecision) -> tuple[str, str]:
    """Return where a query goes, and why."""
    route, second = decision.route, decision.runner_up
    if route is None:
        nearest = (
            f" The nearest, {second.target}, scores {second.score:.2f} of {second.threshold:.2f}." if second else ""
        )
        return f"Goes to {decision.target}", f"No route reaches its threshold.{nearest} No model was asked."
    ahead = f", and {route.score - second.score:.2f} ahead of {second.target}" if second else ""
    return f"Goes to {route.target}", f"{route.score:.2f}, over its {route.threshold:.2f}{ahead}. No model was asked."


def comparison_texts(found: RouteComparison) -> tuple[str, str]:
    """Return the result of a comparison in one line, and its intervals and cases."""
    if not found.arms:
        return "Not compared yet", missing_text(found)
    routed, *ends = found.arms
    large = ends[-1]
    head = f"{percent(routed.rate.value)} correct calls"
    if routed.cost_usd is not None and large.cost_usd:
        head += f" for {percent(routed.cost_usd / large.cost_usd)} of the cost"
    beside = f"Routed {share_text(routed)}, {large.name} {share_text(large)}."
    left_out = f" {missing_text(found)}" if found.left_out else ""
    return head, f"{beside} {count(found.cases, 'case')}, all from stored runs.{left_out}"


def missing_text(found: RouteComparison) -> str:
    """Return which runs are missing for the cases that were left out."""
    if not found.left_out:
        return "No test case fits. Write one, or compare on all."
    lacking = ", ".join(found.missing)
    return f"{count(found.left_out, 'case')} without a judged run of every model: {lacking}."


def share_text(arm: RouteArm) -> str:
    """Return the share of correct calls with its interval: “87 % (78–93)”."""
    interval = interval_text(arm.rate.low, arm.rate.high)
    return percent(arm.rate.value) + (f" ({interval})" if interval else "")


def cost_text(cost: float | None) -> str:
    """Return the cost of a hundred calls."""
    return "unknown" if cost is None else money(cost * HUNDRED)


def suggestion_text(found: RouteComparison) -> str:
    """Return what the suggested threshold keeps, in one sentence."""
    best = found.suggested
    if best is None:
        return ""
    cost = "" if best.cost_usd is None else f" for {cost_text(best.cost_usd)} per 100 calls"
    return f"Threshold {best.threshold:.2f} keeps {percent(best.share)}{cost} on these cases. Try it on others."
