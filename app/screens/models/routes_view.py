"""Widgets of the Routes tab: routers with their settings, the tester with the routes, and the comparison."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.session import Session
from app.screens.models.comparison_pane import ComparisonPane
from app.screens.models.definition_dialog import model_picker
from app.screens.models.route_rows import UTTERANCES
from app.screens.models.routes_presenter import EMBEDDERS
from app.theme import Role, Size, sized
from app.widgets import (
    CardList,
    CardRow,
    Field,
    FlowText,
    LineEdit,
    Links,
    ListTable,
    MenuButton,
    Row,
    Rule,
    ScrollPane,
    Segmented,
    Split,
    TextArea,
)
from mcp_tef import ModelRoute, ModelRouter

TRY, COMPARE = "try", "compare"
ROUTE_HEIGHT, MOST_ROUTES, LEAST_UTTERANCES = 76, 4, 116
NARROW: Final = 940


class RoutesView:
    """Owns the widgets; `panes` are the tester and the comparison, one at a time where there is little room."""

    def __init__(self, session: Session, cards: CardList) -> None:
        self.default = model_picker("Otherwise", [])
        self.embedder = MenuButton("Compared by", list(EMBEDDERS.items()))
        self.threshold, self.own_threshold = LineEdit(), LineEdit()
        self.threshold_field = Field("Threshold of the router", self.threshold)
        self.rail = self._make_rail(cards)
        self.query = TextArea("Type a query", lines=2)
        self.head, self.note = FlowText(size=Size.LEAD, strong=True), FlowText(role=Role.DIM)
        self.routes = CardList("Routes", row_height=sized(ROUTE_HEIGHT))
        self.target = model_picker("Runs as", [])
        self.own_field = Field("Threshold", self.own_threshold)
        self.utterances = ListTable(UTTERANCES, "Utterances")
        self.links = Links()
        self.comparison = ComparisonPane(session)
        self.views = Segmented([(TRY, "Try a query"), (COMPARE, "Comparison")], "View")
        self._bar = QWidget()
        self.tester = ScrollPane(self._make_tester(), "Tester")
        self.split = Split([self.tester, self.comparison], "Tester and comparison", [478, 412])
        self.panes = self._make_panes()
        self._width = 0
        self.views.changed.connect(lambda _: self.place_panes(self._width))

    def _make_rail(self, cards: CardList) -> QWidget:
        rail, settings = QWidget(), QWidget()
        below = QVBoxLayout(settings)
        below.setContentsMargins(16, 12, 16, 12)
        below.setSpacing(8)
        for field in (Field("Otherwise", self.default), Field("Compared by", self.embedder), self.threshold_field):
            below.addWidget(field)
        below.addStretch(1)
        column = QVBoxLayout(rail)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(cards, 1)
        column.addWidget(Rule())
        column.addWidget(ScrollPane(settings, "Settings of the router"), 1)
        return rail

    def _make_tester(self) -> QWidget:
        tester, head, row = QWidget(), QVBoxLayout(), QHBoxLayout()
        head.setContentsMargins(16, 12, 16, 8)
        head.setSpacing(6)
        for part in (Field("What a user says", self.query), self.head, self.note):
            head.addWidget(part)
        self.own_threshold.setPlaceholderText("that of the router")
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(12)
        row.addWidget(Field("Runs as", self.target), 2)
        row.addWidget(self.own_field, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 6, 16, 8)
        foot.addWidget(self.links, 1)
        column = QVBoxLayout(tester)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Rule())
        column.addWidget(self.routes)
        column.addLayout(row)
        column.addWidget(Rule())
        column.addWidget(self.utterances, 1)
        column.addLayout(foot)
        tester.setMinimumWidth(sized(300))
        self.utterances.setMinimumHeight(sized(LEAST_UTTERANCES))
        return tester

    def _make_panes(self) -> QWidget:
        panes = QWidget()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(16, 8, 16, 0)
        bar.addWidget(self.views)
        column = QVBoxLayout(panes)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._bar)
        column.addWidget(self.split, 1)
        self.comparison.setMinimumWidth(sized(300))
        return panes

    def place_panes(self, width: int) -> None:
        """Show both panes where there is room, else the selected one."""
        self._width = width
        narrow = width < sized(NARROW)
        self._bar.setVisible(narrow)
        self.tester.setVisible(not narrow or self.views.current() == TRY)
        self.comparison.setVisible(not narrow or self.views.current() == COMPARE)

    def show_settings(self, router: ModelRouter) -> None:
        """Show the settings of a router; an embedder that is not offered is shown by its name."""
        self.default.set_current(router.default)
        known = EMBEDDERS if router.embedder in EMBEDDERS else {**EMBEDDERS, router.embedder: router.embedder}
        self.embedder.set_choices(list(known.items()), router.embedder)
        self.threshold.setText(f"{router.threshold:g}")
        self.threshold_field.set_error("")

    def show_decision(self, head: str, note: str, *, wrong: bool) -> None:
        """Show where the query goes, and why."""
        self.head.set_text(head)
        self.note.set_text(note, Role.BAD if wrong else Role.DIM)

    def show_routes(self, cards: Sequence[CardRow]) -> None:
        """Show the routes of the router, as high as the first few need."""
        self.routes.set_rows(cards)
        self.routes.setFixedHeight(sized(ROUTE_HEIGHT) * max(1, min(MOST_ROUTES, len(cards))))

    def show_route(self, router: ModelRouter, route: ModelRoute, utterances: Sequence[Row]) -> None:
        """Show target, threshold and utterances of the selected route."""
        self.target.set_current(route.target)
        self.own_threshold.setText("" if route.threshold is None else f"{route.threshold:g}")
        self.own_field.set_error("")
        self.own_threshold.setPlaceholderText(f"{router.threshold:g}")
        self.utterances.set_rows(utterances)
