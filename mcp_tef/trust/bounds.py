"""Sizes that are computed before anything of that size is built: schemas, templates, the runs of a request."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.library import ABSENT, PLACEHOLDER, as_text, placeholders

MOST_UNFOLDED: Final = 2_000_000
"""Characters, about, by which the schemas of one request may grow once their references are written out."""
DEEPEST_CHAIN: Final = 200
_PART: Final = 20
LARGEST_TEXT: Final = 1_000_000
"""Characters that come out of one template."""
MOST_RUNS: Final = 100_000


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
    waiting: list[tuple[Json, frozenset[str | None]]] = [(schema, frozenset())]
    while waiting and left >= 0:
        node, chain = waiting.pop()
        left -= _size(node) if chain else 0
        inside = chain | {_reference(node)} - {None}
        if inside != chain:
            left = left - len(targets) if len(inside) <= DEEPEST_CHAIN else -1
            waiting += [(target, inside) for target in targets.get(str(_reference(node)), ())]
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


def require_few_runs(cases: int, models: int, repeats: int) -> None:
    """Raise InputError where one request asks for too many runs, before any of them is planned."""
    runs = cases * models * repeats
    if runs > MOST_RUNS:
        said = f"These are {runs:,} runs: {cases:,} cases, {models:,} models, {repeats:,} repeats."
        raise InputError(said, hint=f"Ask for at most {MOST_RUNS:,} at once.", code="too_many_runs")


def require_small_text(names: Iterable[str], values: Mapping[str, str]) -> None:
    """Raise InputError where texts with these names put in, one for each time they stand there, are over 1 MB."""
    if sum(len(values.get(name, "")) * times for name, times in Counter(names).items()) > LARGEST_TEXT:
        raise InputError("With its values, the template is larger than 1 MB.", hint="Use its variables less often.")


def require_small_filling(template: Json, values: JsonObject) -> None:
    """Raise InputError where a JSON template with its inputs in their places is over 1 MB."""
    names = list(placeholders(template))
    require_small_text(names, {name: as_text(values[name]) for name in set(names) if name in values})


def fill_template(template: Json, values: JsonObject) -> Any:
    """Return a JSON template with the inputs in their places.

    A text that is one placeholder takes the value as it is; within a text, values stand as text. What is only an input
    that was not given is left out of lists and objects, and is ABSENT by itself. InputError over 1 MB.
    """
    require_small_filling(template, values)
    return _filled(template, values)


def _filled(template: Json, values: JsonObject) -> Any:
    if isinstance(template, str):
        return _filled_text(template, values)
    if isinstance(template, Mapping):
        found = {name: _filled(value, values) for name, value in template.items()}
        return {name: value for name, value in found.items() if value is not ABSENT}
    if isinstance(template, list | tuple):
        return [value for one in template if (value := _filled(one, values)) is not ABSENT]
    return template


def _filled_text(template: str, values: JsonObject) -> Any:
    whole = PLACEHOLDER.fullmatch(template)
    if whole:
        return values.get(whole[1], ABSENT)
    return PLACEHOLDER.sub(lambda found: as_text(values.get(found[1], "")), template)
