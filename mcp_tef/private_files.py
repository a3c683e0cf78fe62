"""Files and folders that only their owner may read: workspaces, logs, settings, locks and caches.

Modes are set when a file is created, so that no other user can open it in between. On Windows, where
the user's folders are private already, modes have no effect.
"""

import os
import shutil
import tempfile
import threading
from contextlib import ExitStack, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Literal

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
