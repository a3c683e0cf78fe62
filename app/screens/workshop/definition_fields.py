"""Texts and values of a tool definition that can be edited, the original beside the draft; knows no Qt."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from app.arguments.parameters import Parameter, parameters_of
from mcp_tef import (
    INSTRUCTIONS,
    InputError,
    Json,
    JsonObject,
    ParameterEdit,
    ToolEdit,
    ToolRevision,
    canonical,
    loads_bounded,
)

PARAMETER, HINT = "parameter:", "hint:"
NAME, VALUES, JSON_VALUES, DEFAULT, JSON_DEFAULT, REQUIRED = (
    f"{word}:" for word in ("name", "values", "json values", "default", "json default", "required")
)
TEXTS: Final[Mapping[str, str]] = {"description": "Description", "title": "Title", "name": "Name"}
HINTS: Final[Mapping[str, str]] = {
    "readOnlyHint": "changes nothing",
    "destructiveHint": "may delete or overwrite",
    "idempotentHint": "the same again has no further effect",
    "openWorldHint": "reaches beyond its own system",
}
YES, NO, UNSAID = "yes", "no", ""
YES_NO: Final = ((YES, "Yes"), (NO, "No"))
ANSWERS: Final = ((UNSAID, "Not stated"), *YES_NO)
OF_PARAMETERS: Final = frozenset({"enum", "default", "required"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionField:
    """One text or value of a tool. `key` is "name", "title", "description", or what it is of a parameter or hint.

    `original` is None where the listing has no such tool or parameter. With `choices` one of them is the value; a
    `line` is taken once it is left, since it names the other fields.
    """

    key: str
    label: str
    detail: str = ""
    original: str | None
    draft: str
    mono: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    line: bool = False

    @property
    def changed(self) -> bool:
        """True if the draft differs from the original."""
        return (self.original or "") != self.draft or self.original is None

    @property
    def is_text(self) -> bool:
        """True for a name, a title or a description."""
        return self.key in TEXTS or self.key.startswith(PARAMETER)

    def shown(self, value: str) -> str:
        """Return a value as the user reads it."""
        return dict(self.choices).get(value, value)


def definition_fields(before: JsonObject | None, after: JsonObject, *, every: bool = False) -> list[DefinitionField]:
    """Return the texts of a tool and its parameters, and the other values that differ, or `every` one.

    Of a server's instructions it is their text alone.
    """
    if after.get("name") == INSTRUCTIONS:
        return [_instructions(before or {}, after)]
    return _fields_of_tool(before, after, every)


def _fields_of_tool(before: JsonObject | None, after: JsonObject, every: bool) -> list[DefinitionField]:
    texts = [
        DefinitionField(
            key=key,
            label=label,
            original=None if before is None else _text(before.get(key)),
            draft=_text(after.get(key)),
            mono=key == "name",
        )
        for key, label in TEXTS.items()
    ]
    found = [*texts, *_hints(before, after), *_parameter_fields(_schema(before or {}), _schema(after))]
    return [one for one in found if every or one.is_text or (one.changed and one.original is not None)]


def _instructions(before: JsonObject, after: JsonObject) -> DefinitionField:
    original, draft = (_text(raw.get("description")) for raw in (before, after))
    return DefinitionField(key="description", label="Instructions to the model", original=original, draft=draft)


def _hints(before: JsonObject | None, after: JsonObject) -> Iterator[DefinitionField]:
    old, new = (_object((raw or {}).get("annotations")) for raw in (before, after))
    for name, meaning in HINTS.items():
        original = None if before is None else _answer(old.get(name))
        yield DefinitionField(
            key=f"{HINT}{name}",
            label=name,
            detail=meaning,
            original=original,
            draft=_answer(new.get(name)),
            choices=ANSWERS,
        )


def _answer(value: Json) -> str:
    return (YES if value else NO) if isinstance(value, bool) else UNSAID


_Found: TypeAlias = tuple[str, JsonObject, Parameter]
_Kind: TypeAlias = tuple[str, str, Callable[[_Found], str]]
"""Kind of a field of a parameter: the beginning of its key, what it is, and how it is read."""


def _parameter_fields(before: JsonObject, after: JsonObject) -> Iterator[DefinitionField]:
    """Yield the fields of each parameter: its description, name, allowed values, default, and if it is required."""
    old, new = list(_parameters(before)), list(_parameters(after))
    known = _originals(old, new)
    for one in new:
        path, node, parameter = one
        was = known.get(path)
        yield DefinitionField(
            key=f"{PARAMETER}{path}",
            label=path,
            detail=f"{parameter.type_word}{', required' if parameter.required else ''}",
            original=_text(was[1].get("description")) if was else None,
            draft=_text(node.get("description")),
        )
        yield from _values_of(one, was)


def _originals(old: Sequence[_Found], new: Sequence[_Found]) -> dict[str, _Found]:
    """Return the original of each parameter by its path in the draft, also where it was renamed."""
    known, now = {one[0]: one for one in old}, {one[0] for one in new}
    come, gone = [path for path, *_ in new if path not in known], [one for one in old if one[0] not in now]
    return known | (dict(zip(come, gone, strict=True)) if len(come) == len(gone) else {})


def _values_of(now: _Found, was: _Found | None) -> Iterator[DefinitionField]:
    plain = _is_plain(now[1]) and (was is None or _is_plain(was[1]))
    for key, detail, read in _PLAIN_VALUES if plain else _JSON_VALUES:
        yield DefinitionField(
            key=f"{key}{now[0]}",
            label=now[0],
            detail=detail,
            original=read(was) if was else None,
            draft=read(now),
            mono=True,
            line=key == NAME,
            choices=YES_NO if key == REQUIRED else (),
        )


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _is_plain(node: JsonObject) -> bool:
    """Return True if the values of a parameter are texts of one line, so that they need no quotes."""
    values = [*_listed(node.get("enum")), *([node["default"]] if "default" in node else [])]
    return node.get("type") == "string" and all(isinstance(one, str) and one and "\n" not in one for one in values)


def _listed(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list | tuple) else ()


def _value_lines(one: _Found) -> str:
    return "\n".join(map(str, _listed(one[1].get("enum"))))


def _json_lines(one: _Found) -> str:
    return "\n".join(map(canonical, _listed(one[1].get("enum"))))


def _default(one: _Found) -> str:
    return _text(one[1].get("default"))


def _json_default(one: _Found) -> str:
    return canonical(one[1]["default"]) if "default" in one[1] else ""


_NAMED: Final[_Kind] = (NAME, "name", lambda one: _last(one[0]))
_NEEDED: Final[_Kind] = (REQUIRED, "required", lambda one: YES if one[2].required else NO)
_PLAIN_VALUES: Final[tuple[_Kind, ...]] = (
    _NAMED,
    (VALUES, "allowed values, one in each line", _value_lines),
    (DEFAULT, "default", _default),
    _NEEDED,
)
_JSON_VALUES: Final[tuple[_Kind, ...]] = (
    _NAMED,
    (JSON_VALUES, "allowed values as JSON, one in each line", _json_lines),
    (JSON_DEFAULT, "default as JSON", _json_default),
    _NEEDED,
)


_OF_PARAMETER: Final = re.compile(r"(?:[^:]+ of )?parameter (?P<path>.+)")
_KINDS_OF_RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "default": (DEFAULT, JSON_DEFAULT),
    "enum": (VALUES, JSON_VALUES),
    "values": (VALUES, JSON_VALUES),
    "twin": (NAME,),
    "lookalike": (NAME,),
}
"""Kinds of fields that a rule about a parameter is about, by a word of its id."""


def fields_at(place: str, rule: str) -> tuple[str, ...]:
    """Return the keys of the fields that a finding of lint may be about, the likeliest first."""
    if place.startswith("annotations: "):
        return (f"{HINT}{place.removeprefix('annotations: ')}",)
    found = _OF_PARAMETER.fullmatch(place)
    if found is None:
        return (place, "description")
    path = found["path"].replace("[]", "")
    kinds = [kind for word, some in _KINDS_OF_RULES.items() if word in rule.split("-") for kind in some]
    return (*(f"{kind}{path}" for kind in kinds), f"{PARAMETER}{path}", "description")


def definition_edit(texts: Mapping[str, str]) -> ToolEdit:
    """Return the edit that sets these fields, by their keys. InputError for a value that is no JSON."""
    parameters: dict[str, ParameterEdit] = {}
    hints: dict[str, Json] = {}
    for key, text in texts.items():
        kind, _, path = key.partition(":")
        if key.startswith(HINT):
            hints[path] = None if text == UNSAID else text == YES
        elif path:
            edit = parameters.get(path, ParameterEdit(name=path))
            parameters[path] = replace(edit, **_CHANGES[f"{kind}:"](text))
    inner_first = sorted(parameters.values(), key=lambda one: -one.name.count("."))
    edit_of_tool = ToolEdit(
        title=texts.get("title"),
        description=texts.get("description"),
        annotations=hints,
        parameters=tuple(inner_first),
    )
    return replace(edit_of_tool, rename=texts["name"].strip()) if "name" in texts else edit_of_tool


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _new_default(text: str, read: Callable[[str], Json]) -> dict[str, Any]:
    return {"default": read(text), "has_default": True} if text.strip() else {"without_default": True}


def _json(text: str) -> Json:
    try:
        return loads_bounded(text)
    except (ValueError, RecursionError):
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise InputError(f"{shown} is not JSON.", hint='Write texts in quotes, such as "open".') from None


_CHANGES: Final[Mapping[str, Callable[[str], dict[str, Any]]]] = {
    PARAMETER: lambda text: {"description": text},
    NAME: lambda text: {"rename": text.strip()},
    VALUES: lambda text: {"enum": _lines(text)},
    JSON_VALUES: lambda text: {"enum": [_json(line) for line in _lines(text)]},
    DEFAULT: lambda text: _new_default(text, str),
    JSON_DEFAULT: lambda text: _new_default(text, _json),
    REQUIRED: lambda text: {"required": text == YES},
}
"""Values of a `ParameterEdit` that the text of a field stands for, by the kind of field."""


def new_texts(revisions: tuple[ToolRevision, ...]) -> tuple[tuple[str, str], ...]:
    """Return the changed texts of a draft, each with its tool and field as a label."""
    return tuple(
        (_label(one.name, field), field.draft)
        for one in revisions
        if one.after is not None
        for field in definition_fields(one.before, one.after)
        if field.is_text and field.changed and field.draft
    )


def _label(tool: str, field: DefinitionField) -> str:
    if tool == INSTRUCTIONS:
        return tool
    return f"{tool}, {field.label.lower() if field.key in TEXTS else field.label}"


def other_changes(revision: ToolRevision) -> tuple[str, ...]:
    """Return the changes of a tool that no field shows: types, patterns and the like."""
    if revision.before is None or revision.after is None:
        return ()
    before, after = (list(_parameters(_schema(raw))) for raw in (revision.before, revision.after))
    return tuple(
        f"{' / '.join(path)}: {_value(old)} → {_value(new)}"
        for path, (old, new) in revision.fields.items()
        if not _has_field(path, same_number=len(before) == len(after))
    )


def _has_field(path: Sequence[str], *, same_number: bool) -> bool:
    """Return True if a field shows what differs at a path."""
    if path[0] == "annotations":
        return path[-1] in HINTS
    if path[-1] in TEXTS and len(path) == 1:
        return True
    renamed = same_number and path[-2:-1] == ("properties",)
    return path[0] == "inputSchema" and (path[-1] == "description" or path[-1] in OF_PARAMETERS or renamed)


def _value(value: Any) -> str:
    try:
        return canonical(value)
    except (TypeError, ValueError):
        return "nothing"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _schema(raw: JsonObject) -> JsonObject:
    return _object(raw.get("inputSchema"))


def _parameters(schema: JsonObject, before: str = "") -> Iterator[tuple[str, JsonObject, Parameter]]:
    """Yield each parameter with its path, as `ParameterEdit` names it, its schema and its type."""
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        known = {parameter.name: parameter for parameter in parameters_of(schema)}
        for name, node in properties.items():
            if isinstance(node, Mapping):
                yield f"{before}{name}", node, known[name]
                yield from _parameters(node, f"{before}{name}.")
    if isinstance(schema.get("items"), Mapping):
        yield from _parameters(schema["items"], before)
