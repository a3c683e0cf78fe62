"""Drafts as they are read, the tools of one as a list, and edits of what was typed; knows no Qt."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from app.screens.workshop.definition_fields import definition_edit
from mcp_tef import (
    INSTRUCTIONS,
    CopyOnlyText,
    Draft,
    DraftId,
    JsonObject,
    NotFoundError,
    Prediction,
    SourceEdit,
    ToolEdit,
    ToolKey,
    ToolRevision,
    edited_draft,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

BY: Final = "workshop"
"""Author of the changes of this screen, by which it tells its own from those of others."""


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
    """Return the tools of a draft: changed ones first, then the others in the order of the listing.

    The instructions of its server are one more, the last of those that are as changed.
    """
    base = draft.base
    found = [_tool(key, raw, base[key] if isinstance(key, int) else None) for key, raw in draft.keyed if raw]
    kept = {key for key, _ in draft.keyed}
    gone = [_removed(place, raw) for place, raw in enumerate(base) if raw and place not in kept]
    told = draft.of_instructions
    own = [DraftTool(key=INSTRUCTIONS, name=told.name, edits=len(told.fields))] if draft.server or told.fields else []
    return tuple(sorted([*found, *gone, *own], key=lambda one: not one.touched))


def _removed(place: int, raw: JsonObject) -> DraftTool:
    return DraftTool(key=str(place), name=str(raw.get("name", "")), removed=True)


def listing_text(state: ListingState, server: str) -> str:
    """Return what to know of the server of a draft; "" where it lists the same tools."""
    if state is ListingState.NEWER:
        return f"{server} lists other tools than this draft was made over."
    if state is ListingState.SERVER_GONE:
        return f"The server {server} was removed. Add it again to try the draft, which is kept."
    return ""


def key_of(text: str) -> ToolKey:
    """Return the key of a tool from its text."""
    return int(text) if text.isdigit() else text


def tool_name(draft: Draft, key: ToolKey) -> str:
    """Return the name of a tool of a draft by its key. Raises NotFoundError where it was removed meanwhile."""
    if key == INSTRUCTIONS:
        return INSTRUCTIONS
    known = {one: str(raw.get("name", "")) for one, raw in draft.keyed}
    if key not in known:
        said = f"The tool is not in the draft {draft.name} any more, so its text is not saved."
        raise NotFoundError(said, hint="Undo the last step to bring the tool back.")
    return known[key]


def tool_key_of(draft: Draft, name: str) -> str:
    """Return the key of a tool by its name in the draft, else by that in the listing; "" where there is none."""
    place = draft.place_of(name)
    if place is not None:
        return str(draft.keyed[place][0])
    return next((str(at) for at, raw in enumerate(draft.base) if raw.get("name") == name), "")


def edits_of(typed: Mapping[tuple[ToolKey, str], str]) -> dict[ToolKey, ToolEdit]:
    """Return one edit for each tool of what was typed."""
    texts: dict[ToolKey, dict[str, str]] = {}
    for (key, field), text in typed.items():
        texts.setdefault(key, {})[field] = text
    return {key: definition_edit(of_tool) for key, of_tool in texts.items()}


def _tool(key: ToolKey, raw: JsonObject, before: JsonObject | None) -> DraftTool:
    edits = len(ToolRevision(before, raw).fields) if before is not None and before is not raw else 0
    return DraftTool(key=str(key), name=str(raw.get("name", "")), edits=edits, added=before is None)


def tool_states(draft: Draft, tool_key: str) -> tuple[JsonObject | None, JsonObject | None]:
    """Return a tool, by key, as the listing and as the draft has it."""
    if tool_key == INSTRUCTIONS:
        return draft.of_instructions.before, draft.of_instructions.after
    found = next(((key, raw) for key, raw in draft.keyed if str(key) == tool_key), None)
    if found is not None:
        return (draft.base[found[0]] if isinstance(found[0], int) else None), found[1]
    place = int(tool_key) if tool_key.isdigit() else -1
    return (draft.base[place] if 0 <= place < len(draft.base) else None), None


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return a name that is not taken, with a number behind it if need be."""
    used = {one.casefold() for one in taken}
    names = (name, *(f"{name} {number}" if " " in name else f"{name}_{number}" for number in range(2, len(used) + 3)))
    return next(one for one in names if one.casefold() not in used)


async def read_drafts(core: "Engine", known: Mapping[DraftId, Draft]) -> tuple[dict[DraftId, Draft], tuple[str, ...]]:
    """Return the drafts, oldest first, those that did not change as they were, and the names of the servers."""
    drafts = [
        known[one.id] if one.id in known and _same(known[one.id], one) else one for one in await core.drafts.list()
    ]
    await asyncio.to_thread(lambda: [draft.revisions for draft in drafts])
    servers = await core.servers.list()
    return {draft.id: draft for draft in drafts}, tuple(server.name for server in servers)


def _same(one: Draft, other: Draft) -> bool:
    kept = ("name", "step", "updated_at", "listing")
    return len(one.steps) == len(other.steps) and all(getattr(one, name) == getattr(other, name) for name in kept)


async def edited(core: "Engine", draft: Draft, tool: str, edit: ToolEdit) -> Draft:
    """Make a step that edits one tool of the draft as it is shown."""
    return await core.drafts.edit(draft.id, tool, edit, seen=draft, by=BY)


async def predicted(core: "Engine", draft: Draft, edits: Mapping[ToolKey, ToolEdit]) -> Prediction | None:
    """Predict what a draft changes with edits that are not saved yet."""
    changed = await asyncio.to_thread(edited_draft, draft, edits) if edits else draft
    return await core.predictions.predict(changed)


async def read_draft(core: "Engine", draft_id: DraftId) -> Draft:
    """Return a draft as it is now."""
    return await core.drafts.get(draft_id)


async def moved(core: "Engine", draft: Draft, by: int) -> Draft:
    """Undo a step of the draft as it is shown, or redo one."""
    return await (core.drafts.redo if by > 0 else core.drafts.undo)(draft.id, seen=draft, by=BY)


async def listing_state(core: "Engine", draft: Draft | None) -> ListingState:
    """Find out if the server of a draft lists other tools by now; starts nothing."""
    if draft is None or draft.server is None:
        return ListingState.SAME
    try:
        newer = await core.drafts.newer_listing(draft)
    except NotFoundError:
        return ListingState.SERVER_GONE
    return ListingState.SAME if newer is None else ListingState.NEWER


async def source_edits(core: "Engine", draft: Draft | None) -> tuple[SourceEdit | CopyOnlyText, ...]:
    """Return the edits of the server's own source that would make the change of a draft; nothing is written."""
    with suppress(NotFoundError):
        return await core.drafts.source_edits(draft) if draft else ()
    return ()
