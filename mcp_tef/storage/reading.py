"""Reads a workspace that cannot be written: nothing is created or changed beside it."""

import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from mcp_tef.errors import StoreError
from mcp_tef.storage.faults import cannot_write, damaged, error_code, translated
from mcp_tef.storage.opening import (
    VERSION,
    connect,
    connect_in_memory,
    connect_read_only,
    copy_files,
    is_sound,
    prepare,
    require_own,
    version_of,
)

Connections: TypeAlias = Callable[[], sqlite3.Connection]
_NEEDS_WRITING = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})


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


def read_only_connections(path: Path, lock_wait: float, cleanup: ExitStack) -> Connections:
    """Return what connects to a sound workspace of the newest version and changes nothing.

    Where SQLite would have to write for that (a journal to be recovered, an older version), it is a private copy,
    which `cleanup` removes; for a missing or empty file, an empty workspace in memory. Raises StoreError or OSError.
    """
    if is_empty(path):
        return partial(_restricted, connect_in_memory)
    if not path.is_file():
        raise cannot_write(path)
    with translated(path):
        connections = _direct(path.resolve(), lock_wait) or _copied(path, lock_wait, cleanup)
        return partial(_restricted, connections)


def _direct(path: Path, lock_wait: float) -> Connections | None:
    """Return what connects to the file itself; None where that would need to write."""
    size = {suffix: _size(path.with_name(path.name + suffix)) for suffix in ("-wal", "-shm", "-journal")}
    is_shared = size["-wal"] is not None and size["-shm"] is not None
    if size["-journal"] or (size["-wal"] and not is_shared):
        return None
    connections = partial(connect_read_only, path, lock_wait, immutable=not is_shared)
    try:
        with closing(connections()) as connection:
            require_own(connection, path)
            if not is_sound(connection, path):
                raise damaged(path)
            return connections if version_of(connection) == VERSION else None
    except sqlite3.DatabaseError as error:
        if error_code(error) in _NEEDS_WRITING:
            return None
        raise


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.exists() else None


def _copied(path: Path, lock_wait: float, cleanup: ExitStack) -> Connections:
    folder = TemporaryDirectory(prefix="mcp-tef-", ignore_cleanup_errors=True)
    copy = Path(cleanup.enter_context(folder), path.name)
    copy_files(path.resolve(), copy)
    prepare(copy, alone=True, lock_wait=lock_wait)
    return partial(connect, copy, lock_wait)


def _restricted(connections: Connections) -> sqlite3.Connection:
    connection = connections()
    connection.execute("PRAGMA query_only = ON")
    return connection
