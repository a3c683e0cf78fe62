"""A tool that another screen opens in a draft: the text or the repair that it brings, and the field to edit.

Knows no Qt.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core_link.targets import ChangeTool
from app.screens.workshop.definition_fields import definition_fields, fields_at
from app.screens.workshop.draft_tools import BY, edited, tool_key_of
from app.text.formatting import count
from mcp_tef import Draft, RepairedDraft, ToolEdit, put_in_repair

if TYPE_CHECKING:
    from mcp_tef import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTool:
    """A tool in a draft, by its key, with the field to edit; `hidden` where it shows among all fields only.

    `message` and `why` tell what was put in from a finding, or that nothing could be; they hold while the draft is at
    this step or a later one.
    """

    draft: Draft
    key: str
    field: str
    hidden: bool = False
    message: str = ""
    why: str = ""

    def told(self, draft: Draft | None, key: str) -> tuple[str, str]:
        """Return the message and the reason where they hold for a tool of a draft, else two empty texts."""
        holds = draft is not None and draft.id == self.draft.id and draft.step >= self.draft.step and key == self.key
        return (self.message, self.why) if holds else ("", "")


async def opened_tool(core: "Engine", draft: Draft, target: ChangeTool) -> OpenedTool:
    """Put the text or the repair of a target into a draft, as one step, and find the field to edit. TefError."""
    name, found = target.tool.tool or "", RepairedDraft(draft)
    key = tool_key_of(draft, name)
    if name and not key:
        core.drafts.require_tool(draft, name)
    if target.description is not None:
        found = RepairedDraft(await edited(core, draft, name, ToolEdit(description=target.description)))
    elif target.rule:
        now = next((str(raw.get("name")) for one, raw in draft.keyed if str(one) == key), name)
        found = await put_in_repair(core.drafts, core.quality, draft.id, now, target.rule, by=BY)
    await asyncio.to_thread(lambda: found.draft.revisions)
    field, hidden = _field(found.draft, key, target)
    message, why = await _message_of(core, found, target) if target.rule else ("", "")
    return OpenedTool(draft=found.draft, key=key, field=field, hidden=hidden, message=message, why=why)


async def _message_of(core: "Engine", found: RepairedDraft, target: ChangeTool) -> tuple[str, str]:
    """Return what a repair put in, and why; where there is none, the advice of the finding."""
    repair, rule = found.repair, next((one for one in core.quality.rules() if one.id == target.rule), None)
    title = rule.title if rule else target.rule
    if found.gone:
        return f"This finding is gone in the draft: {title}.", ""
    if repair is None:
        return f"Nothing could be put in from the finding: {title}.", target.reason
    rest = f"{count(repair.left, 'more place')} cannot be repaired without knowing the tool." if repair.left else ""
    why = " ".join(filter(None, (f"{title}.", repair.rule.why, rest)))
    return f"Put in from the finding: {repair.put_in}.", why


def _field(draft: Draft, key: str, target: ChangeTool) -> tuple[str, bool]:
    """Return the field of the tool that a target is about, and True where it shows among all fields only."""
    after = next((raw for one, raw in draft.keyed if str(one) == key), None)
    if after is None or not target.place:
        return "description", False
    before = draft.base[int(key)] if key.isdigit() else None
    every, shown = ({one.key for one in definition_fields(before, after, every=all_of)} for all_of in (True, False))
    field = next((one for one in fields_at(target.place, target.rule) if one in every), "description")
    return field, field not in shown
