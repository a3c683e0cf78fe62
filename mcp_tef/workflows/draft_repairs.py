"""Repairs of lint findings, put into drafts as one step."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_tef.errors import InputError
from mcp_tef.model.drafts import difference
from mcp_tef.scoring.repairs.definition_edits import tool_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_tef.model.drafts import Draft
    from mcp_tef.model.ids import DraftId
    from mcp_tef.model.quality import DefinitionRepair
    from mcp_tef.model.tools import Listing, Tool
    from mcp_tef.workflows.drafts import Drafts
    from mcp_tef.workflows.quality import Quality


@dataclass(frozen=True, slots=True)
class RepairedDraft:
    """A draft with the repair that its last step has put in; None where the draft is as it was.

    `gone` is True where the rule finds nothing in the draft, as after an earlier repair.
    """

    draft: Draft
    repair: DefinitionRepair | None = None
    gone: bool = False


async def put_in_repair(
    drafts: Drafts, quality: Quality, draft_id: DraftId, tool: str, rule: str, *, by: str = ""
) -> RepairedDraft:
    """Repair a rule's findings in a tool as the draft has it, as one step; NotFoundError for an unknown draft.

    Nothing changes where the rule finds nothing there, where a repair needs knowledge of the tool, or where no server
    could list the repaired definition.
    """
    draft = await drafts.get(draft_id)
    place = draft.place_of(tool)
    if place is None:
        return RepairedDraft(draft)
    key, raw = draft.keyed[place]
    _, listings = await drafts.arms(draft)
    subject = tool_of(draft.server or draft.name, raw)
    about = (subject, rule, _offered(listings), _why_rejected(listings, tool))
    repair = await asyncio.to_thread(quality.repaired, *about)
    if repair is None:
        return RepairedDraft(draft, gone=not await asyncio.to_thread(quality.breaks, *about))
    after = tuple((other, repair.definition if other == key else old) for other, old in draft.keyed)
    try:
        return RepairedDraft(await drafts.apply(draft.id, list(difference(draft.keyed, after)), by=by), repair)
    except InputError:
        return RepairedDraft(draft)


def _offered(listings: Sequence[Listing]) -> list[Tool]:
    return [one for listing in listings for one in listing.tools]


def _why_rejected(listings: Sequence[Listing], tool: str) -> str:
    """Return why no model is offered a tool; "" where it is offered."""
    problems = (one for listing in listings for one in listing.problems)
    return next((one.reason for one in problems if one.tool == tool), "")
