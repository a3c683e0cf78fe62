"""Input schema of a tool, prepared for judging many calls, with a fast path for everyday schemas."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import cached_property
from threading import Lock
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.scoring.schema_validation import FINE, SchemaReport, check, validator_for
from mcp_tef.scoring.schema_walk import ANYTHING, SchemaDocument, SchemaPlace, names_in, required_in

_ANNOTATIONS = ("description", "title", "default", "examples")
_PLAIN = frozenset({"type", "enum", "items", "properties", "required", *_ANNOTATIONS})
_PLAIN_ROOT = _PLAIN | {"additionalProperties", "$schema"}
_EXACTLY: dict[object, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def surely_fit(schema: Mapping[str, Any], arguments: Mapping[str, Json]) -> bool:
    """Return True if every given argument certainly conforms; False only means that it takes a validator to tell.

    Names that the schema lacks, or lacks among the given ones, are not looked at here.
    """
    if not _PLAIN_ROOT.issuperset(schema) or schema.get("type", "object") != "object" or "enum" in schema:
        return False
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not isinstance(schema.get("additionalProperties", False), bool):
        return False
    return all(surely_fits(properties[name], value) for name, value in arguments.items() if name in properties)


def surely_fits(schema: Json, value: Json) -> bool:
    """Return the same for one value."""
    if not isinstance(schema, dict) or not _PLAIN.issuperset(schema):
        return False
    kind = schema.get("type")
    if not (isinstance(kind, str) and type(value) in _EXACTLY.get(kind, ())):
        return False
    if "enum" in schema:
        return _surely_among(schema["enum"], value)
    if kind == "array":
        return "items" not in schema or _items_surely_fit(schema["items"], value)
    return kind != "object" or _object_surely_fits(schema, value)


def _items_surely_fit(schema: Json, items: Iterable[Json]) -> bool:
    return all(surely_fits(schema, item) for item in items)


def _surely_among(allowed: Json, value: Json) -> bool:
    return type(value) is str and isinstance(allowed, list) and value in allowed


def _object_surely_fits(schema: Mapping[str, Any], value: Mapping[str, Json]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    return all(isinstance(name, str) and name in value for name in required) and all(
        name not in properties or surely_fits(properties[name], item) for name, item in value.items()
    )


MOST_KEPT = 1_024


class ToolSchema:
    """One input schema. Broken parts are passed over; nothing is fetched; nothing here raises."""

    def __init__(self, schema: Json) -> None:
        self.source = schema
        self._known = schema if isinstance(schema, Mapping) else ANYTHING
        self._document = SchemaDocument(self._known)
        self._root = SchemaPlace(self._document)

    @cached_property
    def required(self) -> frozenset[str]:
        """The names that every call needs."""
        certain = self._document.reach((self._known,), certain=True)
        return frozenset(name for schema in certain for name in required_in(schema))

    @cached_property
    def _validator(self) -> Any:
        return validator_for(self._known)

    def allows(self, name: str) -> bool:
        """Return True if a parameter is named anywhere, or the schema says outright that more are allowed."""
        return any(names_in(schema, name) for schema in self._root.schemas())

    def place(self, name: str) -> SchemaPlace:
        """Return the subschemas for one parameter's value."""
        return self._root.at(name)

    def check(self, arguments: Mapping[str, Json]) -> SchemaReport:
        """Return the given arguments that break the schema, and the required ones that are missing."""
        if surely_fit(self._known, arguments):
            return FINE
        return check(self._known, self._validator, arguments)


NO_SCHEMA = ToolSchema(True)


class SchemaShelf:
    """The schemas used last, by identity: the same object in memory is read once."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[int, ToolSchema] = OrderedDict()
        self._lock = Lock()

    def get(self, schema: Json) -> ToolSchema:
        """Return the prepared form of a schema object, which must not change afterwards."""
        with self._lock:
            kept = self._kept.get(id(schema))
            if kept is None or kept.source is not schema:
                kept = self._kept[id(schema)] = ToolSchema(schema)
            self._kept.move_to_end(id(schema))
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return kept


SHELF = SchemaShelf()
