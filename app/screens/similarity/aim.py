"""A pair that another screen asked for, by name."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.screens.similarity.pairs import Places, ordered
from mcp_tef import ComparedTool, ToolLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Two tools, and whether what to write instead is what is wanted of them."""

    a: ToolLabel
    b: ToolLabel
    advice: bool = False

    def places(self, tools: Sequence[ComparedTool]) -> Places | None:
        """Where both are among the compared; None where one of them is not."""
        by_name = {(one.tool.server, one.tool.name): place for place, one in enumerate(tools)}
        a, b = (by_name.get((label.server or "", label.tool or "")) for label in (self.a, self.b))
        return ordered(a, b) if a is not None and b is not None and a != b else None
