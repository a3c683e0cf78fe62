"""The tools of a server as a list: several can be chosen, filtered and sorted."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.servers.rows import SPECIAL
from app.theme import Role, Size, height
from app.widgets import Action, IconButton, LineText, RailList, RailRow, Rule, show_menu

Actions = Callable[[], Sequence[Action]]


class ToolSide(QWidget):
    """A head with two menus over the list: what narrows it, and what can be done with the chosen tools."""

    def __init__(self) -> None:
        super().__init__()
        self.list = RailList("Tools", row_height=height("table_row"), many=True)
        self.narrow = IconButton("funnel", "Filter and sort the tools", size=14)
        self.more = IconButton("dots-three", "What can be done with the chosen tools")
        self._title = LineText(size=Size.SMALL, role=Role.DIM, strong=True)
        head = QWidget()
        head.setFixedHeight(height("rail_header") - 1)
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 0, 4, 0)
        row.setSpacing(0)
        row.addWidget(self._title, 1)
        row.addWidget(self.narrow)
        row.addWidget(self.more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (head, Rule()):
            column.addWidget(part)
        column.addWidget(self.list, 1)
        self.setMinimumWidth(140)

    def offer(self, narrowing: Actions, deeds: Actions) -> None:
        """What the two menus hold, asked for each time."""
        for button, actions in ((self.narrow, narrowing), (self.more, deeds)):
            button.clicked.connect(lambda _=False, made=button, ask=actions: _open(made, ask()))

    def show_rows(self, rows: Sequence[RailRow], title: str) -> None:
        """Show these under a title."""
        self.list.set_rows(rows)
        self._title.set_text(title)

    def title(self) -> str:
        """What stands over the list."""
        return self._title.text()

    def chosen(self) -> tuple[str, ...]:
        """The names of the chosen tools, in the order shown."""
        return tuple(name for name in self.list.selected_ids() if name not in SPECIAL)


def _open(made: QWidget, actions: Sequence[Action]) -> None:
    show_menu(actions, made.mapToGlobal(QPoint(0, made.height() + 4)), made)
