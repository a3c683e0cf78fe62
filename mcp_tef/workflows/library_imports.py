"""Outcome of taking definitions into the library."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_tef.model.library import LibraryTool
from mcp_tef.model.transfer import ImportedItem, ImportStatus


@dataclass(frozen=True, slots=True)
class TakenTools:
    """Outcome of taking definitions into the library: names that were added, changed or the same, and why others not.

    `items` hold the fields that each change makes, or would make with `replacing`; `replaced` are the tools that were
    changed, as they were and as they became.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    unchanged: tuple[str, ...] = ()
    items: tuple[ImportedItem, ...] = ()
    replaced: tuple[tuple[LibraryTool, LibraryTool], ...] = ()


def taken_tools(
    items: Sequence[ImportedItem], refused: Sequence[tuple[str, str]], *, changes_are_kept: bool
) -> TakenTools:
    """Sort items by their fate; changed ones are refused unless they are kept."""
    names = {fate: tuple(one.name for one in items if one.fate is fate) for fate in ImportStatus}
    kept = () if changes_are_kept else [one for one in items if one.fate is ImportStatus.CHANGED]
    return TakenTools(
        added=names[ImportStatus.ADDED],
        changed=() if kept else names[ImportStatus.CHANGED],
        refused=(*refused, *((one.name, _why_kept(one)) for one in kept)),
        unchanged=names[ImportStatus.UNCHANGED],
        items=tuple(items),
    )


def _why_kept(item: ImportedItem) -> str:
    changes = "; ".join(f"{one.field}: {one.before} → {one.after}" for one in item.changes)
    return f"It is in the library already, and would change. {changes}"
