"""Drafts: changes to the tools of one listing as steps of RFC 6902 operations, and what they change."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import accumulate, count, takewhile
from typing import Any, Final, TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.model.ids import DraftId
from mcp_tef.model.json import JsonObject, fingerprint, written_alike
from mcp_tef.model.json_patch import MISSING, Path, apply_patch, object_changes, pointer, pointer_parts
from mcp_tef.model.tools import LONGEST_INSTRUCTIONS, Listing

Operations: TypeAlias = tuple[JsonObject, ...]
RawTools: TypeAlias = tuple[JsonObject, ...]
ToolKey: TypeAlias = int | str
"""Identity of a tool through all steps: its place in the base, or a text for one that a step added."""
KeyedTools: TypeAlias = tuple[tuple[ToolKey, JsonObject], ...]

LONGEST_NAME: Final = 100
INSTRUCTIONS: Final = "server instructions"
"""Name of the server's instructions among the changes of a draft; no tool has it, since it holds a space."""
_WHOLE: Final = ((), ("tools",))
_OF_INSTRUCTIONS: Final = "/instructions"


@dataclass(frozen=True, slots=True)
class DraftStep:
    """One step of a draft, numbered from 1: operations over the state that the step before left."""

    number: int
    operations: Operations
    made_at: datetime


@dataclass(frozen=True, slots=True)
class ToolRevision:
    """One tool as the listing and as the draft has it; None where it was added or removed.

    The instructions of the server are one more, as the description of what is named `INSTRUCTIONS`.
    """

    before: JsonObject | None
    after: JsonObject | None

    @property
    def name(self) -> str:
        """The name in the draft, of a removed tool that in the listing."""
        return name_of(self.after if self.after is not None else self.before or {})

    @property
    def fields(self) -> Mapping[Path, tuple[Any, Any]]:
        """The values that differ, by path, as value before and after."""
        return object_changes(self.before or {}, self.after or {})


@dataclass(frozen=True, kw_only=True)
class Draft:
    """Changed definitions over one listing of tools; no server is ever touched.

    `listing` is the raw `tools/list` answer, `{"tools": […]}`, with the server's "instructions" where it has some;
    `server` is None for one of a tools file. Of all `steps` the first `step` apply, so that undo and redo move that
    number.
    """

    id: DraftId
    name: str
    listing: JsonObject
    server: str | None = None
    steps: tuple[DraftStep, ...] = ()
    step: int = 0
    created_at: datetime
    updated_at: datetime

    @property
    def listing_hash(self) -> str:
        """SHA-256 of the canonical text of the listing."""
        return fingerprint(self.listing)

    @property
    def base(self) -> RawTools:
        """The raw definitions of the listing, in its order."""
        return tuple(self.listing["tools"])

    @property
    def tools(self) -> RawTools:
        """The raw definitions after the steps that apply, in the order of the draft."""
        return tuple(raw for _, raw in self.keyed)

    @property
    def keyed(self) -> KeyedTools:
        """The tools of the draft with their identities."""
        return self.states[-1]

    @cached_property
    def states(self) -> tuple[KeyedTools, ...]:
        """The tools before the first and after each step that applies."""
        found: list[KeyedTools] = [tuple(enumerate(self.base))]
        for step in self.steps[: self.step]:
            found.append(after_step(found[-1], step))
        return tuple(found)

    @cached_property
    def instructions_states(self) -> tuple[str, ...]:
        """The server's instructions before the first and after each step that applies; "" where it has none."""
        return (*accumulate(self.steps[: self.step], instructions_after, initial=self.listing.get("instructions", "")),)

    @property
    def instructions(self) -> str:
        """The server's instructions after the steps that apply."""
        return self.instructions_states[-1]

    @property
    def of_instructions(self) -> ToolRevision:
        """The server's instructions as the listing and as the draft has them."""
        texts = (self.instructions_states[0], self.instructions)
        return ToolRevision(*({"name": INSTRUCTIONS, "description": text} for text in texts))

    @cached_property
    def revisions(self) -> tuple[ToolRevision, ...]:
        """Changes to the listing: tools in its order, the added ones, then the server's instructions."""
        now = dict(self.keyed)
        pairs = [ToolRevision(raw, now.get(place)) for place, raw in enumerate(self.base)]
        pairs += [ToolRevision(None, raw) for key, raw in self.keyed if isinstance(key, str)]
        pairs.append(self.of_instructions)
        return tuple(one for one in pairs if one.before is None or one.after is None or one.fields)

    @property
    def renames(self) -> Mapping[str, str]:
        """The new name of each tool that the draft renames, by its name in the listing."""
        kept = ((name_of(one.before), name_of(one.after)) for one in self.revisions if one.before and one.after)
        return {old: new for old, new in kept if old != new}

    @property
    def patch(self) -> Operations:
        """The shortest patch that gives the tools of the draft, applied to its listing."""
        texts = instructions_change(self.instructions_states[0], self.instructions)
        return difference(tuple(enumerate(self.base)), self.keyed) + texts

    def changed_tools(self) -> tuple[str, ...]:
        """Return the names of the tools that differ: those in the draft, of removed ones those in the listing."""
        return tuple(one.name for one in self.revisions)

    def place_of(self, name: str) -> int | None:
        """Return the place of the first tool of a name in the draft; None where there is none."""
        return next((place for place, raw in enumerate(self.tools) if raw.get("name") == name), None)


def name_of(raw: JsonObject) -> str:
    """Return the name of a definition, "" where it has none."""
    name = raw.get("name")
    return name if isinstance(name, str) else ""


def listing_document(listing: Listing) -> JsonObject:
    """Return the `tools/list` answer of a listing, so that patches address what the server lists.

    What was set aside and not kept, or is not offered, keeps its place as an empty definition.
    """
    placed = {place if tool.place is None else tool.place: tool.raw for place, tool in enumerate(listing.tools)}
    placed |= {one.place: one.raw for one in listing.problems if one.place is not None and one.raw is not None}
    tools = [dict(placed.get(place, {})) for place in range(max(placed, default=-1) + 1)]
    return {"tools": tools, **({"instructions": listing.instructions} if listing.instructions else {})}


def offered_fingerprint(tools: Iterable[JsonObject], instructions: str) -> str:
    """Return the fingerprint of what a draft or one of its states offers."""
    return fingerprint({"tools": list(tools), **({"instructions": instructions} if instructions else {})})


def resumed(draft: Draft, earlier: Draft) -> Draft:
    """Return a draft that shares the listing and states of an earlier reading of it, as far as their steps agree.

    Applying every step again after each edit would take longer with each edit.
    """
    if draft.id != earlier.id or not written_alike(draft.listing, earlier.listing):
        return draft
    agree = takewhile(lambda steps: steps[0] == steps[1], zip(draft.steps[: draft.step], earlier.steps, strict=False))
    made = replace(draft, listing=earlier.listing)
    try:
        found = list(earlier.states[: sum(1 for _ in agree) + 1])
        for step in draft.steps[len(found) - 1 : draft.step]:
            found.append(after_step(found[-1], step))
    except InputError:  # told where the tools are asked for
        return draft
    made.__dict__["states"] = tuple(found)
    return made


def after_step(before: KeyedTools, step: DraftStep) -> KeyedTools:
    """Return the tools after a step. InputError where an operation does not apply, or no list of tools is left."""
    operations = [one for one in step.operations if not _changes_instructions(one)]
    document = apply_patch({"tools": [raw for _, raw in before]}, operations)
    tools = document.get("tools") if isinstance(document, Mapping) else None
    if not isinstance(tools, list) or any(not isinstance(raw, (dict, Mapping)) for raw in tools):
        hint = "Address tools as /tools/0, /tools/1 and so on."
        raise InputError("After the patch there is no list of tools.", hint=hint, code="bad_patch")
    return tuple(zip(_keys(before, tools, step), tools, strict=True))


def instructions_after(before: str, step: DraftStep) -> str:
    """Return the server's instructions after a step. InputError where an operation does not apply, or leaves no text.

    An operation that replaces the whole document replaces them too.
    """
    document: JsonObject = {"instructions": before} if before else {}
    for one in step.operations:
        if _changes_instructions(one):
            document = apply_patch(document, [one])
        elif one["op"] in ("add", "replace") and not one["path"]:
            document = one["value"] if isinstance(one["value"], Mapping) else {}
    return _sound_instructions(document.get("instructions", ""))


def _sound_instructions(text: object) -> str:
    if not isinstance(text, str) or len(text) > LONGEST_INSTRUCTIONS:
        hint = f"Write up to {LONGEST_INSTRUCTIONS:,} characters."
        raise InputError("After the patch the instructions are not a text.", hint=hint, code="bad_patch")
    return text


def _changes_instructions(operation: JsonObject) -> bool:
    return _OF_INSTRUCTIONS in (operation["path"], operation.get("from"))


def instructions_change(before: str, after: str) -> Operations:
    """Return the operations that turn a server's instructions into others."""
    if before == after:
        return ()
    op = "add" if not before else "replace" if after else "remove"
    return ({"op": op, "path": _OF_INSTRUCTIONS, **({"value": after} if after else {})},)


def _keys(before: KeyedTools, tools: Sequence[JsonObject], step: DraftStep) -> list[ToolKey]:
    """Follow the identities of tools through the operations that add, remove or move whole tools."""
    fresh = (f"{step.number}.{number}" for number in count())
    if any(map(_replaces_the_list, step.operations)):
        known = {name_of(raw): key for key, raw in reversed(before)}
        return [known.pop(name_of(raw)) if name_of(raw) in known else next(fresh) for raw in tools]
    keys: list[ToolKey] = [key for key, _ in before]
    for operation in step.operations:
        _follow(keys, operation, fresh)
    return keys


def _replaces_the_list(operation: JsonObject) -> bool:
    return operation["op"] != "test" and pointer_parts(operation["path"]) in _WHOLE


def _follow(keys: list[ToolKey], operation: JsonObject, fresh: Iterator[str]) -> None:
    op, target = operation["op"], _tool_place(operation["path"], len(keys))
    source = _tool_place(operation["from"], len(keys)) if op == "move" else None
    moved = next(fresh) if source is None else keys.pop(source)
    if target is None or op in ("test", "replace"):
        return
    if op == "remove":
        del keys[target]
    else:
        keys.insert(target, moved)


def _tool_place(path: str, end: int) -> int | None:
    """Return the place of the whole tool that a pointer leads to; None where it leads elsewhere."""
    parts = pointer_parts(path)
    if len(parts) != 2 or parts[0] != "tools":
        return None
    return end if parts[1] == "-" else int(parts[1])


def difference(before: KeyedTools, after: KeyedTools) -> Operations:
    """Return the operations that turn one set of tools into another: edits, then removals, additions and moves.

    Each changed or removed tool is first tested by its name, so that the patch applies to no other tool.
    """
    now = dict(after)
    operations: list[JsonObject] = []
    for place, (key, raw) in enumerate(before):
        if key in now:
            operations += _edits(place, raw, now[key])
    kept: list[ToolKey] = [key for key, _ in before]
    for place in reversed(range(len(before))):
        if kept[place] not in now:
            operations += [_test(place, before[place][1]), {"op": "remove", "path": pointer("tools", str(place))}]
            del kept[place]
    for place, (key, raw) in enumerate(after):
        operations += _placed(kept, place, key, raw)
    return tuple(operations)


def _edits(place: int, before: JsonObject, after: JsonObject) -> list[JsonObject]:
    found = []
    for path, (old, new) in object_changes(before, after).items():
        at = pointer("tools", str(place), *path)
        op = "remove" if new is MISSING else "add" if old is MISSING else "replace"
        found.append({"op": op, "path": at} | ({} if new is MISSING else {"value": new}))
    return [_test(place, before), *found] if found else []


def _test(place: int, raw: JsonObject) -> JsonObject:
    if "name" in raw:
        return {"op": "test", "path": pointer("tools", str(place), "name"), "value": raw["name"]}
    return {"op": "test", "path": pointer("tools", str(place)), "value": raw}


def _placed(kept: list[ToolKey], place: int, key: ToolKey, raw: JsonObject) -> list[JsonObject]:
    at = pointer("tools", str(place))
    if key not in kept:
        kept.insert(place, key)
        return [{"op": "add", "path": at, "value": raw}]
    if kept[place] == key:
        return []
    source = kept.index(key)
    kept.insert(place, kept.pop(source))
    return [{"op": "move", "from": pointer("tools", str(source)), "path": at}]


def steps_text(step: int, steps: int) -> str:
    """Return how many steps of a draft apply, for people."""
    return f"{step} of {steps} steps"


def require_sound_set(before: Sequence[JsonObject], after: Sequence[JsonObject]) -> None:
    """Raise InputError for a set of tools that is empty, or holds a name twice that it did not hold twice before."""
    if not after:
        raise InputError("After the change no tool would be left.", hint="Keep at least one tool.", code="bad_draft")
    had = Counter(map(name_of, before))
    for name, number in Counter(map(name_of, after)).items():
        if name and number > max(1, had[name]):
            said = f"After the change {number} tools would be named “{name[:80]}”."
            raise InputError(said, hint="Give each tool a name of its own.", code="bad_draft")


def require_draft_name(name: str) -> str:
    """Return the name of a draft without surrounding spaces. InputError for an unusable one."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        said = f"The name of a draft has 1 to {LONGEST_NAME} characters, all of which can be shown."
        raise InputError(said, hint="Use another name.")
    return name
