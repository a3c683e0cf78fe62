"""A chart under its heading: as a picture or as a table of the same values, larger on wish, and into files."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.theme import Role, Size, sized
from app.widgets.actions import Action, IconButton, show_menu
from app.widgets.cells import Cell, CellKind, Column, Row
from app.widgets.chart import Chart, copy_picture
from app.widgets.label import Label, LineText
from app.widgets.matrix import MatrixChart
from app.widgets.safe_text import tip
from app.widgets.table import ListTable
from app.widgets.text_view import FlowText

Values = Sequence[Sequence[str]]
MakeValues = Callable[[], Values]
HEAD = 32


class ChartPanel(QWidget):
    """`save_wanted` gives `png`, `svg` or `csv`; `enlarge_wanted` asks for all the room there is, or less again.

    `own_actions` are those of the chart itself, which come first in its menu.
    """

    save_wanted = Signal(str)
    enlarge_wanted = Signal()

    def __init__(self, title: str, chart: Chart | MatrixChart) -> None:
        super().__init__()
        self.title = title
        self.chart = chart
        self.large = False
        self.own_actions: Callable[[], Sequence[Action]] = tuple
        self.table: ListTable | None = None
        self._columns: tuple[str, ...] = ()
        self._tips: tuple[str, ...] = ()
        self._make: MakeValues = tuple
        self._heading = LineText(title, size=Size.SMALL, role=Role.DIM)
        self._note = Label(size=Size.SMALL, role=Role.DIM, tabular=True)
        self._more = IconButton("dots-three", f"More: {title}")
        self._more.clicked.connect(lambda: self.open_menu(self._more.mapToGlobal(QPoint(0, self._more.height()))))
        self._message = FlowText(role=Role.DIM)
        chart.menu_wanted.connect(self.open_menu)
        self._lay_out()

    def _lay_out(self) -> None:
        self._head = QHBoxLayout()
        self._head.setContentsMargins(16, 0, 10, 0)
        self._head.setSpacing(8)
        self._head.addWidget(self._heading, 1)
        self._head.addWidget(self._note)
        self._head.addWidget(self._more)
        said = QWidget()
        box = QVBoxLayout(said)
        box.setContentsMargins(16, 8, 16, 8)
        box.addWidget(self._message)
        box.addStretch(1)
        stack = QWidget()
        self._stack = QStackedLayout(stack)
        self._stack.addWidget(self.chart)
        self._stack.addWidget(said)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QWidget()
        head.setFixedHeight(sized(HEAD))
        head.setLayout(self._head)
        column.addWidget(head)
        column.addWidget(stack, 1)

    def add_tool(self, widget: QWidget) -> None:
        """Put a small button before the menu's."""
        self._head.insertWidget(self._head.count() - 1, widget)

    def set_note(self, note: str, explained: str = "") -> None:
        """Words at the right of the heading; the explanation is shown on hover over the heading."""
        self._note.setText(note)
        self._heading.setToolTip(tip(explained))
        self.chart.setAccessibleDescription(explained)

    def set_message(self, message: str) -> None:
        """Say this in place of the chart; empty shows the chart."""
        self._message.set_text(message)
        self._place()

    def set_values(self, columns: Sequence[str], make: MakeValues, tips: Sequence[str] = ()) -> None:
        """The same data as a table, made when it is looked at; `tips` explain its columns."""
        self._columns, self._make = tuple(columns), make
        self._tips = tuple(tips) or ("",) * len(self._columns)
        if self.table is not None:
            self.table.set_rows(_rows(make()))

    def shows_table(self) -> bool:
        """Return True if the table is shown in place of the chart."""
        return self.table is not None and self._stack.currentWidget() is self.table

    def toggle_table(self) -> None:
        """Show the table in place of the picture, or the picture again."""
        if self.shows_table():
            self._stack.setCurrentWidget(self.chart)
            self.chart.setFocus()
            return
        if self.table is None:
            values = self._make()
            self.table = ListTable(_columns(self._columns, values, self._tips), self.title)
            self._stack.addWidget(self.table)
            self.table.set_rows(_rows(values))
        self._stack.setCurrentWidget(self.table)
        self.table.setFocus()

    def menu(self) -> list[Action]:
        """Actions on the chart."""
        return [
            *self.own_actions(),
            Action(text="Show as picture" if self.shows_table() else "Show as table", do=self.toggle_table),
            Action(text="Back to its place" if self.large else "Enlarge", do=self.enlarge_wanted.emit),
            Action(text="Save as PNG…", do=self._saver("png"), apart=True),
            Action(text="Save as SVG…", do=self._saver("svg")),
            Action(text="Save as CSV…", do=self._saver("csv")),
            Action(text="Copy picture", do=lambda: copy_picture(self.chart, self.title), apart=True),
            Action(text="Copy data", do=self._copy),
        ]

    def open_menu(self, at: QPoint) -> None:
        """Open the menu at a place on the screen."""
        show_menu(self.menu(), at, self)

    def _saver(self, kind: str) -> Callable[[], None]:
        return lambda: self.save_wanted.emit(kind)

    def _copy(self) -> None:
        lines = ["\t".join(self._columns), *("\t".join(row) for row in self._make())]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _place(self) -> None:
        if self._message.text():
            self._stack.setCurrentIndex(1)
        elif self._stack.currentIndex() == 1:
            self._stack.setCurrentWidget(self.chart)


def _columns(names: Sequence[str], values: Values, tips: Sequence[str]) -> tuple[Column, ...]:
    """Columns wide enough for their words; those of numbers are set flush right."""
    return tuple(
        Column(key=str(place), title=name, kind=_kind(values, place), width=_width(name, values, place), tip=explained)
        for place, (name, explained) in enumerate(zip(names, tips, strict=True))
    )


def _kind(values: Values, place: int) -> CellKind:
    return CellKind.NUMBER if values and all(_number(row[place]) is not None for row in values) else CellKind.TEXT


def _width(name: str, values: Values, place: int) -> int:
    longest = max((len(row[place]) for row in values[:200]), default=0)
    return max(56, min(240, 24 + 7 * max(len(name), longest)))


def _rows(values: Values) -> list[Row]:
    return [Row(str(number), partial(_cells, row)) for number, row in enumerate(values)]


def _cells(row: Sequence[str]) -> list[Cell]:
    return [_cell(text) for text in row]


def _cell(text: str) -> Cell:
    number = _number(text)
    return Cell(text=text, sort=number if number is not None and text != "–" else None)


def _number(text: str) -> float | None:
    if text == "–":
        return -1.0
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
