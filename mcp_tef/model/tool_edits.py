"""Edits of one raw tool definition: its texts, its parameters and its annotations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.model.drafts import INSTRUCTIONS, Draft, DraftStep, ToolKey, difference, instructions_change
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.search import did_you_mean


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
