"""JSON values, the one canonical text of each, and fields of other values as JSON."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, NoReturn, TypeAlias

Json: TypeAlias = Any
JsonObject: TypeAlias = Mapping[str, Any]

_PLAIN = (str, int, float, type(None))
MOST_DIGITS = 400
"""Characters of one number in JSON, TOML or YAML; Python reads more in quadratic time, and from 4,300 on not at all."""


class NestingError(ValueError, RecursionError):
    """JSON that nests deeper than this Python reads."""


def canonical(value: Json) -> str:
    """Return the same text for equal values: sorted keys, no spaces, Unicode as it is."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(value: Json) -> str:
    """Return SHA-256 of the canonical text, 64 hexadecimal digits; lone surrogates are allowed."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def written_alike(one: Json, other: Json) -> bool:
    """Return True if two values have the same text, with their keys in the same order; 1, 1.0 and true differ."""
    return one is other or (one == other and json.dumps(one) == json.dumps(other))


def as_json(value: object) -> Json:
    """Return a value as JSON: codes of enums, moments in ISO 8601, lists, and an object for each dataclass."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {as_json(key): as_json(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return list(map(as_json, value))
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    return value


def fields_to_json(value: object, names: str) -> dict[str, Json]:
    """Return attributes of a value as JSON under their own names, which are separated by spaces."""
    return {name: as_json(getattr(value, name)) for name in names.split()}


def deeper_than(value: Json, most: int) -> bool:
    """Return True if a JSON value nests more than `most` levels, itself being the first; walks without recursion."""
    level: list[Json] = [value]
    for _ in range(most):
        below: list[Json] = []
        for item in level:
            if isinstance(item, _PLAIN):
                continue
            if isinstance(item, list):
                below += item
            elif isinstance(item, Mapping):
                below += item.values()
        if not below:
            return False
        level = below
    return True


def value_or_text(text: str, most_levels: int = 64) -> Json:
    """Return the value of a JSON text, or the text itself where it is none, has numbers like NaN or nests deeper."""
    try:
        value = loads_bounded(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text
    return text if deeper_than(value, most_levels) else value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


class RepeatedKeys:
    """A hook for parsers of JSON that notes the keys which an object holds more than once."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The repeated keys so far, each once, in order of appearance."""
        return tuple(self._names)

    def as_object(self, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """Return the object of these pairs; the last value of a repeated key counts."""
        value = dict(pairs)
        if len(value) < len(pairs):
            seen = set[str]()
            for name, _ in pairs:
                if name in seen:
                    self._names[name] = None
                seen.add(name)
        return value


def loads_bounded(text: str | bytes | bytearray, **hooks: Callable[..., Any] | None) -> Json:
    """Return the value in a JSON text of anybody's; the one reader of JSON that was not written by this program.

    Raises:
        ValueError: the text is not JSON or UTF-8, has a number of more than 400 characters, or nests too deeply.
    """
    whole = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    if _may_hold_long_number(whole):
        hooks = {**hooks, "parse_int": bounded_int, "parse_float": _bounded(hooks.get("parse_float") or float)}
    try:
        return json.loads(whole, **hooks)  # type: ignore[arg-type]
    except RecursionError:
        raise NestingError("it nests too deeply") from None


class KeyTwiceError(ValueError):
    """A key that stands twice in one object, of which JSON readers silently drop the first."""


def loads_unique(text: str) -> Json:
    """Return the value in a JSON file that people write, as `loads_bounded` does; KeyTwiceError names the key."""
    return loads_bounded(text, object_pairs_hook=_object_of)


def _object_of(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise KeyTwiceError(next(name for name in made if names.count(name) > 1)[:80])
    return made


def bounded_int(digits: str) -> int:
    """Return a whole number; ValueError where it has more than 400 characters."""
    return int(_bounded(int)(digits))


def _bounded(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def number(written: str) -> Any:
        if len(written) > MOST_DIGITS:
            raise ValueError(f"a number has more than {MOST_DIGITS} digits")
        return read(written)

    return number


def _may_hold_long_number(text: str) -> bool:
    """Return whether a block is all digits, as one in the midst of a long number is; most blocks cost one look."""
    pairs = _DIGITS.finditer(text[::_BLOCK])
    return any(text[pair.start() * _BLOCK : pair.end() * _BLOCK - _BLOCK].isdigit() for pair in pairs)


_BLOCK = MOST_DIGITS // 3
_DIGITS = re.compile("[0-9]{2}")


def loads_noting_duplicates(
    text: str,
    *,
    parse_constant: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
) -> tuple[Json, tuple[str, ...]]:
    """Parse JSON, and name the keys that an object holds more than once; the last value of such a key counts.

    Returns:
        The value, and the repeated keys of all its objects: each key once, in order of appearance.

    Raises:
        ValueError: the text is not JSON, or nests too deeply.
    """
    keys = RepeatedKeys()
    numbers = {"parse_constant": parse_constant, "parse_float": parse_float}
    value = loads_bounded(text, object_pairs_hook=keys.as_object, **numbers)
    return value, keys.names
