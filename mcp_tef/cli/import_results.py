"""Changes of an import: said field by field, and asked about where a person made or edited it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from mcp_tef import ConsentError, ImportStatus
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.terminal import one_line

if TYPE_CHECKING:
    from mcp_tef import FieldChange, ImportedItem
    from mcp_tef.cli.arguments import Parser
    from mcp_tef.cli.terminal import Terminal


def add_replace_option(parser: Parser) -> None:
    """Add the option that stands for a yes."""
    parser.add_argument("--replace", action="store_true", help="change also what was made or edited here, unasked")


def require_agreed(terminal: Terminal, edited: Sequence[str], lines: Collection[str], *, replace: bool) -> None:
    """Ask before what was made or edited here is changed; ConsentError where nobody says yes. `lines` are the changes.

    Nothing is asked with --replace, and where nothing was edited.
    """
    if replace or not edited:
        return
    for line in lines:
        terminal.note(line)
    named = ", ".join(one_line(name) for name in edited[:5]) + (f" and {len(edited) - 5} more" * (len(edited) > 5))
    was = "was" if len(edited) == 1 else "were"
    refusal = f"{counted(len(edited), 'item')} that {was} made or edited here would change: {named}."
    if not terminal.asks:
        raise ConsentError(refusal, hint="Nothing was changed. Add --replace to take over the file's values.")
    if not terminal.confirms(f"{refusal} Change?"):
        raise ConsentError(refusal, hint="Nothing was changed.")


def change_lines(name: str, changes: Sequence[FieldChange]) -> Iterator[str]:
    """Yield a line for each field that changes."""
    return (f"{one_line(name)}: {one.field}: {one.before} → {one.after}" for one in changes)


def item_lines(items: Sequence[ImportedItem]) -> list[str]:
    """Return the changes of many items."""
    return [line for one in items for line in change_lines(f"{one.kind} {one.name}", one.changes)]


def tell_items(items: Sequence[ImportedItem], terminal: Terminal, *, changes: bool = True) -> None:
    """Print what was added, changed and left as it was; the changes may have been shown before the question."""
    added = [f"{one.kind} {one_line(one.name)}: added" for one in items if one.fate is ImportStatus.ADDED]
    terminal.say(*added, *(item_lines(items) if changes else ()))
    fates = [one.fate for one in items]
    counts = (f"{fates.count(fate)} {fate}" for fate in list(ImportStatus)[:3])
    terminal.say(f"{', '.join(counts)}.")
