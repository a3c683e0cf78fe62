"""Base of the tabs beside the draft: verdict, footer, options, models; start, pause and stop."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Generic, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from app.core_link.model_requests import ApiKeys
from app.core_link.session import Page
from app.core_link.targets import ShowBatch
from app.dialogs.consent import Preflight
from app.dialogs.export import (
    ChartExports,
    Writers,
    ask_file,
    file_name,
    picture_writers,
    report_writers,
    table_writers,
    text_writer,
)
from app.dialogs.model_request_dialog import ask_model
from app.screens.workshop.batch_presenter import BASELINE as BASELINE_MODEL
from app.screens.workshop.batch_presenter import CrowdBatches
from app.screens.workshop.commands import STOP_KEYS, TRY_KEYS
from app.screens.workshop.trial_view import BASELINE, EDGE, OTHER, VerdictBanner, offer_models
from app.text.data_tables import DataTable
from app.theme import Role, Size, roomy
from app.widgets import (
    Action,
    Button,
    Dialog,
    EmptyState,
    Field,
    IconButton,
    LineText,
    MenuButton,
    Rule,
    show_menu_under,
)
from app.widgets.chart import ChartPanel
from mcp_tef import BatchId, ModelSettings

P = TypeVar("P", bound=CrowdBatches)
LEAST_MENU: Final = 104
STACKED: Final = 820
"""Width below which lists stand under the results, not beside them."""
OPTIONS: Final = "Sizes, search, repeats and cost cap…"


class CrowdFooter(QWidget):
    """Menus of inputs, options, size and cost of the test, and the buttons that start, pause and stop it."""

    def __init__(self, menus: Sequence[MenuButton]) -> None:
        super().__init__()
        self.menus = tuple(menus)
        self.options = Button("Options", kind="link")
        self.line = LineText(size=Size.SMALL, role=Role.DIM)
        self.pause = IconButton("pause", "Pause the test")
        self.go = Button("Start", kind="primary", icon="play")
        row = QHBoxLayout()
        row.setContentsMargins(EDGE, 10, EDGE, 10)
        row.setSpacing(8)
        for menu in self.menus:
            menu.setMinimumWidth(roomy(LEAST_MENU))
            row.addWidget(menu, 2)
        row.addWidget(self.options)
        row.addWidget(self.line, 3)
        row.addWidget(self.pause)
        row.addWidget(self.go)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Rule())
        column.addLayout(row)

    def show_state(self, presenter: CrowdBatches) -> None:
        """Show what a test would take, or how far it is."""
        busy, why = presenter.under_way, presenter.why_not()
        if busy:
            self._show_go("Stop", "x", STOP_KEYS, presenter.progress_text())
        else:
            self._show_go(presenter.start_text(), "play", why or TRY_KEYS, why or presenter.plan_text())
        self.go.setEnabled(busy or not why)
        self.pause.setVisible(busy)
        icon, text = ("play", "Go on with the test") if presenter.paused else ("pause", "Pause the test")
        self.pause.set_icon(icon, text)
        for part in (*self.menus, self.options):
            part.setEnabled(not busy)

    def _show_go(self, text: str, icon: str, tip: str, line: str) -> None:
        self.go.setText(text)
        self.go.icon_name = icon
        self.go.refresh_icon()
        self.go.setToolTip(tip)
        self.line.set_text(line)


class CrowdOptionsDialog(Dialog):
    """The options of a test as text fields, each with its problem below."""

    def __init__(self, title: str, presenter: CrowdBatches, parent: QWidget) -> None:
        super().__init__(title, parent, width=440)
        self._presenter = presenter
        self.fields: dict[str, Field] = {}
        self.edits: dict[str, QLineEdit] = {}
        for one in presenter.options():
            edit = QLineEdit(one.text)
            self.edits[one.key] = edit
            self.fields[one.key] = Field(one.label, edit, note=one.note)
            self.body.addWidget(self.fields[one.key])
        self.body.addStretch(1)
        use = Action(text="Use these options", do=self._use, kind="primary")
        self.use = self.set_buttons([Action(text="Cancel", do=self.reject), use])[-1]

    def _use(self) -> None:
        problems = self._presenter.set_options({key: edit.text() for key, edit in self.edits.items()})
        for key, field in self.fields.items():
            field.set_error(problems.get(key, ""))
        if not problems:
            self.accept()


class BatchTab(QStackedWidget, Generic[P]):
    """A tab that shows either why there is nothing, or a test. `changed` tells that a test came, went or ended."""

    changed = Signal()

    def __init__(self, page: Page, presenter: P, model: MenuButton, menus: Sequence[MenuButton]) -> None:
        super().__init__()
        self.presenter = presenter
        self.page, self.session = page, page.session
        self.empty = EmptyState("wrench", "", "")
        self.banner = VerdictBanner()
        self.model = model
        self.footer = CrowdFooter(menus)
        self.exports = ChartExports(page)
        self._models: dict[str, ModelSettings] = {}
        self.footer.go.clicked.connect(self.toggle)
        self.footer.pause.clicked.connect(self.pause)
        self.footer.options.clicked.connect(lambda: show_menu_under(self.option_actions(), self.footer.options))
        model.changed.connect(self.choose_model)

    def lay_out(self, middle: QWidget) -> None:
        """Put the verdict above and the footer below the middle."""
        panes = QWidget()
        column = QVBoxLayout(panes)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banner)
        column.addWidget(middle, 1)
        column.addWidget(self.footer)
        for part in (QWidget(), self.empty, panes):
            self.addWidget(part)

    # ------------------------------------------------------------ showing

    async def refresh(self) -> None:
        """Read and show everything again."""
        if not await self.presenter.load():
            return
        self.show_all()
        await self.replan()

    async def replan(self) -> None:
        """Show what a test would take now."""
        if not self.presenter.under_way:
            await self.presenter.plan()
        self.show_all()

    def show_all(self) -> None:
        """Show the test, or why there is none."""
        known = dict.fromkeys([*self._models, *(one.label for one in self.presenter.models if not one.offline)])
        chosen = [BASELINE if one.offline else one.label for one in self.presenter.models]
        offer_models(self.model, tuple(known), chosen)
        self.footer.show_state(self.presenter)
        self.changed.emit()

    def show_empty(self, title: str, text: str, actions: Sequence[Action]) -> None:
        """Say why no test is possible."""
        self.empty.set("wrench", title, text, actions)
        self.setCurrentIndex(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place_panes()

    def place_panes(self) -> None:
        """Give panes the places for which there is room."""

    def first_focus(self) -> QWidget | None:
        """Return what has the keyboard when the tab is shown."""
        if self.currentIndex() == 1:
            return next(iter(self.empty.buttons()), None)
        return self.footer.go if self.footer.go.isEnabled() else self.footer.menus[0]

    def links(self) -> list[Action]:
        """Return what to do with the test that is shown."""
        batch = self.presenter.batch
        if batch is None:
            return []
        again = Action(text="Continue the test", do=lambda: self.session.spawn(self.resume()), kind="link")
        runs = Action(text="Show the runs", do=partial(self.session.go, ShowBatch(batch.id)), kind="link")
        return [*([again] if self.presenter.cut_off else []), runs]

    def tests_menu(self) -> list[Action]:
        """Return one entry for each test, the one that is shown checked."""
        return [
            Action(text=text, do=partial(self.choose_test, key), checked=key == self.presenter.batch_id)
            for key, text in self.presenter.test_names()
        ]

    def open_tests(self) -> None:
        """Open the menu of tests under its button."""
        show_menu_under(self.tests_menu(), self.page.header.buttons()[0])

    def choose_test(self, key: str) -> None:
        """Show another test."""
        self.session.spawn(self._then_show(self.presenter.choose_test(BatchId(key))))

    async def _then_show(self, work: Awaitable[object]) -> None:
        await work
        self.show_all()

    # ------------------------------------------------------------ running

    def toggle(self) -> None:
        """Stop the test that runs, or start one."""
        self.session.spawn(self.stop() if self.presenter.under_way else self.start())

    async def start(self) -> None:
        """Start the test, or go on with it where it was cut off."""
        if not self.presenter.why_not():
            await self._asked(self.presenter.start)

    async def resume(self) -> None:
        """Go on with a test that was stopped or cut off."""
        await self._asked(self.presenter.resume)

    async def _asked(self, do: Callable[[ApiKeys], Awaitable[object]]) -> None:
        """Start a batch, asking for a missing key or consent."""
        await Preflight(self.session, self.page).run(do, self.presenter.provider())
        await self.refresh()

    async def stop(self) -> None:
        """Stop the test; what was asked is kept."""
        await self.presenter.stop()
        await self.refresh()

    def pause(self) -> None:
        """Pause the test, or go on with it."""
        self.session.spawn(self._pause())

    async def _pause(self) -> None:
        await self.presenter.pause_or_proceed()
        await self.refresh()

    # ------------------------------------------------------------ inputs

    def ask_about(self, name: str) -> None:
        """Ask about a server, where the test is about one."""

    def find_for(self, server: str, models: Sequence[ModelSettings], cap: float | None) -> None:
        """Take over the server, the model and the cost cap of a draft's trial, where the test is about one."""

    def option_actions(self) -> list[Action]:
        """Return the entries of the options."""
        return [Action(text=OPTIONS, do=lambda: self.session.spawn(self.ask_options()))]

    async def ask_options(self) -> None:
        """Ask for the options."""
        if await CrowdOptionsDialog("Options of the test", self.presenter, self.page).done_with():
            await self.replan()

    def choose_model(self, key: str) -> None:
        """Ask the baseline alone, a model as well or no longer, or find another model."""
        if key == OTHER:
            self.session.spawn(self._ask_model())
            return
        before, known = self.presenter.models, self._models.get(key, BASELINE_MODEL)
        if known.offline:
            self.presenter.choose(())
        else:
            self.presenter.choose([one for one in before if one != known] if known in before else [*before, known])
        self.session.spawn(self.replan())

    async def _ask_model(self) -> None:
        text = "The model is asked which tool it would call. No tool is executed."
        cases = [None] * max(1, self.presenter.size())
        found = await ask_model(self.page, "Model of the test", text, self.presenter.estimate_for, cases)
        if found is not None:
            self.take_model(*found)
        await self.replan()

    def take_model(self, model: ModelSettings, cap: float | None) -> None:
        """Ask a model as well, under a cost cap in US dollars."""
        self._models[model.label] = model
        others = [one for one in self.presenter.models if one.label != model.label]
        self.presenter.choose([*others, model])
        self.presenter.max_cost_usd = cap

    # ------------------------------------------------------------ export

    def acceptable(self) -> bool:
        """Return True if a text is selected that `accept` opens as a draft."""
        return False

    def accept(self) -> None:
        """Open the selected text as a draft, where the test finds one."""

    def export(self) -> None:
        """Ask for a file, and export the test that is shown."""

    def ask_export(self, title: str, table: DataTable, panel: ChartPanel | None) -> None:
        """Ask for a file, and export the report, the table, or the chart as a picture."""

        async def write(file: Path) -> None:
            await text_writer(await self.presenter.report())(file)

        pictures: Writers = picture_writers(panel.chart, panel.picture_title()) if panel else {}
        writers = {**report_writers(self.presenter.report, title, write, ()), **table_writers(table), **pictures}
        ask_file(self.page, self.session, f"Export the {title.lower()}", file_name(title), writers)
