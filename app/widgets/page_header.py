"""The head of a page: its title, a count, and at the right what can be done."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import Role, Size, height, sized, space, theme
from app.widgets.actions import Action, Button, IconButton, MenuOpener, button, show_menu_under
from app.widgets.fields import SearchField
from app.widgets.label import Label

LEAST_SEARCH_WIDTH, SEARCH_WIDTH, MOST_SEARCH_WIDTH = 120, 200, 260
AHEAD = 1_000
LEAST_WIDTH, SLACK = 320, 12


class PageHeader(QWidget):
    """56 pixels over a hairline: title and count, then search, filter and buttons from left to right."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search: SearchField | None = None
        self.filter: Button | None = None
        self._buttons: list[Button] = []
        self._short, self._offers_help = 0, False
        self._title = Label(title, size=Size.TITLE, strong=True)
        self._count = Label(role=Role.DIM, tabular=True)
        self._filter_actions: Callable[[], Sequence[Action]] = tuple
        self._filters = 0
        self.setFixedHeight(height("page_header"))
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(space("page_margin"), 0, space("page_margin"), 0)
        self._row.setSpacing(space("between_controls"))
        self._help = IconButton("question", "How this works (F1)")
        self._help.hide()
        self._row.addWidget(self._title)
        self._row.addWidget(self._help)
        self._row.addSpacing(4)
        self._row.addWidget(self._count)
        self._row.addStretch(1)

    def offer_help(self, show: Callable[[], object]) -> None:
        """Have a mark beside the title that shows how the page works."""
        self._help.clicked.connect(lambda: show())
        self._offers_help = True
        self._help.setVisible(self._short < 2)

    def set_title(self, title: str) -> None:
        """Another title."""
        self._title.setText(title)

    def set_count(self, text: str) -> None:
        """A number beside the title, as text."""
        self._count.setText(text)

    def place(self, widget: QWidget, *, beside_title: bool = False) -> None:
        """Put a widget of the page beside the title, or at the right of what is already there."""
        self._row.insertWidget(4 if beside_title else self._row.count(), widget)

    def set_search(self, placeholder: str) -> SearchField:
        """Have a search field; listen to its `searched`."""
        self.search = SearchField(placeholder)
        words = self.search.fontMetrics().horizontalAdvance(placeholder)
        self.search.setMinimumWidth(LEAST_SEARCH_WIDTH)
        self.search.setMaximumWidth(max(SEARCH_WIDTH, min(sized(MOST_SEARCH_WIDTH), words + 56)))
        self._row.addWidget(self.search, AHEAD)
        return self.search

    def set_filter(self, actions: Callable[[], Sequence[Action]]) -> None:
        """Have a filter button that opens a menu of these actions, asked for each time."""
        self._filter_actions = actions
        self.filter = MenuOpener("Filter")
        self.filter.clicked.connect(self._open_filter)
        self._row.addWidget(self.filter)

    def mark_filter(self, active: int) -> None:
        """Show how many filters are in force."""
        self._filters = active
        if self.filter is not None:
            self.filter.setText(f"Filter: {active}" if active else "Filter")

    @property
    def searched_for(self) -> str:
        """What is typed into the search field."""
        return self.search.text() if self.search is not None else ""

    @property
    def narrowed(self) -> bool:
        """Whether less than everything is listed, because of a search or a filter."""
        return bool(self._filters or self.searched_for)

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
            made.show_icon(shown=self._short < 1)
            self._row.addWidget(made)

    def buttons(self) -> tuple[Button, ...]:
        """The buttons, from left to right."""
        return tuple(self._buttons)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(LEAST_WIDTH, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return done

    def _fit(self) -> None:
        """Where there is too little room, go without icons, then also without what stands beside the title."""
        least = self._row.minimumSize().width()
        before = self._short
        if least > self.width():
            self._short = min(2, self._short + 1)
        elif self._short and least + self._saved(self._short) + SLACK <= self.width():
            self._short -= 1
        if self._short != before:
            for made in self._buttons:
                made.show_icon(shown=self._short < 1)
            self._help.setVisible(self._offers_help and self._short < 2)
            self._count.setVisible(self._short < 2)

    def _saved(self, short: int) -> int:
        """How much room the last thing gave that was gone without."""
        if short == 1:
            return sum(made.iconSize().width() + 4 for made in self._buttons if made.icon_name)
        asides = (self._help, self._count) if self._offers_help else (self._count,)
        return sum(one.sizeHint().width() + self._row.spacing() for one in asides)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))

    def _rewire(self, actions: Sequence[Action]) -> None:
        for made, action in zip(self._buttons, actions, strict=True):
            made.rewire(action)

    def _open_filter(self) -> None:
        if self.filter is not None:
            show_menu_under(self._filter_actions(), self.filter)
