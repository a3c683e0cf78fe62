"""The parameters of a tool under a line that says how many there are, finds some, sorts and copies them."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.settings import Settings
from app.screens.servers.parameter_narrowing import (
    HEADS,
    KEPT,
    ParametersShown,
    cells_of,
    parameter_actions,
    parameters_shown_of,
)
from app.screens.servers.parameter_table import ParameterTable, padded
from app.screens.servers.schema import Parameter
from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import Action, FlowText, IconButton, Label, Rule, SearchField, show_menu
from app.widgets.plain import markdown_table

FEW, MANY = 2, 8
SEARCH = 200
NONE = "It takes no parameters."
NONE_FIT = "No parameter fits the search and the filter. Empty the search, or show all parameters."


class ParameterList(QWidget):
    """`narrowed` gives what is to be shown from now on. Words stay while the same tool is looked at."""

    narrowed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.shown = ParametersShown()
        self._tool: object = None
        self._all: tuple[Parameter, ...] = ()
        self.title = Label(size=Size.SMALL, role=Role.DIM, label=True)
        self.search = SearchField("Find a parameter")
        self.more = IconButton("funnel", "Filter, sort and copy the parameters", size=14)
        self.table = ParameterTable()
        self._nothing = FlowText(role=Role.DIM)
        self._nothing.setContentsMargins(16, 12, 16, 12)
        self._nothing_row = padded(self._nothing, first=True)
        self._lay_out()
        self.search.searched.connect(lambda _: self._show())
        self.more.clicked.connect(lambda: show_menu(self.menu_actions(), _below(self.more), self.more))

    def _lay_out(self) -> None:
        self._head = QWidget()
        row = QHBoxLayout(self._head)
        row.setContentsMargins(16, 6, 8, 6)
        row.setSpacing(8)
        self.search.setMaximumWidth(SEARCH)
        row.addWidget(self.title)
        row.addWidget(self.more)
        row.addWidget(self.search)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self._head, Rule(), self.table, self._nothing_row):
            column.addWidget(part)

    def show_parameters(self, tool: object, parameters: Sequence[Parameter]) -> None:
        """Show those of a tool."""
        if tool != self._tool:
            self.search.say("")
        self._tool, self._all = tool, tuple(parameters)
        self._show()

    def found(self) -> tuple[Parameter, ...]:
        """The parameters that are shown."""
        return self.shown.of(self._all, self.search.text())

    def menu_actions(self) -> list[Action]:
        """What the menu holds."""
        number = len(self.found())
        words = f"Copy {count(number, 'parameter')} as Markdown"
        return [
            *parameter_actions(self.shown, self._narrow),
            Action(text=words, do=self._copy, icon="copy", apart=True, enabled=number > 0),
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

    def _narrow(self, shown: ParametersShown) -> None:
        self.shown = shown
        self._show()
        self.narrowed.emit(shown)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(markdown_table(HEADS, cells_of(self.found())))


def _below(button: QWidget) -> QPoint:
    return button.mapToGlobal(QPoint(0, button.height() + 4))


def keep_parameters(parameters: ParameterList, settings: Settings) -> None:
    """Narrow and sort them as they were left, now and at every start."""
    parameters.shown = parameters_shown_of(settings.get(KEPT, {}))
    parameters.narrowed.connect(lambda shown: settings.set(KEPT, shown.to_keep()))
