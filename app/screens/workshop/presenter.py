"""State of the workshop screen: drafts, the selected tool, typed texts and steps; knows no Qt."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.core_link.targets import ChangeTool
from app.screens.workshop import draft_tools as drafting
from app.screens.workshop.definition_fields import DefinitionField, definition_fields, new_texts
from app.screens.workshop.draft_tools import BY, ListingState
from app.screens.workshop.foreign_steps import ForeignSteps
from app.screens.workshop.tool_opening import OpenedTool, opened_tool
from mcp_tef import (
    SAMPLE_SERVER,
    ChangedMeanwhileError,
    CopyOnlyText,
    Draft,
    DraftId,
    DraftsChanged,
    Event,
    InputError,
    JsonObject,
    NotFoundError,
    Prediction,
    RebasedDraft,
    ServersChanged,
    ServerStateChanged,
    SourceEdit,
    TefError,
    ToolKey,
    ToolRevision,
)

if TYPE_CHECKING:
    from mcp_tef import Engine


class WorkshopPresenter:
    """Drafts and the one in work. Changes are saved one after the other; typed texts are shown until they are."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask
        self._saving = asyncio.Lock()
        self._foreign = ForeignSteps()
        self._loading = self._changes = 0
        self._drafts: dict[DraftId, Draft] = {}
        self._removed: set[DraftId] = set()
        self._typed_of: dict[DraftId | None, dict[tuple[ToolKey, str], str]] = {}
        self._typed_over: dict[DraftId, Draft] = {}
        self.servers: tuple[str, ...] = ()
        self.draft_id: DraftId | None = None
        self.tool_key: str = ""
        self.reason = ""
        self.opened: OpenedTool | None = None
        self.every_field = False
        self.problem: TefError | None = None
        self.listing = ListingState.SAME
        self.prediction: Prediction | None = None

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes the screen out of date; own steps are shown already."""
        match event:
            case DraftsChanged(_, by) if by == BY:
                return Refresh.NONE
            case DraftsChanged() | ServersChanged() | ServerStateChanged():
                return Refresh.NOW
            case _:
                return Refresh.NONE

    async def load(self) -> bool:
        """Read drafts and servers; return False if a later call has replaced this one."""
        self._loading += 1
        mine = self._loading
        changes = -1
        while changes != self._changes:  # what was read before a change of our own would undo it on the screen
            changes, known = self._changes, dict(self._drafts)
            found = await self._ask(partial(drafting.read_drafts, known=known))
        if mine != self._loading:
            return False
        drafts, self.servers = found  # one may have been read while it was being removed
        self._foreign.note_all(self._drafts, drafts)
        self._drafts = {key: draft for key, draft in drafts.items() if key not in self._removed}
        if self.draft_id not in self._drafts:
            self.choose(next(reversed(self._drafts), None))
        await self._compare_listing()
        return True

    async def _compare_listing(self) -> None:
        """Find out if the server of the selected draft lists other tools by now; starts nothing."""
        draft, self.listing = self.draft, ListingState.SAME
        found = await self._ask(partial(drafting.listing_state, draft=draft))
        if draft is self.draft:
            self.listing = found

    def drafts(self) -> tuple[Draft, ...]:
        """Return all drafts, the newest first."""
        return tuple(reversed(self._drafts.values()))

    @property
    def draft(self) -> Draft | None:
        """The selected draft."""
        return None if self.draft_id is None else self._drafts.get(self.draft_id)

    def tools(self) -> tuple[drafting.DraftTool, ...]:
        """Return the tools of the selected draft: changed ones first, then the others in the order of the listing."""
        return drafting.draft_tools(self.draft) if self.draft else ()

    def choose(self, draft_id: DraftId | None, tool: str = "") -> None:
        """Select a draft, and a tool of it by key; without one, the first changed tool."""
        if draft_id != self.draft_id:
            self.reason, self.problem, self.prediction = "", None, None
        self.draft_id = draft_id
        known = [one.key for one in self.tools()]
        self.tool_key = tool if tool in known else next(iter(known), "")

    async def open_draft(self, draft_id: DraftId) -> None:
        """Select a draft; one that is not known yet is read first, else a reading that began before would hide it."""
        with suppress(NotFoundError):
            if draft_id not in self._drafts:
                await self._changed(lambda core: core.drafts.get(draft_id))
            self.choose(draft_id)

    def choose_tool(self, key: str) -> None:
        """Select a tool of the draft by key."""
        if key != self.tool_key:
            self.tool_key, self.reason = key, ""

    def next_tool(self, step: int) -> str:
        """Return the key of the tool so many places below the selected one."""
        keys = [one.key for one in self.tools()]
        place = keys.index(self.tool_key) if self.tool_key in keys else 0
        return keys[(place + step) % len(keys)] if keys else ""

    def tool(self) -> tuple[JsonObject | None, JsonObject | None]:
        """Return the selected tool as the listing and as the draft has it."""
        return drafting.tool_states(self.draft, self.tool_key) if self.draft else (None, None)

    def revision(self) -> ToolRevision:
        """Return the selected tool before and after."""
        return ToolRevision(*self.tool())

    def fields(self) -> tuple[DefinitionField, ...]:
        """Return the texts of the selected tool, with what was typed and is not saved yet."""
        before, after = self.tool()
        if after is None:
            return ()
        typed = {field: text for (key, field), text in self._typed.items() if str(key) == self.tool_key}
        return tuple(
            replace(field, draft=typed[field.key]) if field.key in typed else field
            for field in definition_fields(before, after, every=self.every_field)
        )

    def changed_texts(self) -> tuple[tuple[str, str], ...]:
        """Return the new texts of the draft with their labels."""
        return new_texts(self.draft.revisions) if self.draft else ()

    # ------------------------------------------------------------ typing and steps

    @property
    def _typed(self) -> dict[tuple[ToolKey, str], str]:
        """Texts typed in the selected draft that are not saved yet; a refused one waits in its own draft."""
        return self._typed_of.setdefault(self.draft_id, {})

    @property
    def unsaved(self) -> bool:
        """True while something typed is not a step yet."""
        return bool(self._typed)

    def type_text(self, field: str, text: str) -> None:
        """Take a text as typed in a field of the selected tool; `save` makes it a step."""
        draft = self.draft
        if draft is not None:
            # Whoever types on after a conflict was shown has seen what the draft holds by now.
            if not self._typed or isinstance(self.problem, ChangedMeanwhileError):
                self._typed_over[draft.id] = draft
            self._typed[drafting.key_of(self.tool_key), field] = text

    async def predict(self) -> bool:
        """Predict what the draft changes, with what is typed; return False where a newer prediction is on its way."""
        try:
            draft, edits = self.draft, drafting.edits_of(self._typed)
            if draft is None:
                self.prediction = None
                return True
            # Also where nothing is changed yet: the first prediction reads much that the next ones know.
            found = await self._ask(partial(drafting.predicted, draft=draft, edits=edits))
        except InputError:  # told once it is to be a step
            return False
        if found is None or draft.id != self.draft_id:
            return False
        self.prediction = found if edits or draft.revisions else None
        return True

    async def save(self) -> bool:
        """Make a step of what was typed; return True if it made one. A refused text stays, with its `problem`."""
        async with self._saving:
            return await self._save()

    async def _save(self) -> bool:
        typed, draft = dict(self._typed), self.draft
        if draft is None or not typed:
            self._typed.clear()
            return False
        before, seen = draft.step, self._typed_over.get(draft.id, draft)
        try:
            for key, edit in drafting.edits_of(typed).items():
                name = drafting.tool_name(draft, key)
                draft = await self._changed(partial(drafting.edited, draft=seen, tool=name, edit=edit))
                seen = self._typed_over[draft.id] = draft
        except TefError as error:
            self.problem = error
            return False
        self.problem = None
        kept = {field: text for field, text in self._typed_of[draft.id].items() if typed.get(field) != text}
        self._typed_of[draft.id] = kept
        return draft.step != before

    async def _changed(self, change: "Callable[[Engine], Awaitable[Draft]]") -> Draft:
        """Change the selected draft in the core, and keep what it is now, also where somebody else changed it."""
        shown = self.draft
        try:
            draft = await self._ask(change)
        except ChangedMeanwhileError:
            if shown is not None:
                draft = await self._ask(partial(drafting.read_draft, draft_id=shown.id))
                self._foreign.note(shown, draft)
                self._keep(draft)
            raise
        await self._ask(lambda _: asyncio.to_thread(lambda: draft.revisions))
        self._foreign.note(shown if shown and shown.id == draft.id else None, draft, own=True)
        self._keep(draft)
        return draft

    def _keep(self, draft: Draft) -> None:
        self._changes += 1
        self._drafts[draft.id] = draft

    def can_step(self, by: int) -> bool:
        """Return True if there is a step to undo (-1) or to redo (1)."""
        draft = self.draft
        return draft is not None and (0 <= draft.step + by <= len(draft.steps) or (by < 0 and self.unsaved))

    async def step(self, by: int, *, foreign: bool = False) -> bool:
        """Undo (-1) or redo (1) a step; False if there is none, InputError for one made elsewhere, unless `foreign`."""
        async with self._saving:
            await self._save()
            draft = self.draft
            if draft is None:
                return False
            if self.problem is not None and not isinstance(self.problem, NotFoundError):
                self._typed_of[draft.id] = {}  # a refused text goes, that of a removed tool stays until it is back
            self.problem = None
            if not self.can_step(by):
                return False
            if by < 0 and not foreign:
                self._foreign.require_own(draft)
            await self._changed(partial(drafting.moved, draft=draft, by=by))
            self._keep_tool()
            return True

    async def go_to(self, step: int) -> None:
        """Undo or redo up to a step."""
        while (draft := self.draft) is not None and draft.step != step:
            if not await self.step(1 if step > draft.step else -1, foreign=True):
                return

    def _keep_tool(self) -> None:
        """Select another tool where the selected one is gone."""
        if self.tool_key not in {one.key for one in self.tools()}:
            self.choose(self.draft_id)

    async def apply_patch(self, patch: str) -> None:
        """Add a step: RFC 6902 operations as JSON. TefError."""
        draft = self.draft
        if draft is None:
            raise InputError("A patch changes a draft, and none is selected.", hint="Select or make a draft first.")
        async with self._saving:
            await self._save()
            await self._changed(lambda core: core.drafts.apply(draft.id, json.loads(patch), by=BY))
        self._keep_tool()

    async def put_back(self, field: DefinitionField) -> None:
        """Take the original text of a field again."""
        self.type_text(field.key, field.original or "")
        await self.save()

    async def add_tool(self) -> None:
        """Add a tool without parameters behind the others, and select it."""
        draft = self.draft
        if draft is None:
            return
        name = drafting.free_name("new_tool", [str(raw.get("name")) for raw in draft.tools])
        made = {"name": name, "description": "", "inputSchema": {"type": "object", "properties": {}}}
        async with self._saving:
            await self._save()
            changed = await self._changed(lambda core: core.drafts.add_tool(draft.id, made, by=BY))
        self.choose(changed.id, str(changed.keyed[-1][0]))

    async def remove_tool(self) -> None:
        """Remove the selected tool in the draft."""
        draft, key = self.draft, drafting.key_of(self.tool_key)
        if draft is None:
            return
        async with self._saving:
            await self._save()
            name = drafting.tool_name(self.draft or draft, key)
            await self._changed(lambda core: core.drafts.remove_tool(draft.id, name, by=BY))
        self._keep_tool()

    async def new(self, name: str, server: str | None, tools_file: str | None = None) -> Draft:
        """Make a draft over a server or file, and select it."""
        made = await self._changed(lambda core: core.drafts.new(name, server=server, tools_file=tools_file, by=BY))
        self.choose(made.id)
        return made

    @property
    def has_sample(self) -> bool:
        """True if the workspace has the sample, which comes with a prepared draft."""
        return SAMPLE_SERVER in self.servers

    async def open_sample_draft(self) -> None:
        """Make the prepared draft of the sample if it is not there, and select it."""
        made = await self._changed(lambda core: core.open_sample_draft())
        self.choose(made.id)

    async def rename(self, name: str) -> None:
        """Give the selected draft another name."""
        if (draft := self.draft) is not None:
            await self._changed(lambda core: core.drafts.rename(draft.id, name, seen=draft, by=BY))

    async def remove(self) -> Draft | None:
        """Remove the selected draft; return it, so that `restore` can bring it back."""
        draft = self.draft
        if draft is not None:
            await self.save()
            draft = self._drafts.pop(draft.id)
            self._removed.add(draft.id)
            await self._ask(lambda core: core.drafts.remove([draft.id], by=BY))
            self._changes += 1
            self.choose(next(reversed(self._drafts), None))
        return draft

    async def restore(self, draft: Draft) -> None:
        """Bring back a removed draft, and select it."""
        self._removed.discard(draft.id)
        await self._changed(lambda core: core.drafts.restore(draft, by=BY))
        self.choose(draft.id)

    async def open_tool(self, target: ChangeTool) -> None:
        """Select a tool in the newest draft over its server, a repair put in; a given text goes into a new one."""
        server, tool = target.tool.server, target.tool.tool or ""
        await self.save()
        over = [one for one in (self.draft, *self.drafts()) if one and one.server == server and not target.description]
        before, known = self.draft_id, next(iter(over), None)
        draft = known or await self.new(drafting.free_name(tool, [one.name for one in self.drafts()]), server)
        try:
            async with self._saving:
                found = await self._ask(partial(opened_tool, draft=draft, target=target))
        except TefError:  # no draft is left that changes nothing
            if known is None:
                await self.remove()
                self.choose(before)
            raise
        self._keep(found.draft)
        self.choose(found.draft.id, found.key)
        self.opened, self.reason = found, "" if target.rule else target.reason
        self.every_field = self.every_field or found.hidden

    def put_in(self) -> tuple[str, str]:
        """Return what was put into the selected tool from a finding, and why; "" once its step was undone."""
        return self.opened.told(self.draft, self.tool_key) if self.opened else ("", "")

    async def rebase(self, *, keep_draft: bool | None) -> RebasedDraft | None:
        """Move the draft to the listing of its server; with None texts that both changed are only returned."""
        draft = self.draft
        if draft is None:
            return None
        await self.save()
        try:
            moved = await self._ask(lambda core: core.drafts.rebase(draft.id, keep_draft=keep_draft, by=BY))
        except NotFoundError:  # the server was removed meanwhile
            await self._compare_listing()
            return None
        self._changes += 1
        self._drafts[draft.id] = moved.draft
        self._keep_tool()
        await self._compare_listing()
        return moved

    async def source_edits(self) -> tuple[SourceEdit | CopyOnlyText, ...]:
        """Return the edits of the server's own source that would make the change; nothing is written."""
        known = self.draft if self.listing is not ListingState.SERVER_GONE else None
        return await self._ask(partial(drafting.source_edits, draft=known))
