"""Definition changes between two listings of a server, with new lint findings that look malicious."""

from collections.abc import Callable

from mcp_tef.model.comparison import DefinitionChange, ToolDrift
from mcp_tef.model.ids import SnapshotId
from mcp_tef.model.quality import LintFinding
from mcp_tef.model.tools import Listing, OfferedTool, Snapshot, Tool
from mcp_tef.scoring.lint import hidden_characters, poisoning
from mcp_tef.scoring.lint.linter import lint
from mcp_tef.scoring.run_differences import tool_changes

_WATCHED = frozenset(check.rule.id for family in (hidden_characters, poisoning) for check in family.CHECKS)


def tool_drift(seen: Listing, now: Listing) -> tuple[ToolDrift, ...]:
    """Return tools that were added, removed or changed, by name, with what is suspicious in them now."""
    changes, _ = tool_changes(_snapshot(seen), _snapshot(now))
    return tuple(ToolDrift(change, _suspicions(change.after)) for change in changes)


def changes_since(seen: Snapshot, now: Listing, wants: Callable[[str], bool]) -> dict[str, DefinitionChange]:
    """Return the changes of a server's tools since a run saw them, by the names under which they were offered.

    A tool that nobody `wants` any more is not listed, but not gone.
    """
    there = {tool.name: tool for tool in now.tools}
    asked = (item for item in seen.tools if item.tool.server == now.server)
    found = {item.offered_name: _since(item.tool, there) for item in asked if wants(item.tool.name)}
    return {name: change for name, change in found.items() if change is not None}


def _since(seen: Tool, there: dict[str, Tool]) -> DefinitionChange | None:
    if seen.name not in there:
        return DefinitionChange.REMOVED
    return None if there[seen.name].raw == seen.raw else DefinitionChange.CHANGED


def _snapshot(listing: Listing) -> Snapshot:
    return Snapshot(SnapshotId(""), tuple(OfferedTool(tool.name, tool) for tool in listing.tools))


def _suspicions(offered: OfferedTool | None) -> tuple[LintFinding, ...]:
    found = lint(offered.tool) if offered else ()
    return tuple(finding for finding in found if finding.rule.id in _WATCHED)
