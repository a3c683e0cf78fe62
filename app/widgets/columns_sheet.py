"""The columns of a table one below the other: which are shown, in which order and how wide, by keys as well."""

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Role, sized
from app.widgets.actions import Action, button
from app.widgets.cells import Column
from app.widgets.columns import Arrangement
from app.widgets.marks import Mark
from app.widgets.rail import RailList, RailRow
from app.widgets.sheets import Sheet
from app.widgets.spans import Span

STEP = 16
HEIGHT, WIDTH = 480, 520
ROW = 52
Keys = tuple[Qt.Key, Qt.KeyboardModifier]
ALT = Qt.KeyboardModifier.AltModifier


class ColumnList(RailList):
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


class ColumnsSheet(Sheet):
    """What is done here shows in the table at once."""

    def __init__(self, arrangement: Arrangement, parent: QWidget) -> None:
        super().__init__("Arrange columns", parent, width=WIDTH)
        self._arrangement = arrangement
        self.list = ColumnList("Columns", row_height=sized(ROW))
        self.list.moved.connect(self._move)
        self.list.widened.connect(self._widen)
        self.list.peek_wanted.connect(lambda _: self._turn())
        self.list.opened.connect(lambda _: self._turn())
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
        self.turn = button(Action(text="Leave out", do=self._turn, tip="Show or leave out (Space)"))
        self.up = button(Action(text="Up", do=lambda: self._move(-1), tip="Further to the left (Alt+Up)"))
        self.down = button(Action(text="Down", do=lambda: self._move(1), tip="Further to the right (Alt+Down)"))
        self.narrow = button(Action(text="Narrower", do=lambda: self._widen(-STEP), tip="Narrower (Alt+Left)"))
        self.wide = button(Action(text="Wider", do=lambda: self._widen(STEP), tip="Wider (Alt+Right)"))
        row = QHBoxLayout()
        row.setSpacing(8)
        for made in (self.turn, self.up, self.down, self.narrow, self.wide):
            row.addWidget(made)
        row.addStretch(1)
        return row

    def _show(self) -> None:
        order = self._arrangement.order()
        self.list.set_rows([self._row(place) for place in order])
        self._show_buttons()

    def _row(self, place: int) -> RailRow:
        column = self._arrangement.columns[place]
        shown = not self._arrangement.is_left_out(place)
        fills = "fills the rest" if column.stretch else f"{self._arrangement.width(place)} px"
        return RailRow(
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
        self.turn.setText("Show" if out else "Leave out")
        self.turn.setEnabled(not fixed)
        self.up.setEnabled(order[0] != place)
        self.down.setEnabled(order[-1] != place)
        for made in (self.narrow, self.wide):
            made.setEnabled(not fixed and not out)

    def _place(self) -> int | None:
        keys = [column.key for column in self._arrangement.columns]
        current = self.list.current_id()
        return keys.index(current) if current in keys else None

    def _turn(self) -> None:
        self._do(lambda place: self._arrangement.leave_out(place, out=not self._arrangement.is_left_out(place)))

    def _move(self, by: int) -> None:
        self._do(lambda place: self._arrangement.move(place, by))

    def _widen(self, by: int) -> None:
        self._do(lambda place: self._arrangement.widen(place, self._arrangement.width(place) + by))

    def _do(self, deed: Callable[[int], object]) -> None:
        place = self._place()
        if place is not None:
            deed(place)
            self._show()

    def _reset(self) -> None:
        self._arrangement.reset()
        self._show()


def titled(column: Column) -> str:
    """What a column is called where its title says nothing."""
    return column.title or column.key.capitalize()
