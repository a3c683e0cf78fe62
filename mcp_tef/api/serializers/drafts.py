"""JSON shapes of drafts of changed tools."""

from mcp_tef.model.draft_rebase import TextConflict
from mcp_tef.model.drafts import Draft, ToolRevision
from mcp_tef.model.json import Json
from mcp_tef.model.json_patch import MISSING


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
