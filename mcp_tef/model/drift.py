"""What a server lists otherwise than the user last saw it."""

from dataclasses import dataclass

from mcp_tef.model.comparison import ToolChange
from mcp_tef.model.quality import LintFinding
from mcp_tef.model.tools import Listing, Tool


@dataclass(frozen=True, slots=True)
class ToolDrift:
    """A tool that was added, removed or changed; `findings` are the signs of poisoning in it now."""

    change: ToolChange
    findings: tuple[LintFinding, ...] = ()

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.change.tool

    @property
    def before(self) -> Tool | None:
        """The definition that was seen."""
        return self.change.before.tool if self.change.before else None

    @property
    def after(self) -> Tool | None:
        """The definition as it is now."""
        return self.change.after.tool if self.change.after else None

    @property
    def redescribed(self) -> bool:
        """Whether a tool that was there says something else of itself."""
        return bool(self.before and self.after and self.before.description != self.after.description)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Every tool that differs. `listing` is what there is now; `agreed` says that the user had agreed to start it."""

    listing: Listing
    tools: tuple[ToolDrift, ...]
    agreed: bool = False

    @property
    def redescribed(self) -> tuple[str, ...]:
        """The tools that say something else of themselves."""
        return tuple(tool.name for tool in self.tools if tool.redescribed)

    @property
    def suspicious(self) -> tuple[str, ...]:
        """The tools that show signs of poisoning now."""
        return tuple(tool.name for tool in self.tools if tool.findings)
