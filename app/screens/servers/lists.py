"""Rows of the server list and of the tool list, and the tool list with its menus."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.servers.presenter import ServersPresenter
from app.screens.servers.schema import token_count
from app.text.formatting import count
from app.theme import Role, Size, height
from app.widgets import Action, CardList, CardRow, IconButton, LineText, Mark, Rule, Span, one_line, show_menu
from mcp_tef import Drift, Listing, Server, ServerStatus, Tool

PROBLEMS = "\0problems"
CHANGES = "\0changes"
EXCLUDED = "\0left out"
SPECIAL_ROWS = (PROBLEMS, CHANGES, EXCLUDED)
MARKS = {
    ServerStatus.ACTIVE: Mark.DOT,
    ServerStatus.STARTING: Mark.ARC,
    ServerStatus.FAILED: Mark.TRIANGLE,
    ServerStatus.INACTIVE: Mark.RING,
}
_ROLES = {ServerStatus.STARTING: Role.INFO, ServerStatus.FAILED: Role.BAD}


def server_row(server: Server, presenter: ServersPresenter) -> CardRow:
    """A server: mark and word for its state, how many tools, what needs a look."""
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
    return Span(f"{number} set aside", Role.WARN, strong=True) if number else None


def tool_rows(
    tools: Sequence[Tool],
    listing: Listing | None,
    drift: Drift | None,
    left_out: Sequence[str] = (),
    *,
    weighed: bool = False,
) -> list[CardRow]:
    """One line a tool, one before them for what changed, and one each for what was set aside and left out.

    `weighed` shows what each tool costs in a request.
    """
    rows = [_tool_row(tool, weighed=weighed) for tool in tools]
    if drift is not None:
        rows.insert(0, CardRow(id=CHANGES, title=count(len(drift.tools), "change"), mark=Mark.NOTE))
    if listing is not None and listing.problems:
        words = f"{len(listing.problems)} set aside"
        rows.append(CardRow(id=PROBLEMS, title=words, mark=Mark.NOTE, light=True))
    if left_out:
        rows.append(CardRow(id=EXCLUDED, title=f"{len(left_out)} left out", mark=Mark.RING, light=True))
    return rows


def _tool_row(tool: Tool, *, weighed: bool) -> CardRow:
    weight = Span(f"{token_count(tool):,}", Role.DIM) if weighed else None
    return CardRow(id=tool.name, title=one_line(tool.name), mono=True, right=weight)


Actions = Callable[[], Sequence[Action]]


class ToolList(QWidget):
    """A head with two menus over the list: what narrows it, and what can be done with the chosen tools."""

    def __init__(self) -> None:
        super().__init__()
        self.list = CardList("Tools", row_height=height("table_row"), many=True)
        self.narrow = IconButton("funnel", "Filter and sort the tools", size=14)
        self.more = IconButton("dots-three", "What can be done with the chosen tools")
        self._title = LineText(size=Size.SMALL, role=Role.DIM, strong=True)
        head = QWidget()
        head.setFixedHeight(height("rail_header") - 1)
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 0, 4, 0)
        row.setSpacing(0)
        row.addWidget(self._title, 1)
        row.addWidget(self.narrow)
        row.addWidget(self.more)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (head, Rule()):
            column.addWidget(part)
        column.addWidget(self.list, 1)
        self.setMinimumWidth(140)

    def offer(self, narrowing: Actions, deeds: Actions) -> None:
        """What the two menus hold, asked for each time."""
        for button, actions in ((self.narrow, narrowing), (self.more, deeds)):
            button.clicked.connect(lambda _=False, made=button, ask=actions: _open(made, ask()))

    def show_rows(self, rows: Sequence[CardRow], title: str) -> None:
        """Show these under a title."""
        self.list.set_rows(rows)
        self._title.set_text(title)

    def title(self) -> str:
        """What stands over the list."""
        return self._title.text()

    def chosen(self) -> tuple[str, ...]:
        """The names of the chosen tools, in the order shown."""
        return tuple(name for name in self.list.selected_ids() if name not in SPECIAL_ROWS)


def _open(made: QWidget, actions: Sequence[Action]) -> None:
    show_menu(actions, made.mapToGlobal(QPoint(0, made.height() + 4)), made)
