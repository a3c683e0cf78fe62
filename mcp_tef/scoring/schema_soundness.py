"""Soundness of a JSON Schema by its dialect, checked in bounded time and memory and explained in one sentence."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache, cached_property, lru_cache
from typing import Any, TypeAlias

from jsonschema import validators
from jsonschema.exceptions import ValidationError

from mcp_tef.model.json import Json, canonical
from mcp_tef.trust.patterns import found

MOST_REFERENCES = 5_000

Rule: TypeAlias = Callable[[Any, Any, Json, Mapping[str, Any]], Iterator[ValidationError]]

_DIALECTS: dict[str, Any] = {
    "http://json-schema.org/draft-04/schema": validators.Draft4Validator,
    "http://json-schema.org/draft-06/schema": validators.Draft6Validator,
    "http://json-schema.org/draft-07/schema": validators.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": validators.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": validators.Draft202012Validator,
}
_extend: Callable[[Any, Mapping[str, Rule]], Any] = validators.extend
_NEWEST = "https://json-schema.org/draft/2020-12/schema"


class TooManyReferencesError(ValueError):
    """A schema follows more references for one value than is sensible."""


class Effort:
    """Budget that one check has spent so far on one whole schema."""

    def __init__(self, schema: Json) -> None:
        self._schema = schema
        self._references = 0

    def spend(self) -> None:
        """Count one reference; raises TooManyReferencesError after `MOST_REFERENCES`."""
        self._references += 1
        if self._references > MOST_REFERENCES:
            raise TooManyReferencesError

    @cached_property
    def has_patterned_names(self) -> bool:
        """True if the schema names properties by pattern anywhere."""
        return '"patternProperties":' in canonical(self._schema)


EFFORT: ContextVar[Effort] = ContextVar("effort")


def dialect_of(schema: Json) -> Any:
    """Return the validator class for a schema's `$schema`; 2020-12 where it is missing or unknown."""
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    name = (
        named.rstrip("#").replace("https://json-schema.org/draft-0", "http://json-schema.org/draft-0")
        if isinstance(named, str)
        else _NEWEST
    )
    return _safe(name if name in _DIALECTS else _NEWEST)


def in_one_dialect(schema: Json) -> Json:
    """Return the schema without `$schema` further inside, where the library would switch to its own, unsafe rules."""
    inner = [*schema.values()] if isinstance(schema, Mapping) else []
    while inner:
        value = inner.pop()
        if isinstance(value, dict):
            if "$schema" in value:
                return {name: _without_dialect(item) for name, item in schema.items()}
            inner += value.values()
        elif isinstance(value, list):
            inner += value
    return schema


def _without_dialect(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_dialect(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_dialect(item) for name, item in value.items() if name != "$schema" or not isinstance(item, str)
    }


@cache
def _safe(name: str) -> Any:
    stock = _DIALECTS[name]
    rules: dict[str, Rule] = {
        "pattern": _pattern,
        "properties": _properties,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
    }
    rules |= {word: _counted(stock.VALIDATORS[word]) for word in _REFERENCES if word in stock.VALIDATORS}
    if unevaluated := stock.VALIDATORS.get("unevaluatedProperties"):
        rules["unevaluatedProperties"] = _without_patterned_names(unevaluated)
    return _extend(stock, rules)


_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def _counted(rule: Rule) -> Rule:
    def follow(validator: Any, reference: Any, value: Json, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
        EFFORT.get().spend()
        yield from rule(validator, reference, value, schema) or ()

    return follow


def _without_patterned_names(rule: Rule) -> Rule:
    """Yield the stock rule tries names against patterns without a time limit: leave it out where there are any."""

    def unevaluated(validator: Any, more: Any, value: Json, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
        if not EFFORT.get().has_patterned_names:
            yield from rule(validator, more, value, schema) or ()

    return unevaluated


def _pattern(_validator: Any, pattern: Any, value: Json, _schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    if isinstance(value, str) and not found(pattern, value):
        yield ValidationError("does not match the pattern")


def _properties(validator: Any, properties: Any, value: Json, _schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    if isinstance(value, dict):
        for name, subschema in properties.items():
            if name in value:
                yield from _judge_property(validator, value[name], subschema, name)


def _judge_property(validator: Any, value: Json, schema: Json, name: str) -> Iterator[ValidationError]:
    """Yield the library leaves out the name of a property that must not be there at all (the schema `false`)."""
    if schema is False:
        yield ValidationError("must not be given", validator="false", path=(name,), instance=value, schema=schema)
    else:
        yield from validator.descend(value, schema, path=name)


def _pattern_properties(
    validator: Any, patterns: Any, value: Json, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    for pattern, subschema in patterns.items():
        for name, item in value.items():
            if found(pattern, name):
                yield from _judge_property(validator, item, subschema, name)


def _additional_properties(
    validator: Any, more: Any, value: Json, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(value, dict) or more is True:
        return
    extras = [name for name in value if not _is_named(name, schema)]
    if isinstance(more, dict):
        for name in extras:
            yield from validator.descend(value[name], more, path=name)
    elif extras:
        yield ValidationError("has names that the schema does not allow")


def _is_named(name: str, schema: Mapping[str, Any]) -> bool:
    return name in schema.get("properties", {}) or any(
        found(pattern, name) for pattern in schema.get("patternProperties", {})
    )


def _unique_items(_validator: Any, unique: Any, value: Json, _schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    if unique and isinstance(value, list) and len({canonical(_plain(item)) for item in value}) < len(value):
        yield ValidationError("has an item twice")


def _plain(value: Json) -> Json:
    """Return the same value with 1.0 written as 1 throughout, as JSON Schema compares numbers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, dict) else value


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
    """Yield lists whose entries a metaschema may require to be distinct."""
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
