"""One rule for every row that two hands can change: an update names the fields that it changes and what it saw there.

The stores merge what a writer wants with what they hold, in the transaction that writes. So two edits of different
fields both survive, and an edit or undo of a field that somebody else changed since is refused with both values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from typing import Any, Final, TypeVar, cast

from mcp_tef.errors import ChangedMeanwhileError, FieldConflict
from mcp_tef.model.json import as_json, canonical

T = TypeVar("T")

_ABSENT: Final = object()
_LONGEST: Final = 120


def merged_fields(seen: T, wanted: T, stored: T, what: str) -> T:
    """Return the stored value with each field in which the wanted one differs from the one seen.

    The values are dataclasses, or mappings. ChangedMeanwhileError, about `what`, where such a field has been given
    another value since it was seen.
    """
    before, after, now = _fields(seen), _fields(wanted), _fields(stored)
    changed = sorted(changed_fields(seen, wanted))
    conflicts = [name for name in changed if not any(same(_of(now, name), _of(one, name)) for one in (before, after))]
    if conflicts:
        pairs = ((name, shown(_of(now, name)), shown(_of(after, name))) for name in conflicts)
        raise ChangedMeanwhileError(what, [FieldConflict(name.replace("_", " "), *pair) for name, *pair in pairs])
    made = now | {name: _of(after, name) for name in changed}
    return cast("T", _present(made) if isinstance(stored, Mapping) else replace(cast("Any", stored), **made))


def changed_fields(before: object, after: object) -> frozenset[str]:
    """Return the names of the fields in which two values differ."""
    one, other = _fields(before), _fields(after)
    return frozenset(name for name in {**one, **other} if not same(_of(one, name), _of(other, name)))


def same(one: object, other: object) -> bool:
    """Return True if two values are equal and written alike: 1, 1.0 and True differ."""
    return one is other or (one == other and repr(one) == repr(other))


def shown(value: object) -> str:
    """Return a value in one line for people."""
    if value is _ABSENT or value is None or value == ():
        return "none"
    text = " ".join(_text(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def difference_shown(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return both values of a field in one line each; long ones are cut to where they differ."""
    one, other = (" ".join(_text(values[name]).split()) if name in values else "none" for values in (before, after))
    if max(len(one), len(other)) <= _LONGEST:
        return shown(_of(before, name)), shown(_of(after, name))
    first = next((place for place, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1), 0)
    return _cut(one, first), _cut(other, first)


def _cut(text: str, first: int) -> str:
    start = max(0, first - _LONGEST // 4)
    end = start + _LONGEST - 2
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return ", ".join(map(_text, value))
    label = getattr(value, "label", None)
    if isinstance(label, str):
        return label
    return canonical(as_json(value))


def _fields(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    return {one.name: getattr(value, one.name) for one in fields(cast("Any", value))}


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not _ABSENT}


def _of(values: Mapping[str, Any], name: str) -> Any:
    return values.get(name, _ABSENT)
