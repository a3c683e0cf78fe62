"""Phrases for values, names and counts in the sentences about a verdict."""

import json
from collections.abc import Iterable, Sequence
from decimal import ROUND_DOWN, Decimal

from mcp_tef.model.json import Json

LONGEST_VALUE = 60
LONGEST_NAME = 80
LONGEST_LIST = 4


def shown(value: Json) -> str:
    """Return a JSON value for people: text in quotation marks, the rest as sorted JSON, on one short line."""
    if isinstance(value, str):
        return f"“{cut(value, LONGEST_VALUE)}”"
    if isinstance(value, dict | list) and len(value) > LONGEST_VALUE:
        return f"a list of {len(value)}" if isinstance(value, list) else f"an object of {len(value)}"
    try:
        return cut(json.dumps(value, ensure_ascii=False, sort_keys=True), LONGEST_VALUE)
    except (TypeError, ValueError, RecursionError):
        return "a value that cannot be shown"


def ticked(name: str) -> str:
    """Return a tool's or parameter's name, in back quotes, cut to one short line."""
    return f"`{cut(name, LONGEST_NAME)}`"


def cut(text: str, longest: int) -> str:
    """Return the text on one line, at most so many characters."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest and len(text) <= 4 * longest else line[: longest - 1] + "…"


def listed(items: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`; a long list ends in how many more there are."""
    if len(items) > LONGEST_LIST + 1:
        items = [*items[:LONGEST_LIST], f"{len(items) - LONGEST_LIST} more"]
    return f" {last} ".join(filter(None, (", ".join(items[:-1]), items[-1]))) if items else ""


def counted(number: int, one: str, many: str) -> str:
    """Return `1 call`, `3 calls`."""
    return f"{number:,} {one if number == 1 else many}"


def figure(share: float) -> str:
    """Return a share with two decimals, never rounded up over a threshold."""
    return str(Decimal(repr(float(share))).quantize(Decimal("0.01"), rounding=ROUND_DOWN))


def kinds(names: Iterable[str]) -> str:
    """Return JSON Schema types in plain words: `a whole number or text`."""
    return listed(sorted({_KINDS.get(name, name) for name in names}), "or")


def kind_of(value: Json) -> str:
    """Return the kind of a JSON value in plain words."""
    if value is None:
        return "null"
    return next((words for types, words in _PYTHON_KINDS if isinstance(value, types)), "something else")


_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_PYTHON_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "true or false"),
    ((int, float), "a number"),
    (str, "text"),
    (list, "a list"),
    (dict, "an object"),
)
