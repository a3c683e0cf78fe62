"""Makes the workspace file ready: sets a damaged one aside, refuses a newer one, brings an older one up to date."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from mcp_tef.errors import StoreError
from mcp_tef.model.regular_files import open_regular_file
from mcp_tef.storage.faults import DAMAGED, cannot_write, error_code, translated
from mcp_tef.storage.migrations import (
    m0001_base,
    m0002_facts,
    m0003_past_verdicts,
    m0004_judging_again,
    m0005_imported_servers,
    m0006_signing_in,
    m0007_calls_and_drift,
    m0008_batches_come_back,
)

APPLICATION_ID = 1297368390
_SETTINGS = ("foreign_keys = ON", "synchronous = NORMAL", "temp_store = MEMORY", "journal_size_limit = 16777216")
_ALWAYS_CHECKED_BYTES = 64 * 1024 * 1024
_HEADER = b"SQLite format 3\x00"
_OURS = frozenset({".mcp-tef", ".db", ".sqlite", ".sqlite3"})

Migration = Callable[[sqlite3.Connection], None]

MIGRATIONS: tuple[Migration, ...] = (
    m0001_base.upgrade,
    m0002_facts.upgrade,
    m0003_past_verdicts.upgrade,
    m0004_judging_again.upgrade,
    m0005_imported_servers.upgrade,
    m0006_signing_in.upgrade,
    m0007_calls_and_drift.upgrade,
    m0008_batches_come_back.upgrade,
)
VERSION = len(MIGRATIONS)


def connect(path: Path, lock_wait: float) -> sqlite3.Connection:
    """A connection that starts no transaction by itself; it waits `lock_wait` seconds for other writers."""
    connection = sqlite3.connect(path, timeout=lock_wait, isolation_level=None)
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def prepare(
    path: Path, *, alone: bool, lock_wait: float, migrations: Sequence[Migration] = MIGRATIONS
) -> tuple[str, ...]:
    """Make `path` a sound workspace of the newest version; returns notices for people.

    A damaged file is renamed and a fresh one started, unless another process is using it.
    Raises StoreError for a file that is of another program, of a newer version, locked, or not writable.
    """
    notices: list[str] = []
    if path.suffix.lower() not in _OURS:
        _require_header(path)
    with translated(path):
        damaged = _damaged(path, lock_wait, alone)
        if alone:
            _suspicion(path).unlink(missing_ok=True)
        if damaged:
            if not alone:
                raise StoreError(
                    f"The workspace {path.name} is damaged, and another mcp-tef is using it.",
                    hint="Close the other one, then try again.",
                )
            notices.append(_set_aside(path))
        notices += _bring_up_to_date(path, lock_wait, migrations)
    return tuple(notices)


def require_workspace(path: Path) -> None:
    """Raise StoreError where a file is no workspace that could be opened; a new, empty or damaged one can be.

    Nothing is changed, and whoever uses the file is not disturbed.
    """
    _require_header(path)
    if not path.is_file() or path.stat().st_size == 0:
        return
    with (
        suppress(sqlite3.DatabaseError),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as connection,
    ):
        _refuse_foreign(connection, path, VERSION)


def _require_header(path: Path) -> None:
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
            hint="Choose a workspace, or a new name. Nothing was changed.",
            code="not_a_workspace",
            context={"path": str(path)},
        )


def _damaged(path: Path, lock_wait: float, alone: bool) -> bool:
    if not path.exists() or path.stat().st_size == 0:
        return False
    check = "quick_check(1)" if _worth_reading_whole(path, alone) else "schema_version"
    try:
        with closing(connect(path, lock_wait)) as connection:
            found = connection.execute(f"PRAGMA {check}").fetchone()
    except sqlite3.DatabaseError as error:
        if error_code(error) in DAMAGED:
            return True
        raise
    return isinstance(found[0], str) and found[0] != "ok"


def _worth_reading_whole(path: Path, alone: bool) -> bool:
    """Small files are (4 ms a megabyte), and large ones after a crash, or after damage was met while they were used."""
    crashed = alone and path.with_name(f"{path.name}-wal").exists()
    return crashed or _suspicion(path).exists() or path.stat().st_size <= _ALWAYS_CHECKED_BYTES


def suspect(path: Path) -> None:
    """Leave word beside a workspace that damage was met in it, so that the next start reads it whole."""
    with suppress(OSError):
        _suspicion(path).touch()


def _suspicion(path: Path) -> Path:
    return path.with_name(f"{path.name}.damage-met")


def _set_aside(path: Path) -> str:
    aside = path.with_name(f"{path.name}.damaged-{datetime.now():%Y%m%d-%H%M%S-%f}")
    try:
        for suffix in ("", "-wal", "-shm"):
            file = path.with_name(path.name + suffix)
            if file.exists():
                file.rename(aside.with_name(aside.name + suffix))
    except OSError as error:
        raise cannot_write(path) from error
    return f"The workspace {path.name} was damaged. It was set aside as {aside.name}, and a new one was started."


def _bring_up_to_date(path: Path, lock_wait: float, migrations: Sequence[Migration]) -> list[str]:
    with closing(connect(path, lock_wait)) as connection:
        _refuse_foreign(connection, path, len(migrations))
        connection.execute("PRAGMA journal_mode = WAL")
        if _number(connection, "user_version") == len(migrations):
            return []
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN IMMEDIATE")
        version = _number(connection, "user_version")
        notices = [_keep_copy(path, version)] if 0 < version < len(migrations) else []
        _migrate(connection, version, migrations)
        return notices


def _migrate(connection: sqlite3.Connection, version: int, migrations: Sequence[Migration]) -> None:
    for number, upgrade in enumerate(migrations[version:], start=version + 1):
        upgrade(connection)
        connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("COMMIT")


def _refuse_foreign(connection: sqlite3.Connection, path: Path, newest: int) -> None:
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        return
    if _number(connection, "application_id") != APPLICATION_ID:
        raise StoreError(
            f"The file {path.name} is a database of another program.", hint="Choose another file as the workspace."
        )
    version = _number(connection, "user_version")
    if version > newest:
        raise StoreError(
            f"The workspace {path.name} was written by a newer mcp-tef (version {version}; this one knows {newest}).",
            hint="Update mcp-tef, or choose another workspace. Nothing was changed.",
            code="workspace_too_new",
        )


def _keep_copy(path: Path, version: int) -> str:
    copy = path.with_name(f"{path.name}.v{version}.bak")
    unfinished = copy.with_name(f"{copy.name}.part")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as target:
        source.backup(target)
    os.replace(unfinished, copy)
    return f"The workspace {path.name} was brought up to date. A copy of it as it was is {copy.name}."


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
