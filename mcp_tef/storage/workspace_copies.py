"""Copy and rename workspace files, together with the tools files that belong to them."""

import os
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path

from mcp_tef.errors import InputError, StoreError
from mcp_tef.storage.process_locks import Owner
from mcp_tef.storage.sqlite_errors import cannot_write, translated
from mcp_tef.storage.workspace_backups import adopt_workspace
from mcp_tef.storage.workspace_file import back_up, connect, require_own
from mcp_tef.storage.workspace_identity import begin_generation, give_identity, require_no_journal
from mcp_tef.trust.files import (
    copy_folder,
    make_private_folder,
    new_private_folder,
    remove_folder,
    rename,
    replaced_database,
    unlink,
)
from mcp_tef.trust.own_workspaces import holds_strangers_text, tools_folder


def copy_workspace(path: Path, folder: Path) -> Path:
    """The copy of a workspace in a folder, which is the user's own; StoreError where there can be none.

    What stands in the log of a workspace of this user comes along; of a stranger's, the main file alone is read.
    """
    copy = folder / f"{path.stem}-copy-{datetime.now():%Y%m%d-%H%M%S-%f}{path.suffix}"
    try:
        make_private_folder(folder)
    except OSError as error:
        raise cannot_write(copy) from error
    return adopt_workspace(path, copy, recover=True)[0]


def save_copy(path: Path, target: Path) -> None:
    """Write all that a workspace holds to another file, whatever goes on in it meanwhile; StoreError.

    A file of that name is replaced in one step, once the copy is whole. Tools files that belong to the workspace come
    along; where a folder lies that they would go to, nothing is copied.
    """
    target = target.absolute()
    if any(_is_open(one, path.resolve()) for one in (target, target.resolve())):
        raise StoreError(f"The workspace {target.name} is open.", hint="Use another name.", code="workspace_is_open")
    if target.is_symlink():
        raise StoreError(f"{target.name} is a link, and links are not followed.", hint="Use another name.")
    folder = tools_destination(path, target)
    if folder is not None and os.path.lexists(folder):
        said = f"The folder {folder.name} is there already, and may hold tools files of another workspace."
        raise StoreError(said, hint="Use another name.")
    try:
        with ExitStack() as on_failure:
            if folder is not None:
                new_private_folder(folder)
                on_failure.callback(remove_folder, folder)
            _write_copy(path, target)
            on_failure.pop_all()
    except OSError as error:
        raise cannot_write(target) from error


def _write_copy(path: Path, target: Path) -> None:
    make_private_folder(target.parent)
    with replaced_database(target) as unfinished:
        with translated(target):
            back_up(path, unfinished)
            take_tools_along(path, target, unfinished)
            with closing(connect(unfinished)) as connection:
                give_identity(connection, unfinished, adopted=holds_strangers_text(path))
        for suffix in ("-wal", "-shm"):
            unlink(target.with_name(target.name + suffix))


def _is_open(target: Path, ours: Path) -> bool:
    """Return whether a file is a workspace that is open, or the journal of one."""
    names = [target.name.removesuffix(ending) for ending in ("-wal", "-shm")]
    return any(file == ours or Owner(file).others() for file in map(target.with_name, names))


def tools_destination(path: Path, target: Path) -> Path | None:
    """Return the folder for a copy of the tools files; None if there are none, or both workspaces use the same."""
    source, folder = tools_folder(path.absolute()), tools_folder(target.absolute())
    if source.is_symlink() or not source.is_dir() or (folder.exists() and folder.samefile(source)):
        return None
    return folder


def take_tools_along(path: Path, target: Path, database: Path) -> bool:
    """Copy the tools files of a workspace to where another has them, and have a database use them; whether any are.

    Links among them stay behind. Where it fails, nothing is left there.
    """
    source, folder = tools_folder(path.absolute()), tools_destination(path, target)
    if folder is None:
        return False
    with ExitStack() as on_failure:
        on_failure.callback(remove_folder, folder)
        copy_folder(source, folder)
        _lead_to(folder, f"{source}{os.sep}", database)
        on_failure.pop_all()
    return True


def _lead_to(folder: Path, before: str, database: Path) -> None:
    with closing(connect(database)) as connection:
        require_own(connection, database)
        begin_generation(connection, database)
        connection.execute(
            "UPDATE mcp_servers SET path = ? || substr(path, ?) WHERE substr(path, 1, ?) = ?",
            (f"{folder}{os.sep}", len(before) + 1, len(before), before),
        )


_REFUSED = '/\\:*?"<>|'
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
_LONGEST = 200
_TOGETHER = ("", "-wal", "-journal")
_WORKSPACES = (".mcp-tef", ".db", ".sqlite", ".sqlite3")


def renamed_path(path: Path, name: str) -> Path:
    """Return the path of a workspace under another name, without ending; InputError says why it cannot have that.

    Names that one of the three systems refuses are refused on all, since workspaces travel.
    """
    if fault := _fault(name):
        raise InputError(fault)
    target = path.with_name(f"{name}{path.suffix}")
    beside = [[file.with_name(file.name + ending) for file in (path, target)] for ending in _TOGETHER]
    for old, new in (*beside, map(tools_folder, (path, target))):
        if new.exists() and not (old.exists() and new.samefile(old)):
            raise InputError(f"{new.name} is there already. Use another name.")
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
        rename(path, target)
    except OSError as error:
        raise cannot_write(path) from error
    if took_tools and not _is_shared(path):
        remove_folder(tools_folder(path))
    with suppress(OSError):
        rename(path.with_name(f"{path.name}.damage-met"), target.with_name(f"{target.name}.damage-met"))
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
        return f"Windows keeps {name} for itself. Use another name."
    return "This name is too long." if len(name.encode()) > _LONGEST else ""


def _settle(path: Path) -> None:
    """Move what stands in the journal to the file itself, which then is the whole workspace."""
    require_no_journal(path)
    with closing(connect(path)) as connection:
        require_own(connection, path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _is_shared(path: Path) -> bool:
    """Return whether a workspace of the same name with another ending uses the same tools files."""
    return any(path.with_suffix(ending).exists() for ending in _WORKSPACES if ending != path.suffix)
