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
        a, b = (_place(label, tools) for label in (self.a, self.b))
        return ordered(a, b) if a is not None and b is not None and a != b else None


def _place(label: ToolLabel, tools: Sequence[ComparedTool]) -> int | None:
    """Of a label without a server, the first tool of its name."""
    named = (place for place, one in enumerate(tools) if one.tool.name == label.tool)
    return next((place for place in named if label.server in (None, tools[place].tool.server)), None)
