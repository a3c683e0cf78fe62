"""Sizes computed before anything of that size is built: schemas, templates, runs of a request, pages, held bodies."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from mcp_tef.errors import InputError
from mcp_tef.model.cases import TestCase, expectation_to_json
from mcp_tef.model.json import Json, JsonObject, canonical
from mcp_tef.model.library import ABSENT, PLACEHOLDER, as_text, placeholders

MOST_UNFOLDED: Final = 2_000_000
"""Characters, about, by which the schemas of one request may grow once their references are written out."""
DEEPEST_CHAIN: Final = 200
_PART: Final = 20
LARGEST_TEXT: Final = 1_000_000
"""Characters that come out of one template."""
MOST_RUNS: Final = 100_000
MOST_RUN_TEXT: Final = 500_000_000
"""Bytes that one request stores with its runs: each has the query and conversation of its case as they were asked."""
LARGEST_PAGE: Final = 8 * 1024 * 1024
MOST_HELD: Final = 64 * 1024 * 1024
"""Bytes of bodies that a service holds at once, of all callers."""
T = TypeVar("T")


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


def require_few_runs(cases: Sequence[TestCase], models: int, repeats: int) -> None:
    """Raise InputError where one request asks for too many runs or for too much text, before any run is planned."""
    runs = len(cases) * models * repeats
    if runs > MOST_RUNS:
        said = f"These are {runs:,} runs: {len(cases):,} cases, {models:,} models, {repeats:,} repeats."
        raise InputError(said, hint=f"Ask for at most {MOST_RUNS:,} at once.", code="too_many_runs")
    size = sum(map(_stored_size, cases)) * models * repeats
    if size > MOST_RUN_TEXT:
        said = f"These {runs:,} runs would store {size / 1_000_000:,.0f} MB of text, as each keeps its case."
        hint = f"Ask for at most {MOST_RUN_TEXT // 1_000_000} MB at once: fewer cases, models or repeats."
        raise InputError(said, hint=hint, code="too_many_runs")


def _stored_size(case: TestCase) -> int:
    """Return about how many characters each run of a case stores of it."""
    messages = sum(len(message.content) for message in case.draft.before)
    return len(case.draft.query) + messages + len(canonical(expectation_to_json(case.draft.expectation)))


def page_within(items: Iterable[T], size: Callable[[T], int], left: int = LARGEST_PAGE) -> tuple[list[T], int]:
    """Return the first items that fit into what is left of a page, and what is left then; negative for a full one.

    The first item of a page has it to itself if it is larger.
    """
    found: list[T] = []
    most = left
    for item in items:
        left -= size(item)
        if left < 0 and (found or most < LARGEST_PAGE):
            break
        found.append(item)
    return found, left


class HeldBodies:
    """Bytes of the bodies of all requests that are under way."""

    def __init__(self, most: int = MOST_HELD) -> None:
        self._left = most

    @contextmanager
    def request(self) -> Iterator[Callable[[int], bool]]:
        """Yield what takes so many bytes for a request, or returns False; all are given back at its end."""
        mine = 0

        def take(size: int) -> bool:
            nonlocal mine
            if size > self._left:
                return False
            mine, self._left = mine + size, self._left - size
            return True

        try:
            yield take
        finally:
            self._left += mine


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
