"""Client profiles and what they do to tools, as JSON."""

from dataclasses import asdict

from mcp_tef.model.clients import ChangeKind, ClientCheck, ClientProfile
from mcp_tef.model.comparison import ClientResult
from mcp_tef.model.json import Json


def client_to_json(profile: ClientProfile) -> Json:
    """Return a profile with every figure and its source."""
    return {**asdict(profile), "facts": [asdict(fact) for fact in profile.facts]}


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
        "client": result.client,
        "model": result.model,
        "runs": result.runs,
        result.criterion.value: result.right,
        "not_shown": result.not_shown,
        "works": result.works,
        "against_plain_api": claim and {"verdict": claim.verdict.value, "sentence": claim.sentence},
    }
