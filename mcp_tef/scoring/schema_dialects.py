"""JSON Schema dialects whose rules stay bounded in time and memory on hostile schemas."""

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache, cached_property
from typing import Any, TypeAlias

from jsonschema import validators
from jsonschema.exceptions import ValidationError

from mcp_tef.model.json import Json, canonical
from mcp_tef.scoring.patterns import found

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
