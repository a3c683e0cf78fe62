"""Commands of the workshop screen, and the links that lead there."""

from collections.abc import Callable, Mapping
from typing import Final

from app.core_link.commands import Command, always

GROUP: Final = "Workshop"
NEW, RENAME, REMOVE, ADD_TOOL, REMOVE_TOOL, UNDO, REDO = (
    f"workshop.{name}" for name in ("new", "rename", "remove", "add_tool", "remove_tool", "undo", "redo")
)
EDIT, FIELDS, NEXT, PREVIOUS, COPY, ACCEPT, EXPORT, SOURCE, REBASE = (
    f"workshop.{name}"
    for name in ("edit", "fields", "next", "previous", "copy", "accept", "export", "source", "rebase")
)
TRY, STOP, FIND, MORE, ADD_CASES, ADD_GUARDS, HISTORY, EXPLAIN = (
    f"workshop.{name}" for name in ("try", "stop", "find", "more", "add_cases", "add_guards", "history", "explain")
)
TRY_KEYS, STOP_KEYS, ACCEPT_KEYS = "Ctrl+Return", "Ctrl+Shift+Return", "Ctrl+D"
TOOL_KEYS: Final = "Alt+Up and Alt+Down show another tool, Ctrl+E edits its description"
NO_DRAFT: Final = "Select a draft first"
NO_CHANGE: Final = "Change a tool first"


def workshop_commands(
    does: Mapping[str, Callable[[], object]], can: Mapping[str, Callable[[], bool]]
) -> dict[str, Command]:
    """Return the commands by id; `can` tells which of them are possible now, those that it does not name always are."""

    def command(key: str, text: str, keys: str = "", unless: str = "") -> Command:
        needs = can.get(key, always)
        return Command(id=key, text=text, do=does[key], keys=keys, needs=needs, unless=unless, group=GROUP)

    made = (
        command(NEW, "Make a new draft", "Ctrl+N"),
        command(RENAME, "Rename the draft", "", NO_DRAFT),
        command(REMOVE, "Remove the draft", "", NO_DRAFT),
        command(ADD_TOOL, "Add a tool to the draft", "", NO_DRAFT),
        command(REMOVE_TOOL, "Remove the tool in the draft", "", "Select a tool first"),
        command(UNDO, "Undo a step of the draft", "Ctrl+Alt+Z", "There is no step to undo"),
        command(REDO, "Redo a step of the draft", "Ctrl+Alt+Y", "There is no step to redo"),
        command(HISTORY, "Show the history of the draft", "", NO_DRAFT),
        command(EXPLAIN, "Show how the verdict was decided", "", "There is no verdict yet"),
        command(EDIT, "Edit the description of the tool", "Ctrl+E", "Select a tool first"),
        command(FIELDS, "Show all fields of a tool, or its texts only", "", NO_DRAFT),
        command(NEXT, "Show the next tool of the draft", "Alt+Down", NO_DRAFT),
        command(PREVIOUS, "Show the previous tool of the draft", "Alt+Up", NO_DRAFT),
        command(COPY, "Copy the new text", "Ctrl+Shift+C", NO_CHANGE),
        command(ACCEPT, "Open the text that was found as a draft", ACCEPT_KEYS, "Find a better text first"),
        command(EXPORT, "Export the draft or the test", "Ctrl+Shift+E", NO_CHANGE),
        command(SOURCE, "Change the server’s source", "", NO_CHANGE),
        command(TRY, "Try the draft, or start the test", TRY_KEYS, "Change a tool that a test case is about"),
        command(FIND, "Find a better text"),
        command(STOP, "Stop the trial or the test", STOP_KEYS, "No trial is running"),
        command(MORE, "Run one more round of the trial", "", "No trial with a model is open"),
        command(ADD_CASES, "Add cases about the tools to the trial", "", NO_DRAFT),
        command(ADD_GUARDS, "Add cases that must not change to the trial", "", NO_DRAFT),
        command(REBASE, "Move the draft to the newer listing", "", "The server lists the same tools"),
    )
    return {one.id: one for one in made}
