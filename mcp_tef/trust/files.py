"""Safe reading and writing of files: only regular files, bounded lines, atomic replacement, private modes.

Private files hold workspaces, logs, settings, locks and caches. Their modes are set at creation, so that no other
user can open them in between. On Windows, where the user's folders are already private, modes have no effect.
"""

import errno
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, Final, Literal

from mcp_tef.model.variables import MB

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

    A lone surrogate cannot be UTF-8: it is written as the JSON escape that it was read from.
    """
    with replaced_file(path) as file, file.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
        out.writelines(lines)


FILE_MODE = 0o600
FOLDER_MODE = 0o700
_OTHERS = 0o077
_CREATING = threading.Lock()


def write_private(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a private file in one step, with its folder where that is missing. Raises OSError, and changes nothing.

    One that is `durable` survives a power cut, for which the disk is waited for.
    """
    make_private_folder(path.parent)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    with ExitStack() as on_failure:
        on_failure.callback(Path(name).unlink, missing_ok=True)
        with open(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(name, path)
        on_failure.pop_all()


def open_private(path: Path, mode: Literal["a", "w"]) -> TextIOWrapper:
    """Open a private text file for writing. Raises OSError."""
    file = open(path, mode, encoding="utf-8", errors="backslashreplace", opener=_create)  # noqa: SIM115
    tighten(path)
    return file


def create_private(path: Path) -> None:
    """Create an empty private file; one that exists stays as it is, and is not opened. Raises OSError.

    Closing a file takes SQLite's locks on it away from the whole process, so creations wait for each other.
    """
    with _CREATING, suppress(FileExistsError):
        os.close(_create(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def copy_private(source: str | Path, target: str | Path) -> None:
    """Copy the content of a file to a private one, also as the `copy_function` of `shutil.copytree`. Raises OSError."""
    create_private(Path(target))
    tighten(Path(target))
    shutil.copyfile(source, target)


def make_private_folder(path: Path) -> None:
    """Create a private folder, and private parents where they are missing; one that exists stays as it is. OSError."""
    try:
        path.mkdir(mode=FOLDER_MODE)
    except FileNotFoundError:
        make_private_folder(path.parent)
        path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except FileExistsError:
        if not path.is_dir():
            raise


def tighten(path: Path) -> None:
    """Withdraw the rights of other users from a file or folder of this user; a missing one and a link stay as is."""
    if os.name == "nt":
        return
    with suppress(OSError):
        found = path.lstat()
        if path.is_symlink() or found.st_uid != os.geteuid() or not found.st_mode & _OTHERS:
            return
        path.chmod(found.st_mode & 0o7777 & ~_OTHERS)


def _create(path: str | Path, flags: int) -> int:
    return os.open(path, flags, FILE_MODE)
