"""Files that SQLite has open in this process: nobody here opens one of them a second time.

Closing any descriptor of a file takes all POSIX locks of the process on it, SQLite's too. Another process then believes
to be the last one, and deletes the journal of a workspace that is in use. As a second line of defence, each such file
is held with a shared lock that belongs to a descriptor of its own (Linux has these), and survives what others close.
"""

import errno
import os
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

try:
    import fcntl
except ImportError:  # Windows, where locks belong to handles
    fcntl = None  # type: ignore[assignment]

Span: TypeAlias = tuple[int, int]
"""The first of the bytes of a file that a lock covers, and their number."""
_Identity: TypeAlias = tuple[int, int]
_FLOCK: Final = "hhqqi0q"
_CHANGING = threading.Lock()


@dataclass
class _Descriptors:
    users: int = 0
    kept: list[int] = field(default_factory=list)


_OPEN: dict[_Identity, _Descriptors] = {}


class OpenFile:
    """A file that SQLite has open, with a shared lock on bytes of it; `end` it once SQLite has closed the file."""

    def __init__(self, path: Path, span: Span) -> None:
        with _CHANGING:
            self._descriptor = os.open(path, os.O_RDONLY)
            self._identity = _identity(os.fstat(self._descriptor))
            held = _OPEN.setdefault(self._identity, _Descriptors())
            held.users += 1
            held.kept.append(self._descriptor)
        self._span = span
        self._lock(shared=True)

    def unlock(self) -> None:
        """Give the lock back, so that SQLite can put the journal away if it is the last to close the file."""
        self._lock(shared=False)

    def end(self) -> None:
        """Forget the file; once nobody else here has it open, close what was opened of it."""
        self.unlock()
        with _CHANGING:
            held = _OPEN[self._identity]
            held.users -= 1
            if not held.users:
                del _OPEN[self._identity]
                for descriptor in held.kept:
                    os.close(descriptor)

    def _lock(self, *, shared: bool) -> None:
        if command := getattr(fcntl, "F_OFD_SETLK", None):
            kind = fcntl.F_RDLCK if shared else fcntl.F_UNLCK
            with suppress(OSError):  # a file system without such locks
                fcntl.fcntl(self._descriptor, command, struct.pack(_FLOCK, kind, os.SEEK_SET, *self._span, 0))


def is_open_here(path: Path) -> bool:
    """Return whether SQLite has this file open in this process, under whichever name; it is not opened for that."""
    with suppress(OSError):
        return _identity(os.stat(path)) in _OPEN
    return False


def require_closed(found: os.stat_result, path: Path) -> None:
    """Raise OSError for a file that SQLite has open in this process."""
    if _identity(found) in _OPEN:
        raise OSError(errno.EBUSY, "It is the workspace that is open", str(path))


def keep_if_open(descriptor: int) -> bool:
    """Return whether a descriptor is one of such a file, and then leave it open as long as the file is."""
    with _CHANGING:
        held = _OPEN.get(_identity(os.fstat(descriptor)))
        if held is not None:
            held.kept.append(descriptor)
        return held is not None


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino
