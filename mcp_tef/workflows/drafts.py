"""Drafts of changed tools: made over a listing, changed step by step, undone, redone, and moved to a newer listing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcp_tef.errors import ChangedMeanwhileError, ConflictError, FieldConflict, InputError, NotFoundError, ServerError
from mcp_tef.events import DraftsChanged
from mcp_tef.model.draft_edits import RebasedDraft, ToolEdit, edited_tool, edited_values, rebased
from mcp_tef.model.drafts import (
    INSTRUCTIONS,
    Draft,
    DraftStep,
    KeyedTools,
    after_step,
    difference,
    instructions_after,
    instructions_change,
    listing_document,
    name_of,
    require_draft_name,
    require_sound_set,
    resumed,
)
from mcp_tef.model.ids import DraftId, new_id
from mcp_tef.model.json import fingerprint, written_alike
from mcp_tef.model.json_patch import read_patch, same
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.times import moment_after
from mcp_tef.trust.field_changes import shown
from mcp_tef.trust.name_keys import name_key
from mcp_tef.workflows.source_edits import find_source_edit, source_folder

if TYPE_CHECKING:
    from mcp_tef.events import EventStream
    from mcp_tef.model.json import Json, JsonObject
    from mcp_tef.model.tools import Listing, Tool
    from mcp_tef.ports import DraftStore, ServerGateway
    from mcp_tef.workflows.servers import Servers
    from mcp_tef.workflows.source_edits import CopyOnlyText, SourceEdit


class Drafts:
    """The drafts of a workspace. What cannot be applied is an InputError in one sentence, and changes nothing."""

    def __init__(self, store: DraftStore, servers: Servers, gateway: ServerGateway, events: EventStream) -> None:
        self._store = store
        self._servers = servers
        self._gateway = gateway
        self._events = events
        self._original: tuple[str, JsonObject, tuple[Listing, ...]] | None = None
        self._last: Draft | None = None

    async def list(self) -> tuple[Draft, ...]:
        """Return every draft, oldest first."""
        return await self._store.all()

    async def get(self, draft_id: DraftId) -> Draft:
        """Return one draft; NotFoundError."""
        return self._resumed(await self._store.get(draft_id))

    async def find(self, name: str) -> Draft:
        """Return the draft of a name, without regard to case, or of an id; NotFoundError names the nearest."""
        drafts = await self._store.all()
        for draft in drafts:
            if name == draft.id or name_key(name) == name_key(draft.name):
                return draft
        hint = did_you_mean(name, [draft.name for draft in drafts], "Make it with: mcp-tef draft new NAME")
        raise NotFoundError(f"There is no draft named “{name}”.", hint=hint)

    async def new(self, name: str, *, server: str | None = None, tools_file: str | None = None, by: str = "") -> Draft:
        """Make a draft over the last listing of a server, or over a tools file.

        A server that was never listed is asked. ConflictError where the name is taken; InputError, ServerError.
        """
        name = require_draft_name(name)
        drafts = await self._store.all()
        if any(name_key(draft.name) == name_key(name) for draft in drafts):
            raise ConflictError(f"There is a draft named “{name}” already.", hint="Use another name.")
        if (server is None) == (tools_file is None):
            raise InputError("A draft stands over one server or one tools file.", hint="Name one of them.")
        listing = await self._of_server(server) if server is not None else await self._of_file(tools_file or "")
        moment = moment_after(draft.created_at for draft in drafts)
        draft = Draft(
            id=DraftId(new_id()), name=name, listing=listing, server=server, created_at=moment, updated_at=moment
        )
        return self._told(await self._store.add(draft), by)

    async def apply(self, draft_id: DraftId, patch: Json, *, by: str = "") -> Draft:
        """Add a step: RFC 6902 operations, as parsed from JSON, over the draft as it is now, if they change it."""
        draft = await self.get(draft_id)
        step = DraftStep(draft.step + 1, read_patch(patch), datetime.now(UTC))
        instructions, after = instructions_after(draft.instructions, step), after_step(draft.keyed, step)
        if instructions == draft.instructions and _same_tools(after, draft.keyed):
            return draft
        return await self._stepped(draft, step, after, by)

    async def edit(
        self, draft_id: DraftId, tool: str, edit: ToolEdit, *, seen: Draft | None = None, by: str = ""
    ) -> Draft:
        """Add a step that changes texts, parameters or annotations of one tool; NotFoundError names the nearest.

        The tool `INSTRUCTIONS` is the server's instructions, as a description. ChangedMeanwhileError where somebody
        else changed a value since the draft seen that the edit changes as well.
        """
        draft = await self.get(draft_id)
        if seen is not None:
            require_unchanged(seen, draft, tool, edit)
        if tool == INSTRUCTIONS:
            operations = instructions_change(draft.instructions, edit.description or "")
            return await self.apply(draft_id, list(operations), by=by) if operations else draft
        place = _place_of(draft, tool)
        changed = edited_tool(draft.tools[place], edit)
        after = [(key, changed if at == place else raw) for at, (key, raw) in enumerate(draft.keyed)]
        return await self._to(draft, tuple(after), by)

    @staticmethod
    def require_tool(draft: Draft, tool: str) -> None:
        """Raise NotFoundError, with the nearest name, where the draft has no such tool."""
        _place_of(draft, tool)

    async def describe(self, draft_id: DraftId, texts: Mapping[str, str], *, by: str = "") -> Draft:
        """Add a step after which the draft differs from its listing by these descriptions only, by name of the tool."""
        draft = await self.get(draft_id)
        edits = {name: ToolEdit(description=text) for name, text in texts.items()}
        after = ((key, edited_tool(raw, edits.get(name_of(raw), ToolEdit()))) for key, raw in enumerate(draft.base))
        return await self._to(draft, tuple(after), by)

    async def add_tool(self, draft_id: DraftId, definition: JsonObject, *, by: str = "") -> Draft:
        """Add a step that adds a tool after the others."""
        draft = await self.get(draft_id)
        return await self._to(draft, (*draft.keyed, ("added", definition)), by)

    async def remove_tool(self, draft_id: DraftId, tool: str, *, by: str = "") -> Draft:
        """Add a step that removes a tool."""
        draft = await self.get(draft_id)
        place = _place_of(draft, tool)
        return await self._to(draft, (*draft.keyed[:place], *draft.keyed[place + 1 :]), by)

    async def undo(self, draft_id: DraftId, *, seen: Draft | None = None, by: str = "") -> Draft:
        """Take back the last step that applies; InputError where there is none.

        ChangedMeanwhileError where the draft has other steps than the one seen.
        """
        return await self._moved(seen or await self.get(draft_id), -1, by)

    async def redo(self, draft_id: DraftId, *, seen: Draft | None = None, by: str = "") -> Draft:
        """Apply the next step that was undone; as `undo`."""
        return await self._moved(seen or await self.get(draft_id), 1, by)

    async def rename(self, draft_id: DraftId, name: str, *, seen: Draft | None = None, by: str = "") -> Draft:
        """Give a draft another name; ConflictError where it is taken."""
        draft = seen or await self.get(draft_id)
        return self._told(await self._store.rename(draft, require_draft_name(name)), by)

    async def remove(self, ids: Sequence[DraftId], *, by: str = "") -> None:
        """Delete drafts; `restore` brings back what the caller kept."""
        await self._store.remove(ids)
        self._events.publish(DraftsChanged(tuple(ids), by))

    async def restore(self, draft: Draft, *, by: str = "") -> Draft:
        """Bring back a removed draft with its steps."""
        return self._told(await self._store.add(draft), by)

    async def newer_listing(self, draft: Draft) -> JsonObject | None:
        """Return the last listing of the draft's server where it differs from the draft's; starts nothing."""
        if draft.server is None:
            return None
        listing = await self._servers.known_tools((await self._servers.find(draft.server)).id)
        document = None if listing is None else listing_document(listing)
        return document if document and fingerprint(document) != draft.listing_hash else None

    async def rebase(
        self, draft_id: DraftId, *, keep_draft: bool | None = None, tools_file: str | None = None, by: str = ""
    ) -> RebasedDraft:
        """Move a draft to the last listing of its server, or to a tools file.

        Texts that both changed are in `conflicts`. Where `keep_draft` is None they leave the draft as it was; True
        keeps the draft's texts, False those of the listing.
        """
        draft = await self.get(draft_id)
        listing = await self._of_file(tools_file) if tools_file is not None else await self.newer_listing(draft)
        if listing is None:
            return RebasedDraft(draft)
        found = await asyncio.to_thread(rebased, draft, listing, keep_draft=keep_draft is not False)
        if found.conflicts and keep_draft is None:
            return replace(found, draft=draft)
        await self._require_sound(found.draft.base, found.draft.tools, draft.name)
        return replace(found, draft=self._told(await self._store.replace(draft, found.draft), by))

    async def arms(self, draft: Draft) -> tuple[tuple[Listing, ...], tuple[Listing, ...]]:
        """Return the tools of the listing and those of the draft, each as listings by server.

        Only definitions that the draft changes are checked: 500 take a quarter of a second, too long while typing.
        """
        server = draft.server or draft.name
        known = self._original
        if known is None or known[0] != server or not written_alike(known[1], draft.listing):
            known = server, draft.listing, await self._gateway.sort_catalogue(server, _present(draft.base))
            self._original = known
        original = known[2]
        changed = await self._checked(server, original, draft)
        changed = changed or await self._gateway.sort_catalogue(server, _present(draft.tools))
        texts = (draft.instructions_states[0], draft.instructions)
        return _instructed(original, texts[0]), _instructed(changed, texts[1])

    async def _checked(self, server: str, original: Sequence[Listing], draft: Draft) -> tuple[Listing, ...] | None:
        """Return the listing of the draft, checking the new definitions only; None where all have to be sorted.

        Steps leave definitions that they do not touch the very same objects.
        """
        if len(original) != 1 or original[0].problems:
            return None
        known = dict(zip(map(id, _present(draft.base)), original[0].tools, strict=True))
        raws = _present(draft.tools)
        found = [known.get(id(raw)) for raw in raws]
        checked = await self._gateway.sort_catalogue(server, _without_known(raws, found))
        if len(checked) > 1 or any(listing.problems for listing in checked):
            return None
        return (replace(original[0], tools=_placed(found, checked)),)

    async def source_edits(self, draft: Draft) -> tuple[SourceEdit | CopyOnlyText, ...]:
        """Return edits of the server's own source, for changed texts that stand once in its folder on this machine.

        Nothing is written: that is for `write_source_edit`. Without such a folder there is none.
        """
        if draft.server is None:
            return ()
        folder = source_folder((await self._servers.find(draft.server)).spec)
        if folder is None:
            return ()
        found = await asyncio.to_thread(lambda: [find_source_edit(folder, *texts) for texts in _changed_texts(draft)])
        return tuple(filter(None, found))

    async def _of_server(self, name: str) -> JsonObject:
        server = await self._servers.find(name)
        listing = await self._servers.known_tools(server.id) or await self._servers.tools(server.id)
        return _filled(listing_document(listing), f"The server {name} lists no tool that can be changed.")

    async def _of_file(self, path: str) -> JsonObject:
        try:
            listings = await self._gateway.read_catalogue(path)
        except ServerError as error:
            raise InputError(error.message, hint=error.hint, context=error.context) from error
        if len(listings) == 1:
            return _filled(listing_document(listings[0]), f"The tools file {path} holds no tool that can be changed.")
        tools = [raw for listing in listings for raw in listing_document(listing)["tools"]]
        return _filled({"tools": tools}, f"The tools file {path} holds no tool that can be changed.")

    async def _to(self, draft: Draft, after: KeyedTools, by: str) -> Draft:
        operations = difference(draft.keyed, after)
        if not operations:
            return draft
        step = DraftStep(draft.step + 1, operations, datetime.now(UTC))
        return await self._stepped(draft, step, after, by)

    async def _stepped(self, draft: Draft, step: DraftStep, after: KeyedTools, by: str) -> Draft:
        await self._require_sound(draft.tools, [raw for _, raw in after], draft.name)
        return self._told(await self._store.append(draft, step), by)

    async def _require_sound(self, before: Sequence[JsonObject], after: Sequence[JsonObject], name: str) -> None:
        """Raise InputError for a set that no server could list: the checks are those of listings."""
        require_sound_set([raw for raw in before if raw], [raw for raw in after if raw])
        for listing in await self._gateway.sort_catalogue(name, _new_definitions(before, after)):
            for problem in listing.problems:
                said = f"The change would make {problem.tool or 'a tool'} invalid: {problem.reason}"
                raise InputError(said, hint="Correct the change; the draft is as it was.", code="bad_draft")

    async def _moved(self, draft: Draft, by_steps: int, by: str) -> Draft:
        if not 0 <= draft.step + by_steps <= len(draft.steps):
            what = "redo" if by_steps > 0 else "undo"
            raise InputError(f"There is nothing to {what} in the draft {draft.name}.", hint=_steps_text(draft))
        return self._told(await self._store.move(draft, draft.step + by_steps), by)

    def _told(self, draft: Draft, by: str) -> Draft:
        self._events.publish(DraftsChanged((draft.id,), by))
        return self._resumed(draft)

    def _resumed(self, draft: Draft) -> Draft:
        """Return a draft that shares the states of the draft read last, which is most often the same one."""
        self._last = resumed(draft, self._last) if self._last else draft
        return self._last


def _new_definitions(before: Sequence[JsonObject], after: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the definitions that were not there before. Those that a step leaves are the very same objects."""
    kept = set(map(id, before)) & set(map(id, after))
    known = {fingerprint(raw) for raw in before if id(raw) not in kept}
    return [raw for raw in after if id(raw) not in kept and fingerprint(raw) not in known]


def require_unchanged(seen: Draft, draft: Draft, tool: str, edit: ToolEdit) -> None:
    """Raise ChangedMeanwhileError where a draft has other values than the one seen that an edit of a tool changes."""
    wanted, stored = edited_values(seen, draft, tool, edit)
    conflicts = [
        FieldConflict(" ".join(path), shown(now), shown(after))
        for path, (_, after) in wanted.items()
        for other, (_, now) in stored.items()
        if (path[: len(other)] == other or other[: len(path)] == path) and not (path == other and same(now, after))
    ]
    if conflicts:
        raise ChangedMeanwhileError(f"{tool} in the draft “{draft.name}”", conflicts)


def _instructed(listings: Sequence[Listing], text: str) -> tuple[Listing, ...]:
    """Return listings of one server with its instructions; those of several servers have none."""
    return tuple(replace(one, instructions=text) for one in listings) if len(listings) == 1 else tuple(listings)


def _steps_text(draft: Draft) -> str:
    return f"{draft.step} of its {len(draft.steps)} steps apply." if draft.steps else "It has no step yet."


def _place_of(draft: Draft, tool: str) -> int:
    place = draft.place_of(tool)
    if place is not None:
        return place
    names = [name for raw in draft.tools if (name := name_of(raw))]
    gone = any(name_of(raw) == tool for raw in draft.base)
    said = f"The tool “{tool}” is not in the draft {draft.name} any more." if gone else f"There is no tool “{tool}”."
    raise NotFoundError(said, hint=did_you_mean(tool, names, f"There are {', '.join(names[:10])}."))


def _changed_texts(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield each text that the draft replaces, before and after."""
    for one in draft.revisions:
        for before, after in one.fields.values() if one.before and one.after else ():
            if isinstance(before, str) and isinstance(after, str):
                yield before, after


def _placed(known: Sequence[Tool | None], checked: Sequence[Listing]) -> tuple[Tool, ...]:
    """Return all tools in their order, those that are not known from what was checked."""
    rest = iter([tool for listing in checked for tool in listing.tools])
    return tuple(
        tool if tool is not None and tool.place == place else replace(tool or next(rest), place=place)
        for place, tool in enumerate(known)
    )


def _without_known(raws: Sequence[JsonObject], known: Sequence[Tool | None]) -> list[JsonObject]:
    return [raw for raw, tool in zip(raws, known, strict=True) if tool is None]


def _same_tools(one: KeyedTools, other: KeyedTools) -> bool:
    """Return True for equal tools in equal order; 1 and true are different values."""
    return len(one) == len(other) and all(a == b and same(x, y) for (a, x), (b, y) in zip(one, other, strict=True))


def _present(tools: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Return the definitions without the places of tools that are not offered."""
    return tuple(raw for raw in tools if raw)


def _filled(listing: JsonObject, empty: str) -> JsonObject:
    if not _present(listing["tools"]):
        raise InputError(empty, hint="Look at its problems with: mcp-tef servers tools")
    return listing
