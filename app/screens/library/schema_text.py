"""The schema of a library tool as JSON and as rows of a form, which always show the same; knows no Qt."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from app.arguments.parameters import Kind, Parameter, parameters_of
from app.arguments.values import UnreadableError, dumps, loads, number, parse, parse_list, show, show_list
from mcp_tef import Json, JsonObject

TYPES: Final[Mapping[str, str]] = {
    "string": Kind.TEXT.value,
    "integer": Kind.WHOLE.value,
    "number": Kind.NUMBER.value,
    "boolean": Kind.FLAG.value,
    "array": Kind.LIST.value,
    "object": Kind.OBJECT.value,
    "": Kind.ANY.value,
}
LIMITS: Final[Mapping[str, Mapping[str, str]]] = {
    "string": {"minLength": "Shortest", "maxLength": "Longest", "pattern": "Pattern"},
    "integer": {"minimum": "Least", "maximum": "Most"},
    "number": {"minimum": "Least", "maximum": "Most"},
    "array": {"minItems": "Fewest", "maxItems": "Most"},
}
"""Limits that a parameter of each type may have: keywords of JSON Schema, with their labels."""
OTHER: Final = "other"
NO_OBJECT: Final = 'Write a JSON object such as {"type": "object", "properties": {}}.'
_PYTHON: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRow:
    """One parameter as its form shows it. `type` is a key of `TYPES`, or OTHER for what only JSON can say."""

    name: str
    type: str = "string"
    type_text: str = Kind.TEXT.value
    required: bool = False
    description: str = ""
    values: str = ""
    default: str = ""
    limits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema while it is typed: its JSON, the last one that could be read, and one sentence if `text` cannot."""

    text: str = ""
    schema: JsonObject | None = None
    fault: str = ""

    @classmethod
    def of(cls, schema: JsonObject | None) -> "SchemaText":
        """Return a schema as its JSON; nothing for None."""
        return cls("" if schema is None else dumps(dict(schema), indent=2), schema)

    def typed(self, text: str) -> "SchemaText":
        """Return what follows from typing JSON; the form keeps the last schema that could be read."""
        if not text.strip():
            return SchemaText(text, None)
        try:
            read = loads(text)
        except UnreadableError as error:
            return replace(self, text=text, fault=str(error))
        properties = read.get("properties", {}) if isinstance(read, dict) else None
        if not isinstance(read, dict) or not isinstance(properties, dict):
            return replace(self, text=text, fault=NO_OBJECT)
        return SchemaText(text, read)

    def rows(self) -> tuple[SchemaRow, ...]:
        """Return a row for each parameter, in the order of the schema."""
        known = {one.name: one for one in parameters_of(self.schema or {})}
        return tuple(_row(known[name], node) for name, node in self._properties().items())

    def with_new_row(self) -> "SchemaText":
        """Return the schema with one more parameter, which is a text."""
        properties = self._properties()
        number = len(properties) + 1
        while f"parameter_{number}" in properties:
            number += 1
        node = {"type": "string", "description": ""}
        return self._with(properties | {f"parameter_{number}": node}, self._required())

    def without_row(self, name: str) -> "SchemaText":
        """Return the schema without a parameter."""
        kept = {key: node for key, node in self._properties().items() if key != name}
        return self._with(kept, [one for one in self._required() if one != name])

    def with_value(self, name: str, field: str, value: str) -> "SchemaText":
        """Return the schema with another value in a field of a row; UnreadableError with one sentence."""
        match field:
            case "name":
                return self._renamed(name, value.strip())
            case "required":
                others = [one for one in self._required() if one != name]
                return self._with(self._properties(), [*others, name] if value else others)
            case _:
                properties = self._properties()
                known = {one.name: one for one in parameters_of(self.schema or {})}
                change = _CHANGES.get(field, partial(_with_limit, field))
                properties[name] = change(dict(properties[name]), known[name], value)
                return self._with(properties, self._required())

    def _renamed(self, name: str, new: str) -> "SchemaText":
        if name == new:
            return self
        if not new or new in self._properties():
            raise UnreadableError("Give each parameter a name of its own.")
        renamed = {new if key == name else key: node for key, node in self._properties().items()}
        return self._with(renamed, [new if one == name else one for one in self._required()])

    def _properties(self) -> dict[str, Any]:
        found = (self.schema or {}).get("properties", {})
        return {name: node if isinstance(node, dict) else {} for name, node in found.items()}

    def _required(self) -> list[str]:
        found = (self.schema or {}).get("required", [])
        return [one for one in found if isinstance(one, str)] if isinstance(found, list | tuple) else []

    def _with(self, properties: Mapping[str, Json], required: list[str]) -> "SchemaText":
        order = list(properties)
        listed = sorted(required, key=lambda one: order.index(one) if one in order else len(order))
        changed: dict[str, Any] = {"type": "object", **(self.schema or {}), "properties": dict(properties)}
        changed.pop("required", None)
        return SchemaText.of({**changed, **({"required": listed} if listed else {})})


EMPTY: Final = SchemaText()


def _row(parameter: Parameter, node: Mapping[str, Any]) -> SchemaRow:
    declared = node.get("type", "")
    plain = isinstance(declared, str) and declared in TYPES and not node.keys() & {"$ref", "anyOf", "oneOf", "allOf"}
    kind, values = declared if plain else OTHER, node.get("enum")
    return SchemaRow(
        name=parameter.name,
        type=kind,
        type_text=TYPES.get(kind, parameter.type_word),
        required=parameter.required,
        description=str(node.get("description", "")),
        values=show_list(parameter.kind, values) if isinstance(values, list) and values else "",
        default=show(parameter, node["default"]) if "default" in node else "",
        limits=_limits(node, kind),
    )


def _limits(node: Mapping[str, Any], kind: str) -> Mapping[str, str]:
    return {key: compact(node.get(key)) for key in LIMITS.get(kind, ())}


Node = dict[str, Any]
ALL_LIMITS: Final = frozenset(key for limits in LIMITS.values() for key in limits)


def _with_type(node: Node, _parameter: Parameter, value: str) -> Node:
    """Return the node with another type; limits, an enum and a default that do not fit it go."""
    values = [*node.get("enum", ()), *(node[key] for key in ("default",) if key in node)]
    fits = all(isinstance(one, _PYTHON.get(value, object)) for one in values)
    gone = {"type"} if fits else {"type", "enum", "default"}
    gone |= ALL_LIMITS - set(LIMITS.get(value, ()))
    typed = {"type": value} if value else {}
    return {**typed, **{key: one for key, one in node.items() if key not in gone}}


def _with_description(node: Node, _parameter: Parameter, value: str) -> Node:
    return node | {"description": value}


def _with_values(node: Node, parameter: Parameter, value: str) -> Node:
    node.pop("enum", None)
    return node | {"enum": parse_list(parameter.kind, value)} if value.strip() else node


def _with_default(node: Node, parameter: Parameter, value: str) -> Node:
    node.pop("default", None)
    return node | {"default": parse(parameter, value)} if value.strip() else node


def _with_limit(keyword: str, node: Node, _parameter: Parameter, value: str) -> Node:
    node.pop(keyword, None)
    if not value.strip():
        return node
    return node | {keyword: value if keyword == "pattern" else number(value, Kind.WHOLE)}


_CHANGES: Final[Mapping[str, Callable[[Node, Parameter, str], Node]]] = {
    "type": _with_type,
    "description": _with_description,
    "values": _with_values,
    "default": _with_default,
}


def read_object(text: str, what: str) -> dict[str, Any]:
    """Return the JSON object in a text; UnreadableError that begins with its name."""
    try:
        value = loads(text)
    except UnreadableError as error:
        raise UnreadableError(f"{what}: {error}") from error
    if not isinstance(value, dict):
        raise UnreadableError(f"{what}: write a JSON object in braces.")
    return value


def compact(value: Json) -> str:
    """Return a value as JSON of one line, as a cell shows it."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
