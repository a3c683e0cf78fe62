"""Connections to a workspace file: check it, upgrade it, or open it without changing anything.

A damaged file is refused, or set aside if the caller asks for recovery.
"""

import os
import sqlite3
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp_tef.errors import StoreError
from mcp_tef.model.installation import data_folder
from mcp_tef.storage.schema import APPLICATION_ID, VERSION, create_schema, new_database
from mcp_tef.storage.schema_versions import OLDEST, require_known_schema, upgrade
from mcp_tef.storage.sqlite_errors import (
    DAMAGED,
    CheckedConnection,
    cannot_write,
    damaged,
    error_code,
    suspicion,
    translated,
)
from mcp_tef.storage.workspace_identity import (
    give_identity,
    require_no_journal,
    require_recorded,
    set_aside_foreign_logs,
)
from mcp_tef.trust.files import copy_private, create_private, open_regular_file, replaced_database, unlink
from mcp_tef.trust.open_files import is_open_here
from mcp_tef.trust.own_workspaces import holds_strangers_text

LOCK_WAIT_S = 5.0
_SETTINGS = (
    "trusted_schema = OFF",
    "foreign_keys = ON",
    "synchronous = NORMAL",
    "temp_store = MEMORY",
    "journal_size_limit = 16777216",
    "cell_size_check = ON",
    "mmap_size = 0",
)
_ALWAYS_CHECKED_BYTES = 64 * 1024 * 1024
_HEADER = b"SQLite format 3\x00"
_OURS = frozenset({".mcp-tef", ".db", ".sqlite", ".sqlite3"})


def default_workspace() -> Path:
    """Return the workspace file in the user's own data folder."""
    return data_folder() / "workspace.db"


def require_folder(path: Path) -> Path:
    """Return the path of a workspace; StoreError where its folder is not there, since the path may be mistyped.

    The user's data folder is made when it is needed.
    """
    folder = path.absolute().parent
    if not folder.is_dir() and folder != data_folder():
        raise StoreError(f"There is no folder {folder}.", hint="Check the path of the workspace, or make the folder.")
    return path


def resolved(path: Path) -> Path:
    """Return the file that a path leads to; StoreError for a link that leads to nothing."""
    if path.is_symlink() and not path.exists():
        raise cannot_write(path)
    return path.resolve()


def require_one_name(path: Path) -> None:
    """Raise StoreError for a file with several hard links: its journal belongs to one name, so the others lose rows."""
    with suppress(FileNotFoundError):
        if path.is_file() and path.stat().st_nlink > 1:
            raise StoreError(
                f"The workspace {path.name} has more than one name (hard links), which would lose what is written.",
                hint=f"Make a file of its own of it: cp {path.name} NEW, and use that.",
                code="workspace_linked",
                context={"path": str(path)},
            )


def connect(
    path: Path, lock_wait: float = LOCK_WAIT_S, kind: type[sqlite3.Connection] = CheckedConnection
) -> sqlite3.Connection:
    """Return a connection that starts no transaction by itself; it waits `lock_wait` seconds for other writers.

    A new file is private. Raises StoreError where the file cannot be written.
    """
    try:
        create_private(path)
        is_file = path.is_file()
    except OSError as error:
        raise cannot_write(path) from error
    if not is_file:
        raise cannot_write(path)
    require_writable(path, path)
    return _configured(sqlite3.connect(path, timeout=lock_wait, isolation_level=None, factory=kind))


def require_writable(place: Path, workspace: Path) -> None:
    """Raise StoreError where the file or folder of a workspace cannot be written."""
    if not can_write(place):
        raise cannot_write(workspace)


def can_write(place: Path) -> bool:
    """Return whether this process may write to a file, or make files in a folder."""
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def connect_read_only(path: Path, lock_wait: float, *, immutable: bool) -> sqlite3.Connection:
    """Return a connection that can change nothing; one to an `immutable` file needs no lock and no journal."""
    option = "immutable=1" if immutable else "mode=ro"
    address = f"{path.absolute().as_uri()}?{option}"
    return _configured(
        sqlite3.connect(address, timeout=lock_wait, isolation_level=None, uri=True, factory=CheckedConnection)
    )


def connect_in_memory() -> sqlite3.Connection:
    """Return a connection to an empty workspace of its own, which ends with it."""
    return _configured(new_database())


def _configured(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def prepare(
    path: Path, *, alone: bool, lock_wait: float, recover: bool = False, passing: bool = False
) -> tuple[str, ...]:
    """Make `path` a sound workspace of the newest version; returns notices for people.

    It is the user's own from then on, unless it is a `passing` copy.

    To `recover`, a damaged file is set aside and a new one started with what can be read of it, unless another process
    is using it.
    Raises StoreError for a file that is damaged, of another program, not made by mcp-tef alone, of a version that
    cannot be opened, locked, or not writable.
    """
    notices: list[str] = []
    if path.suffix.lower() not in _OURS:
        _require_header(path)
    with translated(path):
        crashed = alone and path.with_name(f"{path.name}-wal").exists()
        if not passing:
            notices += _without_foreign_logs(path, alone=alone)
        is_known = not is_empty(path)
        if is_known and _is_damaged(path, lock_wait, crashed=crashed):
            _require_recovery(path, alone=alone, recover=recover)
            notices.append(_recovered(path, passing=passing))
        if alone:
            suspicion(path).unlink(missing_ok=True)
        notices += _bring_up_to_date(path, lock_wait, is_known=is_known, passing=passing)
    return tuple(notices)


def _without_foreign_logs(path: Path, *, alone: bool) -> list[str]:
    if alone:
        return set_aside_foreign_logs(path)
    require_no_journal(path)
    return []


def _require_recovery(path: Path, *, alone: bool, recover: bool) -> None:
    if not alone:
        raise StoreError(
            f"The workspace {path.name} is damaged, and another mcp-tef is using it.",
            hint="Close the other one, then try again.",
        )
    if not recover:
        raise damaged(path)


def require_workspace(path: Path) -> None:
    """Raise StoreError if a file is not a workspace; new, empty and damaged ones pass.

    The file is only read, so that other processes can use it meanwhile.
    """
    _require_header(path)
    if not path.is_file() or path.stat().st_size == 0:
        return
    with (
        suppress(sqlite3.DatabaseError),
        closing(connect_read_only(path, LOCK_WAIT_S, immutable=True)) as connection,
    ):
        require_own(connection, path)


def may_be_workspace(path: Path) -> bool:
    """Return False for a file of another program and for one without a folder, where no workspace can be made."""
    try:
        require_workspace(require_folder(path))
    except StoreError as error:
        return error.code in ("workspace_too_new", "workspace_too_old", "workspace_schema_foreign")
    return True


def _require_header(path: Path) -> None:
    if is_open_here(path):
        return
    try:
        with open_regular_file(path) as file:
            beginning = file.read(len(_HEADER))
    except FileNotFoundError:
        return
    except OSError as error:
        raise cannot_write(path) from error
    if beginning not in (b"", _HEADER):
        raise StoreError(
            f"The file {path.name} is no workspace.",
            hint="Select a workspace, or a new name. Nothing was changed.",
            code="not_a_workspace",
            context={"path": str(path)},
        )


def _is_damaged(path: Path, lock_wait: float, *, crashed: bool) -> bool:
    """Return whether a file that is not empty is damaged; raises StoreError where it is no workspace.

    After a crash, rows that refer to nothing are damage as well: a part of the file is older than the rest.
    """
    try:
        with closing(connect(path, lock_wait)) as connection:
            require_own(connection, path)
            is_whole = is_sound(connection, path, whole=crashed)
            return not is_whole or bool(crashed and connection.execute("PRAGMA foreign_key_check").fetchone())
    except sqlite3.DatabaseError as error:
        if error_code(error) in DAMAGED:
            return True
        raise


def is_sound(connection: sqlite3.Connection, path: Path, *, whole: bool = False) -> bool:
    """Return whether SQLite finds no damage; may raise DatabaseError with one of the codes in DAMAGED.

    Small files are read as a whole (4 ms a megabyte), and large ones after a crash or after damage was met in them.
    """
    whole = whole or suspicion(path).exists() or path.stat().st_size <= _ALWAYS_CHECKED_BYTES
    found = connection.execute(f"PRAGMA {'quick_check(1)' if whole else 'schema_version'}").fetchone()[0]
    return found == "ok" or not isinstance(found, str)


def _recovered(path: Path, *, passing: bool) -> str:
    """Put a new workspace with all that can be read of a damaged one in its place; the notice of what came along.

    The damaged file is copied aside first, so that whenever the process ends, one of the two stands there whole.
    """
    from mcp_tef.storage.workspace_recovery import salvage, summary

    aside = path.with_name(f"{path.name}.damaged-{datetime.now():%Y%m%d-%H%M%S-%f}")
    with (
        TemporaryDirectory(prefix="mcp-tef-", ignore_cleanup_errors=True) as folder,
        replaced_database(path) as unfinished,
    ):
        copy = Path(folder, "damaged.db")
        copy_files(path, copy)
        with closing(connect(unfinished)) as target:
            target.execute("PRAGMA journal_mode = MEMORY")
            create_schema(target)
            saved = salvage(copy, target)
            if not passing:
                give_identity(target, unfinished, adopted=holds_strangers_text(path))
        copy_files(path, aside)
    for suffix in ("-wal", "-shm"):
        unlink(path.with_name(path.name + suffix))
    said = f"The workspace {path.name} was damaged. It was set aside as {aside.name}, and a new one was started."
    return f"{said} {summary(saved)}"


def _bring_up_to_date(path: Path, lock_wait: float, *, is_known: bool, passing: bool) -> list[str]:
    with closing(connect(path, lock_wait)) as connection:
        if not is_known:  # another process may just have made it
            require_own(connection, path)
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = MEMORY")  # no rollback journal is ever beside a workspace
            connection.execute("PRAGMA journal_mode = WAL")
        if version_of(connection) != VERSION:
            return _upgraded(connection, path, passing=passing)
        if not passing:
            require_recorded(connection, path)
        return []


def _upgraded(connection: sqlite3.Connection, path: Path, *, passing: bool) -> list[str]:
    """Bring a workspace to the newest version in one transaction; the notices."""
    # Tables are replaced: their rows must not go with the old ones, nor may references follow a renamed table.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA legacy_alter_table = ON")
    connection.execute("BEGIN IMMEDIATE")
    version = version_of(connection)  # another process may have been faster
    notices = []
    if version == 0:
        create_schema(connection)
    elif version < VERSION:
        notices += [] if passing else [_keep_copy(path, version)]
        upgrade(connection, version)
    if version < VERSION and not passing:
        give_identity(connection, path, adopted=version > 0 and holds_strangers_text(path))
    connection.execute("COMMIT")
    return notices


def require_own(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError where a file that holds anything is not a workspace as a known version of mcp-tef makes it."""
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        return
    if _number(connection, "application_id") != APPLICATION_ID:
        raise StoreError(
            f"The file {path.name} is a database of another program.", hint="Select another file as the workspace."
        )
    version = version_of(connection)
    if version > VERSION:
        raise StoreError(
            f"The workspace {path.name} was written by a newer mcp-tef (version {version}; this one knows {VERSION}).",
            hint="Update mcp-tef, or select another workspace. Nothing was changed.",
            code="workspace_too_new",
        )
    if 0 < version < OLDEST:
        raise StoreError(
            f"The workspace {path.name} was made by an older mcp-tef (version {version}; this one opens {OLDEST} "
            f"to {VERSION}).",
            hint="Nothing was changed. Open it once with mcp-tef of commit 27e12ba, which upgrades it, then here.",
            code="workspace_too_old",
        )
    require_known_schema(connection, path, version)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a workspace; 0 for an empty file."""
    return _number(connection, "user_version")


def _keep_copy(path: Path, version: int) -> str:
    copy = path.with_name(f"{path.name}.v{version}.bak")
    with replaced_database(copy) as unfinished:
        back_up(path, unfinished)
    return f"The workspace {path.name} was brought up to date. A copy of it as it was is {copy.name}."


def back_up(path: Path, copy: Path) -> None:
    """Write all that a workspace holds to a new private file, which needs no journal beside it."""
    require_there(path)
    require_no_journal(path)
    with closing(connect(path)) as source, closing(connect(copy)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")


def copy_files(path: Path, copy: Path) -> None:
    """Copy the file of a workspace that nobody has open, with its log if that is a file and no link. Raises OSError."""
    for suffix in ("", "-wal"):
        source, target = (file.with_name(file.name + suffix) for file in (path, copy))
        if not suffix or (source.is_file() and not source.is_symlink()):
            copy_private(source, target)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def require_there(path: Path) -> None:
    """Raise StoreError where there is no workspace to read."""
    if not path.exists():
        raise StoreError(
            f"There is no workspace {path}.",
            hint="Check the path; commands that only read create no workspace.",
            code="workspace_missing",
            context={"path": str(path)},
        )


def is_empty(path: Path) -> bool:
    """Return whether a workspace is missing, or a file without content."""
    return not path.exists() or (path.is_file() and path.stat().st_size == 0)
