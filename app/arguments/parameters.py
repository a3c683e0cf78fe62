"""Parameters of a tool, read from its JSON Schema: for fields (`Parameter`) and as texts (`SchemaParameter`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from mcp_tef import Json, canonical

MOST_REFERENCES: Final = 16


class Kind(StrEnum):
    """Type of a parameter, which decides its field; the value is its text."""

    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole number"
    FLAG = "yes or no"
    LIST = "list"
    OBJECT = "object"
    ANY = "any type"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the values that a schema allows, with its label."""

    label: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Property of a tool's schema; `known` is False if only an expectation names it."""

    name: str
    kind: Kind = Kind.ANY
    word: str = ""
    required: bool = False
    description: str = ""
    choices: tuple[Choice, ...] = ()
    items: Kind = Kind.ANY
    known: bool = True

    @property
    def type_word(self) -> str:
        """Type as text."""
        return self.word or self.kind.value


_KINDS: Final[Mapping[str, Kind]] = {
    "string": Kind.TEXT,
    "number": Kind.NUMBER,
    "integer": Kind.WHOLE,
    "boolean": Kind.FLAG,
    "array": Kind.LIST,
    "object": Kind.OBJECT,
}
_FORMATS: Final[Mapping[str, str]] = {
    "date": "date",
    "date-time": "date and time",
    "time": "time",
    "email": "e-mail",
    "uri": "web address",
    "url": "web address",
}


def parameters_of(schema: Mapping[str, Json]) -> tuple[Parameter, ...]:
    """Return the parameters of a schema: required ones first, otherwise in its order."""
    root = _object(schema)
    properties = _object(root.get("properties"))
    required = _required(root)
    found = [_parameter(name, node, root, name in required) for name, node in properties.items()]
    return tuple(sorted(found, key=lambda parameter: not parameter.required))


def _required(schema: Mapping[str, Any]) -> set[str]:
    listed = schema.get("required")
    return {item for item in listed if isinstance(item, str)} if isinstance(listed, list | tuple) else set()


def unknown_parameter(name: str) -> Parameter:
    """Return a parameter that an expectation names and no schema has."""
    return Parameter(name=name, known=False)


def required_names(parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    """Return the names of the required parameters."""
    return tuple(parameter.name for parameter in parameters if parameter.required)


def _parameter(name: str, node: Json, root: Mapping[str, Json], required: bool) -> Parameter:
    plain = _plain(node, root)
    choices = tuple(_choices(plain))
    kind = _kind(plain, choices)
    items = _kind(_plain(plain.get("items"), root), ()) if kind is Kind.LIST else Kind.ANY
    described = plain.get("description")
    return Parameter(
        name=name,
        kind=kind,
        word=_word(plain, kind, items, choices),
        required=required,
        description=described if isinstance(described, str) else "",
        choices=choices,
        items=items,
    )


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _plain(node: Json, root: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a node with local references followed and "or null" removed; its own keys win."""
    merged: dict[str, Json] = {}
    current = _object(node)
    for _ in range(MOST_REFERENCES):
        merged = {**current, **merged}
        following = _following(current, root)
        if following is None:
            break
        current = following
    return merged


def _following(node: Mapping[str, Json], root: Mapping[str, Json]) -> Mapping[str, Json] | None:
    reference = node.get("$ref")
    if isinstance(reference, str):
        return _resolve(reference, root)
    branches = [branch for branch in _branches(node) if branch.get("type") != "null"]
    return branches[0] if len(branches) == 1 else None


def _branches(node: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    for word in ("anyOf", "oneOf", "allOf"):
        several = node.get(word)
        if isinstance(several, list):
            yield from (_object(branch) for branch in several)


def _resolve(reference: str, root: Mapping[str, Json]) -> Mapping[str, Json] | None:
    if not reference.startswith("#/"):
        return None
    current: Json = root
    for part in reference[2:].split("/"):
        current = _object(current).get(part.replace("~1", "/").replace("~0", "~"))
    return current if isinstance(current, Mapping) else None


def _choices(node: Mapping[str, Json]) -> Iterator[Choice]:
    values = node.get("enum")
    if isinstance(values, list):
        for value in values:
            yield Choice(value if isinstance(value, str) else canonical(value), value)


def _kind(node: Mapping[str, Json], choices: tuple[Choice, ...]) -> Kind:
    declared = node.get("type")
    if isinstance(declared, list):
        types = [item for item in declared if item != "null"]
        declared = types[0] if len(types) == 1 else None
    if isinstance(declared, str):
        return _KINDS.get(declared, Kind.ANY)
    if choices and all(isinstance(choice.value, str) for choice in choices):
        return Kind.TEXT
    return Kind.ANY


def _word(node: Mapping[str, Json], kind: Kind, items: Kind, choices: tuple[Choice, ...]) -> str:
    if choices:
        return f"one of {len(choices)}"
    if kind is Kind.TEXT:
        return _FORMATS.get(str(node.get("format")), Kind.TEXT.value)
    if kind is Kind.LIST and items in _PLURALS:
        return f"list of {_PLURALS[items]}"
    return kind.value


_PLURALS: Final[Mapping[Kind, str]] = {
    Kind.TEXT: "texts",
    Kind.NUMBER: "numbers",
    Kind.WHOLE: "numbers",
    Kind.OBJECT: "objects",
}


DEEPEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaParameter:
    """Parameter of a tool as texts."""

    name: str
    type: str
    required: bool
    description: str
    limits: str


def parameters(schema: Mapping[str, Any]) -> tuple[SchemaParameter, ...]:
    """Return the parameters of a tool, in the order of its schema."""
    required = _required(schema)
    properties = _object(schema.get("properties"))
    return tuple(_schema_parameter(str(name), part, name in required, schema) for name, part in properties.items())


def _schema_parameter(name: str, part: Any, required: bool, root: Mapping[str, Any]) -> SchemaParameter:
    resolved = _resolved(part, root, DEEPEST)
    description = resolved.get("description")
    return SchemaParameter(
        name=name,
        type=type_text(resolved, root),
        required=required,
        description=description if isinstance(description, str) else "",
        limits=", ".join(_limits(resolved)),
    )


def type_text(part: Mapping[str, Any], root: Mapping[str, Any], depth: int = DEEPEST) -> str:
    """Return the type of a value: "text", "list of whole numbers", "text or nothing", "one of 3 values"."""
    if depth == 0:
        return "anything"
    part = _resolved(part, root, depth)
    if _is_list(part.get("enum")):
        return f"one of {len(part['enum'])}{_unit(len(part['enum']), 'value')}"
    if "const" in part:
        return "one value"
    kind = part.get("type")
    options = [part[key] for key in ("anyOf", "oneOf") if isinstance(part.get(key), list)]
    if isinstance(kind, list):
        options.append([{**part, "type": one} for one in kind])
    return _either(options[0], root, depth) if options else _one_type(kind, part, root, depth)


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _one_type(kind: object, part: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    if kind == "array":
        items = part.get("items")
        inner = type_text(items, root, depth - 1) if isinstance(items, Mapping) and items else ""
        return f"list of {_plural(inner)}" if inner and inner != "anything" else "list"
    if kind == "string":
        return _FORMATS.get(str(part.get("format")), "text")
    if kind == "null":
        return "nothing"
    known = _KINDS.get(str(kind), Kind.OBJECT if "properties" in part else None)
    return known.value if known else "anything"


def _either(parts: Sequence[Any], root: Mapping[str, Any], depth: int) -> str:
    words = [type_text(part, root, depth - 1) for part in parts if isinstance(part, Mapping)]
    return " or ".join(dict.fromkeys(words)) or "anything"


def _plural(text: str) -> str:
    return f"{text}s" if text in (Kind.TEXT, Kind.WHOLE, Kind.NUMBER, Kind.OBJECT) else text


def _resolved(part: Any, root: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """Return `part` with references into its own document followed."""
    for _ in range(depth):
        reference = part.get("$ref") if isinstance(part, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        part = {**(_resolve(reference, root) or {}), **{key: value for key, value in part.items() if key != "$ref"}}
    return _without_nothing(part, root, depth) if isinstance(part, Mapping) else {}


def _without_nothing(part: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """Replace "a value or null" by the value, because another column shows if it is required."""
    for key in ("anyOf", "oneOf"):
        branches = part.get(key)
        if not isinstance(branches, list) or len(branches) != 2 or depth == 0:
            continue
        values = [one for one in branches if not _is_null(one)]
        if len(values) == 1:
            rest = {name: value for name, value in part.items() if name != key}
            return {**_resolved(values[0], root, depth - 1), **rest}
    return part


def _is_null(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "null"


def _limits(part: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(part.get("enum"), list):
        yield " · ".join(_value(value) for value in part["enum"][:8]) + (" …" if len(part["enum"]) > 8 else "")
    yield from _range(part.get("minimum"), part.get("maximum"), "")
    yield from _range(part.get("minLength"), part.get("maxLength"), "character")
    yield from _range(part.get("minItems"), part.get("maxItems"), "item")
    if isinstance(part.get("pattern"), str):
        yield f"matches {part['pattern']}"
    yield from (f"{text} {_value(part[key])}" for key, text in _BOUNDS.items() if part.get(key) is not None)


_BOUNDS = {
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "const": "always",
    "default": "default",
}


def _range(low: object, high: object, unit: str) -> Iterator[str]:
    """Yield the text of two bounds, with the unit in singular or plural."""
    if low is None and high is None:
        return
    if low is not None and high is not None:
        yield f"{_value(low)} to {_value(high)}{_unit(high, unit)}"
    elif low is not None:
        yield f"at least {_value(low)}{_unit(low, unit)}"
    else:
        yield f"at most {_value(high)}{_unit(high, unit)}"


def _unit(number: object, unit: str) -> str:
    return f" {unit}" if unit and number == 1 else f" {unit}s" if unit else ""


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
