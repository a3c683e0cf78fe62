"""The head of a page: its title, a count, and at the right what can be done."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Role, Size, height, space, theme
from app.widgets.actions import Action, Button, MenuOpener, button, show_menu
from app.widgets.fields import SearchField
from app.widgets.label import Label

SEARCH_WIDTH = 200
MOST_SEARCH_WIDTH = 260


class PageHeader(QWidget):
    """56 pixels over a hairline: title and count, then search, filter and buttons from left to right."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search: SearchField | None = None
        self.filter: Button | None = None
        self._buttons: list[Button] = []
        self._title = Label(title, size=Size.TITLE, strong=True)
        self._count = Label(role=Role.DIM, tabular=True)
        self._filter_actions: Callable[[], Sequence[Action]] = tuple
        self.setFixedHeight(height("page_header"))
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(space("page_margin"), 0, space("page_margin"), 0)
        self._row.setSpacing(space("between_controls"))
        self._row.addWidget(self._title)
        self._row.addSpacing(4)
        self._row.addWidget(self._count)
        self._row.addStretch(1)

    def set_title(self, title: str) -> None:
        """Another title."""
        self._title.setText(title)

    def set_count(self, text: str) -> None:
        """A number beside the title, as text."""
        self._count.setText(text)

    def place(self, widget: QWidget, *, beside_title: bool = False) -> None:
        """Put a widget of the page beside the title, or at the right of what is already there."""
        self._row.insertWidget(3 if beside_title else self._row.count(), widget)

    def set_search(self, placeholder: str) -> SearchField:
        """Have a search field; listen to its `searched`."""
        self.search = SearchField(placeholder)
        words = self.search.fontMetrics().horizontalAdvance(placeholder)
        self.search.setFixedWidth(max(SEARCH_WIDTH, min(MOST_SEARCH_WIDTH, words + 56)))
        self._row.addWidget(self.search)
        return self.search

    def set_filter(self, actions: Callable[[], Sequence[Action]]) -> None:
        """Have a filter button that opens a menu of these actions, asked for each time."""
        self._filter_actions = actions
        self.filter = MenuOpener("Filter")
        self.filter.clicked.connect(self._open_filter)
        self._row.addWidget(self.filter)

    def mark_filter(self, active: int) -> None:
        """Show how many filters are in force."""
        if self.filter is not None:
            self.filter.setText(f"Filter: {active}" if active else "Filter")

    def set_buttons(self, actions: Sequence[Action]) -> None:
        """Have these buttons at the right end, instead of those before; equal texts are kept as they are."""
        wanted = [(action.text, action.kind, action.icon) for action in actions]
        if wanted == [(made.text(), made.property("kind"), made.icon_name) for made in self._buttons]:
            self._rewire(actions)
            return
        for made in self._buttons:
            made.hide()
            made.deleteLater()
        self._buttons = [button(action, self) for action in actions]
        for made in self._buttons:
            self._row.addWidget(made)

    def buttons(self) -> tuple[Button, ...]:
        """The buttons, from left to right."""
        return tuple(self._buttons)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))

    def _rewire(self, actions: Sequence[Action]) -> None:
        for made, action in zip(self._buttons, actions, strict=True):
            made.rewire(action)

    def _open_filter(self) -> None:
        if self.filter is not None:
            show_menu(self._filter_actions(), self.filter.mapToGlobal(QPoint(0, self.filter.height() + 4)), self)
