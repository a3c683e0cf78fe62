"""The identity that a workspace bears, its generation, and whether it is one that this user made on this machine."""

import shlex
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from mcp_tef.errors import InputError, StoreError
from mcp_tef.model.ids import new_id
from mcp_tef.storage.process_locks import Owner
from mcp_tef.storage.sqlite_errors import CheckedConnection
from mcp_tef.trust.files import rename, unlink
from mcp_tef.trust.own_workspaces import (
    WorkspaceRecord,
    is_copy_of,
    is_used,
    log_number,
    note_place,
    place_of,
    record,
    records,
    with_log,
)

FOREIGN: Final = "workspace_foreign"
GONE: Final = "workspace_gone"
WITHOUT_ID: Final = ""
"""The id in the record of a workspace of version 14 or older, whose file bears none."""


@dataclass(frozen=True, slots=True)
class WorkspaceIdentity:
    """The id of a workspace, and the generation that its main file bears."""

    id: str
    generation: str


def connect_immutable(path: Path) -> sqlite3.Connection:
    """Return a connection to the main file alone; no journal is read, and no lock is taken."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, factory=CheckedConnection)


def identity_of(connection: sqlite3.Connection) -> WorkspaceIdentity | None:
    """Return what a workspace bears; None for an older version, and for one that bears nothing readable."""
    with suppress(sqlite3.OperationalError):
        for row in connection.execute("SELECT id, generation FROM workspace_identity"):
            return WorkspaceIdentity(*map(str, row))
    return None


def give_identity(connection: sqlite3.Connection, path: Path, workspace: str = "", *, adopted: bool) -> None:
    """Make a workspace one of this user's, under a new id unless one is given, and of a generation of its own.

    It is recorded before the open transaction can be committed, so that no kill leaves a file that nobody knows.
    Raises OSError.
    """
    identity = WorkspaceIdentity(workspace or new_id(), new_id())
    record(path, WorkspaceRecord(identity.id, (identity.generation,), adopted=adopted))
    connection.execute("DELETE FROM workspace_identity")
    connection.execute("INSERT INTO workspace_identity VALUES (?, ?)", (identity.id, identity.generation))


def _main_file(path: Path) -> tuple[int, WorkspaceIdentity | None]:
    """Return version and identity as the main file alone has them; no journal is read, and no lock is taken."""
    with (
        suppress(sqlite3.Error),
        closing(connect_immutable(path)) as connection,
    ):
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        return version, identity_of(connection)
    return 0, None


def is_own(path: Path) -> bool:
    """Return whether this user made a workspace on this machine, or adopted it here. Raises OSError.

    An empty file is nobody's, and becomes the user's. A recorded one may be damaged, or all of it stand in its log.
    """
    version, found = _main_file(path)
    known = records(path)
    if found is None:
        return WITHOUT_ID in known or (version == 0 and (bool(known) or _holds_nothing(path)))
    if found.id in known:
        note_place(path, found.id)
        return True
    return _is_equal_copy(path, found)


def _holds_nothing(path: Path) -> bool:
    """Return whether a file has no table, and nothing beside it that could bring one."""
    if any(_has_content(path.with_name(path.name + ending)) for ending in ("-wal", "-journal")):
        return False
    with (
        suppress(sqlite3.Error),
        closing(connect_immutable(path)) as connection,
    ):
        return not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    return False


def _is_equal_copy(path: Path, found: WorkspaceIdentity) -> bool:
    """Return whether a file equals the user's own workspace of that id, which nobody has open; it is recorded then."""
    with suppress(FileNotFoundError):
        first = place_of(found.id)
        known = None if first is None else records(first).get(found.id)
        if first is None or known is None or Owner(first).others() or not is_copy_of(path, first):
            return False
        record(path, WorkspaceRecord(found.id, (found.generation,), adopted=known.adopted))
        return True
    return False


def require_recorded(connection: sqlite3.Connection, path: Path) -> None:
    """Raise InputError where an open workspace bears an id that is not recorded for its file."""
    identity = identity_of(connection)
    if identity is None or identity.id not in records(path):
        raise foreign(path)


def foreign(path: Path) -> InputError:
    """Return the refusal to write to a workspace that is not known to be the user's own."""
    return InputError(
        f"The workspace {path.name} was not made by you on this machine, so it is only read.",
        hint=f"To work on a copy of your own: mcp-tef workspace adopt {shlex.quote(str(path))}",
        code=FOREIGN,
        context={"path": str(path)},
    )


def read_from_copy(path: Path) -> str:
    """Return the notice about a workspace that is not known to be the user's own."""
    beside = [path.name + ending for ending in ("-wal", "-journal") if _has_content(path.with_name(path.name + ending))]
    left = f" {' and '.join(beside)} beside it was not read." if beside else ""
    return f"{foreign(path).message}{left}"


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def begin_generation(connection: sqlite3.Connection, path: Path) -> None:
    """Give a workspace a new generation before the first change that goes into an empty log. Raises OSError.

    The generation stands in the main file, the log's inode in the record: a log that lies beside another main file, or
    beside an older copy of it, is then known as not belonging there.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        identity = identity_of(connection)
        known = records(path).get(identity.id) if identity else None
        if identity is None or known is None:
            return
        if number := log_number(path):
            if number != known.log:
                record(path, with_log(known, path))
            return
        later = new_id()
        record(path, replace(known, generations=(*known.generations[-8:], identity.generation, later), log=0))
        connection.execute("UPDATE workspace_identity SET generation = ?", (later,))
        connection.execute("COMMIT")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        found = path.with_name(f"{path.name}-wal").stat().st_ino
        kept = known.generations if busy else ()
        record(path, replace(known, generations=(*kept[-8:], later), log=found))
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def set_aside_foreign_logs(path: Path) -> list[str]:
    """Rename what SQLite would play back into a workspace of this user though it does not belong there; the notices.

    A rollback journal is never ours; a write-ahead log is if the record names it, and the generation of the main file.
    Only for a file that no other process has open. Raises OSError.
    """
    notices = []
    if _has_content(path.with_name(f"{path.name}-journal")):
        notices.append(_renamed(path, "-journal", "was not written by mcp-tef"))
    known, number = records(path), log_number(path)
    _, found = _main_file(path)
    if number and found is not None and (one := known.get(found.id)) is not None:
        belongs = number == one.log and found.generation in one.generations
        if not belongs and not is_used(path):
            notices.append(_renamed(path, "-wal", "belongs to another state of the file"))
            unlink(path.with_name(f"{path.name}-shm"))
    return notices


def _renamed(path: Path, ending: str, why: str) -> str:
    beside = path.with_name(path.name + ending)
    aside = path.with_name(f"{path.name}.set-aside-{datetime.now():%Y%m%d-%H%M%S-%f}{ending}")
    rename(beside, aside)
    return f"{beside.name} {why}. It was not used, and is now {aside.name}."


def require_no_journal(path: Path) -> None:
    """Raise StoreError where a rollback journal lies beside a workspace that other processes have open."""
    if _has_content(path.with_name(f"{path.name}-journal")):
        raise StoreError(
            f"Beside the workspace lies {path.name}-journal, which mcp-tef did not write.",
            hint="Close the other mcp-tef, then try again: it is then set aside.",
            code="workspace_journal",
        )
