"""The metrics screen: statistics of all runs that pass the filters, and comparisons of two batches."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

from PySide6.QtGui import QKeyEvent, QResizeEvent, Qt
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import CompareBatches, ShowBatch, ShowBatchMetrics, ShowPair, StartRuns, Target
from app.dialogs.export import ChartExports, copy_markdown, export_comparison, export_runs
from app.dialogs.export_presenter import ExportPresenter
from app.screens.kit import NO_FILTERS, FilterValues, ViewState, ViewStates
from app.screens.kit.menus import ScreenCommand, command_action, menu_of
from app.screens.metrics.batch_comparison import ComparisonView
from app.screens.metrics.commands import (
    CELL,
    CHANGE,
    CLEAR,
    EXPORT,
    PAIR,
    VIEWS,
    MetricsLinks,
    metrics_commands,
)
from app.screens.metrics.compare_pane import ComparePane
from app.screens.metrics.filter_bar import FilterBar
from app.screens.metrics.filters import FIELDS, Dimension
from app.screens.metrics.group_panes import GroupsPane, RepeatsPane
from app.screens.metrics.overview_pane import OverviewPane
from app.screens.metrics.presenter import MetricsPresenter, MetricsState, MetricsView
from app.text.data_tables import DataTable
from app.widgets import Action, EmptyState, ScrollPane, Segmented, show_menu_under
from app.widgets.chart import ChartPanel
from mcp_tef import Event

PAUSE_S = 0.05


class MetricsPage(Page):
    """The Metrics screen; its targets are CompareBatches and ShowBatchMetrics."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="metrics", title="Metrics")
        self.presenter = MetricsPresenter(session.call, lambda: datetime.now(UTC))
        self._views = ViewStates(session.settings, session.workspace, self.key)
        self.presenter.view_state = self._views.load(FIELDS)
        self.exports = ChartExports(self)
        self.links = MetricsLinks(session, self.presenter, self._filter, lambda: self.compare.chosen())
        self._compare_stale = True
        self._outdated: set[str] = set()
        self._against: ComparisonView | None = None
        self._compared = False
        self._shown: dict[str, QWidget] = {}
        self._make_parts()
        self._connect()

    def _make_parts(self) -> None:
        self.views = Segmented(VIEWS, "View")
        self.header.place(self.views, beside_title=True)
        self.search = self.header.set_search("Search tables")
        self.filters = FilterBar(self.presenter, self.header)
        self.empty = EmptyState("chart-bar", "", "")
        self.header.set_buttons([command_action(self._commands[EXPORT], "Export", icon="export")])
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.body.addWidget(self.filters)
        self.body.addWidget(self.stack, 1)
        self.views.set_current(self.presenter.view_state.modes.get("view", ""))

    def _connect(self) -> None:
        self.views.changed.connect(self._turn)
        self.search.searched.connect(self._find)
        self.search.setText(self.presenter.view_state.text)
        self.filters.changed.connect(self._filter)

    # ------------------------------------------------------------------ the views, each made when it is first wanted

    @cached_property
    def overview(self) -> OverviewPane:
        """Metrics, matrix, tools, calibration and trend."""
        pane = OverviewPane()
        pane.cell_opened.connect(lambda row, column: self.links.open_cell((row, column)))
        pane.matrix.own_actions = lambda: menu_of([self._commands[one] for one in (CELL, PAIR, CHANGE)])
        pane.tool_opened.connect(lambda place: self.links.open_tool(pane.tool(place)))
        pane.tools.set_menu(lambda rows: self.links.tool_menu(pane.tool(int(rows[0])) if len(rows) == 1 else None))
        pane.batch_opened.connect(lambda one: self.session.go(ShowBatch(one)))
        pane.compare_wanted.connect(lambda: self.show_view("compare"))
        self.restore_layout("metrics.tools", pane.tools)
        pane.against.show_comparison(self._against, known=self._compared)
        pane.find_rows(self.search.text())
        self._add(ScrollPane(pane, "Overview"), "overview", pane.panels())
        return pane

    @cached_property
    def models(self) -> GroupsPane:
        """Models and servers beside each other."""
        pane = GroupsPane()
        pane.model_opened.connect(lambda label: self.links.open_models([label]))
        pane.server_opened.connect(self.links.open_server)
        pane.models.set_menu(self.links.model_menu)
        pane.servers.set_menu(self.links.server_menu)
        self.restore_layout("metrics.models", pane.models)
        self.restore_layout("metrics.servers", pane.servers)
        pane.find_rows(self.search.text())
        self._add(pane, "models")
        return pane

    @cached_property
    def repeats(self) -> RepeatsPane:
        """Statistics of repeated cases."""
        pane = RepeatsPane()
        pane.case_opened.connect(self.links.open_case)
        pane.flaky.set_menu(self.links.case_menu)
        pane.run_wanted.connect(self._start_runs)
        self.restore_layout("metrics.flaky", pane.flaky)
        pane.find_rows(self.search.text())
        self._add(pane, "repeats", [pane.power])
        return pane

    @cached_property
    def compare(self) -> ComparePane:
        """Two batches side by side."""
        pane = ComparePane(self.presenter, self.session.spawn)
        self.session.closing.connect(pane.settle.stop)
        pane.run_wanted.connect(self._start_runs)
        pane.run_opened.connect(self.links.open_pair)
        pane.table.set_menu(lambda _: self.links.pair_menu(pane.selected_pairs()))
        pane.pair.led.connect(self.session.go)
        pane.split.restore_layout(self.session.settings.get("metrics.compare", []))
        self.restore_layout("metrics.pairs", pane.table)
        pane.find_rows(self.search.text())
        self._add(pane, "compare")
        return pane

    def _add(self, widget: QWidget, key: str, panels: Sequence[ChartPanel] = ()) -> None:
        self._shown[key] = widget
        self.stack.addWidget(widget)
        for panel in panels:
            panel.save_wanted.connect(partial(self._export_chart, panel))

    def _find(self, text: str) -> None:
        """Show only rows that say so, in every view that is there."""
        self._save_view(replace(self.presenter.view_state, text=text))
        for key in self._shown:
            getattr(self, key).find_rows(text)

    def _filled(self, key: str) -> QWidget:
        """Return a view with current content."""
        view, pane = self.presenter.view, getattr(self, key)
        if key in self._outdated and view is not None:
            self._outdated.discard(key)
            pane.show_view(view.repeats if key == "repeats" else view)
        return self._shown[key]

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        first = self.presenter.view is None
        if first and self._current() == "overview":
            await asyncio.sleep(PAUSE_S / 5)
            _ = self.overview
            await asyncio.sleep(PAUSE_S / 5)
        if await self.presenter.load():
            self._show_all()
            if first and self.views.hasFocus() and (part := self.first_focus()) is not None:
                part.setFocus()
            self._compare_stale = True
            await self._refresh_compare()
            await self._make_the_rest()

    async def _make_the_rest(self) -> None:
        """Build the other views ahead, one a turn, so that turning to one of them takes no long yield_to_ui."""
        for key, _ in VIEWS:
            if key not in self._shown and self._ran():
                await asyncio.sleep(PAUSE_S)
                getattr(self, key)

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def open_target(self, target: Target) -> None:
        match target:
            case CompareBatches(older=before, newer=after):
                self.show_view("compare")
                self.session.spawn(self.compare.compare(before, after))
            case ShowBatchMetrics(batch_id=batch_id):
                self.show_view("overview")
                self._filter(NO_FILTERS.with_values(Dimension.BATCH, batch_id))
            case _:
                return

    async def finish(self) -> None:
        settings = self.session.settings
        if "compare" in self._shown:
            settings.set("metrics.compare", self.compare.split.layout_state())

    @cached_property
    def _commands(self) -> Mapping[str, ScreenCommand]:
        return metrics_commands(
            {
                CELL: lambda: self.links.open_cell(self.overview.square.current()),
                PAIR: self._show_pair,
                CHANGE: lambda: self.links.change_tool(self.overview.pair()),
                CLEAR: lambda: self._filter(NO_FILTERS),
                EXPORT: self._open_export,
            },
            self.show_view,
            has_cell=lambda: self._shows_overview() and self.overview.square.current() is not None,
            has_pair=lambda: self._shows_overview() and self.overview.pair() is not None,
            has_filters=lambda: bool(self.presenter.filters),
        )

    def commands(self) -> Sequence[Command]:
        return tuple(self._commands.values())

    def _shows_overview(self) -> bool:
        return self._current() == "overview" and self._full()

    def _show_pair(self) -> None:
        if (pair := self.overview.pair()) is not None:
            self.session.go(ShowPair(*pair))

    def first_focus(self) -> QWidget | None:
        if self.presenter.view is None:
            return self.views
        if not self._full():
            return next(iter(self.empty.buttons()), self.views)
        match self._current():
            case "overview":
                return self.overview.tools
            case "models":
                return self.models.models
            case "repeats":
                return self.repeats.flaky
        return self.compare.table

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.filters.make_room(event.size().width())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and "overview" in self._shown:
            self.overview.enlarge(None)
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------------ showing

    def show_view(self, key: str) -> None:
        """Turn to a view."""
        self.views.set_current(key)
        self._turn(key)

    def _current(self) -> str:
        return self.views.current()

    def _full(self) -> bool:
        return self.presenter.view is not None and self.presenter.view.state is MetricsState.FULL

    def _turn(self, key: str) -> None:
        self._save_view(replace(self.presenter.view_state, modes={"view": key}))
        self._place()
        if key == "compare" and self._compare_stale:
            self.session.spawn(self._refresh_compare())

    def _show_all(self) -> None:
        view = self.presenter.view
        if view is None:
            return
        self.filters.show_filters()
        if view.state is not MetricsState.FULL:
            self._show_empty(view)
        self._outdated = {"overview", "models", "repeats"}
        self._place()

    def _place(self) -> None:
        key = self._current()
        whole = self._full() or (key == "compare" and self._ran())
        self.stack.setCurrentWidget(self._filled(key) if whole else self.empty)
        self.filters.set_useful(key != "compare")

    def _ran(self) -> bool:
        view = self.presenter.view
        return view is not None and view.state is not MetricsState.NOTHING_RAN

    def _show_empty(self, view: MetricsView) -> None:
        if view.state is MetricsState.NOTHING_FITS:
            clear = command_action(self._commands[CLEAR], kind="primary")
            self.empty.set("funnel", "No runs match", "No finished run matches all of these filters.", [clear])
            return
        sentence = (
            "This page shows how often models make correct calls, which tools are confused, and how certain that is. "
            "It needs runs."
        )
        run = Action(text="Run…", do=self._start_runs, kind="primary", icon="play")
        self.empty.set("chart-bar", "No runs yet", sentence, [run])

    async def _refresh_compare(self) -> None:
        """Read the comparison of the overview, and that of the Compare view if it is visible."""
        pair = self.presenter.default_pair()
        self._against = await self.presenter.compare(*pair) if pair else None
        self._compared = True
        if "overview" in self._shown:
            self.overview.against.show_comparison(self._against)
        if self._current() == "compare":
            self._compare_stale = False
            await self.compare.refresh()

    # ------------------------------------------------------------------ filters

    def _save_view(self, view: ViewState) -> None:
        self.presenter.view_state = view
        self._views.save(view, FIELDS)

    def _filter(self, filters: FilterValues) -> None:
        self._save_view(replace(self.presenter.view_state, filters=filters))
        self.filters.show_filters()
        self.request_refresh()

    def _start_runs(self) -> None:
        self.session.go(StartRuns())

    # ------------------------------------------------------------------ export

    def _export_chart(self, panel: ChartPanel, *endings: str) -> None:
        self._filled("overview")
        self._filled("repeats")
        self.exports.ask_chart(panel, self._table_of(panel), endings)

    def _table_of(self, panel: ChartPanel) -> DataTable:
        view = self.presenter.view
        if view is None:
            return DataTable(name=panel.title)
        tables = {
            id(self.overview.matrix): view.confusion.table,
            id(self.overview.calibration): view.calibration.table,
            id(self.overview.trend): view.trend.table,
        }
        return tables.get(id(panel), view.repeats.power.table)

    def export_actions(self) -> list[Action]:
        """Return the export menu: the runs, the comparison, every table and every chart."""
        view = self.presenter.view
        if view is None or view.state is not MetricsState.FULL:
            return [Action(text="Nothing to export yet", do=lambda: None, enabled=False)]
        presenter, where, title = ExportPresenter(self.session.call), self.presenter.where, self.presenter.title()
        reports = [Action(text="Report of these runs…", do=partial(export_runs, self, self.session, where, title))]
        copies = [self._copy_action(partial(presenter.runs_markdown, where, title), "these runs")]
        if (compared := self.compare.chosen()) is not None:
            export = partial(export_comparison, self, self.session, *compared)
            reports.append(Action(text="Report of the comparison…", do=export))
            copies.append(self._copy_action(partial(presenter.comparison_markdown, *compared), "the comparison"))
        tables = [
            Action(text=f"Table: {table.name}…", do=partial(self.exports.ask_table, table), apart=not place)
            for place, table in enumerate(view.tables)
        ]
        charts: list[Action] = []
        for panel in (*self.overview.panels(), self.repeats.power):
            save = partial(self._export_chart, panel, "png", "svg", "csv")
            charts.append(Action(text=f"Chart: {self._table_of(panel).name}…", do=save, apart=not charts))
        return [*reports, *copies, *tables, *charts]

    def _copy_action(self, markdown: Callable[[], Coroutine[Any, Any, str]], what: str) -> Action:
        def copy() -> None:
            self.session.spawn(copy_markdown(self.session, markdown(), what))

        return Action(text=f"Copy {what} as Markdown", do=copy, icon="copy")

    def _open_export(self) -> None:
        show_menu_under(self.export_actions(), self.header.buttons()[-1])
