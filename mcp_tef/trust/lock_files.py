"""Lock files of our own: no link is followed, nothing truncated, and no file of another user or program touched."""

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from mcp_tef.trust.held_folder import FILE_MODE

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class LockFile:
    """One file that a process holds while it lives; the system gives the lock back, however the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self, *, make: bool = True) -> bool:
        """Take the lock at once; False where another holds it.

        Raises OSError, and FileNotFoundError where the file is not there and is not to be made, or was removed by
        another process that found it before it was locked.
        """
        descriptor = os.open(self._path, _FLAGS | (os.O_CREAT if make else 0), FILE_MODE)
        try:
            _require_own(descriptor, self._path)
            if _is_locked(descriptor):
                _require_own(descriptor, self._path)
                self._descriptor, descriptor = descriptor, -1
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        return self._descriptor is not None

    def remove(self) -> None:
        """Give the lock back and remove the file: while it is locked, or after where the system forbids that."""
        removed = self._unlinked()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if not removed:
            self._unlinked()

    def _unlinked(self) -> bool:
        with suppress(OSError):
            self._path.unlink()
            return True
        return False


def _require_own(descriptor: int, path: Path) -> None:
    """Raise OSError unless the open file is a regular one of this user with one name."""
    found = os.fstat(descriptor)
    if not found.st_nlink:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    ours = os.name == "nt" or found.st_uid == os.geteuid()
    if not (ours and stat.S_ISREG(found.st_mode) and found.st_nlink == 1):
        raise OSError(errno.EPERM, "Not a lock file of this user", str(path))


def _is_locked(descriptor: int) -> bool:
    """Lock an open file; return whether it worked."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
