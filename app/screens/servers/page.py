"""The servers screen: servers at the left, the chosen one with its tools at the right."""

import time
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.commands import Command
from app.screens.servers.importing import Importing
from app.screens.servers.presenter import ServersPresenter
from app.screens.servers.rows import server_row
from app.screens.servers.server_pane import ServerPane, rail_head
from app.screens.servers.server_sheet import ServerSheet
from app.screens.servers.try_sheet import TrySheet
from app.session import Page, Session
from app.text import count
from app.theme import Role, Size, height, width
from app.widgets import Action, EmptyState, FileDrops, Label, RailList, Split, show_menu
from mcp_tef import AuthType, ConsentError, Event, Server, ServerId, ServerStateChanged, ServersTouched, Tool

WHY_EMPTY = (
    "A server is where tools come from: a program on this computer, an address, or a file with a list of tools. "
    "Add one to see its tools as a model sees them."
)


class ServersPage(Page):
    """Lists, adds, edits, removes and checks servers."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="servers", title="Servers")
        self.presenter = ServersPresenter(session, time.monotonic)
        self.rail = RailList("Servers", row_height=height("server_row"), many=True)
        self.pane = ServerPane(self.presenter)
        self._summary = Label(size=Size.SMALL, role=Role.DIM, strong=True)
        self._nothing = EmptyState("magnifying-glass", "Nothing found", "No server or tool has this in its name.")
        self._right = QStackedWidget()
        self._all = QStackedWidget()
        self._clock = QTimer(self, interval=1_000)
        self.importing = Importing(self, self._show_new)
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        add = Action(text="Add server", do=self.add, icon="plus", kind="primary", tip="Ctrl+N")
        self.header.set_search("Search servers and tools").searched.connect(self._search)
        self.header.set_buttons([Action(text="Import", do=self._open_import, icon="download-simple"), add])
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(rail_head(self._summary))
        column.addWidget(self.rail, 1)
        left.setMinimumWidth(200)
        for part in (self.pane, self._nothing):
            self._right.addWidget(part)
        self.split = Split([left, self._right], "Servers and server", [width("server_list"), 800])
        self.split.set_stretch(1)
        self.split.restore_layout(self.session.settings.get("servers.split", []))
        self.pane.split.restore_layout(self.session.settings.get("servers.tools_split", []))
        self._all.addWidget(self.split)
        first = [add, *self._ways_to_import()]
        self._all.addWidget(EmptyState("hard-drives", "No servers yet", WHY_EMPTY, first))
        self._all.addWidget(QWidget())
        self._all.setCurrentIndex(2)
        self.body.addWidget(self._all)

    def _listen(self) -> None:
        self.rail.chosen.connect(self._show)
        self.rail.opened.connect(lambda _: self.edit())
        self.rail.rename_wanted.connect(lambda _: self.edit())
        self.rail.delete_wanted.connect(self.remove)
        self.rail.set_menu(self._menu)
        self.pane.check_wanted.connect(self.check)
        self.pane.edit_wanted.connect(self.edit)
        self.pane.remove_wanted.connect(lambda: self.remove(self.rail.selected_ids()))
        self.pane.sign_in_wanted.connect(self.sign_in)
        self.pane.consent.agreed.connect(lambda: self.session.spawn(self._agree()))
        self.pane.consent.put_off.connect(self._put_off)
        self.pane.tool_pane.try_wanted.connect(self.try_tool)
        self.pane.tool_pane.changes.accepted.connect(lambda: self.session.spawn(self._accept()))
        self._clock.timeout.connect(self._tick)
        FileDrops(self).dropped.connect(self.importing.take)
        self.split.splitterMoved.connect(self._remember)
        self.pane.split.splitterMoved.connect(self._remember)

    async def refresh(self) -> None:
        """Read all servers and show them."""
        await self.presenter.load()
        self._present()

    def concerns(self, event: Event) -> bool:
        return isinstance(event, ServersTouched | ServerStateChanged)

    def receive(self, events: tuple[Event, ...]) -> bool:
        enough = self.presenter.take(events)
        if enough:
            self._present()
        return enough

    def arrive(self, target: object) -> None:
        """Choose the server with this id, or "add" a new one, "import" some, "find" those of other programs."""
        if target in ("add", "import", "find"):
            {"add": self.add, "import": self.importing.ask, "find": self.importing.find}[target]()
        elif isinstance(target, str) and not self.rail.select(target):
            self.session.settings.set("servers.chosen", target)

    def commands(self) -> Sequence[Command]:
        group = "Servers"

        def chosen() -> bool:
            return bool(self.rail.current_id())

        return [
            Command(id="servers.add", text="Add a server", keys="Ctrl+N", do=self.add, group=group),
            Command(
                id="servers.check",
                text="Test the connection",
                keys="Ctrl+Return",
                do=self.check,
                needs=chosen,
                group=group,
            ),
            Command(id="servers.edit", text="Edit the server", do=self.edit, needs=chosen, group=group),
            Command(id="servers.import", text="Import servers", do=self.importing.ask, group=group),
            Command(id="servers.find", text="Find servers on this machine", do=self.importing.find, group=group),
        ]

    def first_focus(self) -> QWidget:
        return self.rail

    def current(self) -> Server | None:
        """The chosen server."""
        return self.presenter.servers.get(ServerId(self.rail.current_id()))

    def add(self) -> None:
        """Open the dialog for a new server."""
        self.session.spawn(self._open_sheet(None))

    def edit(self) -> None:
        """Open the dialog for the chosen server."""
        if (server := self.current()) is not None:
            self.session.spawn(self._open_sheet(server))

    def check(self) -> None:
        """Connect to the chosen server, asking first where a program would be started."""
        if (server := self.current()) is not None:
            self.session.spawn(self._check(server))

    def sign_in(self) -> None:
        """Sign in to the chosen server with the browser, and connect."""
        if (server := self.current()) is not None:
            self.session.spawn(self.presenter.sign_in_and_check(server))

    def remove(self, ids: Sequence[str]) -> None:
        """Remove servers, with a way back."""
        chosen = [ServerId(server_id) for server_id in ids if server_id in self.presenter.servers]
        if chosen:
            self.session.spawn(self._remove(chosen))

    def try_tool(self, tool: Tool) -> None:
        """Open the dialog that calls a tool by hand."""
        if (server := self.current()) is not None:
            self.session.spawn(TrySheet(self.session, server, tool, self).done_with())

    async def _open_sheet(self, server: Server | None) -> None:
        sheet = ServerSheet(self.session, self.presenter, self, server)
        if await sheet.done_with() and sheet.saved is not None:
            await self._show_new(sheet.saved.id)

    async def _show_new(self, server_id: ServerId) -> None:
        self.session.settings.set("servers.chosen", server_id)
        await self.refresh()
        self.rail.select(server_id)

    async def _check(self, server: Server) -> None:
        try:
            await self.presenter.check(server.id)
        except ConsentError:
            self.presenter.ask_again(server.id)
            self.presenter.unasked.add(server.id)
            self._show(server.id)

    async def _agree(self) -> None:
        if (server := self.current()) is not None:
            self.pane.consent.hide()
            await self.presenter.agree_and_check(server)

    async def _accept(self) -> None:
        if (server := self.current()) is not None:
            await self.presenter.accept(server.id)
            self.session.toast(f"The tools of {server.name} count as seen")

    def _put_off(self) -> None:
        if (server := self.current()) is not None:
            self.presenter.put_off(server.id)
            self.pane.consent.hide()

    async def _remove(self, ids: Sequence[ServerId]) -> None:
        names = [self.presenter.servers[server_id].name for server_id in ids]
        await self.presenter.remove(ids)
        what = names[0] if len(names) == 1 else count(len(names), "server")
        self.session.toast(f"Removed {what}", undo=lambda: self.presenter.restore(ids))

    def _search(self, text: str) -> None:
        self.presenter.search = text
        self._present()

    def _present(self) -> None:
        servers = self.presenter.shown()
        self._summary.setText(self.presenter.summary())
        self.rail.set_rows([server_row(server, self.presenter) for server in servers])
        self._all.setCurrentIndex(0 if self.presenter.servers else 1)
        self._right.setCurrentIndex(0 if servers else 1)
        self.set_badge(self.presenter.to_look_at())
        (self._clock.start if self.presenter.any_starting() else self._clock.stop)()
        self._choose_something()

    def _choose_something(self) -> None:
        if self.rail.current_id():
            self._show(self.rail.current_id())
        elif not self.rail.select(self.session.settings.get("servers.chosen", "")):
            self.rail.select_first()

    def _show(self, server_id: str) -> None:
        server = self.presenter.servers.get(ServerId(server_id))
        if server is not None:
            self.session.settings.set("servers.chosen", server_id)
            self.pane.show_server(server)

    def _tick(self) -> None:
        self.rail.upsert(server_row(server, self.presenter) for server in self.presenter.shown())
        if (server := self.current()) is not None:
            self.pane.tick(server)

    def _ways_to_import(self) -> Sequence[Action]:
        return [
            Action(text="Import servers…", do=self.importing.ask, icon="download-simple"),
            Action(text="Find on this machine…", do=self.importing.find, icon="magnifying-glass"),
        ]

    def _open_import(self) -> None:
        below = self.header.buttons()[0]
        show_menu(self._ways_to_import(), below.mapToGlobal(QPoint(0, below.height() + 4)), self)

    def _menu(self, ids: Sequence[str]) -> Sequence[Action]:
        one = len(ids) == 1
        return [
            Action(text="Test connection", do=self.check, enabled=one),
            *([Action(text="Sign in…", do=self.sign_in)] if one and self._by_oauth() else []),
            Action(text="Edit…", do=self.edit, enabled=one, keys="F2"),
            Action(text="Remove", do=partial(self.remove, tuple(ids)), keys="Del", apart=True),
        ]

    def _by_oauth(self) -> bool:
        server = self.current()
        return server is not None and server.spec.auth_type is AuthType.OAUTH2

    def _remember(self) -> None:
        self.session.settings.set("servers.split", self.split.layout_state())
        self.session.settings.set("servers.tools_split", self.pane.split.layout_state())
