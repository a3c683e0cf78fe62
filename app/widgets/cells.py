"""Content of a table: columns, and rows of ready-made cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from app.theme import Role
from app.widgets.marks import Mark


class CellKind(Enum):
    """Drawing style of a column."""

    TEXT = "text"
    MONO = "mono"
    NUMBER = "number"
    MARK = "mark"
    MARKS = "marks"
    PAIR = "pair"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell. `lead` is the dim part before the slash of a pair; `sort` replaces the text for sorting.

    `prose` sets words in the text font where the column is one of names. `span` is a value from 0 to 1 with its low
    and high end, drawn on a small scale behind the text of a SHARE column.
    """

    text: str = ""
    role: Role = Role.TEXT
    strong: bool = False
    italic: bool = False
    prose: bool = False
    lead: str = ""
    marks: tuple[Mark, ...] = ()
    span: tuple[float, float, float] | None = None
    sort: str | float | None = None
    tip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: `width` in pixels, at least `least`; one of them may stretch. `tip` explains its title on hover."""

    key: str
    title: str
    kind: CellKind = CellKind.TEXT
    width: int = 120
    least: int = 40
    stretch: bool = False
    sortable: bool = True
    role: Role = Role.TEXT
    tip: str = ""


CellLike: TypeAlias = str | Cell


class Row:
    """An id and its cells, one a column; give a function instead of cells to have them made when first seen."""

    __slots__ = ("_cells", "_make", "id")

    def __init__(self, row_id: str, cells: Sequence[CellLike] | Callable[[], Sequence[CellLike]]) -> None:
        self.id = row_id
        self._make = cells if callable(cells) else None
        self._cells = None if callable(cells) else _made(cells)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, made now if they were not."""
        if self._cells is None:
            self._cells = _made(self._make() if self._make else ())
            self._make = None
        return self._cells


def _made(cells: Sequence[CellLike]) -> tuple[Cell, ...]:
    return tuple(Cell(text=cell) if isinstance(cell, str) else cell for cell in cells)
