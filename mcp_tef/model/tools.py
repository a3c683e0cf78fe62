"""Tool definitions as servers give them, and snapshots of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_tef.model.ids import SnapshotId
from mcp_tef.model.json import fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool definition; `raw` is the server's own JSON, unknown fields and all.

    `place` is where it stands in the server's whole list, from 0, counting what was set aside; None where unknown.
    """

    server: str
    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    raw: Mapping[str, Any]
    place: int | None = field(default=None, compare=False)

    @property
    def fingerprint(self) -> str:
        """Equal for equal definitions of one server."""
        return fingerprint({"server": self.server, "raw": self.raw})


@dataclass(frozen=True, slots=True)
class ToolProblem:
    """A definition that was set aside, with the reason; `tool` is its name where it has one."""

    tool: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a server lists: sound tools, and what was set aside."""

    server: str
    tools: tuple[Tool, ...]
    problems: tuple[ToolProblem, ...] = ()
    protocol: str | None = None
    latency_ms: int = 0


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool under the name that the model sees for it in one run."""

    offered_name: str
    tool: Tool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tools as they were for one run, in the order offered."""

    id: SnapshotId
    tools: tuple[OfferedTool, ...]
