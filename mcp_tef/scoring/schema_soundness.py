"""Soundness check of a JSON Schema, explained in one sentence."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from mcp_tef.model.json import canonical

_MAX_QUOTE = 80
_MAX_COMPARED = 500
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "examples", "items", "oneOf", "prefixItems"})
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_PLAIN_DIALECTS = (
    None,
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
)


def why_unsound(schema: Mapping[str, Any]) -> str | None:
    """Return the fault of a schema by the rules of its own dialect (2020-12 if it names none); None if it is sound.

    Patterns are not tried, because schemas are written for ECMAScript's regular expressions. Nothing is fetched.
    """
    if schema.get("$schema") in _PLAIN_DIALECTS and plainly_sound(schema):
        return None
    return _why_unsound(canonical(schema))


def plainly_sound(schema: Any) -> bool:
    """Return True if a schema uses only everyday keywords correctly; 100 times faster than checking its metaschema."""
    if isinstance(schema, Mapping):
        return all(key in _EVERYDAY and _EVERYDAY[key](value) for key, value in schema.items())
    return isinstance(schema, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _anything(_value: Any) -> bool:
    return True


def _list(value: Any) -> bool:
    return isinstance(value, list)


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value) and len(set(value)) == len(value)


def _type(value: Any) -> bool:
    return value in _TYPES if isinstance(value, str) else bool(value) and _names(value) and _TYPES.issuperset(value)


def _schemas(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(plainly_sound, value))


def _named_schemas(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(plainly_sound, value.values()))


_EVERYDAY: Mapping[str, Callable[[Any], bool]] = (
    dict.fromkeys(("$schema", "$ref", "$comment", "title", "description", "format", "pattern"), _text)
    | dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number)
    | dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count)
    | dict.fromkeys(("uniqueItems", "readOnly", "writeOnly"), _flag)
    | dict.fromkeys(("default", "const"), _anything)
    | dict.fromkeys(("enum", "examples"), _list)
    | dict.fromkeys(("properties", "patternProperties", "$defs", "definitions"), _named_schemas)
    | dict.fromkeys(("items", "additionalProperties", "not"), plainly_sound)
    | dict.fromkeys(("anyOf", "oneOf", "allOf"), _schemas)
    | {"type": _type, "required": _names}
)


@lru_cache(maxsize=4096)
def _why_unsound(text: str) -> str | None:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    schema = json.loads(text)
    dialect = validator_for(schema, default=Draft202012Validator)
    if any(map(_takes_long, _compared_lists(schema))):
        return "it is too intricate to be checked."
    try:
        fault = next(dialect(dialect.META_SCHEMA).iter_errors(schema), None)
    except RecursionError:
        return "it is too intricate to be checked."
    return None if fault is None else _sentence(fault.json_path, fault.validator, fault.instance, fault.message)


def _compared_lists(schema: Any) -> Iterator[list[Any]]:
    """Yield lists of which a metaschema may say that no two entries are the same."""
    if isinstance(schema, list):
        for item in schema:
            yield from _compared_lists(item)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if isinstance(value, list) and key not in _SCHEMA_LISTS:
                yield value
            yield from _compared_lists(value)


def _takes_long(entries: list[Any]) -> bool:
    """Return True if there are many, and of a kind that is compared each with each, because it has no order."""
    return len(entries) > _MAX_COMPARED and {type(entry) for entry in entries} not in ({str}, {int}, {float})


def _sentence(path: str, rule: object, value: object, message: str) -> str:
    where = path.removeprefix("$").removeprefix(".") or "its root"
    if rule in ("anyOf", "enum"):
        return f"{where} is {_cut(json.dumps(value, ensure_ascii=False))}, which is not allowed there."
    return f"{where}: {_cut(message)}."


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE else text[: _MAX_QUOTE - 1] + "…"
