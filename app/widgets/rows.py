"""Content of tables: columns, rows of ready-made cells, the table model by id, and the frame of a painted row."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from app.theme import Role, theme, width
from app.widgets.marks import Mark
from app.widgets.safe_text import tip, visible


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


AnyIndex = QModelIndex | QPersistentModelIndex
BATCH_MS = 50
PLAIN_ROW = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


class Keyed(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Keyed)


class KeyedModel(QAbstractTableModel, Generic[R]):
    """Rows by id. `set_rows` replaces all, `upsert` gathers changes and shows them every 50 ms at most."""

    about_to_reset = Signal()
    was_reset = Signal()
    rows_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[R] = []
        self._places: dict[str, int] = {}
        self._pending: dict[str, R] = {}
        self._timer = QTimer(self, interval=BATCH_MS, singleShot=True)
        self._timer.timeout.connect(self.flush)

    def row(self, number: int) -> R:
        """Return the row shown at a place."""
        return self._rows[number]

    def get(self, row_id: str) -> R | None:
        """Return the row with an id, pending changes included."""
        place = self._places.get(row_id)
        return self._pending.get(row_id) or (None if place is None else self._rows[place])

    def place(self, row_id: str) -> int | None:
        """Return the position of the row with an id."""
        return self._places.get(row_id)

    def ids(self) -> list[str]:
        """Every id in the order shown."""
        return list(self._places)

    def set_rows(self, rows: Sequence[R]) -> None:
        """Show these rows and no others; equal ids in equal order only repaint."""
        self._pending.clear()
        ordered = self.arranged(list(rows))
        if [row.id for row in ordered] == self.ids():
            self._rows = ordered
            self._repaint(0, len(ordered) - 1)
        else:
            self._reset(ordered)
        self.rows_changed.emit()

    def upsert(self, rows: Iterable[R]) -> None:
        """Change rows that are there and append those that are not, all together within 50 ms."""
        self._pending.update((row.id, row) for row in rows)
        if self._pending and not self._timer.isActive():
            self._timer.start()

    def remove(self, ids: Iterable[str]) -> None:
        """Take rows out."""
        gone = set(ids)
        for row_id in gone:
            self._pending.pop(row_id, None)
        self._reset([row for row in self._rows if row.id not in gone])
        self.rows_changed.emit()

    def flush(self) -> None:
        """Show the gathered changes now."""
        pending, self._pending = self._pending, {}
        if not pending:
            return
        known = {row_id: row for row_id, row in pending.items() if row_id in self._places}
        self._replace(known)
        self._append([row for row_id, row in pending.items() if row_id not in known])
        self.rows_changed.emit()

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text_of(row, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.spoken(row, column)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return visible(self.explanation(row, column))
        return tip(self.explanation(row, column)) or None if role == Qt.ItemDataRole.ToolTipRole else None

    @abstractmethod
    def text_of(self, row: R, column: int) -> str:
        """Return the text of a row in a column."""

    def spoken(self, row: R, column: int) -> str:
        """Return the text of a row in a column for screen readers."""
        return self.text_of(row, column)

    def explanation(self, row: R, column: int) -> str:
        """Return more about a row in a column, for tooltips and screen readers."""
        return ""

    def arranged(self, rows: list[R]) -> list[R]:
        """Return the rows in the order to show them; a subclass sorts here."""
        return rows

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else 1

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        return PLAIN_ROW if index.isValid() else Qt.ItemFlag.NoItemFlags

    def _replace(self, known: Mapping[str, R]) -> None:
        places = [self._places[row_id] for row_id in known]
        for place, row in zip(places, known.values(), strict=True):
            self._rows[place] = row
        if places:
            self._repaint(min(places), max(places))

    def _append(self, fresh: list[R]) -> None:
        if not fresh:
            return
        first = len(self._rows)
        self.beginInsertRows(QModelIndex(), first, first + len(fresh) - 1)
        self._rows.extend(fresh)
        self._places.update((row.id, first + number) for number, row in enumerate(fresh))
        self.endInsertRows()

    def _repaint(self, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, self.columnCount() - 1))

    def _reset(self, rows: list[R]) -> None:
        self.about_to_reset.emit()
        self.beginResetModel()
        self._rows = rows
        self._places = {row.id: number for number, row in enumerate(rows) if row.id}
        self.endResetModel()
        self.was_reset.emit()


def paint_frame(
    painter: QPainter, option: QStyleOptionViewItem, *, hovered: bool, first: bool = True, focused: bool = False
) -> None:
    """Fill a cell's background; `first` draws the selection bar at its left edge, `focused` the ring."""
    rect: QRect = option.rect
    selected = bool(option.state & QStyle.StateFlag.State_Selected)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    if selected or hovered:
        painter.fillRect(rect, theme().colour(Role.SELECTED if selected else Role.HOVER))
    painter.fillRect(rect.left(), rect.bottom(), rect.width(), width("hairline"), theme().colour(Role.LINE))
    if selected and first:
        painter.fillRect(rect.left(), rect.top(), theme().ring, rect.height(), theme().colour(Role.ACCENT))
    if focused:
        paint_focus(painter, rect)


def paint_focus(painter: QPainter, rect: QRect) -> None:
    """Draw a ring inside `rect`, for the widget with the keyboard."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    pen = QPen(theme().colour(Role.FOCUS), theme().ring)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    painter.setPen(pen)
    painter.drawRect(rect.adjusted(1, 1, -2, -2))
