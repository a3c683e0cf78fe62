"""Page of the servers screen: server list, the selected server and the actions on it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.commands import Command
from app.core_link.import_outcomes import DropOutcome
from app.core_link.links import link_actions, tool_links
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import AddServer, FindServers, ImportServers, ShowServer, ShowServerHealth, ShowTool, Target
from app.screens.kit import ViewState, ViewStates
from app.screens.kit.menus import command_action, view_actions
from app.screens.servers.commands import (
    ADD,
    CHECK,
    EDIT,
    FIND,
    IMPORT,
    REMOVE,
    SIGN_IN,
    ToolCommands,
    server_actions,
    server_commands,
)
from app.screens.servers.filters import SCREEN, SERVER_FIELDS, SERVER_ORDERS, TOOL_FIELDS, TOOL_ORDERS, TOOLS
from app.screens.servers.health_pane import HealthTab
from app.screens.servers.import_dialogs import ServerImporter, offer_tools
from app.screens.servers.server_dialog import ServerDialog
from app.screens.servers.server_form import ServerForm
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
    column_layout,
    frozen_updates,
    show_menu_under,
    yield_to_ui,
)
from mcp_tef import AuthType, ConsentError, DetectedFile, Event, FileKind, Server, ServerId, Tool, ToolLabel

WHY_EMPTY = (
    "A server is where tools come from: a program on this computer, an address, or a file with a list of tools. "
    "Add one to see its tools as a model sees them."
)
NOTHING = "Nothing found", "No server or tool matches the search and the filters."


class ServersPage(Page):
    """Lists, adds, edits, removes and checks servers."""

    def __init__(self, session: Session, pane: ServerPane | None = None) -> None:
        super().__init__(session, key=SCREEN, title="Servers")
        self.pane = pane or at_once(ServerPane.in_parts(session))
        self.presenter = self.pane.presenter
        self._views = ViewStates(session.settings, session.workspace, self.key)
        self.presenter.view = self._views.load(SERVER_FIELDS)
        self.presenter.tools_view = self._views.load(TOOL_FIELDS, TOOLS)
        self.server_list = CardList("Servers", row_height=height("server_row"), many=True)
        self._summary = Label(size=Size.SMALL, role=Role.DIM, strong=True)
        self._nothing = EmptyState("magnifying-glass", *NOTHING, [Action(text="Show all servers", do=self._show_all)])
        self._right, self._all = QStackedWidget(), QStackedWidget()
        self._clock = QTimer(self, interval=1_000)
        self._awaited_target: ShowServer | ShowTool | None = None
        self.importing = ServerImporter(self, self._show_new)
        self.tool_commands = ToolCommands(self, self.presenter, self.pane)
        operations = {
            ADD: self.add,
            IMPORT: self.importing.ask,
            FIND: self.importing.find,
            CHECK: self.check,
            SIGN_IN: self.sign_in,
            **self.tool_commands.of_server(),
            EDIT: self.edit,
            REMOVE: self.remove_selected,
        }
        self._commands = server_commands(
            operations, has_server=lambda: self.current() is not None, uses_oauth=self._uses_oauth
        )
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        add = command_action(self._commands[ADD], "Add server…", icon="plus", tip="Ctrl+N")
        search = self.header.set_search("Search servers and tools")
        search.setText(self.presenter.view.text)
        search.searched.connect(self._search)
        self.header.set_filter(self._filter_actions)
        self.pane.side.set_menus(self._tool_filter_actions, self.tool_commands.actions)
        left = QWidget()
        column = column_layout(left, list_header(self._summary))
        column.addWidget(self.server_list, 1)
        left.setMinimumWidth(200)
        for part in (self.pane, self._nothing):
            self._right.addWidget(part)
        self.split = Split([left, self._right], "Servers and server", [width("server_list"), 800])
        self.split.set_stretch(1)
        self.split.restore_layout(self.session.settings.get("servers.split", []))
        self.pane.split.restore_layout(self.session.settings.get("servers.tools_split", []))
        self._all.addWidget(self.split)
        first = replace(add, kind="primary")
        self._all.addWidget(EmptyState("hard-drives", "No servers yet", WHY_EMPTY, [first, *self._import_actions()]))
        self._all.addWidget(QWidget())
        self.body.addWidget(self._all)
        bring = Action(text="Import", do=self._open_import, icon="download-simple")
        self.health = HealthTab(self, self._all, [bring, add])
        self._all.setCurrentIndex(2)

    def _listen(self) -> None:
        self.server_list.chosen.connect(self._show)
        self.server_list.opened.connect(lambda _: self.edit())
        self.server_list.rename_wanted.connect(lambda _: self.edit())
        self.server_list.delete_wanted.connect(self.remove)
        self.server_list.set_menu(lambda ids: server_actions(self._commands, len(ids)))
        self.server_list.describe_keys(Enter="Edit the server", F2="Edit the server", Del="Remove the servers")
        self.pane.check_wanted.connect(self.check)
        self.pane.edit_wanted.connect(self.edit)
        self.pane.remove_wanted.connect(self.remove_selected)
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
        """Read all servers and show them; only their health while that is shown."""
        if await self.health.refresh():
            return
        await self.presenter.load()
        async with frozen_updates(self._all):
            self._show_servers()
            await yield_to_ui()
            self._choose_something()
        await self.health.refresh()

    def handle(self, event: Event) -> Refresh:
        soonest = Refresh.LATER if self.health.shown() else Refresh.NOW
        return min(self.presenter.handle(event), soonest)

    def receive(self, events: tuple[Event, ...]) -> bool:
        if enough := not self.health.shown() and self.presenter.take(events):
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
            case ShowServerHealth(server=server):
                self.health.open(server)
            case ShowServer() | ShowTool():
                self.health.show_tools()
                self._awaited_target = target
                if self.presenter.servers:
                    self._show_awaited_target()

    def current_target(self) -> Target | None:
        if (health := self.health.target()) is not None:
            return health
        if (tool := self.tool_commands.current()) is not None:
            return ShowTool(tool)
        return ShowServer(ServerId(server)) if (server := self.server_list.current_id()) else None

    def _show_awaited_target(self) -> None:
        target, self._awaited_target = self._awaited_target, None
        match target:
            case ShowServer(server_id=server_id):
                self._select_server(server_id)
            case ShowTool(tool=tool):
                self._show_all()
                self._select_tool(tool)

    def _select_server(self, server_id: str) -> None:
        if not self.server_list.select(server_id):
            self._show_all()
            if not self.server_list.select(server_id):
                self.session.toast("That server no longer exists")

    def _select_tool(self, label: ToolLabel) -> None:
        server = next((one for one in self.presenter.servers.values() if one.name == label.server), None)
        if server is None:
            self.session.toast(f"The server {label.server or label.text} no longer exists")
            return
        self.server_list.select(server.id)
        self.pane.tools.setFocus()
        if label.tool and not self.pane.tools.select(label.tool):
            self.show_tools_view(ViewState(sort=self.presenter.tools_view.sort))
            if not self.pane.tools.select(label.tool):
                self.session.toast(f"{server.name} no longer lists {label.tool}")

    def _show_links(self, tool: Tool) -> None:
        links = tool_links(ToolLabel(tool=tool.name, server=tool.server), self.key)
        self.pane.tool_pane.reader.links.set_links(link_actions(links, self.session.go))

    async def bring_in(self, arrivals: Sequence[DetectedFile]) -> Sequence[DropOutcome]:
        """Preview configs before the import; offer to add a list of tools as a server."""
        await self.settled()
        configs = [arrival for arrival in arrivals if arrival.kind is FileKind.SERVERS]
        outcomes = [*await self.importing.bring_in(configs)] if configs else []
        offer = partial(offer_tools, self.presenter, partial(self._open_dialog, None))
        return [*outcomes, *[await offer(one) for one in arrivals if one.kind is FileKind.TOOLS]]

    def commands(self) -> Sequence[Command]:
        return (*self._commands.values(), *self.tool_commands.commands(), self.health.command())

    def first_focus(self) -> QWidget:
        return self.health.pane.list if self.health.shown() else self.server_list

    def current(self) -> Server | None:
        """Return the selected server, if any."""
        return self.presenter.servers.get(ServerId(self.server_list.current_id()))

    def add(self) -> None:
        """Open the dialog for a new server."""
        self.session.spawn(self._open_dialog(None))

    def edit(self) -> None:
        """Open the dialog for the selected server."""
        if (server := self.current()) is not None:
            self.session.spawn(self._open_dialog(server))

    def check(self) -> None:
        """Connect to the selected servers, asking for consent first if needed."""
        for server_id in self.server_list.selected_ids():
            if (server := self.presenter.servers.get(ServerId(server_id))) is not None:
                self.session.spawn(self._check(server))

    def sign_in(self) -> None:
        """Sign in to the selected server with the browser, and connect."""
        if (server := self.current()) is not None:
            self.session.spawn(self.presenter.sign_in_and_check(server))

    def remove(self, ids: Sequence[str]) -> None:
        """Remove servers; this can be undone."""
        chosen = [server for server_id in ids if (server := self.presenter.servers.get(ServerId(server_id)))]
        if chosen:
            self.session.spawn(self._remove(chosen))

    def remove_selected(self) -> None:
        """Remove the selected servers."""
        self.remove(self.server_list.selected_ids())

    async def _open_dialog(self, server: Server | None, form: ServerForm | None = None) -> bool:
        dialog = ServerDialog(self.session, self.presenter, self, server)
        if form is not None:
            dialog.open_form(form)
        if not await dialog.done_with() or dialog.saved is None:
            return False
        await self._show_new(dialog.saved.id)
        self.server_list.setFocus()
        self._remember_change(server, dialog.saved)
        return True

    def _remember_change(self, before: Server | None, now: Server) -> None:
        if before is None:
            undo, redo = partial(self.presenter.remove, [now.id]), partial(self.presenter.restore, [now.id])
            self.session.toast(f"Added {now.name}", undo, redo, action=f"add {now.name}")
        elif before.spec != now.spec:
            edit = partial(self.presenter.edit, now.id)
            undo_edit, redo_edit = partial(edit, before.spec, now.spec), partial(edit, now.spec, before.spec)
            self.session.toast(f"Changed {now.name}", undo_edit, redo_edit, action=f"edit {now.name}")

    async def _show_new(self, server_id: ServerId) -> None:
        self._save_view(replace(self.presenter.view, selected=server_id))
        await self.refresh()
        self.server_list.select(server_id)

    async def _check(self, server: Server) -> None:
        try:
            await self.presenter.check(server.id)
        except ConsentError as error:
            self.presenter.ask_again(server.id, error.requests[0])
            self._show(self.server_list.current_id())

    async def _agree(self) -> None:
        if (server := self.current()) is not None:
            self.pane.consent.put_away(self.first_focus())
            await self.presenter.allow_and_check(server)

    async def _accept(self) -> None:
        if (server := self.current()) is not None:
            await self.presenter.accept(server.id)
            self.session.toast(f"Accepted the tools of {server.name}")

    def _postponed(self) -> None:
        if (server := self.current()) is not None:
            self.presenter.postponed(server.id)
            self.pane.consent.put_away(self.first_focus())

    async def _remove(self, servers: Sequence[Server]) -> None:
        gone = await self.presenter.remove([server.id for server in servers])
        names = [server.name for server in servers if server.id in gone]
        if names:
            what = names[0] if len(names) == 1 else count(len(names), "server")
            undo, redo = partial(self.presenter.restore, gone), partial(self.presenter.remove, gone)
            self.session.toast(f"Removed {what}", undo, redo, action=f"remove {what}")

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
        self._show(self.server_list.current_id())

    def _present(self) -> None:
        self._show_servers()
        self._choose_something()

    def _show_servers(self) -> None:
        servers = self.presenter.shown()
        self.header.mark_filter(len(self.presenter.view.filters))
        self._summary.setText(self.presenter.summary())
        self.server_list.set_rows([server_row(server, self.presenter) for server in servers])
        self.health.show_servers(some=bool(self.presenter.servers))
        self._right.setCurrentIndex(0 if servers else 1)
        self.set_badge(self.presenter.attention_count())
        (self._clock.start if self.presenter.any_starting() else self._clock.stop)()

    def _choose_something(self) -> None:
        if self.server_list.current_id():
            self._show(self.server_list.current_id())
        elif not self.server_list.select(self.presenter.view.selected):
            self.server_list.select_first()
        self._show_awaited_target()

    def _show(self, server_id: str) -> None:
        server = self.presenter.servers.get(ServerId(server_id))
        if server is not None:
            self._save_view(replace(self.presenter.view, selected=server_id))
            self.pane.show_server(server)

    def _tick(self) -> None:
        self.server_list.upsert(server_row(server, self.presenter) for server in self.presenter.shown())
        if (server := self.current()) is not None:
            self.pane.tick(server)

    def _import_actions(self) -> Sequence[Action]:
        return [
            command_action(self._commands[IMPORT], "Import servers…", icon="download-simple"),
            command_action(self._commands[FIND], "Find on this computer…", icon="magnifying-glass"),
        ]

    def _open_import(self) -> None:
        show_menu_under(self._import_actions(), self.header.buttons()[0])

    def _uses_oauth(self) -> bool:
        return (server := self.current()) is not None and server.spec.auth_type is AuthType.OAUTH2

    def _remember(self) -> None:
        self.session.settings.set("servers.split", self.split.layout_state())
        self.session.settings.set("servers.tools_split", self.pane.split.layout_state())
