"""Gives a workspace another name in its folder, with the tools files that belong to it."""

import os
import shutil
from contextlib import closing, suppress
from pathlib import Path

from mcp_tef.errors import InputError, StoreError
from mcp_tef.storage.copies import take_tools_along, tools_folder
from mcp_tef.storage.faults import cannot_write, translated
from mcp_tef.storage.opening import connect, require_own
from mcp_tef.storage.owners import Owner

_REFUSED = '/\\:*?"<>|'
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
_LONGEST = 200
_TOGETHER = ("", "-wal", "-journal")
_WORKSPACES = (".mcp-tef", ".db", ".sqlite", ".sqlite3")


def renamed_path(path: Path, name: str) -> Path:
    """Where a workspace lies once it has another name, without ending; InputError says why it cannot have that.

    Names that one of the three systems refuses are refused on all, since workspaces travel.
    """
    if fault := _fault(name):
        raise InputError(fault)
    target = path.with_name(f"{name}{path.suffix}")
    beside = [[file.with_name(file.name + ending) for file in (path, target)] for ending in _TOGETHER]
    for old, new in (*beside, map(tools_folder, (path, target))):
        if new.exists() and not (old.exists() and new.samefile(old)):
            raise InputError(f"{new.name} is there already. Choose another name.")
    return target


def rename_workspace(path: Path, name: str) -> Path:
    """Rename a workspace that nobody has open; where it lies now. InputError or StoreError, and nothing is changed."""
    target = renamed_path(path, name)
    if target == path:
        return path
    if not path.is_file():
        raise StoreError(f"The workspace {path.name} is not there any more.", hint="Look where it was moved to.")
    if Owner(path).others():
        raise StoreError(f"The workspace {path.name} is open in another window.", hint="Close that one first.")
    try:
        with translated(path):
            _settle(path)
            took_tools = take_tools_along(path, target, path)
        os.rename(path, target)
    except OSError as error:
        raise cannot_write(path) from error
    if took_tools and not _is_shared(path):
        shutil.rmtree(tools_folder(path), ignore_errors=True)
    with suppress(OSError):
        path.with_name(f"{path.name}.damage-met").rename(target.with_name(f"{target.name}.damage-met"))
    return target


def _fault(name: str) -> str:
    if not name.strip():
        return "Write a name."
    if wrong := next((sign for sign in name if sign in _REFUSED or not sign.isprintable()), ""):
        shown = wrong if wrong.isprintable() else "a hidden character"
        return f"A name cannot hold {shown}"
    if name != name.strip() or name.endswith(".") or name.startswith("."):
        return "A name cannot begin with a dot, end with one, or have spaces around it."
    if name.split(".")[0].lower() in _DEVICES:
        return f"Windows keeps {name} for itself. Choose another name."
    return "This name is too long." if len(name.encode()) > _LONGEST else ""


def _settle(path: Path) -> None:
    """Move what stands in the journal to the file itself, which then is the whole workspace."""
    with closing(connect(path)) as connection:
        require_own(connection, path)
        connection.execute("PRAGMA journal_mode = DELETE")


def _is_shared(path: Path) -> bool:
    """Whether a workspace of the same name with another ending lies beside it, and uses the same tools files."""
    return any(path.with_suffix(ending).exists() for ending in _WORKSPACES if ending != path.suffix)
