"""Health of servers: how all are, each with its latency, and the errors of the selected one."""

import asyncio
from datetime import UTC, datetime
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from app.core_link.commands import Command
from app.core_link.session import Page, Session
from app.core_link.targets import ShowServer, ShowServerHealth
from app.dialogs.export import Writers, ask_file, picture_writers, table_writers
from app.screens.servers.commands import GROUP
from app.screens.servers.health_list import ROLES, HealthList
from app.screens.servers.health_presenter import (
    INTERVALS,
    NOT_WATCHED,
    STATES,
    HealthPresenter,
    contacts_table,
    errors_summary,
    health_rows,
    health_sentence,
    health_table,
    overall_detail,
    time_text,
)
from app.text.data_tables import DataTable
from app.text.formatting import clock, percent
from app.theme import Role, Size, roomy, sized
from app.widgets import (
    Action,
    Cell,
    CellKind,
    Column,
    FlowText,
    Label,
    Links,
    ListTable,
    MenuButton,
    Row,
    Rule,
    Segmented,
    Span,
    Split,
    button,
    column_layout,
    row_layout,
    show_menu_under,
)
from mcp_tef import ConsentError, ServerHealth, ServerId

WATCH: Final = "servers.watch_seconds"
REFRESH_MS: Final = 20_000
SIDE: Final = 16
LEGEND: Final = "Line: p50 of two minutes. Band: up to p95. Ticks below: errors. Each server has a scale of its own."
ERROR_COLUMNS: Final = (
    Column(key="when", title="When", width=62, role=Role.DIM, tip="The time of the contact"),
    Column(key="error", title="Error", stretch=True, tip="What the server or the connection answered"),
    Column(key="after", title="After", kind=CellKind.NUMBER, width=78, tip="The time until it failed"),
)


class HealthFigure(QFrame):
    """One figure over all servers, between its name and what it is made of."""

    def __init__(self, title: str, size: Size = Size.LEAD) -> None:
        super().__init__()
        self.value = Label(size=size, strong=True)
        self.detail = FlowText(size=Size.SMALL, role=Role.DIM, max_lines=2)
        column = column_layout(
            self,
            Label(title, size=Size.SMALL, role=Role.DIM, label=True),
            self.value,
            self.detail,
            margins=(SIDE, 10, SIDE, 10),
            spacing=2,
        )
        column.addStretch(1)

    def show_value(self, value: str, detail: str, role: Role = Role.TEXT) -> None:
        """Show a value; its name is read with it."""
        self.value.setText(value)
        self.value.set_role(role)
        self.detail.set_text(detail)


class HealthPane(QWidget):
    """The Health tab. It reads again and again while it is visible; watching goes on while the window is open.

    `changes_reported` carries changes of state to the window's thread; `server_wanted` gives the id of a server.
    """

    changes_reported = Signal(object)
    server_wanted = Signal(str)
    consent_wanted = Signal(str)

    def __init__(self, session: Session, presenter: HealthPresenter) -> None:
        super().__init__()
        self._session = session
        self.presenter = presenter
        self._watching: asyncio.Task[None] | None = None
        self._pending = ""
        self.all, self.errors = HealthFigure("All servers", Size.TITLE), HealthFigure("Errors in the last hour")
        self.latency, self.rate = HealthFigure("Latency"), HealthFigure("Contacts a minute")
        self.list = HealthList()
        self.title, self.why = FlowText(size=Size.LEAD, strong=True), FlowText(role=Role.DIM)
        self.links = Links()
        self.check = button(Action(text="Check now", do=lambda: session.spawn(self.check_now())))
        self.error_title = FlowText(size=Size.SMALL, role=Role.DIM)
        self.error_table = ListTable(ERROR_COLUMNS, "Errors of the server")
        self._clock = QTimer(self, interval=REFRESH_MS)
        self._lay_out()
        self._clock.timeout.connect(lambda: session.spawn(self.refresh(), of=self))
        session.closing.connect(self._clock.stop)
        self.list.chosen.connect(self._show_detail)
        self.list.opened.connect(self.server_wanted)
        self.list.describe_keys(Enter="Show the server and its tools")
        self.changes_reported.connect(self._take_changes)

    def _lay_out(self) -> None:
        figures = row_layout()
        for part, stretch in ((self.all, 4), (self.errors, 2), (self.latency, 2), (self.rate, 2)):
            if figures.count():
                figures.addWidget(Rule(upright=True))
            figures.addWidget(part, stretch)
        left, right = QWidget(), QWidget()
        column = column_layout(left)
        legend = FlowText(LEGEND, size=Size.SMALL, role=Role.DIM)
        foot = row_layout(None, legend, margins=(SIDE, 8, SIDE, 8), spacing=None)
        column.addWidget(self.list.heads)
        column.addWidget(self.list, 1)
        column.addWidget(Rule())
        column.addLayout(foot)
        self._lay_out_detail(right)
        left.setMinimumWidth(sized(520))
        self.split = Split([left, right], "Servers and errors", [760, 310])
        self.split.set_stretch(0)
        outer = column_layout(self, figures, Rule())
        outer.addWidget(self.split, 1)

    def _lay_out_detail(self, right: QWidget) -> None:
        column = column_layout(right)
        head = column_layout(margins=(SIDE, 14, SIDE, 10), spacing=8)
        row = row_layout(None, self.check, spacing=12)
        row.addWidget(self.links, 1)
        for part in (self.title, self.why):
            head.addWidget(part)
        head.addLayout(row)
        head.addWidget(self.error_title)
        column.addLayout(head)
        column.addWidget(Rule())
        column.addWidget(self.error_table, 1)
        right.setMinimumWidth(sized(220))

    async def refresh(self) -> None:
        """Read the last hour, and show it."""
        await self.presenter.load()
        overview = self.presenter.overview
        if overview is None:
            return
        now, overall = datetime.now(UTC), overview.overall
        self.all.show_value(STATES[overall.state], overall_detail(overview, now), ROLES.get(overall.state, Role.TEXT))
        contacts = [one for each in overview.contacts.values() for one in each]
        failed = sum(one.failed for one in contacts)
        share = "–" if overall.error_rate is None else percent(overall.error_rate)
        self.errors.show_value(share, f"{failed:,} of {len(contacts):,} contacts")
        p50, p95 = (time_text(one) or "–" for one in (overall.p50_ms, overall.p95_ms))
        self.latency.show_value(p50, f"p50 over all servers, p95 {p95}")
        self.rate.show_value(f"{overall.calls_per_minute:.1f}", "checks, listings, calls")
        self.list.show_rows(health_rows(overview, self.presenter.servers, now))
        self._show_pending()
        self._show_detail(self.list.current_id())

    def open_server(self, name: str) -> None:
        """Select a server by its name, once the servers are read."""
        self._pending = name
        self._show_pending()

    def _show_pending(self) -> None:
        if self._pending and self.list.select(self.presenter.id_of(self._pending)):
            self._pending = ""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._clock.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._clock.stop()

    def _show_detail(self, server_id: str) -> None:
        server, health = self.presenter.server(server_id), self.presenter.health(server_id)
        contacts = self.presenter.contacts(server_id)
        headline, why = health_sentence(health, contacts) if health else (server.name if server else "", "")
        self.title.set_text(headline)
        self.why.set_text(why)
        self.why.setVisible(bool(why))
        self.check.setVisible(health is not None)
        self.links.set_links([Action(text="Open server", do=lambda: self.server_wanted.emit(server_id), kind="link")])
        self.error_title.set_spans([Span(errors_summary(contacts))])
        failed = [one for one in reversed(contacts) if one.failed]
        self.error_table.set_rows(
            [
                Row(
                    str(place),
                    (
                        Cell(text=clock(one.at), sort=one.at.timestamp()),
                        Cell(text=one.error or "", tip=one.error or ""),
                        Cell(text=time_text(one.duration_ms), sort=one.duration_ms),
                    ),
                )
                for place, one in enumerate(failed)
            ]
        )

    def export_actions(self) -> list[Action]:
        """Return the export menu: what the list shows, and the contacts behind it."""
        overview = self.presenter.overview
        if overview is None:
            return []
        shown, contacts = health_table(overview), contacts_table(overview)
        writers = {**picture_writers(self.list, shown.name), **table_writers(shown)}
        return [
            Action(text=f"{shown.name}…", do=lambda: self._ask_file(shown, writers)),
            Action(text=f"{contacts.name}…", do=lambda: self._ask_file(contacts, table_writers(contacts))),
        ]

    def _ask_file(self, table: DataTable, writers: Writers) -> None:
        ask_file(self, self._session, f"Export {table.name}", table.file_name, writers)

    # ------------------------------------------------------------------ checks and watching

    async def check_now(self) -> None:
        """Check the selected server; one that needs consent is shown with its question."""
        server_id = self.list.current_id()
        try:
            await self.presenter.check(server_id)
        except ConsentError:
            self.consent_wanted.emit(server_id)
            return
        await self.refresh()

    async def check_all(self) -> None:
        """Check every server that needs no consent."""
        left_alone = await self.presenter.check_all()
        await self.refresh()
        if left_alone:
            self._session.toast(f"Servers that need your consent were not checked: {left_alone}")

    def interval(self) -> str:
        """Return the interval of watching in seconds; "0" while servers are not watched."""
        return self._session.settings.get(WATCH, NOT_WATCHED, INTERVALS.__contains__)

    def watch(self, interval: str) -> None:
        """Watch all servers at an interval, or no more; this is remembered."""
        self._session.settings.set(WATCH, interval)
        self.start_watching()

    def start_watching(self) -> None:
        """Watch as the settings say."""
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None
        if (interval := self.interval()) != NOT_WATCHED:
            self._watching = self._session.spawn(self.presenter.watch(float(interval), self.changes_reported.emit))

    def _take_changes(self, health: ServerHealth) -> None:
        if text := self.presenter.notice(health):
            self._session.toast(text)


TOOLS, HEALTH = "tools", "health"
CHECK_ICON = "arrows-clockwise"
LIST_PAGE, EMPTY_PAGE, HEALTH_PAGE = 0, 1, 3
WATCH_WIDTH = 206


class HealthTab:
    """Owns the Health pane; watching begins with the page."""

    def __init__(self, page: Page, stack: QStackedWidget, buttons: list[Action]) -> None:
        self._page, self._stack, self._buttons = page, stack, buttons
        self._listed = EMPTY_PAGE
        self.choice = Segmented([(TOOLS, "Tools"), (HEALTH, "Health")], "View")
        self.watching = MenuButton("Watching", list(INTERVALS.items()))
        self.pane = HealthPane(page.session, HealthPresenter(page.session))
        stack.addWidget(self.pane)
        page.header.place(self.choice, beside_title=True)
        page.header.place(self.watching)
        self.watching.set_current(self.pane.interval())
        self.watching.setMinimumWidth(roomy(WATCH_WIDTH))
        self.choice.changed.connect(lambda _: self._switch())
        self.watching.changed.connect(self.pane.watch)
        self.pane.server_wanted.connect(lambda key: self._leave_for(key))
        self.pane.consent_wanted.connect(lambda key: self._leave_for(key))
        self.pane.start_watching()
        self._show()

    def shown(self) -> bool:
        """Return True while the health is shown."""
        return self.choice.current() == HEALTH and self._listed == LIST_PAGE

    def show_servers(self, *, some: bool) -> None:
        """Show the list, the health, or that there is no server."""
        self._listed = LIST_PAGE if some else EMPTY_PAGE
        self._show()

    async def refresh(self) -> bool:
        """Read the last hour if it is shown; return False if it is not."""
        if self.shown():
            await self.pane.refresh()
        return self.shown()

    def open(self, server: str = "") -> None:
        """Show the health, with a server selected by its name."""
        self.choice.set_current(HEALTH)
        self.pane.open_server(server)
        self._switch()

    def target(self) -> ShowServerHealth | None:
        """Return the health as a target while it is shown."""
        server = self.pane.presenter.server(self.pane.list.current_id())
        return ShowServerHealth(server.name if server else "") if self.shown() else None

    def command(self) -> Command:
        """Return the command that shows the health."""
        return Command(id="servers.health", text="Show the health of servers", do=self.open, keys="Ctrl+H", group=GROUP)

    def show_tools(self) -> None:
        """Show the servers and their tools again."""
        self.choice.set_current(TOOLS)
        self._switch()

    def _leave_for(self, server_id: str) -> None:
        self.show_tools()
        self._page.session.go(ShowServer(ServerId(server_id)))

    def _switch(self) -> None:
        self._show()
        self._page.request_refresh()

    def _show(self) -> None:
        health = self.shown()
        self._stack.setCurrentIndex(HEALTH_PAGE if health else self._listed)
        header, spawn = self._page.header, self._page.session.spawn
        self.choice.setVisible(self._listed == LIST_PAGE)
        self.watching.setVisible(health)
        if header.search is not None:
            header.search.setVisible(not health)
        if header.filter is not None:
            header.filter.setVisible(not health)
        check = Action(
            text="Check all", do=lambda: spawn(self.pane.check_all()), kind="primary", icon="arrows-clockwise"
        )
        export = Action(text="Export…", do=self._open_export, icon="export")
        header.set_buttons([export, check] if health else self._buttons)

    def _open_export(self) -> None:
        show_menu_under(self.pane.export_actions(), self._page.header.buttons()[0])
