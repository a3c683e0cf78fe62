"""Tools that are defined otherwise than the user last saw them, in words."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.text.formatting import count
from app.text.text_diff import Stretch, difference
from mcp_tef import DefinitionChange, Drift, ToolDrift

WORDS: Final[Mapping[DefinitionChange, str]] = {
    DefinitionChange.ADDED: "new",
    DefinitionChange.REMOVED: "gone",
    DefinitionChange.CHANGED: "changed",
}
MOST_NAMED: Final = 3
NONE: Final = (Stretch("No description"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeView:
    """A tool's old description beside its new one (None where there is none), suspicions, and the whole difference."""

    name: str
    word: str
    before: tuple[Stretch, ...] | None
    after: tuple[Stretch, ...] | None
    same_words: bool
    warnings: tuple[str, ...]
    lines: tuple[str, ...]


def change_view(tool: ToolDrift) -> ChangeView:
    """One tool for the screen."""
    old = tool.before.description if tool.before else ""
    new = tool.after.description if tool.after else ""
    before, after = difference(old, new)
    return ChangeView(
        name=tool.name,
        word=WORDS[tool.change.change],
        before=(before if old else NONE) if tool.before else None,
        after=(after if new else NONE) if tool.after else None,
        same_words=old == new,
        warnings=tuple(finding.sentence for finding in tool.findings),
        lines=tuple(tool.change.diff.splitlines()) if tool.before and tool.after else (),
    )


def worst_first(drift: Drift) -> list[ToolDrift]:
    """Tools with suspicious words, then those that describe themselves otherwise, then the others."""
    return sorted(drift.tools, key=lambda tool: (not tool.findings, not tool.redescribed))


def summary(drift: Drift) -> str:
    """How much differs: 3 tools differ from what you last saw: 1 new, 1 gone, 1 changed."""
    often = Counter(WORDS[tool.change.change] for tool in drift.tools)
    told = ", ".join(f"{often[word]} {word}" for word in WORDS.values() if often[word])
    differ = "differs" if len(drift.tools) == 1 else "differ"
    return f"{count(len(drift.tools), 'tool')} {differ} from what you last saw: {told}."


def warning(drift: Drift) -> str:
    """What deserves a second look, before a model is offered these tools."""
    since = "you agreed to start this server" if drift.agreed else "you last looked"
    parts = []
    if drift.redescribed:
        parts.append(f"The description changed after {since}: {_named(drift.redescribed)}.")
    if drift.suspicious:
        parts.append(f"There are words aimed at a model, or hidden ones: {_named(drift.suspicious)}.")
    return " ".join(parts)


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
