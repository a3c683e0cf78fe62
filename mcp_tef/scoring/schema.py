"""A tool's parameters as its JSON Schema has them, kept ready for judging many calls."""

from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.scoring.schema_check import FINE, Report, check, validator_for
from mcp_tef.scoring.schema_plain import surely_fit
from mcp_tef.scoring.schema_walk import ANYTHING, Document, Place, names_in, required_in

MOST_KEPT = 1_024


class ToolSchema:
    """One input schema. Broken parts are passed over; nothing is fetched; nothing here raises."""

    def __init__(self, schema: Json) -> None:
        self.source = schema
        self._known = schema if isinstance(schema, Mapping) else ANYTHING
        self._document = Document(self._known)
        self._root = Place(self._document)

    @cached_property
    def required(self) -> frozenset[str]:
        """The names that every call needs."""
        certain = self._document.reach((self._known,), certain=True)
        return frozenset(name for schema in certain for name in required_in(schema))

    @cached_property
    def _validator(self) -> Any:
        return validator_for(self._known)

    def allows(self, name: str) -> bool:
        """Whether a parameter is named anywhere, or the schema says outright that more are allowed."""
        return any(names_in(schema, name) for schema in self._root.schemas())

    def place(self, name: str) -> Place:
        """What is known of one parameter's value."""
        return self._root.at(name)

    def check(self, arguments: Mapping[str, Json]) -> Report:
        """Which given arguments break the schema, and which required ones are missing."""
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
        """The prepared form of a schema object, which must not change afterwards."""
        with self._lock:
            kept = self._kept.get(id(schema))
            if kept is None or kept.source is not schema:
                kept = self._kept[id(schema)] = ToolSchema(schema)
            self._kept.move_to_end(id(schema))
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return kept


SHELF = SchemaShelf()
