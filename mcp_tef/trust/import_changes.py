"""One rule for what a file brings over what is here: each change is said, and what a person made or edited asks first.

A field that the file does not name stays as it is, and `null` clears it. What the last import left as it came may be
changed by the next one; what a person made or edited since is changed only with their yes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from mcp_tef.errors import InputError
from mcp_tef.model.transfer import FieldChange, ImportedItem, ImportStatus
from mcp_tef.trust.field_changes import changed_fields, difference_shown
from mcp_tef.trust.name_keys import name_key

IMPORTED: Final = "Imported."
"""The note on a version that an import made, by which the next import knows that nobody edited it since."""


def values_over(stored: Mapping[str, Any] | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored values with those that are given over them; None clears one."""
    return {name: value for name, value in {**(stored or {}), **given}.items() if value is not None}


def imported_item(
    kind: str, name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any], *, edited: bool
) -> ImportedItem:
    """Return the fate of one item of a file; `before` is what is stored, None for nothing of its name."""
    if before is None:
        return ImportedItem(kind=kind, name=name, fate=ImportStatus.ADDED)
    changes = field_changes(before, after)
    fate = ImportStatus.CHANGED if changes else ImportStatus.UNCHANGED
    return ImportedItem(kind=kind, name=name, fate=fate, changes=changes, edited=edited and bool(changes))


def field_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """Return each field that differs, with both values in words."""
    pairs = {name: difference_shown(before, after, name) for name in sorted(changed_fields(before, after))}
    return tuple(FieldChange(name.replace("_", " "), *pair) for name, pair in pairs.items())


def require_named_once(kind: str, names: Sequence[str], source: str) -> None:
    """Raise InputError where two items of a file have the same name, since one would silently replace the other."""
    keys = [name_key(name) for name in names]
    if twice := next((name for name, key in zip(names, keys, strict=True) if keys.count(key) > 1), None):
        raise InputError(f"{source} has the {kind} “{twice}” twice.", hint="Keep one of the two, or rename one.")


def edited_names(items: Iterable[ImportedItem]) -> tuple[str, ...]:
    """Return the names of what a person made or edited and an import would change."""
    return tuple(one.name for one in items if one.edited)
