"""The tool library: tools designed before their server exists, their versions, statuses, import and export."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from mcp_tef.errors import ConflictError, InputError, NotFoundError, TefError
from mcp_tef.events import LibraryChanged
from mcp_tef.model.json_patch import object_changes
from mcp_tef.model.library import (
    EXPORT_KEY,
    LibraryTool,
    ToolCategory,
    ToolDesign,
    ToolStatus,
    design_from_json,
    design_to_json,
    require_free_of_circles,
    require_next_status,
)
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.servers import LIBRARY_PATH, Server, ServerSpec, Transport
from mcp_tef.model.transfer import ImportedItem, ImportStatus
from mcp_tef.scoring.lint.schema_values import broken_parts
from mcp_tef.scoring.schema_soundness import why_unsound
from mcp_tef.trust.field_changes import merged_fields
from mcp_tef.trust.import_changes import IMPORTED, imported_item, values_over
from mcp_tef.trust.library_checks import require_sound_design
from mcp_tef.trust.name_keys import name_key, stored_name
from mcp_tef.workflows.library_imports import TakenTools, taken_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_tef.events import EventStream
    from mcp_tef.model.ids import LibraryToolId
    from mcp_tef.model.json import Json, JsonObject
    from mcp_tef.model.json_patch import Path
    from mcp_tef.model.library import ToolVersion
    from mcp_tef.ports import Store
    from mcp_tef.workflows.servers import Servers

LIBRARY_SERVER: Final = "Library"
_OTHER_NAME: Final = "Tool library"


class Library:
    """The tools of the library. Each change reaches the server “Library” of the workspace, which is no process."""

    def __init__(self, store: Store, servers: Servers, events: EventStream) -> None:
        self._store = store.library
        self._together = store.together
        self._importing: asyncio.Task[Any] | None = None
        self._servers = servers
        self._events = events

    async def list(self, *, category: str | None = None, tag: str | None = None) -> tuple[LibraryTool, ...]:
        """Return the tools, by name: all, or those in a category or below it, or with a tag."""
        tools = await self._store.all()
        if category is not None:
            below = _below(await self._store.categories(), category)
            tools = tuple(tool for tool in tools if tool.design.category in below)
        return tuple(tool for tool in tools if tag is None or tag in tool.design.tags)

    async def find(self, name: str) -> LibraryTool:
        """Return the tool of a name; NotFoundError names the nearest."""
        tools = {tool.name: tool for tool in await self._store.all()}
        stored = stored_name(name, tools)
        if stored is None:
            hint = did_you_mean(name, tools, "Add it with: mcp-tef library add FILE")
            raise NotFoundError(f"There is no tool named {name} in the library.", hint=hint)
        return tools[stored]

    async def versions(self, name: str) -> tuple[ToolVersion, ...]:
        """Return every version of a tool, newest first."""
        return await self._store.versions((await self.find(name)).id)

    async def compare(self, name: str, before: int, after: int) -> Mapping[Path, tuple[Any, Any]]:
        """Return the values that differ between two versions of a tool, by path; NotFoundError."""
        found = {one.version: design_to_json(one.design) for one in await self.versions(name)}
        for number in (before, after):
            if number not in found:
                hint = f"It has versions 1 to {len(found)}."
                raise NotFoundError(f"{name} has no version {number}.", hint=hint)
        return object_changes(found[before], found[after])

    async def add(self, design: ToolDesign, *, changelog: str = "", by: str = "") -> LibraryTool:
        """Keep a new tool as a draft; InputError, ConflictError where its name is taken."""
        await self.require_sound(design)
        tool = await self._store.add(design, changelog)
        await self._changed([tool.id], by)
        return tool

    async def edit(
        self, name: str, design: ToolDesign, *, seen: LibraryTool | None = None, changelog: str = "", by: str = ""
    ) -> LibraryTool:
        """Keep a new version of a tool; nothing happens where it would be the same.

        Only fields that differ from the tool seen are changed; ChangedMeanwhileError where they changed since.
        """
        tool = await self.find(name)
        if seen is not None:
            design = merged_fields(seen.design, design, tool.design, f"the tool “{tool.name}”")
        if design == tool.design:
            return tool
        await self.require_sound(design)
        tool = await self._store.update(tool.id, design, changelog, expected_version=tool.version)
        await self._changed([tool.id], by)
        return tool

    async def restore_version(self, name: str, version: int, *, by: str = "") -> LibraryTool:
        """Keep an earlier version again, as a new one."""
        found = {one.version: one for one in await self.versions(name)}
        if version not in found:
            raise NotFoundError(f"{name} has no version {version}.", hint=f"It has versions 1 to {len(found)}.")
        return await self.edit(name, found[version].design, changelog=f"Version {version} restored.", by=by)

    async def set_status(
        self, name: str, status: ToolStatus, *, seen: LibraryTool | None = None, by: str = ""
    ) -> LibraryTool:
        """Give a tool another status than was seen; InputError names those that are allowed. ChangedMeanwhileError."""
        tool = seen or await self.find(name)
        require_next_status(tool, status)
        tool = await self._store.set_status(tool.id, status, seen=tool.status)
        await self._changed([tool.id], by)
        return tool

    async def delete(self, names: Sequence[str], *, by: str = "") -> tuple[LibraryToolId, ...]:
        """Delete tools; `restore` undoes it until the workspace is closed."""
        ids = tuple([(await self.find(name)).id for name in names])
        await self._store.remove(ids)
        await self._changed(ids, by)
        return ids

    async def restore(self, ids: Sequence[LibraryToolId], *, by: str = "") -> None:
        """Undo a deletion; ConflictError where a name was taken since."""
        await self._store.restore(ids)
        await self._changed(ids, by)

    async def categories(self) -> tuple[ToolCategory, ...]:
        """Return every category, by name."""
        return await self._store.categories()

    async def save_category(self, category: ToolCategory, *, seen: ToolCategory | None = None, by: str = "") -> None:
        """Add a category or change it; InputError where it would stand in itself. ChangedMeanwhileError."""
        name = category.name.strip()
        if not name or "/" in name or not name.isprintable():
            hint = "Use characters that can be shown, without a slash."
            raise InputError(f"“{category.name}” cannot be the name of a category.", hint=hint)
        require_free_of_circles(await self._store.categories(), name, category.parent)
        await self._store.save_category(replace(category, name=name), seen=seen)
        self._events.publish(LibraryChanged((), by))

    async def ensure_category(self, path: str) -> str:
        """Return the name of the category at a path such as `town/buses`, which is made where it is not there."""
        parent: str | None = None
        for name in (part.strip() for part in path.split("/")):
            await self._ensure_below(name, parent)
            parent = name
        return parent or path

    async def _ensure_below(self, name: str, parent: str | None) -> None:
        categories = await self._store.categories()
        found = next((one for one in categories if one.name == name), None)
        if found is not None and (parent is None or found.parent == parent):
            return
        if found is not None and found.parent is not None:
            require_free_of_circles(categories, name, parent)
            raise ConflictError(f"The category {name} is in {found.parent}, not in {parent}.", hint="Name it by that.")
        seen = found or ToolCategory(name=name)
        await self.save_category(replace(seen, parent=parent), seen=seen)

    async def take(
        self,
        tools: Sequence[tuple[JsonObject, ToolDesign | None]],
        *,
        replacing: bool = False,
        dry: bool = False,
        by: str = "",
    ) -> TakenTools:
        """Take definitions into the library, each with the design whose executor it gets where it brings none.

        A tool that is there and differs is refused, or where `replacing` gets a new version, in which all stays that
        the definition does not name. A `dry` call only returns what would be done; no other is stored in part.
        """
        if dry:
            return await self._take_all(tools, by, replacing=replacing, dry=True)
        before = {one.name: one for one in await self._store.all()}
        async with self._together():
            self._importing = asyncio.current_task()
            try:
                taken = await self._take_all(tools, by, replacing=replacing, dry=False)
            finally:
                self._importing = None
        if taken.added or taken.changed:
            await self._changed((), by)
        return replace(taken, replaced=tuple([(before[name], await self.find(name)) for name in taken.changed]))

    async def _take_all(
        self, tools: Sequence[tuple[JsonObject, ToolDesign | None]], by: str, *, replacing: bool, dry: bool
    ) -> TakenTools:
        there = {name_key(tool.name): tool for tool in await self._store.all()}
        items, refused, came = list[ImportedItem](), list[tuple[str, str]](), set[str]()
        for raw, pattern in tools:
            name = str(raw.get("name"))
            try:
                _require_new(name, came)
                tool = there.get(name_key(name))
                items.append(await self._taken(raw, tool, pattern, by, replacing=replacing, dry=dry))
                came.add(name_key(name))
            except InputError as error:
                refused.append((name, failure_text(error)))
        return taken_tools(items, refused, changes_are_kept=replacing or dry)

    async def put_back(self, taken: TakenTools, *, by: str = "") -> None:
        """Undo an import: delete what it added, and keep again what it changed; ChangedMeanwhileError."""
        for before, after in taken.replaced:
            changed = await self.edit(before.name, before.design, seen=after, changelog="Import undone.", by=by)
            if before.status is not after.status:
                await self._bring_to(changed, before.status, by)
        await self.delete(taken.added, by=by)

    async def _taken(
        self,
        raw: JsonObject,
        there: LibraryTool | None,
        pattern: ToolDesign | None,
        by: str,
        *,
        replacing: bool,
        dry: bool,
    ) -> ImportedItem:
        """Take one definition, and return what became of it; a change is only told unless `replacing`."""
        status, path = _status(raw), _category_path(raw)
        design = design_from_json(_over(there.design, raw)) if there else _design(raw, pattern)
        design = design if path is None else replace(design, category=path.split("/")[-1].strip())
        before = None if there is None else _as_imported(there.design, there.status)
        after = _as_imported(design, status or (there.status if there else ToolStatus.DRAFT))
        item = imported_item("tool", design.name, before, after, edited=True)
        if item.fate is ImportStatus.UNCHANGED or dry or (there is not None and not replacing):
            return item
        if path is not None:
            await self.ensure_category(path)
        if there:
            tool = await self.edit(there.name, design, changelog=IMPORTED, by=by)
        else:
            tool = await self.add(design, changelog=IMPORTED, by=by)
        await self._bring_to(tool, status or tool.status, by)
        return item

    async def _bring_to(self, tool: LibraryTool, status: ToolStatus, by: str) -> None:
        if status is not tool.status:
            await self._store.set_status(tool.id, status)
            await self._changed([tool.id], by)

    async def export(self, names: Sequence[str] = ()) -> dict[str, Json]:
        """Return a tools file of some tools, or of all, from which `take` makes the same tools."""
        tools = [await self.find(name) for name in names] if names else await self._store.all()
        parents = {one.name: one.parent for one in await self._store.categories()}
        return {"tools": [_exported(tool, parents) for tool in tools]}

    async def server(self) -> Server:
        """Return the server that stands for the library; it is registered when it is first needed."""
        servers = await self._servers.list()
        for server in servers:
            if server.spec.is_library:
                return server
        taken = any(server.name == LIBRARY_SERVER for server in servers)
        name = _OTHER_NAME if taken else LIBRARY_SERVER
        return await self._servers.add(ServerSpec(name=name, transport=Transport.FILE, path=LIBRARY_PATH))

    async def require_sound(self, design: ToolDesign) -> None:
        """Raise InputError for the first thing that is wrong with a design."""
        require_sound_design(design)
        for what, schema in (("input", design.input_schema), ("output", design.output_schema)):
            why = await asyncio.to_thread(_why_unfit, schema)
            if why:
                hint = "Correct it by the rules of JSON Schema 2020-12."
                raise InputError(f"The {what} schema of {design.name} {why}.", hint=hint, code="bad_schema")
        if design.category is not None and design.category not in {one.name for one in await self._store.categories()}:
            raise InputError(f"There is no category {design.category}.", hint="Add it first.")

    async def _changed(self, ids: Sequence[LibraryToolId], by: str) -> None:
        self._events.publish(LibraryChanged(tuple(ids), by))
        if asyncio.current_task() is not self._importing:  # a check may wait for tasks that wait for the import to end
            await self._servers.check((await self.server()).id)


def _why_unfit(schema: JsonObject | None) -> str | None:
    if schema is None:
        return None
    if schema.get("type", "object") != "object":
        return "describes no object"
    if why := why_unsound(schema):
        return f"is no JSON Schema: {why.rstrip('.')}"
    return next((f"cannot be used: {told[:1].lower()}{told[1:-1]}" for told in broken_parts(schema)), None)


def _design(raw: JsonObject, pattern: ToolDesign | None) -> ToolDesign:
    """Return the design of a definition; what it does not say itself is as in `pattern`."""
    design = design_from_json(raw, None if pattern is None else (pattern.executor, pattern.config))
    if pattern is None or _own_part(raw):
        return design
    return replace(design, tags=pattern.tags, category=pattern.category, script=pattern.script)


def _over(stored: ToolDesign, raw: JsonObject) -> dict[str, Any]:
    """Return a stored design with what a definition names over it; `null` clears a field."""
    whole = design_to_json(stored)
    more = values_over(whole.pop("_meta")[EXPORT_KEY], _own_part(raw))
    named = {name: value for name, value in raw.items() if name != "_meta"} | {"name": stored.name}
    return {**values_over(whole, named), "_meta": {EXPORT_KEY: more}}


def _require_new(name: str, came: Set[str]) -> None:
    if name_key(name) in came:
        raise InputError(f"The import has the tool {name:.80} twice.", hint="Keep one of the two.")


def _exported(tool: LibraryTool, parents: Mapping[str, str | None]) -> dict[str, Json]:
    """Return a tool with its status and the whole path of its category."""
    document = design_to_json(tool.design)
    path: list[str] = []
    above = tool.design.category
    while above is not None and above not in path:
        path.append(above)
        above = parents.get(above)
    more = {"status": tool.status.value} | ({"category": "/".join(reversed(path))} if path else {})
    document["_meta"][EXPORT_KEY] |= more
    return document


def _own_part(raw: JsonObject) -> Mapping[str, Any]:
    """Return what an export of the library says beside the definition."""
    meta = raw.get("_meta")
    more = meta.get(EXPORT_KEY) if isinstance(meta, dict) else None
    return more if isinstance(more, dict) else {}


def _status(raw: JsonObject) -> ToolStatus | None:
    """Return the status that a file names; InputError for one that there is not."""
    named = _own_part(raw).get("status")
    if named is not None and named not in [*ToolStatus]:
        hint = f"It is one of {', '.join(ToolStatus)}."
        raise InputError(f"A tool cannot have the status {named!r:.80}.", hint=hint)
    return None if named is None else ToolStatus(named)


def _category_path(raw: JsonObject) -> str | None:
    path = _own_part(raw).get("category")
    return path if isinstance(path, str) and path.strip() else None


def _as_imported(design: ToolDesign, status: ToolStatus) -> dict[str, Any]:
    """Return all that an import may change, by the names that people see."""
    whole = design_to_json(design)
    more = whole.pop("_meta")[EXPORT_KEY]
    return {**whole, **more, "status": status.value}


def _below(categories: Sequence[ToolCategory], name: str) -> frozenset[str]:
    """Return a category with all that stand in it; NotFoundError."""
    if name not in {one.name for one in categories}:
        hint = did_you_mean(name, [one.name for one in categories], "Look at the categories of the library.")
        raise NotFoundError(f"There is no category {name}.", hint=hint)
    found = {name}
    while more := {one.name for one in categories if one.parent in found} - found:
        found |= more
    return frozenset(found)


def failure_text(error: TefError) -> str:
    """Return an error as an execution keeps it."""
    return f"{error.message} {error.hint}".strip()
