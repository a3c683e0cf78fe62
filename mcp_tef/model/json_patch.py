"""RFC 6902 patches and RFC 6901 pointers for JSON documents that may come from strangers.

Nothing is changed in place: a document shares with its patched copy all that no operation touches, so that a change
to one of many tools costs the same as a change to the only one. Equality is that of JSON: 1 is not true.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json, JsonObject, canonical, deeper_than

MOST_OPERATIONS: Final = 5_000
MOST_VALUES: Final = 500_000
"""JSON values that a patch may hold, or that its `copy` operations may add: a few of them could double a document."""
DEEPEST: Final = 64
"""Levels of a document or an operation; real definitions have about ten."""

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_BAD_ESCAPE: Final = re.compile(r"~(?![01])")
_HINT: Final = 'Write a list of operations such as {"op": "replace", "path": "/tools/0/description", "value": "…"}.'
_VALUED: Final = frozenset({"add", "replace", "test"})
_POINTERS: Final = {"move": ("path", "from"), "copy": ("path", "from")}
_KINDS: Final = _VALUED | {"move", "copy", "remove"}

Path: TypeAlias = tuple[str, ...]
_Leaf: TypeAlias = Callable[[Json, str], Json]


def pointer(*parts: str) -> str:
    """Return an RFC 6901 JSON pointer."""
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def pointer_parts(text: str) -> Path:
    """Return the parts of a JSON pointer. ValueError for a text that is none."""
    if (text and not text.startswith("/")) or _BAD_ESCAPE.search(text):
        raise ValueError(text)
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])


def value_at(document: Json, text: str) -> Json:
    """Return the value that a JSON Pointer leads to; LookupError where it leads nowhere."""
    return _found(document, pointer_parts(text))


def same(one: Json, other: Json) -> bool:
    """Return True for equal JSON values, whatever the order of their keys."""
    return one is other or canonical(one) == canonical(other)


def read_patch(value: Json) -> tuple[JsonObject, ...]:
    """Return the operations of a patch as they were parsed from JSON. InputError for anything else, or for too much."""
    if not isinstance(value, list):
        raise InputError("The patch is not a list of operations.", hint=_HINT, code="bad_patch")
    if len(value) > MOST_OPERATIONS:
        said = f"The patch has {len(value):,} operations, more than {MOST_OPERATIONS:,}."
        raise InputError(said, hint="Split it into several patches.", code="bad_patch")
    if deeper_than(value, DEEPEST):
        raise InputError(f"The patch nests more than {DEEPEST} levels deep.", hint="Flatten it.", code="bad_patch")
    if _size(value) > MOST_VALUES:
        said = f"The patch holds more than {MOST_VALUES:,} values."
        raise InputError(said, hint="Split it into several patches.", code="bad_patch")
    for number, operation in enumerate(value, 1):
        if problem := _why_malformed(operation):
            raise InputError(f"Operation {number} of the patch {problem}.", hint=_HINT, code="bad_patch")
    return tuple(value)


def apply_patch(document: Json, operations: Sequence[JsonObject]) -> Json:
    """Return the document after the operations, in order. InputError names the first that does not apply."""
    copied = 0
    for number, operation in enumerate(read_patch(list(operations)), 1):
        try:
            if operation["op"] == "copy":
                copied += _size(_found(document, pointer_parts(operation["from"])))
            if copied > MOST_VALUES:
                _fail(f"the patch copies more than {MOST_VALUES:,} values")
            document = _applied(document, operation)
        except LookupError as error:
            told = f"Operation {number} of the patch ({operation['op']} {operation['path'][:200]}) does not apply"
            hint = "The patch may have been made for other tools: compare it with the tools as they are."
            raise InputError(f"{told}: {error.args[0]}.", hint=hint, code="bad_patch") from None
    return document


def _why_malformed(operation: Json) -> str:
    if not isinstance(operation, Mapping):
        return "is not an object"
    kind = operation.get("op")
    if not isinstance(kind, str) or kind not in _KINDS:
        return f"has the op {str(kind)[:40]}, not one of {', '.join(sorted(_KINDS))}"
    odd = next((name for name in _POINTERS.get(kind, ("path",)) if not _is_pointer(operation.get(name))), None)
    if odd is not None:
        return f"has no JSON pointer as its {odd}"
    return f"has no value to {kind}" if kind in _VALUED and "value" not in operation else ""


def _is_pointer(text: Json) -> bool:
    try:
        return isinstance(text, str) and len(pointer_parts(text)) <= DEEPEST
    except ValueError:
        return False


def _size(value: Json) -> int:
    """Count the JSON values in a value, at most one more than allowed."""
    rest, seen = [value], 0
    while rest and seen <= MOST_VALUES:
        seen += 1
        item = rest.pop()
        rest.extend(item.values() if isinstance(item, Mapping) else item if isinstance(item, list) else ())
    return seen


def _applied(document: Json, operation: JsonObject) -> Json:
    path = pointer_parts(operation["path"])
    match operation["op"]:
        case "add":
            return _added(document, path, operation["value"])
        case "remove":
            return _changed(document, path, _remove)
        case "replace":
            return _replaced(document, path, operation["value"])
        case "test":
            return _tested(document, path, operation["value"])
        case "copy":
            return _added(document, path, _found(document, pointer_parts(operation["from"])))
    return _moved(document, pointer_parts(operation["from"]), path)


def _tested(document: Json, path: Path, value: Json) -> Json:
    found = _found(document, path)
    return document if same(found, value) else _fail(f"there is not {_shown(value)} but {_shown(found)}")


def _moved(document: Json, source: Path, path: Path) -> Json:
    if path[: len(source)] == source and path != source:
        _fail("a value cannot be moved into itself")
    moved = _found(document, source)
    return document if path == source else _added(_changed(document, source, _remove), path, moved)


def _found(document: Json, path: Path) -> Json:
    for part in path:
        document = _member(document, part)
    return document


def _member(value: Json, part: str) -> Json:
    if isinstance(value, Mapping):
        if part not in value:
            _fail(f"there is no “{part[:80]}” there")
        return value[part]
    if isinstance(value, list):
        return value[_place(value, part)]
    return _fail(f"nothing lies below the value at “{part[:80]}”")


def _place(values: Sequence[Json], part: str, *, most: int | None = None) -> int:
    """Return an index below `most`, by default the length. LookupError."""
    count = len(values) if most is None else most
    if not _INDEX.fullmatch(part) or int(part) >= count:
        _fail(f"there is no place {part[:40]} in a list of {len(values)}")
    return int(part)


def _changed(document: Json, path: Path, leaf: _Leaf) -> Json:
    """Return a copy of the containers along a path, the innermost one changed by `leaf`."""
    if not path:
        _fail("the whole document cannot be removed")
    holders = [document]
    for part in path[:-1]:
        holders.append(_member(holders[-1], part))
    new = leaf(holders[-1], path[-1])
    for holder, part in zip(reversed(holders[:-1]), reversed(path[:-1]), strict=True):
        new = _set(holder, part, new)
    return new


def _added(document: Json, path: Path, value: Json) -> Json:
    _require_shallow(path, value)
    return _changed(document, path, lambda holder, part: _insert(holder, part, value)) if path else value


def _replaced(document: Json, path: Path, value: Json) -> Json:
    _require_shallow(path, value)

    def leaf(holder: Json, part: str) -> Json:
        _member(holder, part)
        return _set(holder, part, value)

    return _changed(document, path, leaf) if path else value


def _require_shallow(path: Path, value: Json) -> None:
    if deeper_than(value, DEEPEST - len(path)):
        _fail(f"values would nest more than {DEEPEST} levels deep")


def _set(holder: Json, part: str, value: Json) -> Json:
    if isinstance(holder, Mapping):
        return {**holder, part: value}
    place = _place(holder, part)
    return [*holder[:place], value, *holder[place + 1 :]]


def _insert(holder: Json, part: str, value: Json) -> Json:
    if isinstance(holder, Mapping):
        return {**holder, part: value}
    if not isinstance(holder, list):
        _fail(f"nothing can be put below the value at “{part[:80]}”")
    place = len(holder) if part == "-" else _place(holder, part, most=len(holder) + 1)
    return [*holder[:place], value, *holder[place:]]


def _remove(holder: Json, part: str) -> Json:
    _member(holder, part)
    if isinstance(holder, Mapping):
        return {name: value for name, value in holder.items() if name != part}
    place = _place(holder, part)
    return [*holder[:place], *holder[place + 1 :]]


def _shown(value: Json) -> str:
    text = canonical(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _fail(reason: str) -> NoReturn:
    raise LookupError(reason)


def object_changes(before: JsonObject, after: JsonObject, path: Path = ()) -> dict[Path, tuple[Any, Any]]:
    """Return what differs between two objects by path, as value before and after; `MISSING` where there is none.

    Objects are compared key by key, everything else as a whole.
    """
    found: dict[Path, tuple[Any, Any]] = {}
    if before is after:
        return found
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name, MISSING), after.get(name, MISSING)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found |= object_changes(one, other, (*path, name))
        elif one is MISSING or other is MISSING or not same(one, other):
            found[*path, name] = one, other
    return found


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""Stands for the value of a key that an object does not have."""
