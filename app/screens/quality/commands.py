"""Commands of the quality screen: one list for its buttons, menus, the palette and shortcuts."""

from collections.abc import Callable
from typing import Final

from app.core_link.commands import Command
from app.core_link.links import Go, tool_commands
from mcp_tef import ToolLabel

GROUP: Final = "Quality"
ASK, CANCEL, COPY, EXPORT, READ, CLEAR = (
    f"quality.{name}" for name in ("ask", "cancel", "copy", "export", "read", "clear")
)
NO_TOOLS: Final = "No tools are known yet"


def quality_commands(
    does: dict[str, Callable[[], object]],
    *,
    has_tools: Callable[[], bool],
    is_busy: Callable[[], bool],
    tool: Callable[[], ToolLabel | None],
    go: Go,
) -> dict[str, Command]:
    """Return all commands by id; `does` gives the operation of each."""

    def command(key: str, text: str, unless: str, needs: Callable[[], bool], keys: str = "") -> Command:
        return Command(id=key, text=text, do=does[key], keys=keys, needs=needs, unless=unless, group=GROUP)

    commands = (
        command(ASK, "Ask a model about tools", NO_TOOLS, has_tools, "Ctrl+Shift+R"),
        command(CANCEL, "Stop the model request", "No model is being asked", is_busy),
        command(COPY, "Copy the findings of the selected tools", "Select a tool first", lambda: tool() is not None),
        command(EXPORT, "Export the quality report", NO_TOOLS, has_tools),
        Command(id=READ, text="Read the servers again", do=does[READ], group=GROUP),
        Command(id=CLEAR, text="Clear all filters", do=does[CLEAR], group=GROUP),
        *tool_commands("quality", GROUP, tool, go),
    )
    return {one.id: one for one in commands}
