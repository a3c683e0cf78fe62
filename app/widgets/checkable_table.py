"""A table whose rows can be ticked: with a click on the box, or with Space for all that are selected."""

from collections.abc import Callable, Collection, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from app.widgets.actions import Action
from app.widgets.marks import Mark
from app.widgets.rows import Cell, CellKind, CellLike, Column, Row
from app.widgets.table import ListTable

MakeCells = Callable[[], Sequence[CellLike]]
TICK = Column(key="tick", title="", kind=CellKind.MARK, width=44, sortable=False)


class CheckableTable(ListTable):
    """A column of boxes before the given columns; `ticks_changed` tells that the user changed some."""

    ticks_changed = Signal()

    def __init__(self, columns: Sequence[Column], name: str, parent: QWidget | None = None) -> None:
        super().__init__([TICK, *columns], name, parent=parent)
        self._ticks: dict[str, bool] = {}
        self._make: dict[str, MakeCells] = {}
        self.peek_wanted.connect(lambda row_id: self.tick(self.selected_ids(), ticked=not self._ticks.get(row_id)))

    def show_cells(self, make: Mapping[str, MakeCells], ticks: Mapping[str, bool]) -> None:
        """Show rows by id, their cells made when they are first seen; those that `ticks` does not name have no box."""
        self._ticks = dict(ticks)
        self._make = dict(make)
        self.set_rows([self._row(row_id) for row_id in make])

    def ticked(self) -> tuple[str, ...]:
        """Return the ids of the ticked rows."""
        return tuple(row_id for row_id, ticked in self._ticks.items() if ticked)

    def tick(self, ids: Collection[str], *, ticked: bool) -> None:
        """Tick rows, or untick them, where they have a box."""
        changed = [row_id for row_id in ids if self._ticks.get(row_id, ticked) is not ticked]
        self._ticks |= dict.fromkeys(changed, ticked)
        if changed:
            self.set_rows([self._row(row_id) for row_id in self._make])
            self.ticks_changed.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and index.column() == 0 and event.button() == Qt.MouseButton.LeftButton:
            row_id = self.rows.row(index.row()).id
            self.tick([row_id], ticked=not self._ticks.get(row_id))

    def own_actions(self) -> Sequence[Action]:
        """Ticks of all rows that are shown: those that a search hides keep theirs."""
        which = [row_id for row_id in self.rows.ids() if row_id in self._ticks]
        found = " that were found" if self.table_rows.words else ""
        return [
            Action(text=f"Tick all{found}", do=lambda: self.tick(which, ticked=True)),
            Action(text=f"Untick all{found}" if found else "Tick none", do=lambda: self.tick(which, ticked=False)),
            *super().own_actions(),
        ]

    def _row(self, row_id: str) -> Row:
        return Row(row_id, lambda: [self._box(row_id), *self._make[row_id]()])

    def _box(self, row_id: str) -> Cell:
        if row_id not in self._ticks:
            return Cell(marks=(Mark.BLANK,))
        return Cell(marks=(Mark.TICKED if self._ticks[row_id] else Mark.UNTICKED,))
