"""Locks that tell living processes from dead ones: each process holds one in the data folder while it lives.

They are named by device and inode of the workspace, so that each name of a file leads to the same locks, and nothing
that stands beside or inside a workspace names a file here.
"""

import hashlib
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from mcp_tef.model.ids import new_id
from mcp_tef.model.installation import data_folder
from mcp_tef.trust.files import make_private_folder
from mcp_tef.trust.lock_files import LockFile

_TRIES: Final = 100
_TOKEN: Final = re.compile(r"[0-9a-f-]{36}")


class Owner:
    """This process's mark. Batches carry its token; when the lock is free, the process is gone.

    A workspace that is not there, or is replaced, has no locks.
    """

    def __init__(self, workspace: Path) -> None:
        self.token = new_id()
        self._folder = locks_folder(workspace)
        self._lock: LockFile | None = None

    def acquire(self) -> None:
        """Take the lock; OSError where the data folder cannot be written."""
        if self._folder is None:
            return
        lock = LockFile(self._folder / f"{self.token}.lock")
        for _ in range(_TRIES):  # another process may take it for the mark of a dead one, or remove the empty folder
            make_private_folder(self._folder)
            with suppress(FileNotFoundError):
                if lock.acquire():
                    self._lock = lock
                    return
        raise FileNotFoundError(self._folder)

    def follow(self, workspace: Path) -> None:
        """Take the lock of the file that stands there now, where it is another one than before. OSError."""
        folder = locks_folder(workspace)
        if folder != self._folder:
            self.release()
            self._folder = folder
            self.acquire()

    def release(self) -> None:
        """Give the lock back and leave nothing behind."""
        if self._lock is not None and self._folder is not None:
            self._lock.remove()
            self._lock = None
            with suppress(OSError):
                self._folder.rmdir()

    def alive(self, token: str) -> bool:
        """Return whether the process with that token still lives; the mark of a dead one is removed.

        The token may come from a stranger's row: what is none of ours names no file.
        """
        if token == self.token:
            return True
        if self._folder is None or not _TOKEN.fullmatch(token):
            return False
        lock = LockFile(self._folder / f"{token}.lock")
        try:
            if not lock.acquire(make=False):
                return True
        except OSError:
            return False
        lock.remove()
        return False

    def others(self) -> tuple[str, ...]:
        """The tokens of other living processes; marks of dead ones are removed."""
        tokens = [file.stem for file in self._folder.glob("*.lock")] if self._folder else ()
        return tuple(token for token in tokens if token != self.token and self.alive(token))


def locks_folder(workspace: Path) -> Path | None:
    """Return the folder of the locks on a file, by whichever name it is called; None where the file is not there."""
    try:
        found = workspace.stat()
    except OSError:
        return None
    name = hashlib.sha256(f"{found.st_dev}:{found.st_ino}".encode()).hexdigest()[:32]
    return data_folder() / "locks" / name
