"""Edits of the tools in a draft: of the texts and parameters of one, and of all where their listing has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.model.drafts import (
    INSTRUCTIONS,
    Draft,
    DraftStep,
    KeyedTools,
    ToolKey,
    difference,
    instructions_change,
    name_of,
)
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.json_patch import MISSING, Path, object_changes, same
from mcp_tef.model.search import did_you_mean

PathChanges: TypeAlias = Mapping[Path, tuple[Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterEdit:
    """New values of one parameter; None keeps what is there.

    An empty description or enum, and `without_default`, take away what is there.
    """

    name: str
    rename: str | None = None
    description: str | None = None
    enum: Sequence[Json] | None = None
    default: Json = None
    has_default: bool = False
    without_default: bool = False
    required: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEdit:
    """New values of one tool; None keeps what is there, and an empty title takes it away.

    Of `annotations` those with the value None are taken away; the others are set beside those that are there.
    """

    rename: str | None = None
    title: str | None = None
    description: str | None = None
    annotations: Mapping[str, Json] = field(default_factory=dict)
    parameters: Sequence[ParameterEdit] = ()


def edited_tool(raw: JsonObject, edit: ToolEdit) -> JsonObject:
    """Return a definition with an edit; it shares unchanged values. NotFoundError for an unknown parameter."""
    texts = {"name": edit.rename, "description": edit.description, "title": edit.title or None}
    made = {**raw, **_given(texts)}
    if edit.title == "":
        made.pop("title", None)
    if edit.annotations:
        made["annotations"] = _given({**(raw.get("annotations") or {}), **edit.annotations})
        if not made["annotations"]:
            del made["annotations"]
    for parameter in edit.parameters:
        schema = made.get("inputSchema")
        made["inputSchema"] = _with_parameter(schema if isinstance(schema, Mapping) else {}, parameter, parameter.name)
    return made


def edited_draft(draft: Draft, edits: Mapping[ToolKey, ToolEdit]) -> Draft:
    """Return a draft with one more step, not stored, that edits tools by their identities, or `INSTRUCTIONS`."""
    after = tuple((key, edited_tool(raw, edits[key]) if key in edits else raw) for key, raw in draft.keyed)
    text = edits[INSTRUCTIONS].description if INSTRUCTIONS in edits else None
    operations = difference(draft.keyed, after)
    operations += instructions_change(draft.instructions, draft.instructions if text is None else text)
    step = DraftStep(draft.step + 1, operations, draft.updated_at)
    made = replace(draft, steps=(*draft.steps[: draft.step], step), step=draft.step + 1)
    made.__dict__["states"] = (*draft.states, after)  # applying every step again takes too long while one types
    return made


def edited_values(seen: Draft, stored: Draft, tool: str, edit: ToolEdit) -> tuple[PathChanges, PathChanges]:
    """Return what an edit changes in a tool as it was seen, and what is changed there by now, by path."""
    if tool == INSTRUCTIONS:
        before, after = {"description": seen.instructions}, {"description": edit.description or ""}
        return object_changes(before, after), object_changes(before, {"description": stored.instructions})
    known = {name_of(raw): raw for raw in reversed(seen.tools)}
    now = {name_of(raw): raw for raw in reversed(stored.tools)}
    if tool not in known or tool not in now:
        return {}, {}
    return object_changes(known[tool], edited_tool(known[tool], edit)), object_changes(known[tool], now[tool])


def _given(values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value is not None}


def parameter_names(schema: Json, before: str = "") -> tuple[str, ...]:
    """Return the parameters of a schema; those of nested objects as `outer.inner`."""
    found: list[str] = []
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        for name, inner in properties.items() if isinstance(properties, Mapping) else ():
            found += [before + name, *parameter_names(inner, f"{before}{name}.")]
        if isinstance(schema.get("items"), Mapping):
            found += parameter_names(schema["items"], before)
    return tuple(found)


def _with_parameter(schema: JsonObject, edit: ParameterEdit, path: str) -> JsonObject:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and path in properties:
        return _with_property(schema, properties, edit, path)
    if isinstance(schema.get("items"), Mapping):
        return {**schema, "items": _with_parameter(schema["items"], edit, path)}
    outer, _, inner = path.partition(".")
    if inner and isinstance(properties, Mapping) and isinstance(properties.get(outer), Mapping):
        return {**schema, "properties": {**properties, outer: _with_parameter(properties[outer], edit, inner)}}
    known = parameter_names(schema)
    raise NotFoundError(
        f"There is no parameter “{edit.name}”.",
        hint=did_you_mean(path, known, f"There are {', '.join(known[:10])}." if known else "The tool has none."),
    )


def _with_property(schema: JsonObject, properties: JsonObject, edit: ParameterEdit, name: str) -> JsonObject:
    wanted = _free_name(properties, name, edit)
    edited = {wanted if key == name else key: value for key, value in properties.items()}
    edited[wanted] = _edited_property(properties[name], edit)
    made = {**schema, "properties": edited}
    before = schema.get("required") or []
    required = _required([wanted if one == name else one for one in before], wanted, edit.required)
    if required:
        made["required"] = required
    elif before:
        del made["required"]
    return made


def _free_name(properties: JsonObject, name: str, edit: ParameterEdit) -> str:
    wanted = name if edit.rename is None else edit.rename
    if wanted != name and wanted in properties:
        raise InputError(f"There is a parameter “{wanted}” already.", hint="Use another name.")
    if not wanted.strip():
        raise InputError("A parameter needs a name.", hint="Give a name with at least one letter.")
    return wanted


def _required(names: list[Json], name: str, required: bool | None) -> list[Json]:
    if required is None or required == (name in names):
        return names
    return [*names, name] if required else [one for one in names if one != name]


def _edited_property(value: Json, edit: ParameterEdit) -> JsonObject:
    made = dict(value) if isinstance(value, Mapping) else {}
    for key, new in (("description", edit.description), ("enum", edit.enum)):
        if new:
            made[key] = new if isinstance(new, str) else list(new)
        elif new is not None:
            made.pop(key, None)
    if edit.has_default:
        made["default"] = edit.default
    if edit.without_default:
        made.pop("default", None)
    return made


@dataclass(frozen=True, slots=True)
class TextConflict:
    """A text that a draft changed and that the listing has changed as well; None where a text is missing.

    `path` leads to it within the definition, () for the whole tool.
    """

    tool: str
    path: Path
    was: Json
    now: Json
    draft: Json

    @property
    def field(self) -> str:
        """The path as people read it."""
        return " / ".join(self.path) or "the whole tool"


@dataclass(frozen=True, slots=True)
class RebasedDraft:
    """A draft over another listing, with the texts that both had changed."""

    draft: Draft
    conflicts: tuple[TextConflict, ...] = ()


def rebased(draft: Draft, listing: JsonObject, *, keep_draft: bool = True) -> RebasedDraft:
    """Return the draft over another listing: each of its steps, where its texts are unchanged there.

    Where the listing changed a text as well, the draft's is kept, or with `keep_draft` False that of the listing;
    `conflicts` names them all. Steps that were undone are dropped.
    """
    base: KeyedTools = tuple(enumerate(listing["tools"]))
    now = listing.get("instructions", "")
    old = tuple(enumerate(draft.base))
    states: list[KeyedTools] = [base]
    conflicts: tuple[TextConflict, ...] = ()
    for state in draft.states[1:]:
        merge = _Merge(base, state, keep_draft)
        states.append(merge.result(old))
        conflicts = tuple(merge.conflicts)
    texts = [_merged_text(draft.instructions_states[0], now, text, keep_draft) for text in draft.instructions_states]
    if len({draft.instructions_states[0], now, draft.instructions}) == 3:
        shown = (draft.instructions_states[0], now, draft.instructions)
        conflicts += (TextConflict(INSTRUCTIONS, ("description",), *shown),)
    steps = [
        DraftStep(number, difference(*tools) + instructions_change(*pair), step.made_at)
        for number, (tools, pair, step) in enumerate(
            zip(pairwise(states), pairwise(texts), draft.steps, strict=False), 1
        )
    ]
    kept = tuple(step for step in steps if step.operations)
    renumbered = tuple(DraftStep(number, step.operations, step.made_at) for number, step in enumerate(kept, 1))
    made = Draft(
        id=draft.id,
        name=draft.name,
        listing=listing,
        server=draft.server,
        steps=renumbered,
        step=len(renumbered),
        created_at=draft.created_at,
        updated_at=draft.updated_at,
    )
    return RebasedDraft(made, conflicts)


def _merged_text(was: str, now: str, draft: str, keep_draft: bool) -> str:
    """Return the draft's instructions over those of a new listing."""
    return now if draft == was else draft if keep_draft or now == was else now


class _Merge:
    """One state of a draft merged into a new base. Keys of the result are places there, or those of added tools."""

    def __init__(self, base: KeyedTools, state: KeyedTools, keep_draft: bool) -> None:
        self.conflicts: list[TextConflict] = []
        self._places = {name_of(raw): key for key, raw in reversed(base)}
        self._now: dict[ToolKey, JsonObject] = dict(base)
        self._state = state
        self._wanted = dict(state)
        self._keep_draft = keep_draft
        self._dropped: set[ToolKey] = set()
        self._added: list[tuple[ToolKey, JsonObject]] = []

    def result(self, old: KeyedTools) -> KeyedTools:
        """Return the merged tools; `old` is the base that the state was made over."""
        for key, was in old:
            place = self._places.get(name_of(was))
            if place is None:
                self._merge_gone(key, was)
            elif key not in self._wanted:
                self._merge_removed(place, was)
            else:
                self._now[place], found = _merged_tool(was, self._now[place], self._wanted[key], self._keep_draft)
                self.conflicts += found
        for key, raw in self._state:
            if isinstance(key, str):
                self._merge_added(key, raw)
        kept = tuple((key, raw) for key, raw in self._now.items() if key not in self._dropped)
        return (*kept, *self._added)

    def _merge_gone(self, key: ToolKey, was: JsonObject) -> None:
        """Merge a tool that the new listing lacks: only one that the draft changed matters."""
        if key in self._wanted and not same(was, self._wanted[key]):
            self.conflicts.append(TextConflict(name_of(was), (), was, None, self._wanted[key]))
            if self._keep_draft:
                self._added.append((f"gone.{key}", self._wanted[key]))

    def _merge_removed(self, place: ToolKey, was: JsonObject) -> None:
        """Merge a tool that the draft removes."""
        unchanged = same(was, self._now[place])
        if not unchanged:
            self.conflicts.append(TextConflict(name_of(was), (), was, self._now[place], None))
        if unchanged or self._keep_draft:
            self._dropped.add(place)

    def _merge_added(self, key: ToolKey, raw: JsonObject) -> None:
        """Merge a tool that the draft adds, whose name the new listing may have by now."""
        twin = self._places.get(name_of(raw))
        if twin is None or twin in self._dropped or name_of(self._now[twin]) != name_of(raw):
            self._added.append((key, raw))
            return
        self.conflicts.append(TextConflict(name_of(raw), (), None, self._now[twin], raw))
        if self._keep_draft:
            self._dropped.add(twin)
            self._added.append((key, raw))


def _merged_tool(
    was: JsonObject, now: JsonObject, draft: JsonObject, keep_draft: bool
) -> tuple[JsonObject, list[TextConflict]]:
    conflicts: list[TextConflict] = []
    result: JsonObject = now
    for path, (old, new) in object_changes(was, draft).items():
        current = _value_at(now, path)
        if _equal(current, new):
            continue
        if not _equal(current, old):
            shown = (None if value is MISSING else value for value in (old, current, new))
            conflicts.append(TextConflict(name_of(was), path, *shown))
            if not keep_draft:
                continue
        result = _with_value(result, path, new)
    return result, conflicts


def _value_at(value: Json, path: Path) -> Json:
    for part in path:
        if not isinstance(value, Mapping) or part not in value:
            return MISSING
        value = value[part]
    return value


def _equal(one: Json, other: Json) -> bool:
    return one is other if MISSING in (one, other) else same(one, other)


def _with_value(holder: Json, path: Path, value: Json) -> JsonObject:
    """Return a copy of an object with a value at a path, whose objects are made where they are missing."""
    held: dict[str, Json] = dict(holder) if isinstance(holder, Mapping) else {}
    name, *rest = path
    new = _with_value(held.get(name), tuple(rest), value) if rest else value
    if new is MISSING:
        held.pop(name, None)
    else:
        held[name] = new
    return held
