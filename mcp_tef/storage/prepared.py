"""Statements that are run for each of many runs: compiled once, and bound without SQLAlchemy's work for every row."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import ClauseElement, CursorResult
from sqlalchemy.dialects.sqlite import dialect
from sqlmodel import Session

_DIALECT = dialect(paramstyle="qmark")
_Bind = Callable[[Any], Any]


class PreparedStatement:
    """A statement with its parameters in order. It is compiled when it is first run; rows come back as SQLite has them.

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
            bind, usual = (
                compiled.binds[name].type.dialect_impl(_DIALECT).bind_processor(_DIALECT),
                compiled.params[name],
            )
            parameters.append((name, bind, bind(usual) if bind and isinstance(usual, str) else usual))
        return str(compiled), parameters
