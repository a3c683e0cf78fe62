"""Routers: routes with utterances; the route nearest to a query names the model that is asked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.model_catalogue import ROUTER_PROVIDER, parse_model
from mcp_tef.model.model_groups import require_name
from mcp_tef.model.similarity import parse_embedder

USUAL_THRESHOLD: Final = 0.3
_LONGEST_UTTERANCE: Final = 2_000
_MOST_UTTERANCES: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRoute:
    """Utterances that call for `target`: a model, or `group/NAME`. Without a threshold the router's applies."""

    target: str
    utterances: tuple[str, ...]
    description: str = ""
    threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRouter:
    """Routes, what is asked where none of them reaches its threshold, and the embedder that compares.

    It is run as `router/NAME`.
    """

    name: str
    routes: tuple[ModelRoute, ...]
    default: str
    embedder: str
    threshold: float = USUAL_THRESHOLD

    def __post_init__(self) -> None:
        require_name(self.name, "router")
        if not self.routes:
            hint = "Give it at least one route with a name and utterances."
            raise InputError(f"The router {self.name} has no route.", hint=hint)
        parse_embedder(self.embedder)
        _require_target(self.default, f"The default of the router {self.name}")
        _require_threshold(self.threshold, f"router {self.name}")
        for route in self.routes:
            _require_route(route, self.name)
        targets = [route.target for route in self.routes]
        if twice := next((one for one in targets if targets.count(one) > 1), None):
            raise InputError(
                f"The router {self.name} has two routes to {twice}.", hint="Put their utterances together."
            )

    @property
    def targets(self) -> tuple[str, ...]:
        """Every model and group that it may ask, the default last."""
        return tuple(dict.fromkeys((*(route.target for route in self.routes), self.default)))

    def threshold_of(self, route: ModelRoute) -> float:
        """Return the least similarity at which a route is taken."""
        return self.threshold if route.threshold is None else route.threshold


def _require_route(route: ModelRoute, router: str) -> None:
    _require_target(route.target, f"A route of the router {router}")
    where = f"The route {route.target} of the router {router}"
    if not route.utterances:
        raise InputError(f"{where} has no utterance.", hint="Give it at least one sentence that calls for it.")
    if not all(text.strip() for text in route.utterances):
        raise InputError(f"{where} has an empty utterance.", hint="Write a sentence, or take it away.")
    if len(route.utterances) > _MOST_UTTERANCES or max(map(len, route.utterances)) > _LONGEST_UTTERANCE:
        hint = f"A route holds up to {_MOST_UTTERANCES:,} utterances of {_LONGEST_UTTERANCE:,} characters."
        raise InputError(f"{where} is too large.", hint=hint)
    if route.threshold is not None:
        _require_threshold(route.threshold, f"route {route.target}")


def _require_target(target: str, where: str) -> None:
    if not target.strip():
        raise InputError(f"{where} is missing.", hint="Name a model or a group, as openai/gpt-4.1-mini or group/NAME.")
    provider, _ = parse_model(target)
    if provider == ROUTER_PROVIDER:
        raise InputError(f"{where} is {target}, which is a router.", hint="Name a model or a group.")


def _require_threshold(value: float, where: str) -> None:
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise InputError(f"The threshold of the {where} is {value:g}.", hint="Write a number from 0 to 1.")


def router_to_json(router: ModelRouter) -> dict[str, Json]:
    """Return a router as it is stored and exported."""
    return {
        "name": router.name,
        "default": router.default,
        "embedder": router.embedder,
        "threshold": router.threshold,
        "routes": [_route_to_json(route) for route in router.routes],
    }


def _route_to_json(route: ModelRoute) -> dict[str, Json]:
    shown: dict[str, Json] = {"name": route.target, "utterances": list(route.utterances)}
    shown |= {"description": route.description} if route.description else {}
    return shown | ({} if route.threshold is None else {"threshold": route.threshold})


def router_from_json(document: JsonObject) -> ModelRouter:
    """Return the router of a document; InputError that says which part is wrong."""
    name, listed = document.get("name"), document.get("routes")
    if not isinstance(name, str):
        raise InputError("A router needs a name.", hint="Write name: NAME.")
    where = f"the router {name}"
    _require_known(document, {"name", "routes", "default", "embedder", "threshold"}, where)
    if not isinstance(listed, list):
        raise InputError(f"{where[:1].upper()}{where[1:]} has no route.", hint="Write its routes as a list.")
    return ModelRouter(
        name=name,
        routes=tuple(_route_from_json(item, where) for item in listed),
        default=_text(document, "default", where),
        embedder=_text(document, "embedder", where),
        threshold=_share(document.get("threshold", USUAL_THRESHOLD), where),
    )


def _route_from_json(item: Json, where: str) -> ModelRoute:
    if not isinstance(item, Mapping):
        raise InputError(f"A route of {where} is no object.", hint="Write name: MODEL and utterances: [...].")
    _require_known(item, {"name", "utterances", "description", "threshold"}, f"a route of {where}")
    target, said = _text(item, "name", f"a route of {where}"), item.get("utterances", [])
    if not isinstance(said, list) or not all(isinstance(text, str) for text in said):
        raise InputError(f"The utterances of {target} are no list of texts.", hint="Write utterances: [...].")
    threshold = item.get("threshold")
    return ModelRoute(
        target=target,
        utterances=tuple(said),
        description=str(item.get("description", "")),
        threshold=None if threshold is None else _share(threshold, f"the route {target}"),
    )


def _require_known(item: JsonObject, known: set[str], where: str) -> None:
    if unknown := sorted(set(item) - known):
        raise InputError(f"There is no “{unknown[0]}” in {where}.", hint=f"It may hold {', '.join(sorted(known))}.")


def _text(item: JsonObject, field: str, where: str) -> str:
    value = item.get(field)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"The {field} of {where} is missing.", hint=f"Write {field}: … .")
    return value.strip()


def _share(value: Json, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"The threshold of {where} is no number.", hint="Write a number from 0 to 1.")
    return float(value)


@dataclass(frozen=True, slots=True)
class RouteScore:
    """Similarity (−1 to 1) of a query to the nearest utterance of a route, and the threshold of the route.

    `each` is the similarity to every utterance, in their order.
    """

    target: str
    score: float
    threshold: float
    utterance: str = ""
    each: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """The model that a router asks for a query; `route` is None where no route reached its threshold.

    `scores` holds every route, the nearest first.
    """

    target: str
    route: RouteScore | None
    scores: tuple[RouteScore, ...]

    @property
    def runner_up(self) -> RouteScore | None:
        """The nearest route that was not taken."""
        return next((one for one in self.scores if one is not self.route), None)


def decide_route(router: ModelRouter, scores: Sequence[RouteScore]) -> RouteDecision:
    """Return the best route at or above its threshold, else the default; the first listed wins where two are equal."""
    ordered = tuple(sorted(scores, key=lambda one: -one.score))
    route = next((one for one in ordered if one.score >= one.threshold), None)
    return RouteDecision(route.target if route else router.default, route, ordered)
