"""Flattens an input schema into its parameters, whatever it holds: references, combinations, loops."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.scoring.lint.texts import shown_name
from mcp_tef.scoring.schema_walk import Document, required_in

MOST_NODES = 2_000
DEEPEST = 32
LONGEST_NAME = 80
_TYPED = ("type", "enum", "const", "$ref", "properties", "items", "not", "if")


@dataclass(frozen=True)
class Node:
    """A value of the input. `path` reads `filter.tags[].name`, "" for the input itself; list items have no `name`.

    `schemas` are all object schemas that speak about the value, its own first.
    """

    path: str
    name: str
    schemas: tuple[Mapping[str, Any], ...]
    depth: int
    own: Json = None

    @property
    def place(self) -> str:
        """Where this is, for people."""
        return f"parameter {self.path}" if self.path else "inputSchema"

    @cached_property
    def description(self) -> str:
        """What is said of it: its own description, else one from a reference or a branch."""
        given = [text for text in (schema.get("description") for schema in self.schemas) if isinstance(text, str)]
        own = self.own.get("description") if isinstance(self.own, Mapping) else None
        return (own if isinstance(own, str) and own.strip() else min(filter(str.strip, given), default="")).strip()

    @cached_property
    def types(self) -> frozenset[str]:
        """The JSON Schema types that any of its schemas names."""
        named = (schema.get("type") for schema in self.schemas)
        lists = (item if isinstance(item, list) else [item] for item in named)
        return frozenset(name for names in lists for name in names if isinstance(name, str))

    @property
    def typed(self) -> bool:
        """Whether anything says what kind of value it is."""
        return not isinstance(self.own, Mapping) or any(not schema.keys().isdisjoint(_TYPED) for schema in self.schemas)

    def has(self, *keywords: str) -> bool:
        """Whether any of its schemas uses one of the keywords."""
        return any(keyword in schema for schema in self.schemas for keyword in keywords)

    @cached_property
    def properties(self) -> Mapping[str, list[Json]]:
        """The schemas of each property that any of its schemas names, by name."""
        found: dict[str, list[Json]] = {}
        for schema in self.schemas:
            named = schema.get("properties")
            for name, child in named.items() if isinstance(named, Mapping) else ():
                found.setdefault(name, []).append(child)
        return dict(sorted(found.items()))

    @property
    def required(self) -> tuple[str, ...]:
        """The names that any of its schemas requires, sorted."""
        return tuple(sorted({name for schema in self.schemas for name in required_in(schema)}))


def nodes_of(schema: Mapping[str, Any]) -> tuple[Node, ...]:
    """The input, then its parameters level by level in order of their names, at most `MOST_NODES`."""
    document = Document(schema)
    root = Node("", "", document.reach((schema,)), 0, schema)
    found: list[Node] = []
    waiting: deque[tuple[Node, frozenset[int]]] = deque([(root, frozenset())])
    while waiting and len(found) < MOST_NODES:
        node, above = waiting.popleft()
        found.append(node)
        here = {id(inner) for inner in node.schemas}
        if node.depth < DEEPEST and above.isdisjoint(here):
            waiting.extend((child, above | here) for child in _children(document, node))
    return tuple(found)


def _children(document: Document, node: Node) -> Iterator[Node]:
    for name, schemas in node.properties.items():
        path = ".".join(filter(None, (node.path, shown_name(name, LONGEST_NAME))))
        yield Node(path, name, document.reach(schemas), node.depth + 1, schemas[0])
    items = [item for schema in node.schemas for item in _items(schema)]
    if items:
        yield Node(f"{node.path}[]", "", document.reach(items), node.depth, items[0])


def _items(schema: Mapping[str, Any]) -> Iterator[Json]:
    for keyword in ("items", "prefixItems"):
        given = schema.get(keyword)
        yield from given if isinstance(given, list) else [given] if isinstance(given, Mapping) else []
