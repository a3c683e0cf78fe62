"""Which columns of a table are shown, in which order and how wide: as the user likes it, as far as there is room."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHeaderView, QTableView

from app.theme import sized, unsized
from app.widgets.actions import Action
from app.widgets.cells import Column

WIDEST, LEAST_STRETCH = 2_000, 96


class Arrangement:
    """Hidden is a column that the user left out, and one for which a screen has no room; `changed` hears of it."""

    def __init__(self, table: QTableView, columns: Sequence[Column], changed: Callable[[], object]) -> None:
        self._table = table
        self.columns = columns
        self._changed = changed
        self._keys = [column.key for column in columns]
        self._left_out: set[int] = set()
        self._no_room: set[int] = set()
        self.first, self.last = 0, len(columns) - 1

    def watch(self, header: QHeaderView) -> None:
        """Let columns be dragged elsewhere, and hear of it."""
        header.setSectionsMovable(True)
        header.sectionMoved.connect(self._settle)
        header.sectionResized.connect(self._resized)

    def give_room(self, column: int, *, room: bool) -> None:
        """What a screen says: whether there is room for a column."""
        (self._no_room.discard if room else self._no_room.add)(column)
        self._place(column)

    def leave_out(self, column: int, *, out: bool) -> None:
        """What the user says: whether a column is wanted; the one that stretches always is."""
        if self.columns[column].stretch:
            return
        (self._left_out.add if out else self._left_out.discard)(column)
        self._place(column)

    def _resized(self, place: int, *_sizes: int) -> None:
        if not self.columns[place].stretch:
            self.fit(self._table.viewport().width())
        self._changed()

    def fit(self, room: int) -> None:
        """Keep the column that stretches as wide as it needs at least; what then has no room is scrolled to."""
        header = self._table.horizontalHeader()
        for place, column in enumerate(self.columns):
            if column.stretch:
                free = room - (header.length() - header.sectionSize(place))
                least = sized(max(column.least, LEAST_STRETCH))
                tight = free < least
                modes = QHeaderView.ResizeMode
                header.setSectionResizeMode(place, modes.Interactive if tight else modes.Stretch)
                if tight:
                    header.resizeSection(place, least)

    def actions(self) -> list[Action]:
        """A choice for each column that can be left out; the one that stretches cannot."""
        return [
            Action(
                text=column.title or column.key.capitalize(),
                do=partial(self.leave_out, number, out=number not in self._left_out),
                checked=number not in self._left_out,
            )
            for number, column in enumerate(self.columns)
            if not column.stretch
        ]

    def is_left_out(self, column: int) -> bool:
        """Whether the user does not want a column."""
        return column in self._left_out

    def order(self) -> tuple[int, ...]:
        """All columns from left to right, also those that are not shown."""
        return tuple(sorted(range(len(self._keys)), key=self._table.horizontalHeader().visualIndex))

    def width(self, column: int) -> int:
        """How wide a column is, or would be, at the usual size of text."""
        return unsized(self._table.columnWidth(column)) or self.columns[column].width

    def move(self, column: int, by: int) -> None:
        """Move a column to the right, or to the left, as far as there are others."""
        header = self._table.horizontalHeader()
        now = header.visualIndex(column)
        header.moveSection(now, max(0, min(now + by, len(self._keys) - 1)))

    def widen(self, column: int, wide: int) -> None:
        """Make a column so wide at the usual size of text, within reason; the one that stretches has what is left."""
        if not self.columns[column].stretch:
            self._table.setColumnWidth(column, sized(max(self.columns[column].least, min(wide, WIDEST))))

    def reset(self) -> None:
        """Every column in its place and width, and none left out."""
        self.restore({"order": self._keys, "widths": {column.key: column.width for column in self.columns}})
        for column in sorted(self._left_out):
            self.leave_out(column, out=False)

    def state(self) -> dict[str, Any]:
        """Widths at the usual size of text, order and what is left out, for the settings."""
        shown = {key: self._table.columnWidth(place) for place, key in enumerate(self._keys)}
        widths = {key: unsized(wide) for key, wide in shown.items() if wide}
        return {
            "widths": widths,
            "order": [self._keys[place] for place in self.order()],
            "hidden": [self._keys[place] for place in sorted(self._left_out)],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave; anything else is ignored."""
        widths, order, hidden = state.get("widths"), state.get("order"), state.get("hidden")
        for key, value in widths.items() if isinstance(widths, dict) else ():
            if key in self._keys and isinstance(value, int):
                self.widen(self._keys.index(key), value)
        if isinstance(order, list) and sorted(map(str, order)) == sorted(self._keys):
            header = self._table.horizontalHeader()
            for place, key in enumerate(order):
                header.moveSection(header.visualIndex(self._keys.index(key)), place)
        for place, key in enumerate(self._keys):
            if isinstance(hidden, list) and key in hidden:
                self.leave_out(place, out=True)

    def _place(self, column: int) -> None:
        QTableView.setColumnHidden(self._table, column, column in self._left_out | self._no_room)
        self._settle()

    def _settle(self, *_moved: int) -> None:
        """Know the outermost columns, which stand at the margins."""
        header = self._table.horizontalHeader()
        shown = [place for place in range(len(self._keys)) if not header.isSectionHidden(place)]
        places = sorted(shown, key=header.visualIndex)
        if places:
            self.first, self.last = places[0], places[-1]
        self._changed()
