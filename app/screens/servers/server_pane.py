"""One server: its state, what it asks or why it failed, and its tools."""

import time

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.session import Session
from app.screens.servers.consent_bar import ConsentBar
from app.screens.servers.definition_changes import summary, warning
from app.screens.servers.filters import ToolOrder
from app.screens.servers.lists import CHANGES, EXCLUDED, PROBLEMS, ToolList, tool_rows
from app.screens.servers.presenter import ServersPresenter, failure_details
from app.screens.servers.tool_pane import ToolPane
from app.text.formatting import count
from app.theme import Role, Size, height, sized, width
from app.widgets import Action, IncrementalBuild, Label, LineText, Notice, Rule, Split, button
from mcp_tef import AuthType, Drift, Server, ServerId, ServerStatus, Transport

LEAST_NAME = 160
NO_TOOL_FITS = "No tool of this server fits. Empty the search, or choose all tools in the filter of the list."


class ServerPane(QWidget):
    """Head, bars and tools of the chosen server."""

    check_wanted = Signal()
    edit_wanted = Signal()
    remove_wanted = Signal()
    sign_in_wanted = Signal()

    def __init__(self, presenter: ServersPresenter, side: ToolList, tool_pane: ToolPane) -> None:
        super().__init__()
        self.presenter = presenter
        self.server_id: ServerId | None = None
        self.consent = ConsentBar()
        self.failure = Notice("bad")
        self.drifted = Notice("warn")
        self.side = side
        self.tools = side.list
        self.tool_pane = tool_pane
        self._name = LineText(size=Size.LEAD, strong=True)
        self._state = LineText(role=Role.DIM)
        self._address = LineText(role=Role.DIM, mono=True)
        self._test = button(Action(text="Test connection", do=self.check_wanted.emit))
        self._lay_out()
        self.tools.chosen.connect(self._show_tool)

    @classmethod
    def in_parts(cls, session: Session) -> IncrementalBuild["ServerPane"]:
        """The pane, made a part at a time."""
        side = ToolList()
        yield
        tool_pane = ToolPane()
        yield
        pane = cls(ServersPresenter(session, time.monotonic), side, tool_pane)
        yield
        return pane

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self._head(), Rule(), self.consent, self.failure, self.drifted):
            column.addWidget(part)
        self.split = Split([self.side, self.tool_pane], "Tools and tool", [width("tool_list"), 600])
        self.split.set_stretch(1)
        column.addWidget(self.split, 1)

    def _head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(8)
        words = QVBoxLayout()
        words.setSpacing(4)
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self._name)
        first.addWidget(self._state, 1)
        words.addLayout(first)
        words.addWidget(self._address)
        row.addLayout(words, 1)
        row.addWidget(self._test)
        row.addWidget(button(Action(text="Edit", do=self.edit_wanted.emit)))
        row.addWidget(button(Action(text="Remove", do=self.remove_wanted.emit)))
        return head

    def show_server(self, server: Server) -> None:
        """Show a server as it is now."""
        self.server_id = server.id
        self._name.set_text(server.name)
        whole = self._name.sizeHint().width() + 4
        self._name.setMinimumWidth(min(whole, sized(LEAST_NAME)))
        self._name.setMaximumWidth(whole)
        self._state.set_text(self.presenter.state_summary(server))
        self._address.set_text(server.spec.address)
        self._test.setEnabled(server.status is not ServerStatus.STARTING)
        self._show_bars(server)
        self._show_drift(server)
        self._show_tools(server)

    def tick(self, server: Server) -> None:
        """Only time has passed."""
        self._state.set_text(self.presenter.state_summary(server))

    def _show_bars(self, server: Server) -> None:
        if request := self.presenter.consent_request(server.id):
            self.consent.ask(request)
        else:
            self.consent.hide()
        if server.status is ServerStatus.FAILED:
            actions = [
                Action(text="Edit server", do=self.edit_wanted.emit),
                Action(text="Try again", do=self.check_wanted.emit),
            ]
            if server.spec.auth_type is AuthType.OAUTH2:
                actions.insert(0, Action(text="Sign in", do=self.sign_in_wanted.emit))
            reason = server.reason or f"{server.name} did not answer."
            self.failure.show_message(reason, server.hint or "", actions, failure_details(server))
        else:
            self.failure.clear()

    def _show_drift(self, server: Server) -> None:
        drift = self.presenter.drifts.get(server.id)
        if drift is None:
            self.drifted.clear()
            return
        look = Action(text="Show the changes", do=lambda: self.tools.select(CHANGES))
        self.drifted.show_message(summary(drift), warning(drift), [look])

    def _show_tools(self, server: Server) -> None:
        presenter, left_out = self.presenter, server.spec.disallowed_tools
        tools, listing = presenter.tools_of(server.id), presenter.listings.get(server.id)
        weighed = presenter.tools_shown.order is ToolOrder.WEIGHT
        rows = tool_rows(tools, listing, presenter.drifts.get(server.id), left_out, weighed=weighed)
        stale = listing is not None and server.status in (ServerStatus.FAILED, ServerStatus.STARTING)
        known = listing.tools if listing else ()
        self.side.show_rows(rows, _title(len(tools), len(known), stale=stale))
        self.side.setVisible(bool(rows or known))
        if not rows and known:
            self.tool_pane.show_nothing("No tool fits", NO_TOOL_FITS)
        elif not rows:
            self.tool_pane.show_nothing(*_no_tools(server, asked=server.id in presenter.awaiting_consent))
        elif not self.tools.current_id():
            self.tools.select_first()
        else:
            self._show_tool(self.tools.current_id())

    def _show_changes(self, drift: Drift | None) -> None:
        if drift is not None:
            self.tool_pane.show_changes(drift)

    def _show_tool(self, name: str) -> None:
        listing = self.presenter.listings.get(self.server_id) if self.server_id else None
        if listing is None or self.server_id is None:
            return
        if name == PROBLEMS:
            self.tool_pane.show_problems(listing.problems)
            return
        if name == CHANGES:
            self._show_changes(self.presenter.drifts.get(self.server_id))
            return
        if name == EXCLUDED:
            self.tool_pane.show_excluded(self.presenter.servers[self.server_id].spec.disallowed_tools)
            return
        tool = next((tool for tool in listing.tools if tool.name == name), None)
        if tool is not None:
            spec = self.presenter.servers[self.server_id].spec
            self.tool_pane.show_tool(tool, listing.tools, can_be_called=spec.transport is not Transport.FILE)


def _title(shown: int, known: int, *, stale: bool) -> str:
    if shown < known:
        return f"{shown} of {count(known, 'tool')}"
    return "As last seen" if stale else "Tools"


def _no_tools(server: Server, *, asked: bool) -> tuple[str, str]:
    if server.status is ServerStatus.STARTING:
        return "Connecting", "Its tools appear here as soon as it answers. A first start may take ten seconds or more."
    if server.status is ServerStatus.FAILED:
        return "No tools seen yet", "The server did not answer, so nothing is known of its tools."
    if server.status is ServerStatus.ACTIVE:
        return "No tools", "The server answered, and lists no tools."
    if asked:
        return "Not started yet", "Allow it to start to see its tools."
    return "Not connected yet", "Test the connection to see its tools."


def list_header(title: Label) -> QWidget:
    """The small head over a rail."""
    head = QWidget()
    column = QVBoxLayout(head)
    column.setContentsMargins(16, 0, 16, 0)
    column.setSpacing(0)
    column.addWidget(title, 1)
    holder = QWidget()
    holder.setFixedHeight(height("rail_header"))
    outer = QVBoxLayout(holder)
    outer.setContentsMargins(0, 0, 0, 0)
    outer.setSpacing(0)
    outer.addWidget(head, 1)
    outer.addWidget(Rule())
    return holder
