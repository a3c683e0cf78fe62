"""Switch of the Servers screen between the tools of servers and their health."""

from PySide6.QtWidgets import QStackedWidget

from app.core_link.commands import Command
from app.core_link.session import Page
from app.core_link.targets import ShowServer, ShowServerHealth
from app.screens.servers.commands import GROUP
from app.screens.servers.health_pane import HealthPane
from app.screens.servers.health_presenter import INTERVALS, HealthPresenter
from app.theme import roomy
from app.widgets import Action, MenuButton, Segmented, show_menu_under
from mcp_tef import ServerId

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
