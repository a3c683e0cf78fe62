"""The one connection to the workspace file, used on the one store thread only, and statements compiled once."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from sqlalchemy import ClauseElement, Connection, CursorResult, Engine, create_engine, event
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache
from sqlmodel import Session

from mcp_tef.errors import StoreError
from mcp_tef.storage.columns import MISREAD, MisreadError, spoilt_cell, unreadable
from mcp_tef.storage.sqlite_errors import DAMAGED, cannot_write, error_code, store_error, suspect, translated

ROWS_PER_TRANSACTION = 250
# Every workspace of a process shares them, and with them the SQL of each statement: to make it takes 40 % of the time
# of what a workspace does first. SQLAlchemy keeps it by dialect.
_DIALECT = SQLiteDialect_pysqlite(dbapi=sqlite3)
_STATEMENTS = LRUCache[object, object](500)

_WHOLE: ContextVar[Session | None] = ContextVar("whole", default=None)
"""The transaction of several works that this task is in."""

T = TypeVar("T")
Work = Callable[[Session], T]


_UNDECODABLE: Final = "Could not decode to UTF-8"
_TEXT: Final = partial(str, encoding="utf-8", errors="replace")


class Database:
    """Runs work on the store thread, each piece in one transaction; callers get plain values back."""

    def __init__(
        self,
        path: Path,
        thread: Executor,
        connections: Callable[[], sqlite3.Connection],
        before_changes: Callable[[sqlite3.Connection, Path], None] | None = None,
    ) -> None:
        """Connect to `path` when it is first used; `before_changes` is done once, before the first change."""
        self.path = path
        self._thread = thread
        self._before_changes = before_changes
        engine = create_engine("sqlite://", creator=connections, poolclass=StaticPool, hide_parameters=True)
        engine.dialect = _DIALECT
        self._whole: tuple[Session, asyncio.Event] | None = None
        self._readers = engine.execution_options(compiled_cache=_STATEMENTS)
        self._writers = self._readers.execution_options(begin="BEGIN IMMEDIATE")
        event.listen(self._readers, "begin", _begin)

    async def read(self, work: Work[T]) -> T:
        """Return the result of `work` on one consistent view of the file. Raises StoreError."""
        return await self._run(self._readers, work)

    async def write(self, work: Work[T]) -> T:
        """Return the result of `work` once it is committed, even if the caller is cancelled. Raises StoreError."""
        return await self._run(self._writers, work)

    def write_here(self, work: Work[T]) -> T:
        """The same for who is on the store thread already."""
        return self._in_transaction(self._writers, work)

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """Store all that this task writes in one transaction, at the end, or nothing of it; other tasks wait."""
        while self._whole is not None:
            await self._whole[1].wait()
        self._whole = session, ended = Session(self._writers), asyncio.Event()
        token, keep = _WHOLE.set(session), False
        try:
            await self.write(_nothing)  # what is to be done before the first change is no part of it
            yield
            keep = True
        finally:
            loop, end = asyncio.get_running_loop(), partial(_end, session, keep=keep)
            ending = loop.run_in_executor(self._thread, self._in_transaction, self._readers, lambda _: end())
            _WHOLE.reset(token)
            self._whole = None  # the thread does one work after the other, so that others come after the end
            ended.set()
            await asyncio.shield(ending)

    async def close(self) -> None:
        """Close the file; whatever was asked before is done first."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self.close_here)

    def close_here(self) -> None:
        """The same for who is on the store thread already."""
        self._readers.dispose()

    async def _run(self, engine: Engine, work: Work[T]) -> T:
        within = self._whole[0] if self._whole else None
        if within is not _WHOLE.get() and self._whole is not None:
            return await asyncio.shield(asyncio.ensure_future(self._run_after(self._whole[1], engine, work)))
        loop = asyncio.get_running_loop()
        try:
            task = loop.run_in_executor(self._thread, self._in_transaction, engine, work, within)
        except RuntimeError as error:
            raise StoreError(f"The workspace {self.path.name} is closed.", hint="Open it again.") from error
        task.add_done_callback(_take_error)
        return await asyncio.shield(task)

    async def _run_after(self, end: asyncio.Event, engine: Engine, work: Work[T]) -> T:
        await end.wait()
        return await self._run(engine, work)

    def _in_transaction(self, engine: Engine, work: Work[T], within: Session | None = None) -> T:
        try:
            return self._readable(engine, work, within)
        except MisreadError as error:
            raise unreadable(self.path, error.__cause__ or error, str(error)) from error
        except MISREAD as error:
            cell = self._done(self._readers, _spoilt_cell, within)
            if cell is None and engine is self._writers:
                raise
            raise unreadable(self.path, error, cell) from error

    def _readable(self, engine: Engine, work: Work[T], within: Session | None) -> T:
        try:
            return self._done(engine, work, within)
        except StoreError as error:
            if within is not None or not self._reads_other_bytes(error):
                raise
            return self._done(engine, work, within)

    def _done(self, engine: Engine, work: Work[T], within: Session | None) -> T:
        if engine is self._writers and self._before_changes is not None:
            self._begin_changes(self._before_changes)
        try:
            return _step(engine, work, within)
        except DBAPIError as error:
            cause = error.orig or error
            if error_code(cause) in DAMAGED:
                suspect(self.path)
            raise store_error(cause, self.path) from error
        except StatementError as error:
            # A value that cannot become a cell: what went wrong with it, without SQLAlchemy's wrapping.
            raise error.orig or error from None

    def _reads_other_bytes(self, cause: BaseException) -> bool:
        """Read bytes that are no text as replacement characters from here on, so that they spoil their row only.

        False where that was not what failed, or is done already.
        """
        if _UNDECODABLE not in str(cause) or (connection := self._connection()).text_factory is not str:
            return False
        connection.text_factory = _TEXT
        return True

    def _begin_changes(self, begin: Callable[[sqlite3.Connection, Path], None]) -> None:
        try:
            with translated(self.path):
                begin(self._connection(), self.path)
        except OSError as error:
            raise cannot_write(self.path) from error
        self._before_changes = None

    def _connection(self) -> sqlite3.Connection:
        """Return the one connection itself."""
        found: Any = self._readers.raw_connection()
        try:
            return cast(sqlite3.Connection, found.driver_connection)
        finally:
            found.close()


_Bind = Callable[[Any], Any]


class PreparedStatement:
    """A statement for many runs, bound without SQLAlchemy's work for each row; rows come back as SQLite has them.

    An insert takes `columns`. Lists are bound as JSON text and taken apart by `json_each`.
    """

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None = None) -> None:
        self._statement = statement
        self._columns = columns

    def run(self, session: Session, **given: Any) -> CursorResult[*tuple[Any, ...]]:
        """Run it once."""
        return self._execute(session, self._values(given))

    def run_many(self, session: Session, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run it for each row of values; do nothing where there is none."""
        if values := [self._values(row) for row in rows]:
            self._execute(session, values)

    def _execute(self, session: Session, values: Any) -> CursorResult[*tuple[Any, ...]]:
        return session.connection().exec_driver_sql(self._compiled[0], values)

    def _values(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            [
                (bind(given[name]) if bind else given[name]) if name in given else usual
                for name, bind, usual in self._compiled[1]
            ]
        )

    @cached_property
    def _compiled(self) -> tuple[str, list[tuple[str, _Bind | None, Any]]]:
        compiled: Any = self._statement.compile(dialect=_DIALECT, column_keys=self._columns)
        parameters = []
        for name in compiled.positiontup:
            usual = compiled.params[name]
            bind = compiled.binds[name].type.dialect_impl(_DIALECT).bind_processor(_DIALECT)
            parameters.append((name, bind, bind(usual) if bind and isinstance(usual, str) else usual))
        return str(compiled), parameters


def _nothing(_: Session) -> None:
    pass


def _end(session: Session, *, keep: bool) -> None:
    try:
        if keep:
            session.commit()
    finally:
        session.close()


def _step(engine: Engine, work: Work[T], within: Session | None) -> T:
    """Do a work in a transaction of its own, or as a part of one: all of it or nothing.

    The next part reads from the file what this one wrote.
    """
    if within is None:
        with Session(engine) as session, session.begin():
            return work(session)
    with within.begin_nested():
        found = work(within)
    within.expunge_all()
    return found


def _take_error(task: asyncio.Future[T]) -> None:
    """Take the error of work whose caller is gone, which the event loop would report as one that nobody saw."""
    if not task.cancelled():
        task.exception()


def _spoilt_cell(session: Session) -> str | None:
    """Look through all tables, also those that this process has not needed yet."""
    from mcp_tef.storage import library_tables, run_tables  # noqa: F401  # they add themselves to the catalogue

    return spoilt_cell(session)


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """`items` in pieces that fit one transaction."""
    for start in range(0, len(items), ROWS_PER_TRANSACTION):
        yield items[start : start + ROWS_PER_TRANSACTION]
