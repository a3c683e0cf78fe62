"""Errors about rows that mcp-tef did not write: which row cannot be read, in one sentence."""

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy import Table, Text, func, not_, select, type_coerce
from sqlmodel import Session

from mcp_tef.errors import StoreError
from mcp_tef.storage.columns import Document, StoredRow

MISREAD = (AttributeError, LookupError, RecursionError, TypeError, ValueError)

Read = TypeVar("Read", bound=Callable[..., Any])


class MisreadError(ValueError):
    """A row holds something else than this program once wrote; the text says which."""


def row_of(table: str, key: str = "id") -> Callable[[Read], Read]:
    """For what reads one row of that table, given first: where the row is wrong, the error names it by its key."""

    def told(read: Read) -> Read:
        @wraps(read)
        def reading(row: Any, *arguments: Any) -> Any:
            try:
                return read(row, *arguments)
            except MisreadError:
                raise
            except MISREAD as error:
                raise MisreadError(f"{table}, row {getattr(row, key)}") from error

        return cast("Read", reading)

    return told


def unreadable(path: Path, error: BaseException, cell: str | None) -> StoreError:
    """What to tell the user about a row that holds something else than this program once wrote."""
    return StoreError(
        f"The workspace {path.name} holds a row that cannot be read{f': {cell}' if cell else ''}.",
        hint="Go back to a copy of it, or use another workspace. Nothing in it was changed.",
        code="workspace_row",
        context={"path": str(path), "error": f"{type(error).__name__}: {error}"},
    )


def spoilt_cell(session: Session) -> str | None:
    """The first cell of JSON that is none, by its column, table and row; None where each can be read."""
    for table in StoredRow.metadata.tables.values():
        for name in (each.name for each in table.columns if isinstance(each.type, Document)):
            row = _spoilt_row(session, table, name)
            if row is not None:
                return f"{name} of {table.name}, row {row}"
    return None


def _spoilt_row(session: Session, table: Table, name: str) -> str | None:
    text = type_coerce(table.c[name], Text)
    key = next(iter(table.primary_key))
    suspects = session.execute(
        select(key, text).select_from(table).where(text.is_not(None), not_(func.json_valid(text)))
    )
    return next((str(row) for row, value in suspects if not _is_json(value)), None)


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except (RecursionError, TypeError, ValueError):
        return False
    return True
