"""Backups of a workspace, and copies of a stranger's that become the user's own: each is whole, or nothing changes."""

from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path
from sqlite3 import DatabaseError

from mcp_tef.errors import InputError, StoreError
from mcp_tef.storage.process_locks import Owner
from mcp_tef.storage.sqlite_errors import cannot_write, translated
from mcp_tef.storage.workspace_file import (
    LOCK_WAIT_S,
    back_up,
    can_write,
    connect,
    copy_files,
    is_empty,
    prepare,
    require_one_name,
    require_there,
    resolved,
)
from mcp_tef.storage.workspace_identity import give_identity, identity_of, is_own, set_aside_foreign_logs
from mcp_tef.storage.workspace_reading import private_copy
from mcp_tef.trust.files import replaced_database, unlink
from mcp_tef.trust.own_workspaces import holds_strangers_text


def adopt_workspace(path: Path, target: Path | None = None, *, recover: bool = False) -> tuple[Path, tuple[str, ...]]:
    """Make a workspace of the user's own of one from elsewhere; where it is, and notices. InputError, StoreError.

    The main file alone is read. To `recover`, what can be read of a damaged one is taken.
    """
    target = (target or path.with_name(f"{path.stem}-own{path.suffix}")).absolute()
    _require_free(target)
    return target, _taken(path, target, lambda _: "", recover=recover)


def back_up_workspace(path: Path, target: Path) -> None:
    """Write a workspace to one file that needs nothing beside it, whatever is under way. InputError, StoreError."""
    target = target.absolute()
    _require_free(target)
    _taken(path, target, lambda workspace: workspace, recover=False)


def restore_workspace(backup: Path, path: Path) -> Path | None:
    """Put a backup in the place of a workspace; where the one that stood there is kept. InputError, StoreError.

    Where it cannot be read any more, its file is kept as it is. Nothing that lay beside it is used again.
    """
    require_there(backup)
    if is_empty(backup):
        raise InputError(f"{backup.name} is empty, so it is no backup.", hint="Name a file of `workspace backup`.")
    path = resolved(path)
    if path.exists() and path.samefile(backup):
        raise InputError(f"{backup.name} is the workspace itself.", hint="Name the backup.")
    require_one_name(path)
    if Owner(path).others():
        raise StoreError(f"The workspace {path.name} is open.", hint="Close what uses it, then try again.")
    kept = None if is_empty(path) else _set_aside(path)
    _taken(backup, path, lambda workspace: workspace, recover=False)
    for ending in ("-wal", "-shm"):
        unlink(path.with_name(path.name + ending))
    return kept


def _set_aside(path: Path) -> Path:
    """Copy a workspace that is to be replaced; its files as they are, where SQLite cannot read them."""
    kept = path.with_name(f"{path.stem}-before-restore-{datetime.now():%Y%m%d-%H%M%S-%f}{path.suffix}")
    try:
        if is_own(path):
            with suppress(StoreError, DatabaseError):
                _taken(path, kept, lambda workspace: workspace, recover=False)
                return kept
        copy_files(path, kept)
    except OSError as error:
        raise cannot_write(kept) from error
    return kept


def _taken(path: Path, target: Path, named: Callable[[str], str], *, recover: bool) -> tuple[str, ...]:
    """Write what a workspace holds to a new file of the user's, under the id that `named` returns for its own."""
    require_there(path)
    require_one_name(path)
    notices: tuple[str, ...] = ()
    try:
        with ExitStack() as cleanup, translated(path):
            source = path.resolve()
            own = is_own(source)
            adopted = not own or holds_strangers_text(source)
            if not (own and can_write(source) and can_write(source.parent)):
                source, notices = private_copy(source, LOCK_WAIT_S, cleanup, recover=recover, own=own)
            elif not Owner(source).others():
                notices = tuple(set_aside_foreign_logs(source))
            with replaced_database(target) as unfinished:
                back_up(source, unfinished)
                _bring_home(unfinished, named, adopted=adopted)
    except OSError as error:
        raise cannot_write(target) from error
    return notices


def _bring_home(unfinished: Path, named: Callable[[str], str], *, adopted: bool) -> None:
    prepare(unfinished, alone=True, lock_wait=LOCK_WAIT_S, passing=True)
    with closing(connect(unfinished)) as connection:
        identity = identity_of(connection)
        connection.execute("BEGIN IMMEDIATE")
        give_identity(connection, unfinished, named(identity.id) if identity else "", adopted=adopted)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = DELETE")


def _require_free(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise InputError(f"{target.name} is there already.", hint="Use another name.")
