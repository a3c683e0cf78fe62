"""JSON shapes of drafts of changed tools."""

from collections.abc import Mapping

from mcp_tef.api.serializers.tools import lint_finding_to_json
from mcp_tef.model.draft_rebase import TextConflict
from mcp_tef.model.drafts import Draft, ToolRevision
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import Json
from mcp_tef.model.json_patch import MISSING
from mcp_tef.model.prediction import Neighbour, Prediction, ToolPrediction


def draft_summary_to_json(draft: Draft) -> dict[str, Json]:
    """Return a draft as an item of a list."""
    return {
        "id": draft.id,
        "name": draft.name,
        "server": draft.server,
        "tools": len(draft.tools),
        "changed": list(draft.changed_tools()),
        "step": draft.step,
        "steps": len(draft.steps),
        "created_at": draft.created_at.isoformat(),
        "updated_at": draft.updated_at.isoformat(),
    }


def draft_to_json(draft: Draft) -> dict[str, Json]:
    """Return a draft with its changes and its patch."""
    changes = [_revision_to_json(one) for one in draft.revisions]
    return draft_summary_to_json(draft) | {"changes": changes, "patch": list(draft.patch)}


def conflict_to_json(conflict: TextConflict) -> dict[str, Json]:
    """Return a text that the draft and the listing changed, in three columns."""
    columns = {"was": conflict.was, "now": conflict.now, "draft": conflict.draft}
    return {"tool": conflict.tool, "path": list(conflict.path), **columns}


def prediction_to_json(draft: Draft, prediction: Prediction, names: Mapping[CaseId, str]) -> dict[str, Json]:
    """Return what a draft is predicted to change; `names` holds the names of the cases."""
    return {
        "draft": draft.name,
        "tools": [_tool_to_json(one) for one in prediction.tools],
        "set_tokens": {"before": prediction.set_tokens_before, "after": prediction.set_tokens_after},
        "cases": [
            {
                "id": one.case_id,
                "name": names.get(one.case_id),
                "rank": {"before": one.rank_before, "after": one.rank_after},
                "passed": {"before": one.passed_before, "after": one.passed_after},
            }
            for one in prediction.cases
        ],
        "fixed": prediction.fixed,
        "broken": prediction.broken,
        "record": {"right": prediction.record.right, "trials": prediction.record.trials},
    }


def _tool_to_json(one: ToolPrediction) -> dict[str, Json]:
    return {
        "tool": one.name,
        "findings_gone": [lint_finding_to_json(finding) for finding in one.findings_gone],
        "findings_new": [lint_finding_to_json(finding) for finding in one.findings_new],
        "tokens": {"before": one.tokens_before, "after": one.tokens_after},
        "neighbours": {
            "before": [_neighbour_to_json(other) for other in one.neighbours_before],
            "after": [_neighbour_to_json(other) for other in one.neighbours_after],
        },
        "newly_near": [other.tool for other in one.newly_near],
    }


def _neighbour_to_json(one: Neighbour) -> dict[str, Json]:
    return {
        "tool": one.tool,
        "similarity": round(one.similarity, 4),
        "confusability": round(one.confusability, 4),
    }


def _revision_to_json(one: ToolRevision) -> dict[str, Json]:
    if one.before is None or one.after is None:
        return {"tool": one.name, "change": "added" if one.before is None else "removed", "fields": []}
    fields = [
        {"path": list(path), "before": _plain(before), "after": _plain(after)}
        for path, (before, after) in one.fields.items()
    ]
    return {"tool": one.name, "change": "changed", "fields": fields}


def _plain(value: Json) -> Json:
    return None if value is MISSING else value
