"""The connection of a workspace that is in use: other processes leave its journal alone, and so does its own end."""

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from mcp_tef.storage.workspace_file import connect
from mcp_tef.trust.open_files import OpenFile

# The bytes on which SQLite has shared locks as long as it uses a file: SHARED_FIRST, and DMS in the shared memory
# (https://www.sqlite.org/src/file/src/os_unix.c). Nobody locks the journal itself.
_LOCKED: Final = {"": (0x40000002, 510), "-wal": (0, 1), "-shm": (128, 1)}


class HeldConnection(sqlite3.Connection):
    """A connection whose files are held; at its end the journal stays where another living process uses it too."""

    _files: tuple[OpenFile, ...] = ()
    _has_others: Callable[[], object]

    def hold(self, path: Path, has_others: Callable[[], object]) -> None:
        """Hold the files of a workspace, which must have been read, so that all of them are there."""
        self._has_others = has_others
        files = {path.with_name(f"{path.name}{ending}"): span for ending, span in _LOCKED.items()}
        self._files = tuple(OpenFile(file, span) for file, span in files.items() if file.exists())

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
