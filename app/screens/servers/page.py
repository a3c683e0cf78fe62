"""Page of the servers screen: server list, the selected server and the actions on it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.core_link.commands import Command
from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.links import link_actions, tool_links
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import AddServer, FindServers, ImportServers, ShowServer, ShowTool, Target
from app.screens.kit import ViewState, ViewStates
from app.screens.kit.menus import view_actions
from app.screens.servers.commands import ToolCommands
from app.screens.servers.filters import SCREEN, SERVER_FIELDS, SERVER_ORDERS, TOOL_FIELDS, TOOL_ORDERS, TOOLS
from app.screens.servers.import_dialogs import ServerImporter
from app.screens.servers.server_dialog import ServerDialog
from app.screens.servers.server_form import ServerForm, free_name, suggested_name
from app.screens.servers.server_pane import ServerPane, list_header, server_row
from app.text.formatting import count
from app.theme import Role, Size, height, width
from app.widgets import (
    Action,
    CardList,
    EmptyState,
    Label,
    Split,
    at_once,
    frozen_updates,
    show_menu_under,
    yield_to_ui,
)
from mcp_tef import AuthType, ConsentError, DetectedFile, Event, FileKind, Server, ServerId, Tool, ToolLabel

WHY_EMPTY = (
    "A server is where tools come from: a program on this computer, an address, or a file with a list of tools. "
    "Add one to see its tools as a model sees them."
)
NO_SERVER = "Choose a server first"
WHY_NOTHING = "No server or tool matches the search and the filters."


class ServersPage(Page):
    """Lists, adds, edits, removes and checks servers."""

    def __init__(self, session: Session, pane: ServerPane | None = None) -> None:
        super().__init__(session, key=SCREEN, title="Servers")
        self.pane = pane or at_once(ServerPane.in_parts(session))
        self.presenter = self.pane.presenter
        self._views = ViewStates(session.settings, session.workspace, self.key)
        self.presenter.view = self._views.load(SERVER_FIELDS)
        self.presenter.tools_view = self._views.load(TOOL_FIELDS, TOOLS)
        self.rail = CardList("Servers", row_height=height("server_row"), many=True)
        self._summary = Label(size=Size.SMALL, role=Role.DIM, strong=True)
        show_all = [Action(text="Show all servers", do=self._show_all)]
        self._nothing = EmptyState("magnifying-glass", "Nothing found", WHY_NOTHING, show_all)
        self._right = QStackedWidget()
        self._all = QStackedWidget()
        self._clock = QTimer(self, interval=1_000)
        self._awaited_target: ShowServer | ShowTool | None = None
        self.importing = ServerImporter(self, self._show_new)
        self.deeds = ToolCommands(self, self.presenter, self.pane)
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        add = Action(text="Add server", do=self.add, icon="plus", kind="primary", tip="Ctrl+N")
        search = self.header.set_search("Search servers and tools")
        search.setText(self.presenter.view.text)
        search.searched.connect(self._search)
        self.header.set_filter(self._filter_actions)
        self.pane.side.set_menus(self._tool_filter_actions, self.deeds.actions)
        self.header.set_buttons([Action(text="Import", do=self._open_import, icon="download-simple"), add])
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(list_header(self._summary))
        column.addWidget(self.rail, 1)
        left.setMinimumWidth(200)
        for part in (self.pane, self._nothing):
            self._right.addWidget(part)
        self.split = Split([left, self._right], "Servers and server", [width("server_list"), 800])
        self.split.set_stretch(1)
        self.split.restore_layout(self.session.settings.get("servers.split", []))
        self.pane.split.restore_layout(self.session.settings.get("servers.tools_split", []))
        self._all.addWidget(self.split)
        self._all.addWidget(EmptyState("hard-drives", "No servers yet", WHY_EMPTY, [add, *self._import_actions()]))
        self._all.addWidget(QWidget())
        self._all.setCurrentIndex(2)
        self.body.addWidget(self._all)

    def _listen(self) -> None:
        self.rail.chosen.connect(self._show)
        self.rail.opened.connect(lambda _: self.edit())
        self.rail.rename_wanted.connect(lambda _: self.edit())
        self.rail.delete_wanted.connect(self.remove)
        self.rail.set_menu(self._menu)
        self.rail.tell_keys(Enter="Edit the server", F2="Edit the server", Del="Remove the servers")
        self.pane.check_wanted.connect(self.check)
        self.pane.edit_wanted.connect(self.edit)
        self.pane.remove_wanted.connect(lambda: self.remove(self.rail.selected_ids()))
        self.pane.sign_in_wanted.connect(self.sign_in)
        self.pane.consent.agreed.connect(lambda: self.session.spawn(self._agree()))
        self.pane.consent.postponed.connect(self._postponed)
        self.pane.tool_pane.shown.connect(self._show_links)
        self.pane.tool_pane.reader.parameters.restore_view(self._views)
        self.pane.tool_pane.changes.accepted.connect(lambda: self.session.spawn(self._accept()))
        self._clock.timeout.connect(self._tick)
        for split in (self.split, self.pane.split):
            split.splitterMoved.connect(self._remember)

    async def refresh(self) -> None:
        """Read all servers and show them."""
        await self.presenter.load()
        async with frozen_updates(self._all):
            self._show_servers()
            await yield_to_ui()
            self._choose_something()

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def receive(self, events: tuple[Event, ...]) -> bool:
        enough = self.presenter.take(events)
        if enough:
            self._present()
        return enough

    def open_target(self, target: Target) -> None:
        """Open a dialog, or select a server or a tool as soon as the servers are read."""
        match target:
            case AddServer():
                self.add()
            case ImportServers():
                self.importing.ask()
            case FindServers():
                self.importing.find()
            case ShowServer() | ShowTool():
                self._awaited_target = target
                if self.presenter.servers:
                    self._show_awaited_target()

    def current_target(self) -> Target | None:
        if (tool := self.deeds.current()) is not None:
            return ShowTool(tool)
        return ShowServer(ServerId(server)) if (server := self.rail.current_id()) else None

    def _show_awaited_target(self) -> None:
        target, self._awaited_target = self._awaited_target, None
        match target:
            case ShowServer(server_id=server_id):
                self._select_server(server_id)
            case ShowTool(tool=tool):
                self._show_all()
                self._select_tool(tool)

    def _select_server(self, server_id: str) -> None:
        if not self.rail.select(server_id):
            self._show_all()
            if not self.rail.select(server_id):
                self.session.toast("That server no longer exists")

    def _select_tool(self, label: ToolLabel) -> None:
        server = next((one for one in self.presenter.servers.values() if one.name == label.server), None)
        if server is None:
            self.session.toast(f"The server {label.server or label.text} no longer exists")
            return
        self.rail.select(server.id)
        self.pane.tools.setFocus()
        if label.tool and not self.pane.tools.select(label.tool):
            self.show_tools_view(ViewState(sort=self.presenter.tools_view.sort))
            if not self.pane.tools.select(label.tool):
                self.session.toast(f"{server.name} no longer lists {label.tool}")

    def _show_links(self, tool: Tool) -> None:
        leads = tool_links(ToolLabel(tool=tool.name, server=tool.server), self.key)
        self.pane.tool_pane.reader.links.set_links(link_actions(leads, self.session.go))

    async def bring_in(self, arrivals: Sequence[DetectedFile]) -> Sequence[DropOutcome]:
        """Configs go through the preview of imports; tools become a server, once that is wanted."""
        await self.settled()
        configs = [arrival for arrival in arrivals if arrival.kind is FileKind.SERVERS]
        outcomes = [*await self.importing.bring_in(configs)] if configs else []
        return [*outcomes, *[await self._offer_tools(one) for one in arrivals if one.kind is FileKind.TOOLS]]

    async def _offer_tools(self, arrival: DetectedFile) -> DropOutcome:
        text = arrival.text
        path = arrival.path
        if path is None:
            path = await self.presenter.keep_tools_file(text)
        form = ServerForm(kind="file", path=str(path))
        taken = [server.name for server in self.presenter.servers.values()]
        kept = await self._open_sheet(None, replace(form, name=free_name(suggested_name(form), taken)))
        if not kept and arrival.path is None:
            await asyncio.to_thread(partial(path.unlink, missing_ok=True))
        words = "Its tools are a server now." if kept else "Nothing of it was imported."
        return DropOutcome(arrival.name, DropStatus.TAKEN if kept else DropStatus.LEFT, words)

    def commands(self) -> Sequence[Command]:
        group = "Servers"

        def of_one(name: str, text: str, do: Callable[[], object], keys: str = "") -> Command:
            command = Command(id=f"servers.{name}", text=text, do=do, keys=keys, group=group)
            return replace(command, needs=lambda: bool(self.rail.current_id()), unless=NO_SERVER)

        return [
            Command(id="servers.add", text="Add a server", keys="Ctrl+N", do=self.add, group=group),
            of_one("check", "Test the connection", self.check, "Ctrl+Return"),
            of_one("edit", "Edit the server", self.edit),
            Command(id="servers.import", text="Import servers", do=self.importing.ask, group=group),
            Command(id="servers.find", text="Find servers on this machine", do=self.importing.find, group=group),
            *self.deeds.commands(),
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
        """Connect to the chosen servers, asking first where a program would be started."""
        for server_id in self.rail.selected_ids():
            if (server := self.presenter.servers.get(ServerId(server_id))) is not None:
                self.session.spawn(self._check(server))

    def sign_in(self) -> None:
        """Sign in to the chosen server with the browser, and connect."""
        if (server := self.current()) is not None:
            self.session.spawn(self.presenter.sign_in_and_check(server))

    def remove(self, ids: Sequence[str]) -> None:
        """Remove servers, with a way back."""
        chosen = [server for server_id in ids if (server := self.presenter.servers.get(ServerId(server_id)))]
        if chosen:
            self.session.spawn(self._remove(chosen))

    async def _open_sheet(self, server: Server | None, form: ServerForm | None = None) -> bool:
        sheet = ServerDialog(self.session, self.presenter, self, server)
        if form is not None:
            sheet.open_form(form)
        if not await sheet.done_with() or sheet.saved is None:
            return False
        await self._show_new(sheet.saved.id)
        self._remember_sheet(server, sheet.saved)
        return True

    def _remember_sheet(self, before: Server | None, now: Server) -> None:
        if before is None:
            back, again = partial(self.presenter.remove, [now.id]), partial(self.presenter.restore, [now.id])
            self.session.toast(f"Added {now.name}", back, again, deed=f"add {now.name}")
        elif before.spec != now.spec:
            undo, redo = (partial(self.presenter.edit, now.id, spec) for spec in (before.spec, now.spec))
            self.session.toast(f"Changed {now.name}", undo, redo, deed=f"edit {now.name}")

    async def _show_new(self, server_id: ServerId) -> None:
        self._save_view(replace(self.presenter.view, selected=server_id))
        await self.refresh()
        self.rail.select(server_id)

    async def _check(self, server: Server) -> None:
        try:
            await self.presenter.check(server.id)
        except ConsentError as error:
            self.presenter.ask_again(server.id, error.requests[0])
            if server.id == self.rail.current_id():
                self._show(server.id)

    async def _agree(self) -> None:
        if (server := self.current()) is not None:
            self.pane.consent.hide()
            await self.presenter.allow_and_check(server)

    async def _accept(self) -> None:
        if (server := self.current()) is not None:
            await self.presenter.accept(server.id)
            self.session.toast(f"The tools of {server.name} count as seen")

    def _postponed(self) -> None:
        if (server := self.current()) is not None:
            self.presenter.postponed(server.id)
            self.pane.consent.hide()

    async def _remove(self, servers: Sequence[Server]) -> None:
        gone = await self.presenter.remove([server.id for server in servers])
        names = [server.name for server in servers if server.id in gone]
        if names:
            what = names[0] if len(names) == 1 else count(len(names), "server")
            back, again = partial(self.presenter.restore, gone), partial(self.presenter.remove, gone)
            self.session.toast(f"Removed {what}", back, again, deed=f"remove {what}")

    def _filter_actions(self) -> Sequence[Action]:
        view = self.presenter.view
        return view_actions(SERVER_FIELDS, SERVER_ORDERS, view, self.show_view, show_all="Show all servers")

    def _search(self, text: str) -> None:
        if text != self.presenter.view.text:
            self.show_view(replace(self.presenter.view, text=text))

    def show_view(self, view: ViewState) -> None:
        """Search, filter and sort the servers, and save that."""
        self._save_view(view)
        self._present()

    def _save_view(self, view: ViewState) -> None:
        self.presenter.view = view
        self._views.save(view, SERVER_FIELDS)

    def _show_all(self) -> None:
        if self.header.search is not None:
            self.header.search.clear()
        self.show_view(ViewState(sort=self.presenter.view.sort, selected=self.presenter.view.selected))

    def _tool_filter_actions(self) -> Sequence[Action]:
        view = self.presenter.tools_view
        return view_actions(TOOL_FIELDS, TOOL_ORDERS, view, self.show_tools_view, show_all="Show all tools")

    def show_tools_view(self, view: ViewState) -> None:
        """Filter and sort the tools, and save that."""
        self.presenter.tools_view = view
        self._views.save(view, TOOL_FIELDS, TOOLS)
        self._show(self.rail.current_id())

    def _present(self) -> None:
        self._show_servers()
        self._choose_something()

    def _show_servers(self) -> None:
        servers = self.presenter.shown()
        self.header.mark_filter(len(self.presenter.view.filters))
        self._summary.setText(self.presenter.summary())
        self.rail.set_rows([server_row(server, self.presenter) for server in servers])
        self._all.setCurrentIndex(0 if self.presenter.servers else 1)
        self._right.setCurrentIndex(0 if servers else 1)
        self.set_badge(self.presenter.attention_count())
        (self._clock.start if self.presenter.any_starting() else self._clock.stop)()

    def _choose_something(self) -> None:
        if self.rail.current_id():
            self._show(self.rail.current_id())
        elif not self.rail.select(self.presenter.view.selected):
            self.rail.select_first()
        self._show_awaited_target()

    def _show(self, server_id: str) -> None:
        server = self.presenter.servers.get(ServerId(server_id))
        if server is not None:
            self._save_view(replace(self.presenter.view, selected=server_id))
            self.pane.show_server(server)

    def _tick(self) -> None:
        self.rail.upsert(server_row(server, self.presenter) for server in self.presenter.shown())
        if (server := self.current()) is not None:
            self.pane.tick(server)

    def _import_actions(self) -> Sequence[Action]:
        return [
            Action(text="Import servers…", do=self.importing.ask, icon="download-simple"),
            Action(text="Find on this machine…", do=self.importing.find, icon="magnifying-glass"),
        ]

    def _open_import(self) -> None:
        show_menu_under(self._import_actions(), self.header.buttons()[0])

    def _menu(self, ids: Sequence[str]) -> Sequence[Action]:
        one = len(ids) == 1
        return [
            Action(text="Test connection" if one else f"Test {len(ids)} connections", do=self.check),
            *([Action(text="Sign in…", do=self.sign_in)] if one and self._uses_oauth() else []),
            Action(text="Edit…", do=self.edit, enabled=one, keys="F2"),
            Action(text="Remove", do=partial(self.remove, tuple(ids)), keys="Del", apart=True),
        ]

    def _uses_oauth(self) -> bool:
        return (server := self.current()) is not None and server.spec.auth_type is AuthType.OAUTH2

    def _remember(self) -> None:
        self.session.settings.set("servers.split", self.split.layout_state())
        self.session.settings.set("servers.tools_split", self.pane.split.layout_state())
