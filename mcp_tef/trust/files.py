"""Safe reading and writing of files: the one writer of everything that this program puts on a disk.

A file is written under a random name in the folder where it belongs, which is held by a descriptor, and takes its
place in one step. The folder that the user named is found as the system finds it, also through links of the user's;
below it, and at the name of the file itself, no link is followed: a link there is refused, or, for private files of
our own, replaced. A pipe or device that the user named is written to directly.

Private files hold workspaces, logs, settings, locks and caches. Their modes are set at creation, so that no other
user can open them in between. On Windows, where the user's folders are already private, modes have no effect.
"""

import errno
import os
import re
import shutil
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, Final, Literal

from mcp_tef.errors import InputError, StoreError, TefError
from mcp_tef.model.variables import MB
from mcp_tef.trust.held_folder import (
    FILE_MODE,
    FOLDER_MODE,
    NO_LINK,
    PUBLIC_FILE_MODE,
    PUBLIC_FOLDER_MODE,
    READABLE,
    HeldFolder,
    folder_inside,
    folder_without_links,
    open_folder,
    parts_inside,
    regular_file,
    require_regular,
)

LARGEST_LINE_BYTES: Final = 16 * MB
"""One line of a file that is read line by line, which may be of any size."""
_DISCARDED_AT_ONCE: Final = MB
_DISK_FAULTS: Final = {errno.ENOSPC, errno.EIO, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_OWN_STREAM: Final = re.compile(r"/dev/(?:(stdout)|(stderr)|fd/(\d{1,9}))|/proc/self/fd/(\d{1,9})")


def open_regular_file(path: Path) -> BinaryIO:
    """Open a file for reading. Raises OSError, also for a pipe, socket or device: reading those may never end.

    The file is opened without blocking and examined afterwards, so that it cannot be exchanged in between.
    """
    require_regular(os.stat(path), path)  # opening some devices has effects of its own
    return regular_file(os.open(path, READABLE), path)


def open_inside(folder: Path, relative: str) -> BinaryIO:
    """Open a regular file below a folder, no part of whose relative path is a link or leads out. Raises OSError."""
    *way, name = parts_inside(relative)
    with folder_inside(folder, way) as held:
        return held.read(name)


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
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """Lend a file that takes the place of `path` at the end, or nothing changes. Raises OSError, also for a link.

    A pipe or a device that the user named, such as /dev/stdout, is written directly.
    """
    stream = _stream(path)
    if stream is not None:
        with stream:
            yield stream
        return
    with open_folder(path.parent) as folder, folder.replaced(path.name) as file:
        yield file


def write_file(path: Path, data: bytes) -> None:
    """Write a file as `replaced_file` does, whole or not at all. Raises OSError."""
    with replaced_file(path) as file:
        file.write(data)


@contextmanager
def replaced_database(path: Path) -> Iterator[Path]:
    """Lend the path of a new private file that takes the place of `path` at the end, as SQLite needs one. OSError."""
    with open_folder(path.parent) as folder, folder.replaced_by_path(path.name) as unfinished:
        yield unfinished


def write_inside(folder: Path, relative: str, data: bytes, *, private: bool = False, executable: bool = False) -> None:
    """Write a file below a folder with the folders on its way, none of which may be a link. Raises OSError."""
    *way, name = parts_inside(relative)
    folder_mode, mode = (FOLDER_MODE, FILE_MODE) if private else (PUBLIC_FOLDER_MODE, PUBLIC_FILE_MODE)
    mode |= _EXECUTABLE * executable
    with folder_inside(folder, way, make=folder_mode) as held, held.replaced(name, mode) as file:
        file.write(data)


def replace_if_unchanged(path: Path, expected: bytes, wanted: bytes) -> bool:
    """Replace a file that still holds what is expected, and keep its mode; whether it did. Raises OSError.

    `path` is a real one, resolved when its content was read: where a part of it is a link by now, nothing is replaced.
    """
    try:
        with folder_without_links(path.parent) as folder:
            with folder.read(path.name) as present:
                if present.read(len(expected) + 1) != expected:
                    return False
                mode = stat.S_IMODE(os.fstat(present.fileno()).st_mode)
            with folder.replaced(path.name, FILE_MODE) as file:
                file.write(wanted)
                if hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            return False
        raise
    return True


def append_text(path: Path, text: str) -> None:
    """Add text to the end of a file, which may not be a link. Raises OSError."""
    with open_folder(path.parent) as folder, folder.append(path.name) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines of text as UTF-8, whole or not at all. Raises OSError.

    A lone surrogate cannot be UTF-8: it is written as the JSON escape that it was read from.
    """
    with replaced_file(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="\n")
        text.writelines(lines)
        text.flush()
        text.detach()


def require_no_link(path: Path) -> None:
    """Raise OSError where a file that the user named is a link, before any work is done for it."""
    if path.is_symlink() and not _own_stream(path):
        raise OSError(errno.ELOOP, f"{path.name} is a link, and links are not followed", str(path))


def write_failed(path: Path, error: OSError) -> TefError:
    """Return the error for the user about a file that could not be written: of the disk, or of the name given."""
    if error.errno in _DISK_FAULTS:
        hint = "Make room on the disk, or use another one."
        return StoreError(f"{path} could not be written: {error.strerror}.", hint=hint, code="disk_full")
    if error.errno == errno.EISDIR:
        return InputError(f"{path} is a folder, not a file.", hint="Add a file name.")
    return InputError(f"{path} could not be written: {error.strerror or error}.", hint="Use another place.")


def _own_stream(path: Path) -> re.Match[str] | None:
    return _OWN_STREAM.fullmatch(os.path.normpath(path)) if os.name == "posix" else None


def _stream(path: Path) -> BinaryIO | None:
    """Return the pipe, device or stream of this process that a path names; None for the name of a file."""
    if own := _own_stream(path):
        out, errors, *numbers = own.groups()
        number = 1 if out else 2 if errors else int(next(filter(None, numbers)))
        return open(os.dup(number), "wb")
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        return None
    return open(os.open(path, os.O_WRONLY | NO_LINK | getattr(os, "O_NOCTTY", 0)), "wb")


_OTHERS = 0o077
_EXECUTABLE = 0o111
_CREATING = threading.Lock()


def write_private(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a private file in one step, with its folder where that is missing. Raises OSError, and changes nothing.

    One that is `durable` survives a power cut, for which the disk is waited for. A link of that name is replaced.
    """
    make_private_folder(path.parent)
    with (
        open_folder(path.parent) as folder,
        folder.replaced(path.name, FILE_MODE, durable=durable, over_link=True) as file,
    ):
        file.write(data)


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


def copy_private(source: Path, target: Path) -> None:
    """Copy the content of a file to a private one, in place of what is there. Raises OSError, also for a link there."""
    with (
        open_regular_file(source) as read,
        open_folder(target.parent) as folder,
        folder.replaced(target.name, FILE_MODE) as written,
    ):
        shutil.copyfileobj(read, written)


def copy_folder(source: Path, target: Path) -> None:
    """Copy the files and folders of a folder to a private one; links, pipes and devices are left out. OSError."""
    make_private_folder(target.parent)
    with (
        open_folder(source) as read,
        folder_inside(target.parent, [target.name], make=FOLDER_MODE) as written,
    ):
        tighten(target)
        _copy_into(read, written)


def _copy_into(source: HeldFolder, target: HeldFolder) -> None:
    for name in source.names():
        try:
            mode = source.found(name).st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode):
            with source.folder(name) as read, target.folder(name, make=FOLDER_MODE) as written:
                _copy_into(read, written)
        elif stat.S_ISREG(mode):
            with source.read(name) as content, target.replaced(name, FILE_MODE) as file:
                shutil.copyfileobj(content, file)


def remove_folder(path: Path) -> None:
    """Remove a folder of ours with all that is in it, as far as that can be done; a link is left alone."""
    shutil.rmtree(path, ignore_errors=True)


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


def new_private_folder(path: Path) -> None:
    """Create a private folder where nothing lies yet, with its parents. Raises OSError."""
    make_private_folder(path.parent)
    path.mkdir(mode=FOLDER_MODE)


def make_folder(path: Path) -> None:
    """Create a folder that the user named, for files that others may read, with its parents. Raises OSError."""
    path.mkdir(parents=True, exist_ok=True)


def rename(path: Path, target: Path) -> None:
    """Rename a file or folder, or the link of that name itself. Raises OSError."""
    os.replace(path, target)


def unlink(path: Path) -> None:
    """Remove a file, or the link of that name itself; a missing one stays missing. Raises OSError."""
    path.unlink(missing_ok=True)


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
    return os.open(path, flags | NO_LINK, FILE_MODE)
