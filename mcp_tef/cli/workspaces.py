"""`workspace …`: back a workspace up to one file, put a backup back, and take over one that came from elsewhere."""

import os
import shlex
from argparse import Namespace
from pathlib import Path

from mcp_tef.cli.arguments import Verbs, add_group, add_verb
from mcp_tef.cli.terminal import Terminal


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "workspace", "back up, restore and take over workspace files")
    saving = add_verb(group, "backup", "write all of the workspace to one file", back_up)
    saving.add_argument("new_workspace", type=Path, metavar="FILE", help="the new file")
    restoring = add_verb(group, "restore", "put a backup in the place of the workspace", restore)
    restoring.add_argument("backup", type=Path, metavar="FILE", help="the backup")
    adopting = add_verb(group, "adopt", "make a workspace of your own of one that came from elsewhere", adopt)
    adopting.add_argument("foreign_workspace", type=Path, metavar="FILE", help="the workspace from elsewhere")
    adopting.add_argument("--to", type=Path, metavar="NEW", help="the new file (default: FILE with -own in its name)")


def back_up(arguments: Namespace, terminal: Terminal) -> None:
    """Write a backup."""
    from mcp_tef import back_up_workspace

    workspace = _workspace(arguments)
    back_up_workspace(workspace, arguments.new_workspace)
    terminal.document({"workspace": str(workspace), "backup": str(arguments.new_workspace)})
    back = f"mcp-tef workspace restore {shlex.quote(str(arguments.new_workspace))}"
    terminal.say(f"{arguments.new_workspace} holds all of {workspace.name}. To go back to it: {back}")


def restore(arguments: Namespace, terminal: Terminal) -> None:
    """Put a backup back."""
    from mcp_tef import restore_workspace

    workspace = _workspace(arguments)
    kept = restore_workspace(arguments.backup, workspace)
    terminal.document(
        {"workspace": str(workspace), "backup": str(arguments.backup), "kept": str(kept) if kept else None}
    )
    terminal.say(f"{workspace.name} is now as in {arguments.backup}.")
    if kept:
        terminal.say(f"As it was before, it is kept as {kept.name}.")


def adopt(arguments: Namespace, terminal: Terminal) -> None:
    """Make a copy that is the user's own."""
    from mcp_tef import adopt_workspace

    copy, notices = adopt_workspace(arguments.foreign_workspace, arguments.to, recover=arguments.recover)
    for notice in notices:
        terminal.note(notice)
    terminal.document({"workspace": str(copy), "from": str(arguments.foreign_workspace)})
    terminal.say(f"{copy} is a copy of your own. Use it with: --workspace {copy.name}")


def _workspace(arguments: Namespace) -> Path:
    from mcp_tef import Config, default_workspace

    named: Path | None = arguments.workspace or Config.from_environment(os.environ).workspace
    return named or default_workspace()
