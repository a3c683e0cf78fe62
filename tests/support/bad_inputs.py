"""Bad forms of a text that a verb reads: what a stranger, another program or a damaged disk makes of it."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

NOT_JSON_NUMBERS = ("NaN", "-Infinity", "1e999", "9" * 5_000)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 10**30, "", " ", "\x00", "\ud800", "…\n✓ all passed\n::error::x"),
    *([], [None], [[]], {}, {"": None}, "=1+1", "-", "/", "../../x", "x" * 10_000),
)
PLACE = "@place@"


def texts(text: str) -> Iterator[str]:
    """Yield texts that are bad as a whole, then the text cut, repeated and with bytes that are others."""
    yield from ("", " ", "\x00", "\ufeff", "null", "[]", "{}", "0", '""', "[[" * 900, "{" * 900, "\ud800")
    yield "[" * 900 + "]" * 900
    yield '{"a":' * 900 + "1" + "}" * 900
    yield from (text[: len(text) // 2], text + text, text.replace("\n", ""), text[1:])


def documents(text: str) -> Iterator[str]:
    """Yield JSON texts in which one value at a time is odd, nests deeply or is no number of JSON."""
    try:
        whole = json.loads(text)
    except ValueError:
        return
    for path in list(paths(whole)):
        for value in ODD_VALUES:
            yield json.dumps(changed(whole, path, value))
        quoted = json.dumps(changed(whole, path, PLACE))
        for number in (*NOT_JSON_NUMBERS, "[" * 900 + "]" * 900):
            yield quoted.replace(json.dumps(PLACE), number)


def paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in a document."""
    yield above
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from paths(below, (*above, key))


def changed(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at a path."""
    if not path:
        return value
    made = holder = copy.deepcopy(whole)
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return made


def bad_texts(text: str, most: int, seed: int) -> list[str]:
    """Return at most so many bad forms of a text, drawn by seed."""
    found = [*texts(text), *documents(text)]
    return random.Random(seed).sample(found, min(most, len(found)))
