"""A table of known length whose rows are fetched when they become visible."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from PySide6.QtCore import QModelIndex, QTimer, Signal

from app.widgets.rows import Cell, Column, Row
from app.widgets.table import ListTable, RowsModel

WAIT_MS: Final = 15
Read = Callable[[Sequence[int], Callable[[Sequence[Row]], None]], object]


class PagedModel(RowsModel):
    """Rows by place. `wanted` names the first and last place that was looked at and is not there yet."""

    wanted = Signal(int, int)

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__(columns)
        self._blank = Row("", [Cell() for _ in columns])
        self._looked_at: tuple[int, int] | None = None
        self._asking = QTimer(self, interval=WAIT_MS, singleShot=True)
        self._asking.timeout.connect(self._ask)

    def row(self, number: int) -> Row:
        """Return the row at a place, blank while it is not there; looking at a blank one asks for it."""
        row = self._rows[number]
        if row is self._blank:
            first, last = self._looked_at or (number, number)
            self._looked_at = (min(first, number), max(last, number))
            if not self._asking.isActive():
                self._asking.start()
        return row

    def there(self, number: int) -> Row | None:
        """Return the row at a place, if it is there; it is not asked for."""
        row = self._rows[number]
        return None if row is self._blank else row

    def show_total(self, total: int, first_rows: Sequence[Row] = ()) -> None:
        """Start again with `total` rows, of which the first ones are given."""
        rows = [*first_rows, *[self._blank] * max(0, total - len(first_rows))]
        self._looked_at = None
        self._reset(rows)
        self.rows_changed.emit()

    def put(self, rows: Mapping[int, Row]) -> None:
        """Set rows at their places; places past the end are ignored."""
        places = [place for place in rows if place < len(self._rows)]
        for place in places:
            self._rows[place] = rows[place]
            self._places[rows[place].id] = place
        if places:
            self._repaint(min(places), max(places))

    def forget(self, places: range) -> None:
        """Make rows blank again, so that a long table stays small."""
        for place in places:
            self._places.pop(self._rows[place].id, None)
            self._rows[place] = self._blank

    def grow(self, count: int) -> None:
        """Add blank rows at the end."""
        if count > 0:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + count - 1)
            self._rows.extend([self._blank] * count)
            self.endInsertRows()

    def sort_by(self, column: int | None, *, down: bool = False) -> None:
        """Note the sort order; the rows are sorted where they are fetched."""
        self.sorted_by = None if column is None else (column, down)

    def _ask(self) -> None:
        looked_at, self._looked_at = self._looked_at, None
        if looked_at is not None:
            self.wanted.emit(*looked_at)


class PagedTable(ListTable):
    """A `ListTable` over a `PagedModel`: connect `pages.wanted` and answer with `pages.put`."""

    def __init__(self, columns: Sequence[Column], name: str) -> None:
        self.pages = PagedModel(columns)
        super().__init__(columns, name, model=self.pages)

        self._read: Read | None = None

    def set_reader(self, read: Read) -> None:
        """Set the function that reads rows which were never shown or are no longer cached."""
        self._read = read

    def selected_ids(self) -> tuple[str, ...]:
        """Return the ids of all selected rows that are there, in the order shown; the others are not asked for."""
        return tuple(row.id for row in map(self.pages.there, self.selected_places()) if row is not None)

    def read_selected(self, do: Callable[[Sequence[Row]], None]) -> None:
        """Do something with all selected rows, once those are read that are not there."""
        places = self.selected_places()
        there = [row for row in map(self.pages.there, places) if row is not None]
        if self._read is not None and len(there) < len(places):
            self._read(places, do)
        else:
            do(there)
