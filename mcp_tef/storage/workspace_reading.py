"""Connections that only read a workspace: to the file itself, or to a private copy where SQLite would have to write."""

import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from mcp_tef.storage.schema import VERSION
from mcp_tef.storage.sqlite_errors import cannot_write, damaged, error_code, translated
from mcp_tef.storage.workspace_file import (
    connect,
    connect_in_memory,
    connect_read_only,
    copy_files,
    is_empty,
    is_sound,
    prepare,
    require_own,
    version_of,
)
from mcp_tef.trust.files import copy_private

Connections: TypeAlias = Callable[[], sqlite3.Connection]
_NEEDS_WRITING: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})


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
        connections = _direct(path.resolve(), lock_wait)
        if connections is None:
            connections = partial(connect, _copied(path, lock_wait, cleanup)[0], lock_wait)
        return partial(_restricted, connections)


def private_copy(
    path: Path, lock_wait: float, cleanup: ExitStack, *, recover: bool, own: bool = False
) -> tuple[Path, tuple[str, ...]]:
    """Return a private copy of the main file alone, which `cleanup` removes, and notices. StoreError or OSError.

    The log of one's `own` comes along. Nothing else beside the file is read, since what SQLite does for a journal is
    decided by the one who wrote it.
    """
    with translated(path):
        return _copied(path, lock_wait, cleanup, own=own, recover=recover)


def _direct(path: Path, lock_wait: float) -> Connections | None:
    """Return what connects to the file itself; None where that would need to write."""
    log, is_shared = _size(path, "-wal"), None not in (_size(path, "-wal"), _size(path, "-shm"))
    if _size(path, "-journal") or (log and not is_shared):
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


def _size(path: Path, ending: str) -> int | None:
    beside = path.with_name(path.name + ending)
    return beside.stat().st_size if beside.exists() else None


def _copied(
    path: Path, lock_wait: float, cleanup: ExitStack, *, own: bool = True, recover: bool = False
) -> tuple[Path, tuple[str, ...]]:
    folder = TemporaryDirectory(prefix="mcp-tef-", ignore_cleanup_errors=True)
    copy = Path(cleanup.enter_context(folder), path.name)
    (copy_files if own else copy_private)(path.resolve(), copy)
    return copy, prepare(copy, alone=True, lock_wait=lock_wait, passing=True, recover=recover)


def _restricted(connections: Connections) -> sqlite3.Connection:
    connection = connections()
    connection.execute("PRAGMA query_only = ON")
    return connection
