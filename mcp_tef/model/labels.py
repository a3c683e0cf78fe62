"""How a tool is named in a filter, and in the rows and columns of a confusion matrix."""

from dataclasses import dataclass
from enum import StrEnum


class LabelKind(StrEnum):
    """What was expected or selected: a tool that was offered, none, or one that nobody offered."""

    TOOL = "tool"
    NO_TOOL = "no_tool"
    INVENTED = "invented_tool"


@dataclass(frozen=True, slots=True)
class ToolLabel:
    """A tool by name, by server, or both. In a filter, None stands for any name, any server, any kind."""

    tool: str | None = None
    server: str | None = None
    kind: LabelKind | None = None

    @property
    def text(self) -> str:
        """The bare name for people; `no tool` and `invented tool` for what is none."""
        if self.kind in (LabelKind.NO_TOOL, LabelKind.INVENTED):
            return self.kind.value.replace("_", " ")
        return self.tool or ""


NOTHING = ToolLabel(kind=LabelKind.NO_TOOL)
INVENTED = ToolLabel(kind=LabelKind.INVENTED)
