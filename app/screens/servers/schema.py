"""Parameters of a tool's JSON Schema as texts: type, description and limits."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.text.formatting import count
from mcp_tef import Tool

_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "object": "object",
    "null": "nothing",
}
_FORMATS = {"date": "date", "date-time": "date and time", "time": "time", "email": "e-mail", "uri": "web address"}
CHARACTERS_PER_TOKEN = 4
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
    properties = schema.get("properties")
    required = schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list | tuple) else set()
    if not isinstance(properties, Mapping):
        return ()
    return tuple(_parameter(str(name), part, str(name) in needed, schema) for name, part in properties.items())


def _parameter(name: str, part: Any, required: bool, root: Mapping[str, Any]) -> SchemaParameter:
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
        return f"one of {count(len(part['enum']), 'value')}"
    if "const" in part:
        return "one value"
    kind = part.get("type")
    options = [part[key] for key in ("anyOf", "oneOf") if isinstance(part.get(key), list)]
    if isinstance(kind, list):
        options.append([{**part, "type": one} for one in kind])
    return _either(options[0], root, depth) if options else _one_type(kind, part, root, depth)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _one_type(kind: object, part: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    if kind == "array":
        items = part.get("items")
        inner = type_text(items, root, depth - 1) if isinstance(items, Mapping) and items else ""
        return f"list of {_plural(inner)}" if inner and inner != "anything" else "list"
    if kind == "string":
        return _FORMATS.get(str(part.get("format")), "text")
    return _WORDS.get(str(kind), "object" if "properties" in part else "anything")


def _either(parts: Sequence[Any], root: Mapping[str, Any], depth: int) -> str:
    words = [type_text(part, root, depth - 1) for part in parts if isinstance(part, Mapping)]
    return " or ".join(dict.fromkeys(words)) or "anything"


def _plural(words: str) -> str:
    endings = {"text": "texts", "whole number": "whole numbers", "number": "numbers", "object": "objects"}
    return endings.get(words, words)


def _resolved(part: Any, root: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """Return `part` with references into its own document followed."""
    for _ in range(depth):
        reference = part.get("$ref") if isinstance(part, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        part = {**_looked_up(reference, root), **{key: value for key, value in part.items() if key != "$ref"}}
    return _without_nothing(part, root, depth) if isinstance(part, Mapping) else {}


def _without_nothing(part: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """Replace "a value or null" by the value, because the table shows in a column of its own if it is required."""
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


def _looked_up(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for step in reference[2:].split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


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


def token_count(tool: Tool) -> int:
    """About how many tokens a tool costs in each request: four characters a token of what a model is sent of it."""
    sent = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    text = json.dumps(sent, ensure_ascii=False, default=str, separators=(",", ":"))
    return max(1, round(len(text) / CHARACTERS_PER_TOKEN))
