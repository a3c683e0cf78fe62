"""Has an error in reading a row say which row it is."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

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
