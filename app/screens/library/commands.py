"""Commands of the Library screen."""

from collections.abc import Callable, Mapping
from typing import Final

from app.core_link.commands import Command, always

GROUP: Final = "Library"
NO_TOOL: Final = "Select a tool first"
NEW, SAVE, DISCARD, RUN, EVALUATE, DELETE, IMPORT, EXPORT, EXPORT_ALL, SERVE, CLEAR = (
    f"library.{name}"
    for name in (
        *("new", "save", "discard", "run", "evaluate", "delete", "import", "export", "export_all", "serve", "clear"),
    )
)


def library_commands(
    does: Mapping[str, Callable[[], object]], can: Mapping[str, Callable[[], bool]]
) -> dict[str, Command]:
    """Return the commands by id; those that `can` does not name are always possible."""

    def command(key: str, text: str, keys: str = "", unless: str = "") -> Command:
        needs = can.get(key, always)
        return Command(id=key, text=text, do=does[key], keys=keys, needs=needs, unless=unless, group=GROUP)

    made = (
        command(NEW, "Make a new library tool", "Ctrl+N"),
        command(SAVE, "Save the definition as a new version", "Ctrl+S", "Change the definition first"),
        command(DISCARD, "Discard the changes of the definition", "", "Change the definition first"),
        command(RUN, "Run the tool", "Ctrl+Return", NO_TOOL),
        command(EVALUATE, "Evaluate the tool with test cases", "Ctrl+E", "Select a tool that is not disabled"),
        command(DELETE, "Delete the selected library tools", "", NO_TOOL),
        command(IMPORT, "Take tools into the library"),
        command(EXPORT, "Export the selected library tools", "", NO_TOOL),
        command(EXPORT_ALL, "Export the whole library", "", "Add a tool first"),
        command(SERVE, "Serve the library over MCP", "", "Activate a tool first"),
        command(CLEAR, "Show all library tools"),
    )
    return {one.id: one for one in made}
