"""Tools of a draft as a list, and edits of what was typed; knows no Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from app.screens.workshop.definition_fields import definition_edit
from mcp_tef import Draft, JsonObject, ToolEdit, ToolKey, ToolRevision


class ListingState(Enum):
    """Relation of a draft's listing to what the server lists now."""

    SAME = "same"
    NEWER = "newer"
    SERVER_GONE = "server gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftTool:
    """One tool of a draft in the list: `edits` counts changed values; a removed one can only be brought back."""

    key: str
    name: str
    edits: int = 0
    added: bool = False
    removed: bool = False

    @property
    def touched(self) -> bool:
        """True if the draft changes the tool."""
        return bool(self.edits or self.added or self.removed)


def draft_tools(draft: Draft) -> tuple[DraftTool, ...]:
    """Return the tools of a draft: changed ones first, then the others in the order of the listing."""
    base = draft.base
    found = [_tool(key, raw, base[key] if isinstance(key, int) else None) for key, raw in draft.keyed if raw]
    kept = {key for key, _ in draft.keyed}
    gone = [_removed(place, raw) for place, raw in enumerate(base) if raw and place not in kept]
    return tuple(sorted([*found, *gone], key=lambda one: not one.touched))


def _removed(place: int, raw: JsonObject) -> DraftTool:
    return DraftTool(key=str(place), name=str(raw.get("name", "")), removed=True)


def edits_of(typed: Mapping[tuple[ToolKey, str], str]) -> dict[ToolKey, ToolEdit]:
    """Return one edit for each tool of what was typed."""
    texts: dict[ToolKey, dict[str, str]] = {}
    for (key, field), text in typed.items():
        texts.setdefault(key, {})[field] = text
    return {key: definition_edit(of_tool) for key, of_tool in texts.items()}


def _tool(key: ToolKey, raw: JsonObject, before: JsonObject | None) -> DraftTool:
    edits = len(ToolRevision(before, raw).fields) if before is not None and before is not raw else 0
    return DraftTool(key=str(key), name=str(raw.get("name", "")), edits=edits, added=before is None)


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return a name that is not taken, with a number behind it if need be."""
    used = {one.casefold() for one in taken}
    names = (name, *(f"{name} {number}" if " " in name else f"{name}_{number}" for number in range(2, len(used) + 3)))
    return next(one for one in names if one.casefold() not in used)
