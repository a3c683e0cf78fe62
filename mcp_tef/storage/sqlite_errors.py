"""Translation of SQLite errors into one clear sentence about the workspace file."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mcp_tef.errors import StoreError
from mcp_tef.trust.files import create_private

DAMAGED_FILE, NOT_WRITABLE = "workspace_damaged", "workspace_not_writable"
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_SHUT = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})
_PRIMARY = 0xFF


class CheckedConnection(sqlite3.Connection):
    """A connection that also calls a file damaged whose schema is no text: the driver fails to tell that error."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run a statement. DatabaseError."""
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError as error:
            damage = sqlite3.DatabaseError("the schema is not text")
            damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise damage from error


def error_code(error: BaseException) -> int:
    """SQLite's primary result code; 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY


def store_error(error: BaseException, path: Path) -> StoreError:
    """Return the error for the user about an error of SQLite."""
    code = error_code(error)
    context = {"path": str(path), "sqlite": str(error)}
    if code in _BUSY:
        return StoreError(
            f"The workspace {path.name} is locked by another program.",
            hint="Close what uses it, then try again.",
            code="workspace_locked",
            context=context,
        )
    if code in _SHUT:
        return cannot_write(path, context)
    if code in DAMAGED:
        return damaged(path, context)
    if code == sqlite3.SQLITE_FULL:
        return _refused_by_disk(f"The disk of the workspace {path.name} is full.", context)
    if code == sqlite3.SQLITE_IOERR:
        return _refused_by_disk(f"The disk refused to read or write the workspace {path.name}.", context)
    return StoreError(f"The workspace {path.name} could not be used: {error}.", hint="See the log.", context=context)


def _refused_by_disk(message: str, context: dict[str, str]) -> StoreError:
    hint = "Make room on it, and check that it is still there. What had finished is kept."
    return StoreError(message, hint=hint, code="workspace_disk", context=context)


def damaged(path: Path, context: dict[str, str] | None = None) -> StoreError:
    """The refusal to use a damaged file."""
    return StoreError(
        f"The workspace {path.name} is damaged.",
        hint="Open it again: it is then set aside and a new one started.",
        code=DAMAGED_FILE,
        context=context or {"path": str(path)},
    )


def cannot_write(path: Path, context: dict[str, str] | None = None) -> StoreError:
    """The refusal to use a place that cannot be written."""
    return StoreError(
        f"The workspace {path} cannot be opened or written.",
        hint="Select a file in a folder that you may write to.",
        code=NOT_WRITABLE,
        context=context or {"path": str(path)},
    )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise StoreError for any error of the database driver, however deep it is wrapped."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(error, path) from error


def suspect(path: Path) -> None:
    """Leave word beside a workspace that damage was met in it, so that the next start reads it whole."""
    with suppress(OSError):
        create_private(suspicion(path))


def suspicion(path: Path) -> Path:
    """Return the mark beside a workspace in which damage was met."""
    return path.with_name(f"{path.name}.damage-met")
