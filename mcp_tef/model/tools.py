"""Tool definitions as servers list them, snapshots of them, and labels that name tools in filters and matrices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
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
    """A definition that was set aside, with the reason; `tool` is its name where it has one.

    `place` is where it stands in the server's list, from 0; None for a problem of the list itself. `raw` is the
    definition where it is an object of usual size and depth.
    """

    tool: str | None
    reason: str
    place: int | None = field(default=None, compare=False)
    raw: Mapping[str, Any] | None = field(default=None, compare=False)


LONGEST_INSTRUCTIONS = 100_000
"""Characters of a server's instructions that are kept; no client shows a model more than a few thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Tools that a server lists: valid tools, and those that were set aside; `instructions` are its own to a model."""

    server: str
    tools: tuple[Tool, ...]
    problems: tuple[ToolProblem, ...] = ()
    protocol: str | None = None
    latency_ms: int = 0
    instructions: str = ""


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


class LabelKind(StrEnum):
    """Kind of a label: an offered tool, no tool, a tool that was not offered, calls too many, or nothing readable."""

    TOOL = "tool"
    NO_TOOL = "no_tool"
    INVENTED = "invented_tool"
    EXTRA = "extra_call"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ToolLabel:
    """A tool by name, by server, or both. In a filter, None stands for any name, any server, any kind."""

    tool: str | None = None
    server: str | None = None
    kind: LabelKind | None = None

    @property
    def text(self) -> str:
        """The bare name for people; `no tool` and the like for what is none."""
        if self.kind in (None, LabelKind.TOOL):
            return self.tool or ""
        return self.kind.value.replace("_", " ")


NO_TOOL_LABEL = ToolLabel(kind=LabelKind.NO_TOOL)
INVENTED_TOOL_LABEL = ToolLabel(kind=LabelKind.INVENTED)
EXTRA_CALL_LABEL = ToolLabel(kind=LabelKind.EXTRA)
UNREADABLE_LABEL = ToolLabel(kind=LabelKind.UNREADABLE)
