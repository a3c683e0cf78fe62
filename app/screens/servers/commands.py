"""Commands of the servers screen: one list for its buttons, menus, the palette and shortcuts."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtGui import QGuiApplication

from app.core_link.commands import Command, always
from app.core_link.links import tool_commands
from app.core_link.session import Page
from app.core_link.targets import ChangeTool, NewCases, ShowSimilarTools, ShowStealTest, ShowToolQuality
from app.dialogs.draft_cases import draft_cases
from app.screens.kit.menus import command_action
from app.screens.servers.presenter import ServersPresenter
from app.screens.servers.server_pane import ServerPane
from app.screens.servers.tool_call_dialog import ToolCallDialog
from app.text.formatting import count
from app.widgets import Action, one_line
from mcp_tef import Server, Tool, ToolLabel, Transport

GROUP: Final = "Servers"
NO_SERVER: Final = "Select a server first"
NO_TOOL: Final = "Select tools first"
PAIR: Final = 2
ADD, IMPORT, FIND, CHECK, SIGN_IN, EDIT, REMOVE, DRAFT, STEAL = (
    f"servers.{name}" for name in ("add", "import", "find", "check", "sign_in", "edit", "remove", "draft", "steal")
)
CALL, WRITE_CASES, DRAFT_CASES, CHANGE, QUALITY, SIMILAR, COPY, EXCLUDE = (
    f"servers.tools.{name}" for name in ("call", "cases", "draft", "change", "quality", "alike", "copy", "leave_out")
)


def server_commands(
    operations: Mapping[str, Callable[[], object]], *, has_server: Callable[[], bool], uses_oauth: Callable[[], bool]
) -> dict[str, Command]:
    """Return the commands on servers by id; `operations` are their functions."""

    def command(key: str, text: str, keys: str = "", needs: Callable[[], bool] = always, unless: str = "") -> Command:
        return Command(id=key, text=text, do=operations[key], keys=keys, needs=needs, unless=unless, group=GROUP)

    commands = (
        command(ADD, "Add a server", "Ctrl+N"),
        command(CHECK, "Test the connection", "Ctrl+Return", has_server, NO_SERVER),
        command(SIGN_IN, "Sign in to the server", "", uses_oauth, "Select a server that you sign in to"),
        command(DRAFT, "Draft test cases for the server", "", has_server, NO_SERVER),
        command(STEAL, "Ask what the server takes from others", "", has_server, NO_SERVER),
        command(EDIT, "Edit the server", "", has_server, NO_SERVER),
        command(REMOVE, "Remove the selected servers", "", has_server, NO_SERVER),
        command(IMPORT, "Import servers"),
        command(FIND, "Find servers on this computer"),
    )
    return {one.id: one for one in commands}


def server_actions(commands: Mapping[str, Command], number: int) -> Sequence[Action]:
    """Return the menu of `number` selected servers."""
    test = "Test connection" if number == 1 else f"Test {number} connections"
    sign_in = command_action(commands[SIGN_IN], "Sign in…")
    return [
        command_action(commands[CHECK], test),
        *([sign_in] if number == 1 and sign_in.enabled else []),
        command_action(commands[DRAFT], "Draft cases…", enabled=number == 1),
        command_action(commands[STEAL], "What does this server take from others?", enabled=number == 1),
        _with_key("F2", command_action(commands[EDIT], "Edit…", enabled=number == 1)),
        _with_key("Del", command_action(commands[REMOVE], "Remove", apart=True)),
    ]


def _with_key(key: str, action: Action) -> Action:
    """Return the action with a key that only the list has, where the whole screen cannot have it."""
    return replace(action, keys=key)


class ToolCommands:
    """Commands on the selected tools of a server: call, copy, create cases, navigate, exclude."""

    def __init__(self, page: Page, presenter: ServersPresenter, pane: ServerPane) -> None:
        self._page = page
        self._session = page.session
        self._presenter = presenter
        self._pane = pane
        self._commands = {one.id: one for one in self._made_commands()}
        pane.tools.set_menu(lambda _names: self.actions())
        pane.tools.opened.connect(lambda _: self.call_current())
        pane.tools.delete_wanted.connect(lambda _: self.exclude())
        pane.tools.describe_keys(Enter="Call the tool", Del="Leave the tools out")
        pane.tool_pane.call_wanted.connect(self.call_tool)
        pane.tool_pane.reader.case_wanted.connect(self.write_case)
        pane.tool_pane.left_out.wanted.connect(self.include)

    def _made_commands(self) -> Sequence[Command]:
        def command(key: str, text: str, do: Callable[[], object], keys: str = "") -> Command:
            return Command(
                id=key, text=text, do=do, keys=keys, needs=lambda: bool(self.selected()), unless=NO_TOOL, group=GROUP
            )

        call = command(CALL, "Call the selected tool", self.call_current)
        return (
            replace(call, needs=self._can_call_selected, unless="Select one tool that can be called"),
            command(COPY, "Copy the definitions of the selected tools", self.copy, "Ctrl+Shift+C"),
            command(WRITE_CASES, "Write test cases for the selected tools", self.write_cases),
            command(DRAFT_CASES, "Draft test cases for the selected tools", self.draft_cases),
            command(CHANGE, "Edit the tool in the Workshop", self.change_tool),
            command(QUALITY, "Show the quality of the selected tools", self.show_quality),
            command(SIMILAR, "Show look-alikes of the selected tools", self.show_similar),
            command(EXCLUDE, "Leave the selected tools out", self.exclude),
        )

    def commands(self) -> Sequence[Command]:
        """Return all commands on tools."""
        return (
            *self._commands.values(),
            *tool_commands(self._page.key, GROUP, self.current, self._session.go),
        )

    def actions(self) -> Sequence[Action]:
        """Return the menu of the selected tools."""
        number = len(self.selected())
        cases = "Write a test case" if number <= 1 else f"Write {number} test cases"
        similar = "Compare the two" if number == PAIR else "Show look-alikes"
        exclude = "Leave out" if number <= 1 else f"Leave out {number} tools"
        of = self._commands
        return [
            command_action(of[CALL], "Call…", icon="play"),
            command_action(of[WRITE_CASES], cases, icon="check-square"),
            command_action(of[DRAFT_CASES], "Draft cases…"),
            command_action(of[CHANGE], "Edit in Workshop", icon="wrench", enabled=number == 1),
            command_action(of[QUALITY], "Show quality", icon="medal", apart=True),
            command_action(of[SIMILAR], similar),
            command_action(of[COPY], f"Copy {_definitions(number)} as JSON", icon="copy", apart=True),
            _with_key("Del", command_action(of[EXCLUDE], exclude)),
        ]

    def selected(self) -> tuple[Tool, ...]:
        """Return the selected tools, in the order shown."""
        names = self._pane.side.selected_names()
        shown = {tool.name: tool for tool in self._presenter.tools_of(self._pane.server_id)}
        return tuple(shown[name] for name in names if name in shown)

    def current(self) -> ToolLabel | None:
        """Return the tool whose definition is shown, if any."""
        tool = self._current()
        return _label(tool) if tool else None

    def call_current(self) -> None:
        """Open the dialog that calls the shown tool."""
        tool = self._current()
        if tool is not None and self._can_be_called():
            self.call_tool(tool)

    def call_tool(self, tool: Tool) -> None:
        """Open the dialog that calls a tool."""
        if (server := self._server()) is not None:
            self._session.spawn(ToolCallDialog(self._session, server, tool, self._page).done_with())

    def copy(self) -> None:
        """Copy the definitions as the server gave them: one as it is, several as a list of tools."""
        raw = [tool.raw for tool in self.selected()]
        if raw:
            text = json.dumps(raw[0] if len(raw) == 1 else {"tools": raw}, indent=2, ensure_ascii=False, default=str)
            QGuiApplication.clipboard().setText(text)
            self._session.toast(f"Copied {_definitions(len(raw))}")

    def write_cases(self) -> None:
        """Start a test case for each selected tool."""
        if labels := self._labels():
            self._session.go(NewCases(labels))

    def write_case(self) -> None:
        """Start a test case for the tool that is shown."""
        if (label := self.current()) is not None:
            self._session.go(NewCases((label,)))

    def of_server(self) -> dict[str, Callable[[], object]]:
        """Return what can be done with all tools of the server, by command."""
        return {DRAFT: self.draft_for_server, STEAL: self.ask_what_it_takes}

    def ask_what_it_takes(self) -> None:
        """Ask in the Workshop what the server takes from the tools of others."""
        if (server := self._server()) is not None:
            self._session.go(ShowStealTest(server.name))

    def draft_for_server(self) -> None:
        """Draft test cases for all tools of the server and review them."""
        if (server := self._server()) is not None:
            self._session.spawn(draft_cases(self._session, self._page, [server.name]))

    def draft_cases(self) -> None:
        """Draft test cases for the selected tools and review them."""
        if labels := self._labels():
            tools = [label.tool or "" for label in labels]
            self._session.spawn(draft_cases(self._session, self._page, [labels[0].server or ""], tools))

    def change_tool(self) -> None:
        """Change the first selected tool in a draft."""
        if labels := self._labels():
            self._session.go(ChangeTool(labels[0]))

    def show_quality(self) -> None:
        """Show the selected tools on the quality screen."""
        if labels := self._labels():
            self._session.go(ShowToolQuality(labels))

    def show_similar(self) -> None:
        """Show what is similar to one tool, two tools side by side, or the pairs of several."""
        if labels := self._labels():
            self._session.go(ShowSimilarTools(labels))

    def exclude(self) -> None:
        """Exclude the selected tools, so that no model is offered them."""
        server, names = self._server(), [tool.name for tool in self.selected()]
        if server is not None and names:
            self._session.spawn(self._exclude(server, names))

    def include(self, names: Sequence[str]) -> None:
        """Offer excluded tools again."""
        if (server := self._server()) is not None:
            self._session.spawn(self._include(server, names))

    async def _exclude(self, server: Server, names: Sequence[str]) -> None:
        if excluded := await self._presenter.exclude(server.id, names):
            undo = partial(self._presenter.include, server.id, excluded)
            redo = partial(self._presenter.exclude, server.id, excluded)
            self._session.toast(f"Left out {_tools(excluded)}", undo, redo, action=f"leave out {_tools(excluded)}")

    async def _include(self, server: Server, names: Sequence[str]) -> None:
        if included := await self._presenter.include(server.id, names):
            undo = partial(self._presenter.exclude, server.id, included)
            redo = partial(self._presenter.include, server.id, included)
            tools = _tools(included)
            self._session.toast(f"Offered {tools} again", undo, redo, action=f"offer {tools} again")

    def _server(self) -> Server | None:
        return self._presenter.servers.get(self._pane.server_id)

    def _current(self) -> Tool | None:
        name = self._pane.tools.current_id()
        return next((tool for tool in self._presenter.tools_of(self._pane.server_id) if tool.name == name), None)

    def _labels(self) -> tuple[ToolLabel, ...]:
        return tuple(map(_label, self.selected()))

    def _can_be_called(self) -> bool:
        server = self._server()
        return server is not None and server.spec.transport is not Transport.FILE

    def _can_call_selected(self) -> bool:
        return len(self.selected()) == 1 and self._can_be_called()


def _label(tool: Tool) -> ToolLabel:
    return ToolLabel(tool=tool.name, server=tool.server)


def _definitions(number: int) -> str:
    return "the definition" if number <= 1 else f"{number} definitions"


def _tools(names: Sequence[str]) -> str:
    return one_line(names[0], 40) if len(names) == 1 else count(len(names), "tool")
