"""JSON shapes of models, groups, routers, prompt templates and client profiles: all that decides how a run is asked."""

from typing import TYPE_CHECKING

from mcp_tef.model.clients import ChangeKind, ClientCheck, ClientProfile
from mcp_tef.model.comparison import ClientResult
from mcp_tef.model.definitions import PromptTemplate
from mcp_tef.model.json import Json, as_json, fields_to_json
from mcp_tef.model.model_catalogue import LocalServer, ModelCheck, ModelInfo
from mcp_tef.model.model_groups import GroupAbilities, ModelGroup, group_to_json
from mcp_tef.model.model_routers import ModelRouter, RouteDecision, RouteScore, router_to_json

if TYPE_CHECKING:
    from mcp_tef.statistics.route_comparison import RouteComparison


def model_info_to_json(info: ModelInfo) -> Json:
    """Return a row of the catalogue; prices are US dollars per token."""
    return {"name": info.label, **as_json(info)}


def group_abilities_to_json(group: ModelGroup, abilities: GroupAbilities) -> Json:
    """Return a group with what it can do, by the fields of seed 001, and its deployments."""
    return {**as_json(abilities), "deployments": group_to_json(group)["deployments"]}


def model_check_to_json(check: ModelCheck) -> Json:
    """Return a check with the state of each step."""
    return {
        **as_json(check),
        "ok": check.failed is None,
        "steps": {step.value: state.value for step, state in check.states.items()},
    }


def local_server_to_json(server: LocalServer) -> Json:
    """Return a model server of this machine."""
    return as_json(server)


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


def route_comparison_to_json(found: "RouteComparison") -> Json:
    """Return the arms with their intervals, the curve and the suggested threshold."""
    return as_json(found)


def client_to_json(profile: ClientProfile) -> Json:
    """Return a profile with every figure and its source."""
    return as_json(profile) | {"facts": as_json(profile.facts)}


def client_check_to_json(check: ClientCheck) -> Json:
    """Return what a client does to each tool, and which cases expect a tool that it does not show."""
    kinds = [change.kind for change in check.view.changes]
    return {
        "client": check.view.profile.label,
        "tools": check.tools,
        "shown": len(check.view.shown),
        **{kind.value: kinds.count(kind) for kind in ChangeKind},
        "search": check.by or None,
        "cases": check.searched,
        "found": check.found,
        "missed": [{"case": case, "reason": reason} for case, reason in check.missed],
        "changes": [
            {"server": one.tool.server, "tool": one.tool.name, "kind": one.kind.value, "reason": one.sentence}
            | ({"lost": one.lost} if one.lost else {})
            for one in check.view.changes
        ],
    }


def client_result_to_json(result: ClientResult) -> Json:
    """Return how one client did in a batch."""
    claim = result.claim
    return {
        **fields_to_json(result, "client model runs"),
        result.criterion.value: result.right,
        **fields_to_json(result, "not_shown works"),
        "against_plain_api": claim and fields_to_json(claim, "verdict sentence"),
    }


def prompt_to_json(template: PromptTemplate) -> dict[str, Json]:
    """Serialize one version of a template."""
    return {
        **fields_to_json(template, "name version kind built_in text variables"),
        "model": template.model or None,
        **fields_to_json(template, "note created_at"),
    }
