"""The connection of a workspace that is in use: other processes leave its journal alone, and so does its own end."""

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp_tef.errors import StoreError
from mcp_tef.storage.sqlite_errors import CheckedConnection, translated
from mcp_tef.storage.workspace_file import connect
from mcp_tef.storage.workspace_identity import give_identity
from mcp_tef.trust.files import replaced_database
from mcp_tef.trust.open_files import OpenFile, is_open_here
from mcp_tef.trust.own_workspaces import holds_strangers_text

if TYPE_CHECKING:
    from sqlmodel import Session

# The bytes on which SQLite has shared locks as long as it uses a file: SHARED_FIRST, and DMS in the shared memory
# (https://www.sqlite.org/src/file/src/os_unix.c). Nobody locks the journal itself.
_LOCKED: Final = {"": (0x40000002, 510), "-wal": (0, 1), "-shm": (128, 1)}


class HeldConnection(CheckedConnection):
    """A connection whose files are held; at its end the journal stays where another living process uses it too."""

    _files: tuple[OpenFile, ...] = ()
    _has_others: Callable[[], object]
    _path: Path
    _changes: int
    holds_strangers_text = False

    def hold(self, path: Path, has_others: Callable[[], object]) -> None:
        """Hold the files of a workspace, which must have been read, so that all of them are there."""
        self._has_others, self._path, self._changes = has_others, path, self.total_changes
        self.holds_strangers_text = holds_strangers_text(path)  # asked now, for the file may be gone later
        files = {path.with_name(f"{path.name}{ending}"): span for ending, span in _LOCKED.items()}
        self._files = tuple(OpenFile(file, span) for file, span in files.items() if file.exists())

    def commit(self) -> None:
        """Commit; StoreError where what was changed stands in a file that is gone, or no longer has this name."""
        super().commit()
        if self._files and self.total_changes != self._changes:
            self._changes = self.total_changes
            self.require_in_place()

    def require_in_place(self) -> None:
        """Raise StoreError where the open file is gone, or another one has its name."""
        if self._files and not is_open_here(self._path):
            found = "was replaced" if self._path.exists() else "is gone"
            raise StoreError(
                f"The workspace {self._path} {found} while it was open; changes since then are not in that file.",
                hint="Save a copy before you close it, or put the file back.",
                code="workspace_gone",
                context={"path": str(self._path)},
            )

    def close(self) -> None:
        """Close the files; the last process that does puts the journal away."""
        files, self._files = self._files, ()
        if files and not self._has_others():
            for file in files:
                file.unlock()
        elif files and sys.version_info >= (3, 12):
            self.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)  # before, our own locks have the same effect
        super().close()
        for file in files:
            file.end()


def connect_held(path: Path, lock_wait: float, has_others: Callable[[], object]) -> sqlite3.Connection:
    """Return a connection as `connect` does, with its files held; `has_others` tells whether other processes live."""
    connection = connect(path, lock_wait, HeldConnection)
    assert isinstance(connection, HeldConnection)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    connection.hold(path, has_others)
    return connection


def connection_of(session: "Session") -> sqlite3.Connection:
    """Return the connection under a session."""
    found: Any = session.connection().connection.driver_connection
    assert isinstance(found, sqlite3.Connection)
    return found


def write_known(session: "Session", target: Path) -> None:
    """Write all that a connection reads to a new file, also where its own is gone. Raises StoreError or OSError."""
    source = connection_of(session)
    adopted = isinstance(source, HeldConnection) and source.holds_strangers_text
    with replaced_database(target) as unfinished, translated(target), closing(connect(unfinished)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        give_identity(copy, unfinished, adopted=adopted)
