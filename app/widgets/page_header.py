"""The head of a page: its title, a count, and at the right what can be done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Role, Size, height, sized, space, theme
from app.widgets.actions import Action, Button, IconButton, MenuOpener, button, show_menu_under
from app.widgets.choices import Segmented
from app.widgets.fields import SearchField
from app.widgets.text_view import Label

LEAST_SEARCH_WIDTH, SEARCH_WIDTH, MOST_SEARCH_WIDTH = 120, 200, 260
AHEAD = 1_000
LEAST_WIDTH, PAD = 320, 12
DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


@dataclass(frozen=True, slots=True)
class Step:
    """Parts that a header hides as it gets narrower."""

    icons: bool = False
    asides: bool = False
    lines: int = 1
    folded: bool = False
    squeezed: bool = False


STEPS = (
    Step(icons=True, asides=True),
    Step(asides=True),
    Step(),
    Step(asides=True, squeezed=True),
    Step(asides=True, lines=2),
    Step(lines=2),
    Step(lines=2, folded=True),
)


class PageHeader(QWidget):
    """56 pixels over a hairline: title and count, then search, filter and buttons from left to right.

    With too little room, it first drops icons, then help and count beside the title, and then has two lines.
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self.search: SearchField | None = None
        self.filter: Button | None = None
        self._buttons: list[Button] = []
        self._step, self._offers_help = STEPS[0], False
        self._choices: list[Segmented] = []
        self._title = Label(title, size=Size.TITLE, strong=True)
        self._count = Label(role=Role.DIM, tabular=True)
        self._filter_actions: Callable[[], Sequence[Action]] = tuple
        self._help = IconButton("question", "How this works (F1)")
        self._help.hide()
        self._tools = QWidget()
        self._lines, self._head, self._row = QVBoxLayout(self), QHBoxLayout(), QHBoxLayout(self._tools)
        self._lay_out()

    def _lay_out(self) -> None:
        for row in (self._head, self._row):
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(space("between_controls"))
        for part in (self._title, self._help, self._count):
            self._head.addWidget(part)
        self._head.addStretch(0)
        self._head.addWidget(self._tools, 1)
        self._row.addStretch(1)
        self._lines.addLayout(self._head)
        self._set_lines(1)

    def offer_help(self, show: Callable[[], object]) -> None:
        """Have a mark beside the title that shows how the page works."""
        self._help.clicked.connect(lambda: show())
        self._offers_help = True
        self._help.setVisible(self._step.asides)

    def set_title(self, title: str) -> None:
        """Another title."""
        self._title.setText(title)

    def set_count(self, text: str) -> None:
        """Show a number beside the title, as text."""
        self._count.setText(text)

    def place(self, widget: QWidget, *, beside_title: bool = False) -> None:
        """Put a widget of the page beside the title, or at the right of what is already there."""
        if isinstance(widget, Segmented):
            widget.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            self._choices.append(widget)
        if beside_title:
            self._head.insertWidget(self._head.indexOf(self._count) + 1, widget)
        else:
            self._row.addWidget(widget)

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
        if self.filter is not None:
            self.filter.setText(f"Filter: {active}" if active else "Filter")

    @property
    def searched_for(self) -> str:
        """Text of the search field."""
        return self.search.text() if self.search is not None else ""

    def set_buttons(self, actions: Sequence[Action]) -> None:
        """Have these buttons at the right end, instead of those before; equal texts are kept as they are."""
        wanted = [(action.text, action.kind, action.icon) for action in actions]
        if wanted != [(made.text(), made.kind, made.icon_name) for made in self._buttons]:
            for made in self._buttons:
                made.hide()
                made.deleteLater()
            self._buttons = [button(action, self) for action in actions]
            for made in self._buttons:
                made.show_icon(shown=self._step.icons)
                self._row.addWidget(made)
        for made, action in zip(self._buttons, actions, strict=True):
            made.rewire(action)

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons, from left to right."""
        return tuple(self._buttons)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_WIDTH, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return done

    def _fit(self) -> None:
        """Take the first step for which there is room."""
        step = next((step for step in STEPS if self._wanted(step) <= self.width()), STEPS[-1])
        if step == self._step:
            return
        before, self._step = self._step, step
        for made in self._buttons:
            made.show_icon(shown=step.icons)
        for choice in self._choices:
            choice.fold(step.folded)
        self._help.setVisible(self._offers_help and step.asides)
        self._count.setVisible(step.asides)
        if step.lines != before.lines:
            self._set_lines(step.lines)

    def _wanted(self, step: Step) -> int:
        """Return the minimum width for a step."""
        asides = (self._help, self._count) if self._offers_help else (self._count,)
        head = [self._title, *self._choices, *(asides if step.asides else ())]
        widths = [sum(self._least(part, step) for part in parts) for parts in (head, self._shown_tools())]
        return 2 * space("page_margin") + (sum(widths) if step.lines == 1 else max(widths))

    def _shown_tools(self) -> list[QWidget]:
        parts = (part for part in self._tools.findChildren(QWidget, options=DIRECT) if self._row.indexOf(part) >= 0)
        return [one for one in parts if not one.isHidden()]

    def _least(self, part: QWidget, step: Step) -> int:
        """Return the minimum width of a part, with the gap beside it."""
        gap = self._row.spacing()
        if isinstance(part, Segmented):
            least = part.squeezed_width() if step.squeezed else part.whole_width()
            return gap + (part.folded_width() if step.folded else least)
        least = gap + part.minimumSizeHint().expandedTo(part.minimumSize()).width()
        if isinstance(part, Button) and part in self._buttons and part.icon_name:
            least += (part.iconSize().width() + 4) * (step.icons - self._step.icons)
        return least

    def _set_lines(self, lines: int) -> None:
        """Have the tools beside the title, or below it."""
        side, pad, line = space("page_margin"), PAD if lines > 1 else 0, height("button_and_field")
        self._lines.setContentsMargins(side, pad, side, pad)
        if lines > 1:
            self._lines.addWidget(self._tools)
        else:
            self._head.addWidget(self._tools, 1)
        self.setFixedHeight(2 * line + 3 * PAD if lines > 1 else height("page_header"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))

    def _open_filter(self) -> None:
        if self.filter is not None:
            show_menu_under(self._filter_actions(), self.filter)
