"""Models, groups, routers and search tools as JSON."""

from dataclasses import asdict

from mcp_tef.model.json import Json
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.model_checks import LocalServer, ModelCheck
from mcp_tef.model.model_groups import GroupAbilities, ModelGroup, group_to_json
from mcp_tef.model.model_routers import ModelRouter, RouteDecision, RouteScore, router_to_json
from mcp_tef.statistics.route_comparison import RouteComparison


def model_info_to_json(info: ModelInfo) -> Json:
    """Return a row of the catalogue; prices are US dollars per token."""
    return {"name": info.label, **asdict(info)}


def group_abilities_to_json(group: ModelGroup, abilities: GroupAbilities) -> Json:
    """Return a group with what it can do, by the fields of seed 001, and its deployments."""
    return {**asdict(abilities), "deployments": group_to_json(group)["deployments"]}


def model_check_to_json(check: ModelCheck) -> Json:
    """Return a check with the state of each step."""
    return {
        **asdict(check),
        "ok": check.failed is None,
        "steps": {step.value: state.value for step, state in check.states.items()},
    }


def local_server_to_json(server: LocalServer) -> Json:
    """Return a model server of this machine."""
    return asdict(server)


def model_router_to_json(router: ModelRouter) -> Json:
    """Return a router as it is kept."""
    return router_to_json(router)


def route_decision_to_json(query: str, decision: RouteDecision) -> Json:
    """Return what a router asks for a query, with the score of every route."""
    return {
        "query": query,
        "asked": decision.target,
        "route": decision.route.target if decision.route else None,
        "runner_up": decision.runner_up.target if decision.runner_up else None,
        "scores": [_score_to_json(one) for one in decision.scores],
    }


def _score_to_json(score: RouteScore) -> Json:
    return {
        "route": score.target,
        "score": round(score.score, 6),
        "threshold": score.threshold,
        "utterance": score.utterance,
    }


def route_comparison_to_json(found: RouteComparison) -> Json:
    """Return the arms with their intervals, the curve and the suggested threshold."""
    return asdict(found)
