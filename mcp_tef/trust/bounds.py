"""Sizes that are computed before anything of that size is built: what a schema unfolds to."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_tef.model.json import Json

MOST_UNFOLDED: Final = 2_000_000
"""Characters, about, by which the schemas of one request may grow once their references are written out."""
DEEPEST_CHAIN: Final = 200
_PART: Final = 20


def unfolds_too_far(tools: Sequence[Mapping[str, Any]], most: int = MOST_UNFOLDED) -> str | None:
    """Return the name of the function at which a request grows too large once `$ref` is written out; else None.

    A reference is written out wherever it stands, but not inside itself, as libraries do. What stands outside of
    references costs nothing here.
    """
    left = most
    for tool in tools:
        function = tool.get("function", tool)
        schema = function.get("parameters")
        if '"$ref"' not in json.dumps(schema):
            continue
        left = _left_after(schema, left)
        if left < 0:
            return str(function.get("name"))
    return None


def _left_after(schema: Json, left: int) -> int:
    """Return what is left once the references of a schema are written out; negative where that is not enough."""
    targets = _targets(schema)
    waiting: list[tuple[Json, frozenset[str]]] = [(schema, frozenset())]
    while waiting and left >= 0:
        node, chain = waiting.pop()
        left -= _size(node) if chain else 0
        name = _reference(node)
        if name is not None and name not in chain:
            left -= len(targets)
            inside = chain | {name}
            left = left if len(inside) <= DEEPEST_CHAIN else -1
            waiting += [(target, inside) for target in targets.get(name, ())]
        waiting += [(part, chain) for part in _parts(node)]
    return left


def _size(node: Json) -> int:
    own = len(node) if isinstance(node, str) else sum(map(len, node)) if isinstance(node, dict) else 0
    return _PART + own


def _reference(node: Json) -> str | None:
    """Return the last part of a reference, by which libraries look for its target."""
    reference = node.get("$ref") if isinstance(node, dict) else None
    return reference.rsplit("/", 1)[-1] if isinstance(reference, str) else None


def _parts(node: Json) -> list[Json]:
    return list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []


def _targets(schema: Json) -> dict[str, list[Json]]:
    """Return what has a name in the schema; where several have the same, each of them counts."""
    found: dict[str, list[Json]] = {}
    for node in _nodes(schema):
        for keyword in ("$defs", "definitions"):
            named = node.get(keyword)
            for name, target in named.items() if isinstance(named, dict) else ():
                found.setdefault(name, []).append(target)
    return found


def _nodes(schema: Json) -> Iterator[dict[str, Any]]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
        waiting += _parts(node)
