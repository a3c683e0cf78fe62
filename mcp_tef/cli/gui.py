"""`gui`: opens the window."""

from argparse import Namespace
from importlib import import_module
from importlib.util import find_spec

from mcp_tef import ReachError
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.terminal import Terminal


def register(verbs: Verbs) -> None:
    """Add the verb."""
    add_verb(verbs, "gui", "open the window", gui)


def gui(arguments: Namespace, _: Terminal) -> int:
    """Open the window on the workspace that was asked for; ends when the window is closed."""
    if find_spec("app") is None:
        raise ReachError("The window is not part of this installation.", hint="Install mcp-tef-desktop as a whole.")
    place = ["--workspace", str(arguments.workspace)] if arguments.workspace else []
    code: int = import_module("app.main").main(place)
    return code
