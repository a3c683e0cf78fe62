"""Catalogue tab: every known model in a table with filters, and what asking one of them hello gives."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core_link.commands import Command
from app.core_link.session import Session
from app.core_link.targets import StartRuns
from app.dialogs.consent import with_consent
from app.dialogs.model_request_dialog import LAST_MODEL
from app.screens.kit.menus import command_action
from app.screens.models.catalogue_presenter import (
    CONTEXTS,
    MILLION,
    PRICES,
    READY,
    TOOLS,
    UNKNOWN,
    CataloguePresenter,
    CatalogueRow,
    ability,
    check_text,
    facts,
    found_text,
    million,
    tokens,
)
from app.screens.models.check_pane import CheckPane, ask_for_key, needs_key
from app.screens.models.tab import GROUP, ModelsTab
from app.text.formatting import count
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    Cell,
    CellKind,
    Column,
    KeyValues,
    Links,
    ListTable,
    Mark,
    MenuButton,
    Notice,
    Picker,
    PickItem,
    Row,
    Rule,
    ScrollPane,
    Section,
    Split,
    column_layout,
    describe,
)
from app.widgets.text_view import FlowText
from mcp_tef import ModelCheck, TefError

HELLO, USE, LOCAL, CLEAR = (f"models.{name}" for name in ("hello", "use", "local", "clear"))
COLUMNS: Final = (
    Column(key="model", title="Model", kind=CellKind.MONO, stretch=True, least=180, tip="Its name for runs"),
    Column(key="context", title="Context", kind=CellKind.NUMBER, width=76, tip="Tokens that fit into one request"),
    Column(key="in", title="$ in", kind=CellKind.NUMBER, width=76, tip="US dollars per million tokens that are sent"),
    Column(key="out", title="$ out", kind=CellKind.NUMBER, width=76, tip="US dollars per million received tokens"),
    Column(key="tools", title="Calls tools", width=86, tip="Native tool calling"),
    Column(key="now", title="Now", width=120, role=Role.DIM, tip="The last hello, or if it can be asked now"),
)
NARROW: Final = 760
LEAST_LIST, LEAST_DETAIL, LEAST_PROVIDER = 300, 240, 110
HIDDEN_IF_NARROW: Final = ("out", "tools")
BEFORE_HELLO: Final = "Ask it hello: one short call tells whether address, key, name and tool calling work."
NOTHING_FITS: Final = "No model fits. Clear the filter to see all."


class CatalogueTab(ModelsTab):
    """The table of models, and the details of the selected one."""

    search_hint = "Search models"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Catalogue")
        self.presenter = CataloguePresenter(session.call)
        self._rows: dict[str, Row] = {}
        self._pending = ""
        self.provider = Picker("Provider", "Any provider")
        self.price = MenuButton("Price", list(PRICES.items()))
        self.context = MenuButton("Context", list(CONTEXTS.items()))
        self.tools = MenuButton("Tool calling", list(TOOLS.items()))
        self.notice = Notice("info")
        self.table = ListTable(COLUMNS, "Models")
        self.title = FlowText(size=Size.LEAD, strong=True)
        self.links, self.facts = Links(8), KeyValues(label_width=sized(92))
        self.hello = CheckPane(BEFORE_HELLO)
        self.split = Split([self._list_pane(), self._detail_pane()], "Models and details", [700, 340])
        self.split.set_stretch(0)
        self.body.addWidget(self.split, 1)
        self._connect()

    def _list_pane(self) -> QWidget:
        pane, bar = QWidget(), QHBoxLayout()
        bar.setContentsMargins(16, 8, 16, 8)
        bar.setSpacing(8)
        self.provider.setMinimumWidth(LEAST_PROVIDER)
        for part in (self.provider, self.price, self.context, self.tools):
            bar.addWidget(part, 1)
        column = column_layout(pane, self.notice, bar, Rule())
        column.addWidget(self.table, 1)
        pane.setMinimumWidth(LEAST_LIST)
        return pane

    def _detail_pane(self) -> QWidget:
        inside = QWidget()
        column = column_layout(inside, margins=(16, 12, 16, 12), spacing=12)
        self.section = Section("Hello", margins=False)
        self.section.add(self.hello)
        for part in (self.title, self.links, self.facts, self.section):
            column.addWidget(part)
        column.addStretch(1)
        pane = ScrollPane(inside, "Details of the model")
        pane.setMinimumWidth(LEAST_DETAIL)
        return pane

    def _connect(self) -> None:
        self.table.chosen.connect(lambda _: self._show_model())
        self.table.opened.connect(lambda _: self.use())
        self.table.describe_keys(Enter="Use the model in a run")
        self.table.set_menu(lambda _: self._model_actions())
        self.provider.picked.connect(lambda key: self._filter(provider=key))
        self.price.changed.connect(lambda key: self._filter(price=key))
        self.context.changed.connect(lambda key: self._filter(context=key))
        self.tools.changed.connect(lambda key: self._filter(tools=key))
        describe("Price of a million tokens that are sent", self.price)
        self.table.restore_layout(self.session.settings.get("models.catalogue", {}))

    # ------------------------------------------------------------ what the page asks of a tab

    async def refresh(self) -> None:
        presenter = self.presenter
        await presenter.load()
        self._rows = await asyncio.to_thread(_made_rows, (*presenter.local, *presenter.models), presenter.checks)
        self.provider.set_items(
            [
                PickItem(id="", title="Any provider", mono=False),
                PickItem(id=READY, title="Can be asked now", mono=False),
                *(PickItem(id=name, title=name) for name in presenter.variables),
            ]
        )
        self.provider.set_footer("{shown} of {all}")
        self._show_rows()

    def find_rows(self, text: str) -> None:
        self._filter(text=text)

    def show_item(self, item: str) -> None:
        self._pending = item
        self.clear()

    def current_item(self) -> str:
        return self.table.current_id()

    def count_text(self) -> str:
        number = len(self.presenter.models) + len(self.presenter.local)
        shown = self.table.rows.rowCount()
        return count(number, "model") if shown == number else f"{shown:,} of {count(number, 'model')}"

    def buttons(self) -> Sequence[Action]:
        local, hello, *_ = self.commands()
        return (
            command_action(local, "Find local servers", icon="magnifying-glass"),
            command_action(hello, "Ask it hello", icon="chat-circle", kind="primary"),
        )

    def commands(self) -> Sequence[Command]:
        def selected() -> bool:
            return self._row() is not None

        def spawn(work: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], object]:
            return lambda: self.session.spawn(work(), of=self)

        unless = "Select a model first"
        return (
            Command(id=LOCAL, text="Look for local model servers", do=spawn(self.find_local), group=GROUP),
            Command(
                id=HELLO, text="Ask the model hello", do=spawn(self.ask_hello), keys="Ctrl+Return", needs=selected,
                unless=unless, group=GROUP,
            ),
            Command(id=USE, text="Use the model in a run", do=self.use, needs=selected, unless=unless, group=GROUP),
            Command(id=CLEAR, text="Show all models", do=self.clear, group=GROUP),
        )  # fmt: skip

    def first_focus(self) -> QWidget | None:
        return self.table

    async def finish(self) -> None:
        self.session.settings.set("models.catalogue", self.table.layout_state())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < sized(NARROW) + self.split.sizes()[1]
        for place, column in enumerate(COLUMNS):
            if column.key in HIDDEN_IF_NARROW:
                self.table.setColumnHidden(place, narrow)

    # ------------------------------------------------------------ showing

    def _filter(self, **changed: str) -> None:
        self.presenter.filter = replace(self.presenter.filter, **changed)
        self._show_rows()

    def clear(self) -> None:
        """Show all models."""
        for menu in (self.price, self.context, self.tools):
            menu.set_current("")
        self.provider.set_current("")
        self._filter(provider="", price="", context="", tools="")

    def _show_rows(self) -> None:
        shown = self.presenter.shown()
        self.table.when_empty = NOTHING_FITS if self.presenter.models else "Reading the catalogue…"
        self.table.set_rows([self._rows[row.id] for row in shown if row.id in self._rows])
        if self._pending and self.table.select(self._pending):
            self._pending = ""
        if shown and not self.table.current_id():
            self.table.select_first()
        self._show_model()

    def _row(self) -> CatalogueRow | None:
        return self.presenter.row(self.table.current_id())

    def _model_actions(self) -> list[Action]:
        use, row = self.commands()[2], self._row()
        check = self.presenter.checks.get(row.id) if row else None
        actions = [command_action(use, "Use in a run")]
        if row and needs_key(check):
            actions.append(Action(text="Type a key…", do=partial(self._type_key, row)))
        return actions

    def _show_model(self) -> None:
        row, presenter = self._row(), self.presenter
        self.links.set_links(self._model_actions() if row else [command_action(self.commands()[-1])])
        self.header_changed.emit()
        for part in (self.facts, self.section):
            part.setVisible(row is not None)
        if row is None:
            self.title.set_text(NOTHING_FITS if presenter.models else "")
            return
        self.title.set_text(row.info.label)
        self.facts.set_rows(facts(row, presenter.variables.get(row.info.provider, "")))
        self.hello.show_check(presenter.checks.get(row.id), asking=presenter.checking == row.id)

    # ------------------------------------------------------------ doing

    async def ask_hello(self) -> None:
        """Ask the selected model hello, and show which step failed."""
        row, presenter = self._row(), self.presenter
        if row is None or presenter.checking:
            return
        self.hello.show_check(None, asking=True)
        try:
            await with_consent(self.session, self, partial(presenter.check, row))
        except TefError as error:
            self.session.show_error(error)
        self._rows[row.id] = _made_row(row, presenter.checks.get(row.id))
        self.table.upsert([self._rows[row.id]])
        self._show_model()

    def _type_key(self, row: CatalogueRow) -> None:
        self.session.spawn(self.type_key(row), of=self)

    async def type_key(self, row: CatalogueRow) -> None:
        """Ask for the key of a model, and ask the model again."""
        if await ask_for_key(self.session, self, row.info.provider, row.address or None):
            await self.ask_hello()

    async def find_local(self) -> None:
        """Look for model servers on this machine."""
        self.notice.show_message("Looking for model servers on this computer…")
        self.notice.show_message(found_text(await self.presenter.find_local()))
        await self.refresh()
        if self.presenter.local:
            self.table.select(self.presenter.local[0].id)

    def use(self) -> None:
        """Open the form that starts runs with the selected model, which other forms then propose as well."""
        if (row := self._row()) is not None:
            self.session.settings.set(LAST_MODEL, {"model": row.info.label, "base_url": row.address})
            self.session.go(StartRuns(model=row.info.label, address=row.address))


def _made_rows(rows: Sequence[CatalogueRow], checks: dict[str, ModelCheck]) -> dict[str, Row]:
    """Return all rows with their cells, which sorting needs; on another thread, since there are thousands."""
    return {row.id: _made_row(row, checks.get(row.id)) for row in rows}


def _made_row(row: CatalogueRow, check: ModelCheck | None) -> Row:
    info = row.info
    return Row(
        row.id,
        (
            Cell(text=info.label, tip=row.id),
            _figure(tokens(info.context_tokens), info.context_tokens),
            *(_figure(million(price), price and price * MILLION) for price in (info.input_price, info.output_price)),
            Cell(text=ability(info.tool_calling), role=Role.DIM if info.tool_calling is None else Role.TEXT),
            _now(row, check),
        ),
    )


def _figure(text: str, value: float | None) -> Cell:
    """Return a number; unknown ones are dim, and stand behind all others where they sort."""
    known = text != UNKNOWN
    return Cell(text=text if known else "–", sort=value if known else "", role=Role.TEXT if known else Role.DIM)


def _now(row: CatalogueRow, check: ModelCheck | None) -> Cell:
    if check is None:
        at = row.address.partition("://")[2].partition("/")[0]
        return Cell(text=at or ("can be asked" if row.ready else ""), tip=row.address, sort=float(not row.ready))
    if check.failed is None:
        return Cell(text=f"{check.milliseconds:,} ms", marks=(Mark.CHECK,), tip=check_text(check), sort=-1.0)
    return Cell(text=f"{check.failed} failed", marks=(Mark.CROSS,), role=Role.BAD, tip=check_text(check), sort=2.0)
