"""Traversal of a JSON Schema: declared names, required names, and the type of value at each place."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from mcp_tef.model.json import Json
from mcp_tef.trust.patterns import PatternError, found

ANYTHING: Mapping[str, Any] = {"additionalProperties": True}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ALWAYS = ("allOf",)
_SOMETIMES = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("if", "then", "else")
_BY_NAME = ("dependentSchemas", "dependencies")
_LEADING_ON = frozenset((*_REFERENCES, *_SOMETIMES, *_BRANCHES, *_BY_NAME))
_UNREADABLE = (Unresolvable, TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError)


class SchemaDocument:
    """A whole schema, in which references are looked up; nothing outside it is ever fetched."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema

    @cached_property
    def _resolver(self) -> Any:
        resource = DRAFT202012.create_resource(self.schema)
        address = resource.id() or ""
        registry: Registry[Any] = Registry().with_resource(address, resource)
        with suppress(*_UNREADABLE):  # else each look for an anchor would search the whole schema once more
            registry = registry.crawl()
        return registry.resolver(address)

    def follow(self, reference: Json) -> Json:
        """Return the target of a reference; a schema that takes anything if it points nowhere in this document."""
        if reference == "#":
            return self.schema
        try:
            return self._resolver.lookup(reference).contents
        except _UNREADABLE:
            return ANYTHING

    def reach(self, roots: Iterable[Json], *, certain: bool = False) -> tuple[Mapping[str, Any], ...]:
        """Return the object schemas that speak about the same value as the roots, each once.

        References and combinations are followed; with `certain` only those that hold in every case.
        """
        seen: dict[int, Mapping[str, Any]] = {}
        waiting = list(roots)
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, Mapping) and id(schema) not in seen:
                seen[id(schema)] = schema
                waiting.extend(self._next(schema, certain))
        return tuple(seen.values())

    def _next(self, schema: Mapping[str, Any], certain: bool) -> Iterator[Json]:
        if _LEADING_ON.isdisjoint(schema):
            return
        yield from (self.follow(schema[keyword]) for keyword in _REFERENCES if keyword in schema)
        for keyword in _ALWAYS if certain else _SOMETIMES:
            yield from _items(schema.get(keyword))
        if not certain:
            yield from (schema[keyword] for keyword in _BRANCHES if keyword in schema)
            yield from chain.from_iterable(_values(schema.get(keyword)) for keyword in _BY_NAME)


Keys: TypeAlias = tuple[str, ...]
_INSIDE = dict.fromkeys(
    ("items", "prefixItems", "additionalItems", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contains",
     "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"), False,
) | dict.fromkeys(("properties", "patternProperties", "$defs", "definitions", *_BY_NAME), True)  # fmt: skip


def subschemas(root: Json, field: str, most: int) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    """Yield a schema and every object schema in it with the keys that lead there from its field, at most so many."""
    waiting: list[tuple[Keys, Json]] = [((field,), root)]
    for _ in range(most):
        if not waiting:
            return
        keys, schema = waiting.pop()
        if isinstance(schema, Mapping):
            yield keys, schema
            waiting.extend(_below(keys, schema))


def _below(keys: Keys, schema: Mapping[str, Any]) -> Iterator[tuple[Keys, Json]]:
    for keyword in schema.keys() & _INSIDE.keys():
        given, path = schema[keyword], (*keys, keyword)
        if _INSIDE[keyword] and isinstance(given, Mapping):
            yield from (((*path, name), inner) for name, inner in given.items())
        else:
            yield from ((path, inner) for inner in (given if isinstance(given, list) else (given,)))


class SchemaPlace:
    """Subschemas for the value in one place, computed when asked for; empty if nothing is known."""

    __slots__ = ("_above", "_document", "_key", "_reached")

    def __init__(self, document: SchemaDocument, above: "SchemaPlace | None" = None, key: str | int = "") -> None:
        self._document = document
        self._above = above
        self._key = key
        self._reached: tuple[Mapping[str, Any], ...] | None = None

    def schemas(self) -> tuple[Mapping[str, Any], ...]:
        """Return every object schema that speaks about this value."""
        if self._reached is None:
            self._reached = self._document.reach(self._roots())
        return self._reached

    def _roots(self) -> Iterable[Json]:
        if self._above is None:
            return (self._document.schema,)
        key = self._key
        inside = self._above.schemas()
        if isinstance(key, str):
            return (child for schema in inside for child in _children(schema, key))
        return (item for schema in inside for item in _elements(schema, key))

    def types(self) -> frozenset[str]:
        """Return the JSON Schema types that are named for it, in any branch."""
        return frozenset(name for schema in self.schemas() for name in _types(schema))

    def at(self, key: str | int) -> "SchemaPlace":
        """Return the value of an object's property, or at a list's index."""
        return SchemaPlace(self._document, self, key)


NOWHERE = SchemaPlace(SchemaDocument(True))


def names_in(schema: Mapping[str, Any], name: str) -> bool:
    """Return True if an object schema names a property, or says outright that more are allowed."""
    if isinstance(properties := schema.get("properties"), Mapping) and name in properties:
        return True
    if _matching(schema.get("patternProperties"), name):
        return True
    more = schema.get("additionalProperties", schema.get("unevaluatedProperties", False))
    return more is True or isinstance(more, Mapping)


def required_in(schema: Mapping[str, Any]) -> Iterator[str]:
    """Return the names that one object schema requires (lists; draft 3 flags are left out)."""
    return (name for name in _items(schema.get("required")) if isinstance(name, str))


def _children(schema: Mapping[str, Any], name: str) -> Iterator[Json]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        yield properties[name]
        return
    matching = _matching(schema.get("patternProperties"), name)
    yield from matching
    if not matching and "additionalProperties" in schema:
        yield schema["additionalProperties"]


def _elements(schema: Mapping[str, Any], index: int) -> Iterator[Json]:
    items = schema.get("items")
    leading = items if isinstance(items, list) else list(_items(schema.get("prefixItems")))
    if index < len(leading):
        yield leading[index]
    elif isinstance(items, list):
        yield schema.get("additionalItems")
    else:
        yield items


def _matching(patterns: Json, name: str) -> list[Json]:
    if not isinstance(patterns, Mapping):
        return []
    return [schema for pattern, schema in patterns.items() if _found(pattern, name)]


def _found(pattern: str, name: str) -> bool:
    try:
        return found(pattern, name)
    except PatternError:
        return False


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    named = schema.get("type")
    yield from (name for name in (named if isinstance(named, list) else [named]) if isinstance(name, str))
    if named is None:
        yield from (_type_of(value) for value in [*_items(schema.get("enum")), *_constant(schema)])


def _constant(schema: Mapping[str, Any]) -> list[Json]:
    return [schema["const"]] if "const" in schema else []


def _type_of(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "string" if isinstance(value, str) else "object"


def _items(value: Json) -> Iterator[Json]:
    return iter(value if isinstance(value, list) else ())


def _values(value: Json) -> Iterator[Json]:
    return iter(value.values() if isinstance(value, Mapping) else ())
