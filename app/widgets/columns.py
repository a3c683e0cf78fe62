"""Columns of a table: visibility, order and width chosen by the user, and the dialog to change them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QTableView, QWidget

from app.theme import Role, Size, height, sized, theme, unsized
from app.widgets.actions import Action, button
from app.widgets.cards import CardList, CardRow
from app.widgets.dialog import Dialog
from app.widgets.layouts import row_layout
from app.widgets.marks import Mark
from app.widgets.rows import CellKind, Column
from app.widgets.spans import LinePainter, Span

WIDEST, LEAST_STRETCH = 2_000, 96
PAD, EDGE, CARET = 8, 16, 10
STEP = 16
HEIGHT, WIDTH = 480, 520
ROW = 52
Keys = tuple[Qt.Key, Qt.KeyboardModifier]
ALT = Qt.KeyboardModifier.AltModifier


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

    def inner(self, rect: QRect, column: int) -> QRectF:
        """Return the part of a cell or title inside its margins, which are wider at the edges of the table."""
        left, right = (EDGE if column == outermost else PAD for outermost in (self.first, self.last))
        return QRectF(rect.adjusted(left, 0, -right, -1))

    def watch(self, header: QHeaderView) -> None:
        """Let columns be dragged elsewhere, and hear of it."""
        header.setSectionsMovable(True)
        header.sectionMoved.connect(self._settle)
        header.sectionResized.connect(self._resized)

    def give_room(self, column: int, *, room: bool) -> None:
        """Show or hide a column for lack of space, as the screen decides."""
        (self._no_room.discard if room else self._no_room.add)(column)
        self._place(column)

    def leave_out(self, column: int, *, out: bool) -> None:
        """Show or hide a column as the user wants; the stretching column always stays."""
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
        """Return a choice for each column that can be left out; the one that stretches cannot."""
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
        """Return True if the user hides a column."""
        return column in self._left_out

    def order(self) -> tuple[int, ...]:
        """All columns from left to right, also those that are not shown."""
        return tuple(sorted(range(len(self._keys)), key=self._table.horizontalHeader().visualIndex))

    def width(self, column: int) -> int:
        """Return the width of a column at the standard text size, also while it is hidden."""
        return unsized(self._table.columnWidth(column)) or self.columns[column].width

    def move(self, column: int, by: int) -> None:
        """Move a column to the right, or to the left, as far as there are others."""
        self.move_to(column, self._table.horizontalHeader().visualIndex(column) + by)

    def move_to(self, column: int, place: int) -> None:
        """Move a column to a place, counted from the left."""
        header = self._table.horizontalHeader()
        header.moveSection(header.visualIndex(column), max(0, min(place, len(self._keys) - 1)))

    def widen(self, column: int, wide: object) -> None:
        """Make a column so wide at the usual size of text, within reason; the one that stretches has what is left."""
        if not self.columns[column].stretch and isinstance(wide, int):
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
        if isinstance(widths, dict):
            for key in widths.keys() & set(self._keys):
                self.widen(self._keys.index(key), widths[key])
        if isinstance(order, list) and sorted(map(str, order)) == sorted(self._keys):
            for place, key in enumerate(order):
                self.move_to(self._keys.index(key), place)
        if isinstance(hidden, list):
            for key in set(self._keys).intersection(map(str, hidden)):
                self.leave_out(self._keys.index(key), out=True)

    def _place(self, column: int) -> None:
        QTableView.setColumnHidden(self._table, column, column in self._left_out | self._no_room)
        self._settle()

    def _settle(self, *_moved: int) -> None:
        """Update the outermost columns, which touch the margins."""
        header = self._table.horizontalHeader()
        shown = [place for place in range(len(self._keys)) if not header.isSectionHidden(place)]
        places = sorted(shown, key=header.visualIndex)
        if places:
            self.first, self.last = places[0], places[-1]
        self._changed()


class TableHeader(QHeaderView):
    """Titles aligned as their columns are."""

    sort_wanted = Signal(int)

    def __init__(self, arrangement: Arrangement, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._arrangement = arrangement
        self._columns = arrangement.columns
        self._line = LinePainter()
        self._pressed = -1
        self.setFixedHeight(height("table_header"))
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setStretchLastSection(False)
        self.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)  # Qt's own default is column 0.
        self.sectionMoved.connect(self._moved)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        resizing = self.cursor().shape() == Qt.CursorShape.SplitHCursor
        self._pressed = -1 if resizing else self.logicalIndexAt(event.position().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        released = self.logicalIndexAt(event.position().toPoint())
        if released >= 0 and released == self._pressed and self._columns[released].sortable:
            self.sort_wanted.emit(released)
        self._pressed = -1

    def _moved(self) -> None:
        """Forget the pressed column: dragging a column must not sort."""
        self._pressed = -1

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        colour = theme().colour
        painter.fillRect(rect, colour(Role.SURFACE))
        painter.fillRect(rect.left(), rect.bottom(), rect.width(), 1, colour(Role.LINE))
        column = self._columns[section]
        self._paint_title(painter, self._arrangement.inner(rect, section), column, self._caret(section))

    def _caret(self, section: int) -> str:
        if self.sortIndicatorSection() != section:
            return ""
        return "caret-down-fill" if self.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder else "caret-up-fill"

    def _paint_title(self, painter: QPainter, inner: QRectF, column: Column, caret: str) -> None:
        font = theme().font(Size.SMALL, label=True)
        room = inner.adjusted(0, 0, -4 - sized(CARET) if caret else 0, 0)
        numeric = column.kind is CellKind.NUMBER
        shown, used = self._line.fit(column.title, font, room.width())
        left = room.right() - used if numeric else room.left()
        painter.setFont(font)
        painter.setPen(theme().colour(Role.DIM))
        place = QRectF(left, room.top(), used + 2, room.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)
        if caret:
            pixmap = theme().pixmap(caret, Role.DIM, sized(CARET), self.devicePixelRatioF())
            painter.drawPixmap(int(left + used + 4), int(inner.center().y() - sized(CARET) / 2 + 1), pixmap)


class ColumnList(CardList):
    """`moved` and `widened` give by how much, for Alt and the arrow keys."""

    moved = Signal(int)
    widened = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if event.modifiers() & ALT and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif event.modifiers() & ALT and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.widened.emit(-STEP if key == Qt.Key.Key_Left else STEP)
        else:
            super().keyPressEvent(event)


class ColumnsDialog(Dialog):
    """Dialog to arrange the columns; changes show in the table immediately."""

    def __init__(self, arrangement: Arrangement, parent: QWidget) -> None:
        super().__init__("Arrange columns", parent, width=WIDTH)
        self._arrangement = arrangement
        self.list = ColumnList("Columns", row_height=sized(ROW))
        self.list.moved.connect(self._move)
        self.list.widened.connect(self._widen)
        self.list.peek_wanted.connect(lambda _: self._toggle())
        self.list.opened.connect(lambda _: self._toggle())
        self.list.chosen.connect(lambda _: self._show_buttons())
        self.body.addWidget(self.list, 1)
        self.body.addLayout(self._buttons())
        self.need(height=HEIGHT)
        self.set_buttons(
            [Action(text="Close", do=self.accept, kind="primary")],
            left=[Action(text="As at first", do=self._reset, tip="Every column in its place and width again")],
        )
        self._show()
        self.list.select_first()
        self.list.setFocus()

    def _buttons(self) -> QHBoxLayout:
        self.toggle = button(Action(text="Leave out", do=self._toggle, tip="Show or leave out (Space)"))
        self.up = button(Action(text="Up", do=lambda: self._move(-1), tip="Further to the left (Alt+Up)"))
        self.down = button(Action(text="Down", do=lambda: self._move(1), tip="Further to the right (Alt+Down)"))
        self.narrower = button(Action(text="Narrower", do=lambda: self._widen(-STEP), tip="Narrower (Alt+Left)"))
        self.wider = button(Action(text="Wider", do=lambda: self._widen(STEP), tip="Wider (Alt+Right)"))
        row = row_layout(None, self.toggle, self.up, self.down, self.narrower, self.wider, spacing=8)
        row.addStretch(1)
        return row

    def _show(self) -> None:
        order = self._arrangement.order()
        self.list.set_rows([self._row(place) for place in order])
        self._show_buttons()

    def _row(self, place: int) -> CardRow:
        column = self._arrangement.columns[place]
        shown = not self._arrangement.is_left_out(place)
        fills = "fills the rest" if column.stretch else f"{self._arrangement.width(place)} px"
        return CardRow(
            id=column.key,
            title=titled(column),
            right=Span(fills if shown else "left out", Role.DIM),
            sub=(Span(" ".join(column.tip.split()), Role.DIM),),
            mark=Mark.TICKED if shown else Mark.UNTICKED,
            tip=column.tip,
        )

    def _show_buttons(self) -> None:
        place = self._place()
        if place is None:
            return
        arrangement, order = self._arrangement, self._arrangement.order()
        fixed, out = arrangement.columns[place].stretch, arrangement.is_left_out(place)
        self.toggle.setText("Show" if out else "Leave out")
        self.toggle.setEnabled(not fixed)
        self.up.setEnabled(order[0] != place)
        self.down.setEnabled(order[-1] != place)
        for made in (self.narrower, self.wider):
            made.setEnabled(not fixed and not out)

    def _place(self) -> int | None:
        keys = [column.key for column in self._arrangement.columns]
        current = self.list.current_id()
        return keys.index(current) if current in keys else None

    def _toggle(self) -> None:
        self._change(lambda place: self._arrangement.leave_out(place, out=not self._arrangement.is_left_out(place)))

    def _move(self, by: int) -> None:
        self._change(lambda place: self._arrangement.move(place, by))

    def _widen(self, by: int) -> None:
        self._change(lambda place: self._arrangement.widen(place, self._arrangement.width(place) + by))

    def _change(self, change: Callable[[int], object]) -> None:
        place = self._place()
        if place is not None:
            change(place)
            self._show()

    def _reset(self) -> None:
        self._arrangement.reset()
        self._show()


def titled(column: Column) -> str:
    """Return the title of a column, or its key where it has no title."""
    return column.title or column.key.capitalize()
