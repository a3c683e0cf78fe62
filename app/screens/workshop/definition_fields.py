"""Texts of a tool definition that can be edited, the original beside the draft; knows no Qt."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from app.arguments.parameters import Parameter, parameters_of
from mcp_tef import JsonObject, ParameterEdit, ToolEdit, ToolRevision, canonical

PARAMETER: Final = "parameter:"
TEXTS: Final[Mapping[str, str]] = {"name": "Name", "title": "Title", "description": "Description"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionField:
    """One text of a tool. `key` is "name", "title", "description" or "parameter:PATH".

    `original` is None where the listing has no such tool or parameter.
    """

    key: str
    label: str
    detail: str = ""
    original: str | None
    draft: str
    mono: bool = False

    @property
    def changed(self) -> bool:
        """True if the draft differs from the original."""
        return (self.original or "") != self.draft or self.original is None


def definition_fields(before: JsonObject | None, after: JsonObject) -> tuple[DefinitionField, ...]:
    """Return the texts of a tool: name, title, description, then the descriptions of its parameters."""
    texts = (
        DefinitionField(
            key=key,
            label=label,
            original=None if before is None else _text(before.get(key)),
            draft=_text(after.get(key)),
            mono=key == "name",
        )
        for key, label in TEXTS.items()
    )
    known = {path: node for path, node, _ in _parameters(_schema(before or {}))}
    parameters = (
        DefinitionField(
            key=f"{PARAMETER}{path}",
            label=path,
            detail=f"{parameter.type_word}{', required' if parameter.required else ''}",
            original=_text(known[path].get("description")) if path in known else None,
            draft=_text(node.get("description")),
        )
        for path, node, parameter in _parameters(_schema(after))
    )
    return (*texts, *parameters)


def definition_edit(texts: Mapping[str, str]) -> ToolEdit:
    """Return the edit that sets these texts, by the keys of their fields."""
    parameters = tuple(
        ParameterEdit(name=key.removeprefix(PARAMETER), description=text)
        for key, text in texts.items()
        if key.startswith(PARAMETER)
    )
    edit = ToolEdit(title=texts.get("title"), description=texts.get("description"), parameters=parameters)
    return replace(edit, rename=texts["name"].strip()) if "name" in texts else edit


def new_texts(revisions: tuple[ToolRevision, ...]) -> tuple[tuple[str, str], ...]:
    """Return the changed texts of a draft, each with its tool and field as a label."""
    return tuple(
        (f"{one.name}, {field.label.lower() if field.key in TEXTS else field.label}", field.draft)
        for one in revisions
        if one.after is not None
        for field in definition_fields(one.before, one.after)
        if field.changed and field.draft
    )


def other_changes(revision: ToolRevision) -> tuple[str, ...]:
    """Return the changes of a tool that are in no text field: enums, defaults, annotations and the like."""
    return tuple(
        f"{' / '.join(path)}: {_value(before)} → {_value(after)}"
        for path, (before, after) in revision.fields.items()
        if revision.before is not None and path[-1] not in TEXTS
    )


def _value(value: Any) -> str:
    try:
        return canonical(value)
    except (TypeError, ValueError):
        return "nothing"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _schema(raw: JsonObject) -> Mapping[str, Any]:
    schema = raw.get("inputSchema")
    return schema if isinstance(schema, Mapping) else {}


def _parameters(schema: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Mapping[str, Any], Parameter]]:
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
