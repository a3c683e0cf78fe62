"""Files that somebody else names: only regular ones are read, by bounded lines, and results replace them as a whole."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from mcp_tef.model.variables import MB

LARGEST_FILE_BYTES: Final = 50 * MB
"""Files that are read as a whole: cases, configs, pairs, and tools files unless a setting says otherwise."""
LARGEST_LINE_BYTES: Final = 16 * MB
"""One line of a file that is read line by line, which may be of any size."""
_NOT_REGULAR: Final = "Not a regular file"
_DISCARDED_AT_ONCE: Final = MB


def open_regular_file(path: Path) -> BinaryIO:
    """Open a file for reading. Raises OSError, also for a pipe, socket or device: reading those may never end.

    The file is opened without blocking and examined afterwards, so that it cannot be exchanged in between.
    """
    _require_regular(os.stat(path).st_mode, path)  # opening some devices has effects of its own
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        _require_regular(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return open(descriptor, "rb")


def _require_regular(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, _NOT_REGULAR, str(path))


def bounded_lines(file: BinaryIO, limit: int = LARGEST_LINE_BYTES) -> Iterator[bytes | None]:
    """Yield the lines of a file; None for a line of more than `limit` bytes, which is never held as a whole."""
    while line := file.readline(limit + 1):
        if len(line) <= limit or line.endswith(b"\n"):
            yield line
        else:
            _discard_line(file)
            yield None


def _discard_line(file: BinaryIO) -> None:
    while (piece := file.readline(_DISCARDED_AT_ONCE)) and not piece.endswith(b"\n"):
        pass


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Lend a path to write to; what is written takes the place of `path` at the end, or nothing changes. OSError.

    A pipe or a device, such as /dev/stdout, is written directly.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):
            yield path
            return
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.unlink(missing_ok=True)
    unfinished.open("xb").close()
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines of text as UTF-8, whole or not at all. Raises OSError.

    A lone surrogate cannot be UTF-8: it is written as the \\ud800 that it was read from.
    """
    with replaced_file(path) as file, file.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
        out.writelines(lines)
