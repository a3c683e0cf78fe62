"""Folders held by a descriptor: what is opened, written or made in one lies in it, whatever becomes of its path.

No name in a held folder is followed if it is a link. Where a system has no such calls, as Windows has not, names are
joined to the path of the folder and examined before each use: a link that is put there in between is not noticed.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, Self

from mcp_tef.trust.open_files import keep_if_open, require_closed

READABLE: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
"""Flags that open a file for reading without waiting for whoever writes to it."""
NO_LINK: Final[int] = getattr(os, "O_NOFOLLOW", 0)
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
PUBLIC_FILE_MODE: Final = 0o666
"""The mode of a file for which the user's umask decides who else may read it."""
PUBLIC_FOLDER_MODE: Final = 0o777

_NOT_REGULAR: Final = "Not a regular file"
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BY_DESCRIPTOR: Final = bool(NO_LINK) and {os.open, os.mkdir, os.stat, os.unlink, os.rename} <= os.supports_dir_fd
_NEW: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
_REPARSE_POINT: Final = 0x400
_SEPARATORS: Final = ("/", "\0") if os.name == "posix" else ("/", "\\", ":", "\0")


class HeldFolder:
    """A folder that is held open until it is closed, with the path by which it was found."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def folder(self, name: str, *, make: int | None = None) -> "HeldFolder":
        """Return a folder in this one, made with the mode `make` where it is missing. Raises OSError for a link."""
        place, at = self._place(name)
        if make is not None:
            with suppress(FileExistsError):
                os.mkdir(place, make, dir_fd=at)
        if not stat.S_ISDIR(self.found(name).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.path / name))
        descriptor = os.open(place, _FOLDER | NO_LINK, dir_fd=at) if _BY_DESCRIPTOR else None
        return HeldFolder(self.path / name, descriptor)

    def read(self, name: str) -> BinaryIO:
        """Open a regular file in this folder. Raises OSError for anything else, links among it."""
        place, at = self._place(name)
        require_regular(self.found(name), self.path / name)  # opening some devices has effects of its own
        return regular_file(os.open(place, READABLE | NO_LINK, dir_fd=at), self.path / name)

    def append(self, name: str, mode: int = PUBLIC_FILE_MODE) -> BinaryIO:
        """Open a regular file in this folder to add to its end; it is made where it is missing. Raises OSError."""
        place, at = self._place(name)
        self._require_replaceable(name, over_link=False)
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        return regular_file(os.open(place, flags | NO_LINK, mode, dir_fd=at), self.path / name, "ab")

    @contextmanager
    def replaced(
        self, name: str, mode: int = PUBLIC_FILE_MODE, *, durable: bool = False, over_link: bool = False
    ) -> Iterator[BinaryIO]:
        """Lend a new file that takes the place of `name` once it is whole; else nothing changes. Raises OSError.

        A folder, pipe or device of that name is refused, and so is a link; `over_link` replaces the link itself.
        """
        self._require_replaceable(name, over_link)
        own = unfinished_name()
        place, at = self._place(own)
        with ExitStack() as on_failure:
            descriptor = os.open(place, _NEW, mode, dir_fd=at)
            on_failure.callback(self._discard, own)
            with open(descriptor, "wb") as file:
                yield file
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(place, self._place(name)[0], src_dir_fd=at, dst_dir_fd=at)
            on_failure.pop_all()

    @contextmanager
    def replaced_by_path(self, name: str) -> Iterator[Path]:
        """Lend the path of a new private file, as `replaced` lends the file: for libraries that open by path only."""
        self._require_replaceable(name, over_link=False)
        own = unfinished_name()
        place, at = self._place(own)
        with ExitStack() as on_failure:
            os.close(os.open(place, _NEW, FILE_MODE, dir_fd=at))
            on_failure.callback(self._discard, own)
            before = self.found(own)
            yield self.path / own
            if not os.path.samestat(before, self.found(own)):
                raise OSError(errno.ESTALE, "It was exchanged while it was written", str(self.path / name))
            os.replace(place, self._place(name)[0], src_dir_fd=at, dst_dir_fd=at)
            on_failure.pop_all()

    def names(self) -> list[str]:
        """Return the names of what lies in this folder, in order."""
        if self._descriptor is None:
            return sorted(os.listdir(self.path))
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._descriptor)
        try:
            return sorted(os.listdir(descriptor))
        finally:
            os.close(descriptor)

    def found(self, name: str) -> os.stat_result:
        """Return what is known of an entry; OSError where there is none, or where it is a link."""
        place, at = self._place(name)
        found = os.stat(place, dir_fd=at, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode) or getattr(found, "st_file_attributes", 0) & _REPARSE_POINT:
            raise OSError(errno.ELOOP, f"{name} is a link, and links are not followed", str(self.path / name))
        return found

    def _require_replaceable(self, name: str, over_link: bool) -> None:
        try:
            require_regular(self.found(name), self.path / name)
        except FileNotFoundError:
            return
        except OSError as error:
            if not over_link or error.errno != errno.ELOOP:
                raise

    def _discard(self, name: str) -> None:
        place, at = self._place(name)
        with suppress(OSError):
            os.unlink(place, dir_fd=at)

    def _place(self, name: str) -> tuple[str, int | None]:
        """Return how the system is to find a name in this folder; OSError for what is no plain name."""
        if name in ("", ".", "..") or any(sign in name for sign in _SEPARATORS):
            raise OSError(errno.EINVAL, "Not a plain file name", str(self.path / name.replace("\0", "")))
        if self._descriptor is None:
            return str(self.path / name), None
        return name, self._descriptor


def open_folder(path: Path) -> HeldFolder:
    """Hold a folder that the user named, also through links of the user's. Raises OSError."""
    if _BY_DESCRIPTOR:
        return HeldFolder(path, os.open(path, _FOLDER))
    if not stat.S_ISDIR(os.stat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    return HeldFolder(path, None)


@contextmanager
def folder_inside(folder: Path, parts: Sequence[str], *, make: int | None = None) -> Iterator[HeldFolder]:
    """Hold a folder below one that the user named; no part of the way may be a link. OSError."""
    with ExitStack() as held:
        current = held.enter_context(open_folder(folder))
        for part in parts:
            current = held.enter_context(current.folder(part, make=make))
        yield current


@contextmanager
def folder_without_links(path: Path) -> Iterator[HeldFolder]:
    """Hold a folder by its real path, in which nothing may have become a link since it was resolved. OSError."""
    with folder_inside(Path(path.anchor), path.parts[1:]) as held:
        yield held


def parts_inside(relative: str) -> tuple[str, ...]:
    """Return the parts of a path that stays inside a folder; OSError for any other."""
    path = PurePosixPath(relative)
    if path.is_absolute() or not path.parts or ".." in path.parts:
        raise OSError(errno.EINVAL, "Not a path inside the folder", relative.replace("\0", ""))
    return path.parts


def unfinished_name() -> str:
    """Return a name for a file that is being written, which nobody can guess or would use."""
    return f".mcp-tef-{secrets.token_hex(12)}.part"


def regular_file(descriptor: int, path: Path, mode: str = "rb") -> BinaryIO:
    """Return an open file, or close it and raise OSError where it is not a regular one."""
    try:
        require_regular(os.fstat(descriptor), path)
    except OSError:
        if not keep_if_open(descriptor):
            os.close(descriptor)
        raise
    file: BinaryIO = open(descriptor, mode)  # type: ignore[assignment]  # noqa: SIM115
    return file


def require_regular(found: os.stat_result, path: Path) -> None:
    """Raise OSError for what is not a regular file, and for one that SQLite has open here."""
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, _NOT_REGULAR, str(path))
    require_closed(found, path)
