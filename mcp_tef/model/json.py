"""JSON values, the one canonical text of each, and fields of other values as JSON."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, TypeAlias

Json: TypeAlias = Any
JsonObject: TypeAlias = Mapping[str, Any]

_PLAIN = (str, int, float, type(None))


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
        ValueError: the text is not JSON.
        RecursionError: it nests too deeply.
    """
    keys = RepeatedKeys()
    value = json.loads(text, object_pairs_hook=keys.as_object, parse_constant=parse_constant, parse_float=parse_float)
    return value, keys.names
