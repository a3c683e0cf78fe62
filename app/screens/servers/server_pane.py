"""Pane of one server with its list of tools, and the rows of the lists of servers and tools."""

import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.dialogs.consent import ConsentBar
from app.screens.servers.presenter import ServersPresenter, failure_details
from app.screens.servers.tool_pane import ToolPane, summary, warning
from app.text.formatting import count
from app.theme import Role, Size, height, sized, width
from app.widgets import (
    Action,
    CardList,
    CardRow,
    IconButton,
    IncrementalBuild,
    Label,
    LineText,
    Mark,
    Notice,
    Rule,
    Span,
    Split,
    button,
    column_layout,
    one_line,
    row_layout,
    show_menu,
)
from mcp_tef import AuthType, Drift, Listing, Server, ServerId, ServerStatus, Tool, Transport

PROBLEMS = "\0problems"
CHANGES = "\0changes"
EXCLUDED = "\0left out"
INSTRUCTIONS = "\0instructions"
SPECIAL_ROWS = (PROBLEMS, CHANGES, EXCLUDED, INSTRUCTIONS)
MARKS = {
    ServerStatus.ACTIVE: Mark.DOT,
    ServerStatus.STARTING: Mark.ARC,
    ServerStatus.FAILED: Mark.TRIANGLE,
    ServerStatus.INACTIVE: Mark.RING,
}
_ROLES = {ServerStatus.STARTING: Role.INFO, ServerStatus.FAILED: Role.BAD}


def server_row(server: Server, presenter: ServersPresenter) -> CardRow:
    """Return the row of a server: state, number of tools, and what needs attention."""
    word = presenter.status_text(server)
    line = one_line(presenter.state_detail(server))
    role = _ROLES.get(server.status, Role.TEXT)
    return CardRow(
        id=server.id,
        title=one_line(server.name),
        mark=MARKS[server.status],
        right=_tool_count(server),
        sub=(Span(word, role, strong=True), Span(f" · {line}", Role.DIM)),
        sub_right=_changed(presenter.drifts.get(server.id)) or _aside(server.problem_count),
        tip=server.spec.address,
    )


def _tool_count(server: Server) -> Span | None:
    if server.tool_count is None:
        return None
    fresh = server.status is ServerStatus.ACTIVE
    return Span(count(server.tool_count, "tool"), Role.TEXT if fresh else Role.DIM)


def _changed(drift: Drift | None) -> Span | None:
    return Span(f"{len(drift.tools)} changed", Role.WARN, strong=True) if drift else None


def _aside(number: int) -> Span | None:
    return Span(f"{number} rejected", Role.WARN, strong=True) if number else None


NO_TOKENS: Mapping[str, int] = MappingProxyType({})


def tool_rows(
    tools: Sequence[Tool],
    listing: Listing | None,
    drift: Drift | None,
    left_out: Sequence[str] = (),
    tokens: Mapping[str, int] = NO_TOKENS,
) -> list[CardRow]:
    """Return one row per tool, one before them for changes, and one each for rejected and excluded tools.

    `tokens` adds the number of tokens of each tool.
    """
    rows = [_tool_row(tool, tokens.get(tool.name)) for tool in tools]
    if drift is not None:
        rows.insert(0, CardRow(id=CHANGES, title=count(len(drift.tools), "change"), mark=Mark.NOTE))
    if listing is not None and listing.problems:
        words = f"{len(listing.problems)} rejected"
        rows.append(CardRow(id=PROBLEMS, title=words, mark=Mark.NOTE, light=True))
    if listing is not None and listing.instructions:
        rows.append(CardRow(id=INSTRUCTIONS, title="Instructions to the model", mark=Mark.RING, light=True))
    if left_out:
        rows.append(CardRow(id=EXCLUDED, title=f"{len(left_out)} left out", mark=Mark.RING, light=True))
    return rows


def _tool_row(tool: Tool, tokens: int | None) -> CardRow:
    weight = None if tokens is None else Span(f"{tokens:,}", Role.DIM)
    return CardRow(id=tool.name, title=one_line(tool.name), mono=True, right=weight)


Actions = Callable[[], Sequence[Action]]


class ToolList(QWidget):
    """List of tools under a head with two menus: filters, and actions on the selected tools."""

    def __init__(self) -> None:
        super().__init__()
        self.list = CardList("Tools", row_height=height("table_row"), many=True)
        self.filter = IconButton("funnel", "Filter and sort the tools", size=14)
        self.more = IconButton("dots-three", "Actions on the selected tools")
        self._title = LineText(size=Size.SMALL, role=Role.DIM, strong=True)
        head = QWidget()
        head.setFixedHeight(height("list_header") - 1)
        row = row_layout(head, margins=(16, 0, 4, 0))
        row.addWidget(self._title, 1)
        row.addWidget(self.filter)
        row.addWidget(self.more)
        column = column_layout(self, head, Rule())
        column.addWidget(self.list, 1)
        self.setMinimumWidth(140)

    def set_menus(self, filters: Actions, tools: Actions) -> None:
        """Set the entries of the two menus, which are asked for each time that one opens."""
        self.filter.clicked.connect(lambda: _open(self.filter, filters()))
        self.more.clicked.connect(lambda: _open(self.more, tools()))

    def show_rows(self, rows: Sequence[CardRow], title: str) -> None:
        """Show rows under a title."""
        self.list.set_rows(rows)
        self._title.set_text(title)

    def title(self) -> str:
        """Return the title over the list."""
        return self._title.text()

    def selected_names(self) -> tuple[str, ...]:
        """Return the names of the selected tools, in the order shown."""
        return tuple(name for name in self.list.selected_ids() if name not in SPECIAL_ROWS)


def _open(made: QWidget, actions: Sequence[Action]) -> None:
    show_menu(actions, made.mapToGlobal(QPoint(0, made.height() + 4)), made)


LEAST_NAME = 160
NO_TOOL_FITS = "No tool of this server matches. Clear the search, or show all tools with the filter of the list."


class ServerPane(QWidget):
    """Head, notices and tools of the selected server."""

    check_wanted = Signal()
    edit_wanted = Signal()
    remove_wanted = Signal()
    sign_in_wanted = Signal()

    def __init__(self, session: Session, presenter: ServersPresenter, side: ToolList, tool_pane: ToolPane) -> None:
        super().__init__()
        self._session = session
        self.presenter = presenter
        self.server_id = ServerId("")
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
        """Build the pane in parts."""
        side = ToolList()
        yield
        tool_pane = ToolPane()
        yield
        pane = cls(session, ServersPresenter(session, time.monotonic), side, tool_pane)
        yield
        return pane

    def _lay_out(self) -> None:
        column = column_layout(self, self._head(), Rule(), self.consent, self.failure, self.drifted)
        self.split = Split([self.side, self.tool_pane], "Tools and tool", [width("tool_list"), 600])
        self.split.set_stretch(1)
        column.addWidget(self.split, 1)

    def _head(self) -> QWidget:
        head = QWidget()
        row = row_layout(head, margins=(16, 12, 16, 12), spacing=8)
        words = column_layout(spacing=4)
        first = row_layout(None, self._name, spacing=8)
        first.addWidget(self._state, 1)
        words.addLayout(first)
        words.addWidget(self._address)
        row.addLayout(words, 1)
        row.addWidget(self._test)
        row.addWidget(button(Action(text="Edit…", do=self.edit_wanted.emit)))
        row.addWidget(button(Action(text="Remove", do=self.remove_wanted.emit)))
        return head

    def show_server(self, server: Server) -> None:
        """Show a server."""
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
        """Update the texts that change with time."""
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
        rows = tool_rows(tools, listing, presenter.drifts.get(server.id), left_out, presenter.weights_of(server.id))
        stale = listing is not None and server.status in (ServerStatus.FAILED, ServerStatus.STARTING)
        known = listing.tools if listing else ()
        self.side.show_rows(rows, _title(len(tools), len(known), stale=stale))
        self.side.setVisible(bool(rows or known))
        self._start_count()
        if not rows and known:
            self.tool_pane.show_nothing("No matching tools", NO_TOOL_FITS)
        elif not rows:
            self.tool_pane.show_nothing(*_no_tools(server, asked=server.id in presenter.awaiting_consent))
        elif not self.tools.current_id():
            self.tools.select_first()
        else:
            self._show_tool(self.tools.current_id())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._start_count()

    def _start_count(self) -> None:
        server = self.presenter.servers.get(self.server_id)
        if server is not None and self.isVisible():
            self._session.spawn(self._count_tokens(server), of=self)

    async def _count_tokens(self, server: Server) -> None:
        """Show the tokens of the tools once they are counted; the first count takes a moment."""
        if await self.presenter.count_tokens(server.id) and server.id == self.server_id:
            self._show_tools(server)

    def _show_tool(self, name: str) -> None:
        """Show the content of a row of the tool list."""
        listing = self.presenter.listings.get(self.server_id)
        if listing is None:
            return
        spec = self.presenter.servers[self.server_id].spec
        drift = self.presenter.drifts.get(self.server_id)
        if name == PROBLEMS:
            self.tool_pane.show_problems(listing.problems)
        elif name == INSTRUCTIONS:
            self.tool_pane.show_instructions(listing.instructions)
        elif name == EXCLUDED:
            self.tool_pane.show_excluded(spec.disallowed_tools)
        elif name == CHANGES and drift is not None:
            self.tool_pane.show_changes(drift)
        else:
            self._show_definition(listing, name, can_be_called=spec.transport is not Transport.FILE)

    def _show_definition(self, listing: Listing, name: str, *, can_be_called: bool) -> None:
        tools = [tool for tool in listing.tools if tool.name == name]
        if tools:
            self.tool_pane.show_tool(tools[0], self.presenter.tokens_of(self.server_id), can_be_called=can_be_called)


def _title(shown: int, known: int, *, stale: bool) -> str:
    if shown < known:
        return f"{shown} of {count(known, 'tool')}"
    return "As last seen" if stale else "Tools"


def _no_tools(server: Server, *, asked: bool) -> tuple[str, str]:
    if server.status is ServerStatus.STARTING:
        return "Connecting", "Its tools appear here when it answers. A first start may take ten seconds or more."
    if server.status is ServerStatus.FAILED:
        return "No tools yet", "The server did not answer, so its tools are unknown."
    if server.status is ServerStatus.ACTIVE:
        return "No tools", "The server answered, but lists no tools."
    if asked:
        return "Not started yet", "Allow it to start to see its tools."
    return "Not connected yet", "Test the connection to see its tools."


def list_header(title: Label) -> QWidget:
    """Return the head over a list."""
    head = QWidget()
    column = column_layout(head, margins=(16, 0, 16, 0))
    column.addWidget(title, 1)
    holder = QWidget()
    holder.setFixedHeight(height("list_header"))
    outer = column_layout(holder)
    outer.addWidget(head, 1)
    outer.addWidget(Rule())
    return holder
