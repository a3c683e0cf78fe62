"""Actions on the selected tools of a server: call, copy, create cases, navigate, exclude."""

import json
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtGui import QGuiApplication

from app.core_link.commands import Command
from app.core_link.links import tool_commands
from app.core_link.session import Page
from app.core_link.targets import NewCases, ShowSimilarTools, ShowToolQuality
from app.screens.servers.presenter import ServersPresenter
from app.screens.servers.server_pane import ServerPane
from app.screens.servers.tool_call_dialog import ToolCallDialog
from app.text.formatting import count
from app.widgets import Action, one_line
from mcp_tef import Server, Tool, ToolLabel, Transport

GROUP = "Servers"
NO_TOOL = "Choose tools first"
PAIR = 2


class ToolCommands:
    """Actions on the selected tools."""

    def __init__(self, page: Page, presenter: ServersPresenter, pane: ServerPane) -> None:
        self._page = page
        self._session = page.session
        self._presenter = presenter
        self._pane = pane
        pane.tools.set_menu(lambda _names: self.actions())
        pane.tools.opened.connect(lambda _: self.call_current())
        pane.tools.delete_wanted.connect(lambda _: self.exclude())
        pane.tools.tell_keys(Enter="Try the tool", Del="Leave the tools out")
        pane.tool_pane.call_wanted.connect(self.call_tool)
        pane.tool_pane.left_out.wanted.connect(self.include)

    def server(self) -> Server | None:
        """Whose tools they are."""
        return self._presenter.servers.get(self._pane.server_id) if self._pane.server_id else None

    def chosen(self) -> tuple[Tool, ...]:
        """The chosen tools, in the order shown."""
        names = self._pane.side.chosen()
        shown = {tool.name: tool for tool in self._presenter.tools_of(self._pane.server_id)}
        return tuple(shown[name] for name in names if name in shown)

    def labels(self) -> tuple[ToolLabel, ...]:
        """The same as every screen names them."""
        return tuple(ToolLabel(tool=tool.name, server=tool.server) for tool in self.chosen())

    def current(self) -> ToolLabel | None:
        """The tool that is read."""
        tool = self._current()
        return ToolLabel(tool=tool.name, server=tool.server) if tool else None

    def _current(self) -> Tool | None:
        name = self._pane.tools.current_id()
        return next((tool for tool in self._presenter.tools_of(self._pane.server_id) if tool.name == name), None)

    def call_current(self) -> None:
        """Call the tool that is read by hand."""
        tool = self._current()
        if tool is not None and self._can_be_called():
            self.call_tool(tool)

    def call_tool(self, tool: Tool) -> None:
        """Open the dialog that calls a tool by hand."""
        if (server := self.server()) is not None:
            self._session.spawn(ToolCallDialog(self._session, server, tool, self._page).done_with())

    def _can_be_called(self) -> bool:
        server = self.server()
        return server is not None and server.spec.transport is not Transport.FILE

    def copy(self) -> None:
        """The definitions as the server gave them: one as it is, several as a list of tools."""
        raw = [tool.raw for tool in self.chosen()]
        if raw:
            text = json.dumps(raw[0] if len(raw) == 1 else {"tools": raw}, indent=2, ensure_ascii=False, default=str)
            QGuiApplication.clipboard().setText(text)
            self._session.toast(f"Copied {_definitions(len(raw))}")

    def write_cases(self) -> None:
        """Start a test case for each of them."""
        if labels := self.labels():
            self._session.go(NewCases(labels))

    def show_quality(self) -> None:
        """Their quality: one is read, several are chosen there."""
        if labels := self.labels():
            self._session.go(ShowToolQuality(labels))

    def show_look_alikes(self) -> None:
        """The look-alikes of one, two side by side, or the pairs of several."""
        if labels := self.labels():
            self._session.go(ShowSimilarTools(labels))

    def exclude(self) -> None:
        """Have no model offered them, with a way back."""
        server, names = self.server(), [tool.name for tool in self.chosen()]
        if server is not None and names:
            self._session.spawn(self._exclude(server, names))

    def include(self, names: Sequence[str]) -> None:
        """Take tools back that were left out."""
        if (server := self.server()) is not None:
            self._session.spawn(self._include(server, names))

    async def _exclude(self, server: Server, names: Sequence[str]) -> None:
        if gone := await self._presenter.exclude(server.id, names):
            back = partial(self._presenter.include, server.id, gone)
            again = partial(self._presenter.exclude, server.id, gone)
            self._session.toast(f"Left out {_tools(gone)}", back, again, deed=f"leave out {_tools(gone)}")

    async def _include(self, server: Server, names: Sequence[str]) -> None:
        if come := await self._presenter.include(server.id, names):
            back = partial(self._presenter.exclude, server.id, come)
            again = partial(self._presenter.include, server.id, come)
            deed = f"offer {_tools(come)} again"
            self._session.toast(f"Offered {_tools(come)} again", back, again, deed=deed)

    def actions(self) -> Sequence[Action]:
        """What can be done with the chosen tools."""
        number = len(self.chosen())
        some = number > 0
        alike = {0: "Show look-alikes", 1: "Show look-alikes", PAIR: "Compare the two"}
        cases = "Write a test case" if number <= 1 else f"Write {number} test cases"
        return [
            Action(text="Try it…", do=self.call_current, enabled=number == 1 and self._can_be_called(), icon="play"),
            Action(text=cases, do=self.write_cases, enabled=some, icon="check-square"),
            Action(text="Show quality", do=self.show_quality, enabled=some, icon="medal", apart=True),
            Action(text=alike.get(number, "Show their look-alikes"), do=self.show_look_alikes, enabled=some),
            Action(
                text=f"Copy {_definitions(number)} as JSON",
                do=self.copy,
                enabled=some,
                icon="copy",
                keys="Ctrl+Shift+C",
                apart=True,
            ),
            Action(
                text="Leave out" if number <= 1 else f"Leave out {number} tools",
                do=self.exclude,
                enabled=some,
                keys="Del",
            ),
        ]

    def commands(self) -> Sequence[Command]:
        """The same for the palette and the keys."""

        def deed(name: str, text: str, do: Callable[[], object], keys: str = "") -> Command:
            needs = lambda: bool(self.chosen())  # noqa: E731
            return Command(
                id=f"servers.tools.{name}", text=text, do=do, keys=keys, needs=needs, unless=NO_TOOL, group=GROUP
            )

        return [
            deed("copy", "Copy the definitions of the chosen tools", self.copy, "Ctrl+Shift+C"),
            deed("cases", "Write test cases for the chosen tools", self.write_cases),
            deed("quality", "Show the quality of the chosen tools", self.show_quality),
            deed("alike", "Show look-alikes of the chosen tools", self.show_look_alikes),
            deed("leave_out", "Leave the chosen tools out", self.exclude),
            *tool_commands(self._page.key, GROUP, self.current, self._session.go),
        ]


def _definitions(number: int) -> str:
    return "the definition" if number <= 1 else f"{number} definitions"


def _tools(names: Sequence[str]) -> str:
    return one_line(names[0], 40) if len(names) == 1 else count(len(names), "tool")
