"""Widgets of the Routes tab: routers, the tester with the routes, the comparison of a router, and the dialogs."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.session import Session
from app.dialogs.export import ask_file, picture_writers, table_writers
from app.screens.models.definition_tab import DefinitionDialog, model_items, model_picker
from app.screens.models.route_rows import (
    ARMS,
    UTTERANCES,
    WENT,
    arm_rows,
    comparison_table,
    curve_plot,
    is_flat,
    went_rows,
)
from app.screens.models.routes_presenter import (
    EMBEDDERS,
    RouteComparisonRequest,
    comparison_texts,
    made_route,
    suggestion_text,
)
from app.text.data_tables import Value
from app.theme import Role, Size, height, sized
from app.widgets import (
    Button,
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
    column_layout,
    row_layout,
)
from app.widgets.chart import ChartPanel
from app.widgets.line_chart import LineChart
from mcp_tef import ModelRoute, ModelRouter, RouteComparison

NOT_YET: Final = (
    "Compare routing with always asking the smallest and always asking the largest model, from stored runs of your "
    "test cases. Nothing is sent to a model."
)
CURVE_HELP: Final = (
    "Share of correct calls against the cost of a hundred calls, one point for each threshold of the router. The band "
    "is the 95 % interval."
)
FLAT: Final = (
    "Every threshold of the router sends these cases to the same models: its routes have thresholds of their own."
)
MOST_ROWS: Final = 6


def _shown(value: Value) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


class ComparisonPane(ScrollPane):
    """`runs_wanted` asks for the missing runs, `threshold_wanted` gives the suggested threshold."""

    runs_wanted = Signal()
    threshold_wanted = Signal(float)

    def __init__(self, session: Session) -> None:
        self._session = session
        self._found: RouteComparison | None = None
        self.head, self.note = FlowText(size=Size.LEAD, strong=True), FlowText(size=Size.SMALL, role=Role.DIM)
        self.run = Button("Run what is missing…", kind="link")
        self.arms, self.went = ListTable(ARMS, "Ways of asking"), ListTable(WENT, "Where the cases went")
        self.chart = LineChart("Correct calls by threshold")
        self.panel = ChartPanel("Correct calls against cost, by threshold", self.chart)
        self.suggestion, self.use = FlowText(), Button("Use it")
        self._shown_with_arms: list[QWidget] = []
        super().__init__(self._inside(), "Comparison")
        self.run.clicked.connect(self.runs_wanted)
        self.use.clicked.connect(self._use)
        self.chart.chosen.connect(lambda text: self.threshold_wanted.emit(float(text)))
        self.panel.save_wanted.connect(self.save)

    def _inside(self) -> QWidget:
        inside, head, foot = QWidget(), QVBoxLayout(), QWidget()
        head.setContentsMargins(16, 12, 16, 8)
        head.setSpacing(4)
        for part in (self.head, self.note):
            head.addWidget(part)
        head.addWidget(self.run, 0, Qt.AlignmentFlag.AlignLeft)
        row = row_layout(foot, margins=(16, 8, 16, 8), spacing=8)
        row.addWidget(self.suggestion, 1)
        row.addWidget(self.use)
        self.panel.setMinimumHeight(sized(230))
        self._shown_with_arms = [self.arms, self.panel, Rule(), foot, Rule(), self.went]
        column = column_layout(inside, head)
        for one in self._shown_with_arms:
            column.addWidget(one, int(one is self.panel))
        column.addStretch(0)
        return inside

    def show_comparison(self, router: ModelRouter, found: RouteComparison | None) -> None:
        """Show a comparison of a router, or how one is made."""
        self._found = found
        some = found is not None and bool(found.arms)
        for part in self._shown_with_arms:
            part.setVisible(some)
        self.run.setVisible(found is not None and found.left_out > 0)
        head, note = comparison_texts(found) if found else ("Not compared yet", NOT_YET)
        self.head.set_text(head)
        self.note.set_text(note)
        if found is not None and some:
            self._show_arms(router, found)

    def _show_arms(self, router: ModelRouter, found: RouteComparison) -> None:
        self.arms.set_rows(arm_rows(found))
        self.went.set_rows(went_rows(found, router.default))
        for table in (self.arms, self.went):
            rows = min(MOST_ROWS, table.rows.rowCount())
            table.setFixedHeight(height("table_row") * (rows + 1) + 4)
        self.chart.set_plot(curve_plot(found))
        self.panel.set_note(f"now {router.threshold:.2f}", CURVE_HELP)
        self.panel.set_message(FLAT if is_flat(found) else "")
        values = comparison_table(found)
        self.panel.set_values(values.columns, lambda: [list(map(_shown, row)) for row in values.rows])
        self._show_suggestion(router, found)

    def _show_suggestion(self, router: ModelRouter, found: RouteComparison) -> None:
        best = None if is_flat(found) else found.suggested
        self.suggestion.set_text(suggestion_text(found) if best else "")
        self.use.setVisible(best is not None and abs(best.threshold - router.threshold) > 1e-9)
        self.use.setText(f"Use {best.threshold:.2f}" if best else "")

    def _use(self) -> None:
        if self._found is not None and self._found.suggested is not None:
            self.threshold_wanted.emit(self._found.suggested.threshold)

    def can_save(self) -> bool:
        """Return True if there is a comparison to export."""
        return self._found is not None and bool(self._found.arms)

    def save(self, ending: str = "") -> None:
        """Ask for a file, and export the comparison as a table or the curve as a picture."""
        if self._found is None or not self._found.arms:
            return
        table = comparison_table(self._found)
        writers = {**table_writers(table), **picture_writers(self.chart, self.panel.picture_title())}
        wanted = {ending: writers[ending]} if ending else writers
        ask_file(self, self._session, f"Export the {table.name.lower()}", table.file_name, wanted)


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
        self.sidebar = self._make_sidebar(cards)
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

    def _make_sidebar(self, cards: CardList) -> QWidget:
        sidebar, settings = QWidget(), QWidget()
        below = column_layout(
            settings,
            Field("Otherwise", self.default),
            Field("Compared by", self.embedder),
            self.threshold_field,
            margins=(16, 12, 16, 12),
            spacing=8,
        )
        below.addStretch(1)
        column = column_layout(sidebar)
        column.addWidget(cards, 1)
        column.addWidget(Rule())
        column.addWidget(ScrollPane(settings, "Settings of the router"), 1)
        return sidebar

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
        foot = row_layout(margins=(16, 6, 16, 8), spacing=None)
        foot.addWidget(self.links, 1)
        column = column_layout(tester, head, Rule(), self.routes, row, Rule())
        column.addWidget(self.utterances, 1)
        column.addLayout(foot)
        tester.setMinimumWidth(sized(300))
        self.utterances.setMinimumHeight(sized(LEAST_UTTERANCES))
        return tester

    def _make_panes(self) -> QWidget:
        panes = QWidget()
        row_layout(self._bar, self.views, margins=(16, 8, 16, 0), spacing=None)
        column = column_layout(panes, self._bar)
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


SAMPLE = "Which of these offers is better, and why?\nCompare two bikes for my way to work"


class RouteDialog(DefinitionDialog):
    """A route with its utterances, below the name and the default of a new router."""

    def __init__(
        self, session: Session, title: str, button: str, known: Sequence[str], parent: QWidget, *, named: bool
    ) -> None:
        super().__init__(session, title, button, parent, width=520)
        if named:
            self.name = self.add_line("Name", note="The router is run as router/NAME.")
            self.default = self.add_model("Otherwise", model_items(known), note="Asked where no route is near enough.")
        self.target = self.add_model("First route runs as" if named else "Runs as", model_items(known))
        self.utterances = TextArea(SAMPLE, lines=4)
        self.body.addWidget(Field("Utterances, one a line", self.utterances, note="Sentences that call for it."))
        (self.name if named else self.target).setFocus()

    def route(self) -> ModelRoute:
        """Return the route; InputError."""
        lines = (line.strip() for line in self.utterances.text().splitlines())
        return made_route(self.target.current(), [line for line in lines if line])


class CompareDialog(DefinitionDialog):
    """The cases of a comparison, and the small and the large model."""

    def __init__(
        self,
        session: Session,
        router: ModelRouter,
        suites: Sequence[str],
        last: RouteComparisonRequest,
        parent: QWidget,
    ) -> None:
        super().__init__(session, "Compare on test cases", "Compare", parent, width=460)
        text = "Routing is computed anew; the answers are those of stored runs. Nothing is sent to a model."
        self.body.addWidget(FlowText(text, role=Role.DIM))
        targets = [(one, one) for one in router.targets]
        self.suite = MenuButton("Cases", [("", "All test cases"), *((one, one) for one in suites)])
        self.small = MenuButton("Always small", [("", "The cheapest by the catalogue"), *targets])
        self.large = MenuButton("Always large", [("", "The dearest by the catalogue"), *targets])
        for menu, label, now in (
            (self.suite, "Cases", last.suite),
            (self.small, "Always small", last.small),
            (self.large, "Always large", last.large),
        ):
            menu.set_current(now)
            self.body.addWidget(Field(label, menu))

    def request(self) -> RouteComparisonRequest:
        """Return what was selected."""
        return RouteComparisonRequest(
            suite=self.suite.current(), small=self.small.current(), large=self.large.current()
        )
