"""Records of the workspaces that this user made on this machine, in the data folder.

The id that a workspace bears travels in every copy that is sent out, so it proves nothing by itself; but nobody else
decides which inode a file gets here. So a record binds an id to an inode. (The number of the device is left out: on
some file systems it changes when the machine starts anew.) A copy that equals one's own file byte for byte is one's
own as well; any other file that bears a known id may have come back from somebody else, and is a stranger's until it is
adopted.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from mcp_tef.model.installation import data_folder
from mcp_tef.trust.files import open_regular_file, unlink, write_private

_MOST_BYTES: Final = 1024 * 1024
_MOST_IDS: Final = 20
_SWITCH: Final = 128
"""The byte of SQLite's `-shm` on which each connection holds a shared lock while it is open."""
_PIECE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class WorkspaceRecord:
    """One workspace: its id, the generations that its main file may bear, and the inode of its write-ahead log.

    What stands in one that was `adopted` was written by somebody else, so the paths in it are not the user's.
    """

    id: str
    generations: tuple[str, ...] = ()
    log: int = 0
    adopted: bool = False


def record(path: Path, one: WorkspaceRecord) -> None:
    """Remember the file that stands there as a workspace of this user. Raises OSError."""
    before = records(path)
    kept = [other for other in before.values() if other.id != one.id]
    rows = [asdict(row) for row in (*kept[1 - _MOST_IDS :], one)]
    write_private(_file(path), json.dumps({"workspaces": rows}).encode())
    if one.id not in before:
        note_place(path, one.id)


def records(path: Path) -> Mapping[str, WorkspaceRecord]:
    """Return by id the records of the file that stands there; none where it is not one of this user's."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError), _file(path).open("rb") as file:
        rows = json.loads(file.read(_MOST_BYTES))["workspaces"]
        found = list(map(_read, rows))
        return {one.id: one for one in found}
    return {}


def _read(row: Mapping[str, Any]) -> WorkspaceRecord:
    generations = tuple(map(str, row["generations"]))
    return WorkspaceRecord(str(row["id"]), generations, int(row["log"]), row.get("adopted") is True)


def holds_strangers_text(path: Path) -> bool:
    """Return whether somebody else may have written what stands in a workspace: it is foreign, or was adopted."""
    known = records(path)
    return path.exists() and (not known or any(one.adopted for one in known.values()))


def tools_folder(workspace: Path) -> Path:
    """Return the folder of the tools files that came with imported cases."""
    return workspace.with_name(f"{workspace.stem}-tools")


def note_place(path: Path, workspace: str) -> None:
    """Remember where a workspace lies now, so that copies can be compared with it. Raises OSError."""
    place = path.resolve()
    if place_of(workspace) != place:
        write_private(_place(workspace), json.dumps({"path": str(place)}).encode(), durable=False)


def place_of(workspace: str) -> Path | None:
    """Return where the workspace with an id lay last; the id may come from a stranger's file."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError), _place(workspace).open("rb") as file:
        return Path(json.loads(file.read(_MOST_BYTES))["path"])
    return None


def is_copy_of(path: Path, original: Path) -> bool:
    """Return whether a file holds the same bytes as another. Raises OSError."""
    with open_regular_file(path) as copy, open_regular_file(original) as first:
        if os.fstat(copy.fileno()).st_size != os.fstat(first.fileno()).st_size:
            return False
        while piece := copy.read(_PIECE):
            if piece != first.read(_PIECE):
                return False
    return True


def is_used(path: Path) -> bool:
    """Return whether another program has a workspace open: SQLite's own lock on the index of the log tells.

    Only for a file that is not open in this process.
    """
    if sys.platform == "win32":
        return False  # an open file cannot be renamed there
    import fcntl

    with suppress(FileNotFoundError), path.with_name(f"{path.name}-shm").open("r+b") as index:
        try:
            fcntl.lockf(index, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _SWITCH)
        except OSError:
            return True
    return False


def forget(path: Path) -> None:
    """Drop the records of a file that is about to end. Raises OSError."""
    for workspace in records(path):
        unlink(_place(workspace))
    unlink(_file(path))


def with_log(one: WorkspaceRecord, path: Path, *generations: str) -> WorkspaceRecord:
    """Return a record that names the write-ahead log which lies beside the file now."""
    return replace(one, generations=generations or one.generations, log=log_number(path))


def log_number(path: Path) -> int:
    """Return the inode of the write-ahead log beside a workspace; 0 where there is none, or nothing in it."""
    with suppress(OSError):
        found = path.with_name(f"{path.name}-wal").stat()
        return found.st_ino if found.st_size else 0
    return 0


def _place(workspace: str) -> Path:
    name = hashlib.sha256(workspace.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return data_folder() / "workspaces" / f"place-{name}.json"


def _file(path: Path) -> Path:
    return data_folder() / "workspaces" / f"{path.stat().st_ino}.json"
