"""Column types, the base class of all tables, and errors about rows that mcp-tef did not write.

Timestamps are stored in UTC, JSON compactly, and text without what UTF-8 cannot encode.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from sqlalchemy import (
    TIMESTAMP,
    Column,
    ColumnElement,
    Dialect,
    Float,
    Integer,
    MetaData,
    Select,
    Table,
    Text,
    bindparam,
    case,
    event,
    func,
    not_,
    or_,
    select,
    type_coerce,
)
from sqlalchemy import text as sql
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.types import TypeDecorator
from sqlmodel import Session, SQLModel

from mcp_tef.errors import InputError, StoreError
from mcp_tef.model.cases import EarlierMessage, Expectation, expectation_from_json, messages_from_json
from mcp_tef.model.json import Json, loads_bounded
from mcp_tef.model.verdicts import Classification, RunMark


def one_of(values: Iterable[str]) -> Select[tuple[str]]:
    """The values as a subquery for `IN`, however many there are."""
    return select(func.json_each(json.dumps(list(values))).table_valued("value").c.value)


def one_of_bound(name: str) -> Select[tuple[str]]:
    """The same for a statement that is kept: the values are bound under a name, as JSON text."""
    return select(func.json_each(bindparam(name, type_=Text)).table_valued("value").c.value)


VISIBLE = sql("removed_at IS NULL")


class StoredRow(SQLModel):
    """Base of all tables, with a catalogue of their own. What comes from the file is not validated again."""

    # Pydantic would build a validator for each table that nobody uses.
    model_config = {"defer_build": True}
    metadata = MetaData()


def table_of(row: type[StoredRow]) -> Table:
    """The table behind a class, for statements over many rows."""
    return StoredRow.metadata.tables[str(row.__tablename__)]


TOO_DEEP = "nested too deeply to be kept"


def storable(text: str) -> str:
    """`text` with lone surrogates, which UTF-8 cannot hold, written as escapes."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: object) -> dict[str, Json]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"A value of type {type(value).__name__} is not JSON.")


_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=_plain)
_ESCAPED = json.JSONEncoder(separators=(",", ":"), default=_plain)


def dump(value: Json) -> str:
    """Compact JSON text; lone surrogates are escaped so that they come back as they were."""
    try:
        text = _COMPACT.encode(value)
    except RecursionError:
        return _ESCAPED.encode(TOO_DEEP)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _ESCAPED.encode(value)
    return text


class SafeText(TypeDecorator[str]):
    """Text that may come from strangers."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """From Python to a cell."""
        return None if value is None else storable(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """From a cell to Python; TypeError where somebody else wrote bytes."""
        if value is None or isinstance(value, str):
            return value
        raise TypeError("it holds something other than text")


class SafeNumber(TypeDecorator[float]):
    """A number that may come from strangers: SQLite keeps a text or bytes in any column."""

    impl = Integer
    cache_ok = True

    def __init__(self, kind: Integer | Float[Any] | None = None) -> None:
        super().__init__()
        self.kind = kind or Integer()
        self.impl = self.kind  # type: ignore[assignment]
        self.holds = int if isinstance(self.kind, Integer) else (int, float)

    def process_result_value(self, value: float | None, dialect: Dialect) -> float | None:
        """From a cell to Python; TypeError where somebody else wrote something different."""
        if value is None or (isinstance(value, self.holds) and math.isfinite(value)):
            return value
        raise TypeError("it holds something other than a number of its column")


_READ_AS_ARRAYS = frozenset({"run_facts", "fact_keys", "tool_names"})


@event.listens_for(Column, "after_parent_attach")
def _check_numbers(column: Column[Any], table: object) -> None:
    """Have every column of numbers checked when it is read; those that are read by millions are checked there."""
    is_ours = isinstance(table, Table) and table.metadata is StoredRow.metadata and table.name not in _READ_AS_ARRAYS
    if is_ours and isinstance(column.type, Integer | Float):
        column.type = SafeNumber(column.type)


class Document(TypeDecorator[Any]):
    """A JSON value as compact text, of one type if it is given; None is NULL."""

    impl = Text
    cache_ok = True

    def __init__(self, holds: type[dict[str, Any]] | type[list[Any]] | None = None) -> None:
        super().__init__()
        self.holds = holds

    def process_bind_param(self, value: Json, dialect: Dialect) -> str | None:
        """From Python to a cell."""
        return None if value is None else dump(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Json:
        """From a cell to Python; TypeError where somebody else wrote JSON of another type."""
        if value is None:
            return None
        found = loads_bounded(value)
        if self.holds and not isinstance(found, self.holds):
            raise TypeError(f"it holds JSON other than a {self.holds.__name__}")
        return found


OBJECT, ARRAY = Document(dict), Document(list)
"""Types of columns whose values are used as they are, so that JSON of another type is refused when it is read."""


class Moment(TypeDecorator[datetime]):
    """A moment with its time zone, kept as UTC."""

    impl = TIMESTAMP
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From Python to a cell."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From a cell to Python."""
        return None if value is None else value.replace(tzinfo=UTC)


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


def attributes(value: object, names: str) -> dict[str, Any]:
    """Return attributes of a row or a value under their own names, which are separated by spaces."""
    return {name: getattr(value, name) for name in names.split()}


def mark_of(classification: str | None, parameters_ok: int | None, unreadable: int | None) -> RunMark | None:
    """Return the mark of a run from the cells of its verdict."""
    known = Classification(classification) if classification else None
    return RunMark.of(known, truth(parameters_ok), bool(unreadable))


def truth(value: int | None) -> bool | None:
    """A flag in a cell as a truth value; None stays None."""
    return None if value is None else bool(value)


def expectation_of(cell: Json) -> Expectation:
    """The expectation that a cell holds; ValueError where it holds none."""
    try:
        return expectation_from_json(cell)
    except InputError as error:
        raise ValueError(error.message) from error


def messages_of(cell: Json) -> tuple[EarlierMessage, ...]:
    """The earlier messages that a cell holds; ValueError where it holds something else."""
    try:
        return messages_from_json(cell)
    except InputError as error:
        raise ValueError(error.message) from error


_DIALECT = DefaultDialect()
CheckedType: TypeAlias = Document | SafeText | SafeNumber | Moment
_CHECKED = (Document, SafeText, SafeNumber, Moment)
MISREAD = (AttributeError, LookupError, RecursionError, TypeError, ValueError)

Read = TypeVar("Read", bound=Callable[..., Any])


class MisreadError(ValueError):
    """A row holds something else than this program once wrote; the text says which."""


def row_of(table: str, key: str = "id") -> Callable[[Read], Read]:
    """Decorate a function whose first argument is a row of a table: its errors name the row by its key."""

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
    """Return the error about a row that holds something else than this program once wrote."""
    return StoreError(
        f"The workspace {path.name} holds a row that cannot be read{f': {cell}' if cell else ''}.",
        hint="Go back to a copy of it, or use another workspace. Nothing in it was changed.",
        code="workspace_row",
        context={"path": str(path), "error": f"{type(error).__name__}: {error}"},
    )


def spoilt_cell(session: Session) -> str | None:
    """Return the first cell that is not what its column holds, by column, table and row; None where each is."""
    for table in StoredRow.metadata.tables.values():
        for name, kind in ((each.name, each.type) for each in table.columns):
            row = _spoilt_row(session, table, name, kind) if isinstance(kind, _CHECKED) else None
            if row is not None:
                return f"{name} of {table.name}, row {row}"
    return None


def _spoilt_row(session: Session, table: Table, name: str, kind: CheckedType) -> str | None:
    cell = type_coerce(table.c[name], Text)
    others = {SafeNumber: ("blob", "text", "real"), Moment: ("blob", "integer", "real")}.get(type(kind), ("blob",))
    spoilt: ColumnElement[bool] = func.typeof(cell).in_(others)
    if isinstance(kind, Moment):  # SQLite takes the last days of a short month for those of the next
        spoilt = or_(spoilt, func.coalesce(func.date(cell, "+0 days"), "") != func.substr(cell, 1, 10))
    if isinstance(kind, Document):
        spoilt = or_(spoilt, not_(func.json_valid(cell)))
        if kind.holds:
            # `json_type` fails where there is no JSON, and SQLite may evaluate both sides of OR.
            typed = func.json_type(case((func.json_valid(cell), cell), else_="null"))
            spoilt = or_(spoilt, typed != ("object" if kind.holds is dict else "array"))
    key = type_coerce(next(iter(table.primary_key)), Text)
    suspects = session.execute(select(key, cell).select_from(table).where(cell.is_not(None), spoilt))
    return next((_shown(row) for row, value in suspects if not _is_read(kind, value)), None)


def _shown(key: object) -> str:
    return key.hex() if isinstance(key, bytes) else str(key)


def _is_read(kind: CheckedType, value: Any) -> bool:
    try:
        if isinstance(kind, Moment):
            value = datetime.fromisoformat(value)
        kind.process_result_value(value, _DIALECT)
    except MISREAD:
        return False
    return True
