"""Tab of crowd tests: the curves, the wrong runs of a point, and what was selected instead."""

from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core_link.session import Page
from app.core_link.targets import AddServer, ChangeTool, NewCases, Screen, ShowRuns, ShowScreen
from app.screens.workshop.batch_tab import STACKED, BatchTab
from app.screens.workshop.crowd_presenter import BUNDLED, KINDS, CrowdPresenter
from app.screens.workshop.crowd_rows import (
    CALLS,
    COST,
    MEASURES,
    ORDER_COLUMNS,
    PICK_COLUMNS,
    TOKENS,
    WRONG_COLUMNS,
    cost_plot,
    crowd_plot,
    crowd_table,
    losses,
    measures,
    order_rows,
    pick_rows,
    point_text,
    searched_texts,
    tokens_plot,
    wrong_rows,
)
from app.text.data_tables import DataTable, Value
from app.text.formatting import count
from app.theme import Role, Size, sized
from app.widgets import Action, DetailPane, FlowText, Links, ListTable, Mark, MenuButton, Segmented, Split, one_line
from app.widgets.chart import ChartPanel
from app.widgets.line_chart import LineChart
from mcp_tef import CrowdKind, RunFilter, RunId

SHORT: Final = 24
MEASURE_WIDTH: Final = 228
WRONG, PICKS, ORDER = "wrong", "picks", "order"
CHART_HELP: Final = (
    "The share of cases whose expected tool is selected, against the number of other tools offered with it. Bands are "
    "95 % intervals over cases and crowds. Click a point to list its wrong runs."
)
NO_CASES: Final = (
    "A crowd test shows among how many other tools yours are still selected: one curve for each model, and where it "
    "falls. It needs test cases that expect a tool."
)


class WrongRunsPane(QWidget):
    """The wrong runs of one point, with what to do with the selected one."""

    def __init__(self) -> None:
        super().__init__()
        self.about = FlowText(size=Size.SMALL, role=Role.DIM)
        self.links = Links()
        self.table = ListTable(WRONG_COLUMNS, "Wrong runs")
        self.table.describe_keys(Enter="Show the run")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        head = QVBoxLayout()
        head.setContentsMargins(16, 8, 16, 4)
        head.setSpacing(4)
        head.addWidget(self.about)
        head.addWidget(self.links, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(head)
        column.addWidget(self.table, 1)


class CrowdTab(BatchTab[CrowdPresenter]):
    """Starts a crowd test, draws its curves as results come, and leads from a point to its wrong runs."""

    def __init__(self, page: Page) -> None:
        self.tool, self.source, self.kind = MenuButton("Tool"), MenuButton("Other tools"), MenuButton("Kind of crowd")
        model = MenuButton("Models")
        super().__init__(page, CrowdPresenter(page.session.call), model, (self.tool, self.source, self.kind, model))
        self.chart = LineChart("Correct tool among other tools")
        self.measure = Segmented(MEASURES, "What the curves show")
        self.panel = ChartPanel("By other tools", self.chart)
        self.measure.setMaximumWidth(sized(MEASURE_WIDTH))
        self.panel.add_tool(self.measure)
        self.panel.setMinimumSize(320, 200)
        self.wrong = WrongRunsPane()
        self._enters_wrong = False
        self.picks = ListTable(PICK_COLUMNS, "Selected instead")
        self.order = ListTable(ORDER_COLUMNS, "Order and silence")
        self.details = DetailPane("Results of the crowd test")
        self.details.add_tab(WRONG, "Wrong runs", self.wrong, scroll=False)
        self.details.add_tab(PICKS, "Selected instead", self.picks, scroll=False)
        self.details.add_tab(ORDER, "Order and silence", self.order, scroll=False)
        self.details.setMinimumWidth(300)
        self.split = Split([self.panel, self.details], "Curves and runs", [560, 380])
        self.split.set_stretch(0)
        self.lay_out(self.split)
        self._connect()

    def _connect(self) -> None:
        self.tool.changed.connect(lambda key: self._set("tool", key))
        self.kind.changed.connect(lambda key: self._set("kind", CrowdKind(key)))
        self.source.changed.connect(self._choose_source)
        self.measure.changed.connect(lambda _: self._show_chart())
        self.chart.chosen.connect(lambda key: self.show_point(int(key)))
        self.panel.save_wanted.connect(lambda ending: self.exports.ask_chart(self.panel, self._table(), (ending,)))
        self.panel.enlarge_wanted.connect(self._enlarge)
        self.wrong.table.opened.connect(self.show_run)
        self.wrong.table.chosen.connect(lambda _: self._show_links())
        self.wrong.table.set_menu(lambda _: self._run_actions())

    def _set(self, name: str, value: object) -> None:
        setattr(self.presenter, name, value)
        self.session.spawn(self.replan())

    def _choose_source(self, key: str) -> None:
        self.presenter.toggle_source(key)
        self.session.spawn(self.replan())

    def _enlarge(self) -> None:
        self.panel.large = not self.panel.large
        self.details.setVisible(not self.panel.large)

    def option_actions(self) -> list[Action]:
        presenter = self.presenter
        same = Action(
            text="Accept tools that do the same",
            do=lambda: self._set("accept_equivalents", not presenter.accept_equivalents),
            checked=presenter.accept_equivalents,
        )
        return [*super().option_actions(), same]

    # ------------------------------------------------------------ showing

    def show_all(self) -> None:
        presenter = self.presenter
        super().show_all()
        if not presenter.has_cases and presenter.result is None:
            self._show_nothing()
            return
        self.setCurrentIndex(2)
        self._show_inputs()
        self._show_sentence()
        self._show_chart()
        table = self._table()
        self.panel.set_values(table.columns, lambda: [list(map(_shown, row)) for row in table.rows])
        self.picks.set_rows(pick_rows(presenter.result))
        self.order.set_rows(order_rows(presenter.result))
        self._show_wrong()

    def _show_chart(self) -> None:
        result = self.presenter.result
        self.measure.set_choices(measures(result))
        self.measure.setVisible(result is not None)
        match self.measure.current():
            case measure if measure == TOKENS and result is not None:
                self.chart.set_plot(tokens_plot(result))
                self.panel.set_note("in one call", CHART_HELP)
            case measure if measure == COST and result is not None:
                self.chart.set_plot(cost_plot(result))
                self.panel.set_note(f"{CALLS:,} calls", CHART_HELP)
            case _:
                self.chart.set_plot(crowd_plot(result, self.presenter.line))
                self.panel.set_note("95 % bands" if result else "no model asked", CHART_HELP)

    def _show_inputs(self) -> None:
        presenter = self.presenter
        self.tool.set_choices(presenter.tools(), presenter.tool)
        self.kind.set_choices([(kind.value, text) for kind, text in KINDS], presenter.kind.value)
        servers = [(name, name) for name in presenter.servers]
        self.source.set_choices([(BUNDLED, "Bundled crowd"), *([None, *servers] if servers else [])], BUNDLED)
        self.source.set_ticked(presenter.among or (BUNDLED,), count(len(presenter.among), "server"))

    def _show_nothing(self) -> None:
        if self.presenter.servers:
            act = Action(text="Write a test case", do=lambda: self.session.go(NewCases(())), kind="primary")
        else:
            act = Action(text="Add server…", do=lambda: self.session.go(AddServer()), kind="primary", icon="plus")
        sample = Action(text="Show test cases", do=lambda: self.session.go(ShowScreen(Screen.CASES)))
        self.show_empty("No case expects a tool yet", NO_CASES, [act, sample])

    def _show_sentence(self) -> None:
        presenter, result = self.presenter, self.presenter.result
        if result is None:
            head = presenter.line_text() or presenter.problem or "No crowd test was done yet."
            start = "Start the test to see among how many other tools yours are still selected."
            note = "" if presenter.problem else start
            self.banner.show_lines([(Mark.BLANK, "not asked yet", head)], note, [])
            return
        note = " · ".join((presenter.how_text(), *searched_texts(result)))
        self.banner.show_lines(losses(result), note, self.links())

    def _table(self) -> DataTable:
        return crowd_table(self.presenter.result, self.presenter.line)

    def place_panes(self) -> None:
        """Put the lists below the curves where there is no room beside them."""
        narrow = self.width() < sized(STACKED)
        self.split.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)

    # ------------------------------------------------------------ runs of a point

    def show_point(self, place: int) -> None:
        """List the wrong runs of a point; the keyboard follows from the curves as soon as they are read."""
        self.details.set_current(WRONG)
        self._enters_wrong = self.chart.hasFocus()
        self.session.spawn(self._show_point(place))

    async def _show_point(self, place: int) -> None:
        await self.presenter.show_point(place)
        self._show_wrong()

    def _show_wrong(self) -> None:
        point, wrong = self.presenter.shown_point(), self.presenter.wrong
        if point is None:
            self.wrong.about.set_text("Click a point of a curve to list its wrong runs.")
        else:
            head = point_text(point).partition("\n")[0]
            self.wrong.about.set_text(f"{head}. {count(len(wrong), 'wrong run')}.")
        self.wrong.table.set_rows(wrong_rows(wrong))
        if wrong and not self.wrong.table.current_id():
            self.wrong.table.select_first()
        if wrong and self._enters_wrong:
            self._enters_wrong = False
            if self.window().focusWidget() is self.chart:  # not where the user has gone on meanwhile
                self.wrong.table.setFocus()
        self._show_links()

    def _show_links(self) -> None:
        self.wrong.links.set_links(self._run_actions())

    def _run_actions(self) -> list[Action]:
        """Return what to do with the selected wrong run."""
        run = next((one for one in self.presenter.wrong if one.id == self.wrong.table.current_id()), None)
        if run is None:
            return []
        found = [Action(text="Show the run", do=partial(self.show_run, run.id), kind="link")]
        if (tool := self.presenter.expected(run)) is not None:
            reason = f"{run.selected_tool or 'no tool'} was selected instead for “{run.case_name}”"
            target = ChangeTool(tool, reason, beside=run.id)
            text = f"Change beside {one_line(run.selected_tool, SHORT)}" if run.selected_tool else "Change the tool"
            found.append(Action(text=text, do=partial(self.session.go, target), kind="link"))
        return found

    def show_run(self, key: str) -> None:
        """Show a wrong run among all of its point."""
        runs, point = self.presenter.wrong, self.presenter.shown_point()
        if point is not None:
            where = RunFilter(run_ids=tuple(run.id for run in runs))
            title = f"Wrong among {count(point.strangers, 'other tool')}"
            self.session.go(ShowRuns(where, title, RunId(key)))

    def export(self) -> None:
        """Ask for a file, and export the test."""
        self.ask_export("Crowd test", self._table(), self.panel)


def _shown(value: Value) -> str:
    if value is None:
        return "–"
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
