"""Parameters of a tool as a table with search, filter, sort order and a Markdown copy."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.arguments.parameters import SchemaParameter
from app.screens.kit import ViewState, ViewStates
from app.screens.kit.menus import view_actions
from app.screens.servers.filters import (
    HEADS,
    PARAMETER_FIELDS,
    PARAMETER_ORDERS,
    PARAMETERS,
    cells_of,
    listed_parameters,
)
from app.text.formatting import count
from app.theme import Role, Size, roomy, sized
from app.widgets import (
    Action,
    FlowText,
    IconButton,
    Label,
    Rule,
    SearchField,
    column_layout,
    row_layout,
    show_menu,
    show_menu_under,
)
from app.widgets.safe_text import markdown_table

MOST = 200
NARROW = 560
TITLES = ("Parameter", "Type", "", "Description", "Limits")
DESCRIPTION = 3
MOST_WIDTHS: tuple[int, ...] = (170, 150, 80)


class SchemaParameterTable(QWidget):
    """Name, type, required, description and limits; in a narrow pane the limits stand below the description."""

    def __init__(self) -> None:
        super().__init__()
        self._widths = MOST_WIDTHS
        self._narrow = False
        self._descriptions: list[QWidget] = []
        self._wide_limits: list[QWidget] = []
        self._narrow_limits: list[QWidget] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(0)
        self._grid.setColumnStretch(3, 3)
        self._grid.setColumnStretch(4, 2)

    def set_parameters(self, rows: Sequence[SchemaParameter]) -> None:
        """Show these."""
        self._clear()
        self._set_widths(rows)
        heads = [_fixed(Label(title, size=Size.SMALL, role=Role.DIM, label=True)) for title in TITLES]
        self._add_line(heads, 0)
        for number, row in enumerate(rows[:MOST], 1):
            self._add_line(self._cells(row), number)
        if len(rows) > MOST:
            more = FlowText(f"And {len(rows) - MOST} more; the raw JSON has them all.", role=Role.DIM)
            self._grid.addWidget(padded(more, first=True), 3 * (MOST + 1), 0, 1, 5)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._narrow != self._is_narrow():
            self._arrange()

    def _is_narrow(self) -> bool:
        return self.width() < sized(NARROW)

    def _arrange(self) -> None:
        self._narrow = self._is_narrow()
        for widget in self._wide_limits:
            widget.setVisible(not self._narrow)
        for widget in self._narrow_limits:
            widget.setVisible(self._narrow)
        for number, description in enumerate(self._descriptions):
            self._place(description, number)
        self._grid.setColumnStretch(4, 0 if self._narrow else 2)

    def _place(self, description: QWidget, number: int) -> None:
        """Under its row where it is narrow, else in it; the first is the title, which needs no separate room."""
        under = self._narrow and number > 0
        description.setContentsMargins(8 if under else 0, 0, 0, 0)
        row, column, wide = (3 * number + 1, 0, len(TITLES)) if under else (3 * number, DESCRIPTION, 1)
        self._grid.addWidget(description, row, column, 1, wide, Qt.AlignmentFlag.AlignTop)
        description.setVisible(number > 0 or not self._narrow)

    def _clear(self) -> None:
        self._descriptions.clear()
        self._wide_limits.clear()
        self._narrow_limits.clear()
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def _set_widths(self, rows: Sequence[SchemaParameter]) -> None:
        sans, mono = FlowText(), FlowText(mono=True)
        names = max((mono.width_of(row.name) for row in rows), default=0)
        types = max((sans.width_of(row.type) for row in rows), default=0)
        wanted = (max(names, sized(70)) + 26, max(types, sized(40)) + 18, sized(MOST_WIDTHS[2]))
        most_widths = (roomy(MOST_WIDTHS[0]), roomy(MOST_WIDTHS[1]), sized(MOST_WIDTHS[2]))
        self._widths = tuple(min(width, most) for width, most in zip(wanted, most_widths, strict=True))

    def _add_line(self, cells: Sequence[QWidget], number: int) -> None:
        for column, cell in enumerate(cells):
            holder = padded(cell, first=column == 0, last=column == len(cells) - 1)
            if column < len(self._widths):
                holder.setFixedWidth(self._widths[column])
            if column == DESCRIPTION:
                self._descriptions.append(holder)
            else:
                self._grid.addWidget(holder, 3 * number, column, Qt.AlignmentFlag.AlignTop)
        self._wide_limits.append(holder)
        self._grid.addWidget(Rule(), 3 * number + 2, 0, 1, len(cells))

    def _cells(self, row: SchemaParameter) -> list[QWidget]:
        needed = Label("required", size=Size.SMALL, strong=True)
        limits, below = FlowText(row.limits, role=Role.DIM), FlowText(row.limits, size=Size.SMALL, role=Role.DIM)
        if row.limits:
            self._narrow_limits.append(below)
        return [
            FlowText(row.name, mono=True),
            FlowText(row.type, role=Role.DIM),
            _fixed(needed if row.required else Label("optional", size=Size.SMALL, role=Role.DIM)),
            _stacked(_described(row), below),
            limits,
        ]


def _described(row: SchemaParameter) -> FlowText:
    return FlowText(row.description or "No description", role=Role.TEXT if row.description else Role.WARN)


def _fixed(label: Label) -> Label:
    label.setFixedHeight(sized(20))
    return label


def _stacked(first: QWidget, second: QWidget) -> QWidget:
    holder = QWidget()
    column_layout(holder, first, second)
    second.hide()
    return holder


def padded(widget: QWidget, *, first: bool = False, last: bool = False) -> QWidget:
    """Return a widget with the margins of a table cell."""
    holder = QWidget()
    row_layout(holder, widget, margins=(16 if first else 8, 4, 16 if last else 8, 3), spacing=None)
    return holder


FEW, MANY = 2, 8
SEARCH = 200
NONE = "No parameters."
NONE_FIT = "No parameters match. Clear the search, or show all parameters."


class ParameterList(QWidget):
    """Parameters with search, filter, sort order and copy. The query stays while the same tool is shown."""

    view_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.view = ViewState()
        self._tool: object = None
        self._all: tuple[SchemaParameter, ...] = ()
        self.title = Label(size=Size.SMALL, role=Role.DIM, label=True)
        self.search = SearchField("Find a parameter")
        self.more = IconButton("funnel", "Filter, sort and copy the parameters", size=14)
        self.table = SchemaParameterTable()
        self._nothing = FlowText(role=Role.DIM)
        self._nothing.setContentsMargins(16, 12, 16, 12)
        self._nothing_row = padded(self._nothing, first=True)
        self._lay_out()
        self.search.searched.connect(lambda _: self._show())
        self.more.clicked.connect(lambda: show_menu_under(self.menu_actions(), self.more))

    def _lay_out(self) -> None:
        self._head = QWidget()
        row = row_layout(self._head, margins=(16, 6, 8, 6), spacing=8)
        self.search.setMaximumWidth(SEARCH)
        row.addWidget(self.title)
        row.addWidget(self.more)
        row.addWidget(self.search)
        row.addStretch(1)
        column_layout(self, self._head, Rule(), self.table, self._nothing_row)

    def show_parameters(self, tool: object, parameters: Sequence[SchemaParameter]) -> None:
        """Show the parameters of a tool."""
        if tool != self._tool:
            self.search.say("")
        self._tool, self._all = tool, tuple(parameters)
        self._show()

    def found(self) -> tuple[SchemaParameter, ...]:
        """Return the parameters that pass search and filter."""
        return listed_parameters(self._all, replace(self.view, text=self.search.text()))

    def menu_actions(self) -> list[Action]:
        """Return the menu: filters, sort orders and the copy."""
        number = len(self.found())
        copy = f"Copy {count(number, 'parameter')} as Markdown"
        return [
            *view_actions(
                PARAMETER_FIELDS, PARAMETER_ORDERS, self.view, self._set_view, show_all="Show all parameters"
            ),
            Action(text=copy, do=self._copy, icon="copy", apart=True, enabled=number > 0),
        ]

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self._all:
            show_menu(self.menu_actions(), event.globalPos(), self)

    def _show(self) -> None:
        found, every = self.found(), len(self._all)
        self.title.setText(f"{len(found):,} of {count(every, 'parameter')}" if len(found) < every else "Parameters")
        self._head.setVisible(every >= FEW or len(found) < every)
        self.search.setVisible(every >= MANY)
        self.table.set_parameters(found)
        self.table.setVisible(bool(found))
        self._nothing.set_text(NONE_FIT if every else NONE)
        self._nothing_row.setVisible(not found)

    def restore_view(self, states: ViewStates) -> None:
        """Load the saved filter and sort order, and save them after each change."""
        self.view = states.load(PARAMETER_FIELDS, PARAMETERS)
        self.view_changed.connect(lambda view: states.save(view, PARAMETER_FIELDS, PARAMETERS))

    def _set_view(self, view: ViewState) -> None:
        self.view = view
        self._show()
        self.view_changed.emit(view)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(markdown_table(HEADS, cells_of(self.found())))
