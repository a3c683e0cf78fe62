"""Widgets of the Library screen: categories and statuses, the list of tools, and the selected tool."""

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.core_link.settings import Settings
from app.screens.library.design_draft import EXECUTORS
from app.screens.library.design_pane import DesignPane
from app.screens.library.history_panes import ExecutionsPane, VersionsPane
from app.screens.library.library_rows import STATUSES, CategoryRow, LibraryRow, PickedShare
from app.screens.library.run_pane import RunPane
from app.text.formatting import count, percent
from app.theme import Role, Size, height, sized
from app.widgets import (
    Action,
    Button,
    CardList,
    CardRow,
    DetailPane,
    EmptyState,
    FlowText,
    IncrementalBuild,
    Label,
    LineText,
    Links,
    Mark,
    MenuButton,
    Rule,
    Span,
    Split,
    column_layout,
    row_layout,
)
from app.widgets.panes import HeadedPane
from mcp_tef import LibraryTool, ToolStatus

NARROW: Final = 1080
DEFINITION, RUN, VERSIONS, EXECUTIONS = "definition", "run", "versions", "executions"
MARKS: Final = {
    ToolStatus.ACTIVE: Mark.DOT,
    ToolStatus.DRAFT: Mark.RING,
    ToolStatus.DISABLED: Mark.WAITING,
    ToolStatus.DEPRECATED: Mark.NOTE,
}
SPLIT: Final = "library.split"
SIDE: Final = 16
COUNTS: Final = 118


def tool_row(row: LibraryRow, *, unsaved: bool) -> CardRow:
    """Return a tool as a card: status, executor and version."""
    tool, design = row.tool, row.tool.design
    changed = " · not saved" if unsaved else ""
    return CardRow(
        id=tool.id,
        title=tool.name,
        mono=True,
        mark=MARKS[tool.status],
        right=Span(f"v{tool.version}", Role.DIM),
        sub=(Span(STATUSES[tool.status]), Span(f" · {EXECUTORS[design.executor]}{changed}", Role.DIM)),
        tip=design.description,
    )


class FilterSidebar(QWidget):
    """Categories as a tree, statuses below them, and a note on where the active tools are served."""

    category_chosen = Signal(str)
    status_chosen = Signal(str)
    serve_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.categories = CardList("Categories", row_height=height("table_row"))
        self.statuses = CardList("Status", row_height=height("table_row"))
        self.statuses.setFixedHeight((len(STATUSES) + 1) * height("table_row") + 2)
        self.served = FlowText(size=Size.SMALL, role=Role.DIM)
        self._active, self._on = 0, False
        serve = Button("Serve outside…", kind="link")
        serve.clicked.connect(self.serve_wanted)
        self.setMinimumWidth(sized(140))
        column = column_layout(self)
        column.addWidget(HeadedPane("Categories", self.categories), 1)
        column.addWidget(Rule())
        column.addWidget(HeadedPane("Status", self.statuses))
        foot = column_layout(None, self.served, margins=(SIDE, 10, 8, 12), spacing=4)
        line = row_layout(None, serve, spacing=None)
        line.addStretch(1)
        foot.addLayout(line)
        column.addWidget(Rule())
        column.addLayout(foot)
        self.categories.chosen.connect(self.category_chosen)
        self.statuses.chosen.connect(lambda key: self.status_chosen.emit(key))

    def show_filters(
        self, categories: Sequence[CategoryRow], counts: dict[ToolStatus, int], category: str, status: str
    ) -> None:
        """Show both lists with the filters that are in force."""
        statuses = [_status_card(None, sum(counts.values())), *(_status_card(*one) for one in counts.items())]
        for view, rows, key in (
            (self.categories, [_category_card(one) for one in categories], f"category:{category}"),
            (self.statuses, statuses, f"status:{status}"),
        ):
            view.blockSignals(True)
            view.set_rows(rows)
            view.select(key)
            view.blockSignals(False)
        self._active = counts[ToolStatus.ACTIVE] + counts[ToolStatus.DEPRECATED]
        self.show_served(on=self._on)

    def show_served(self, *, on: bool) -> None:
        """Show how many tools clients get, and if they get them now."""
        self._on = on
        verb = "is" if self._active == 1 else "are"
        when = "now, at an address of this computer" if on else "when you serve the library"
        self.served.set_text(f"{count(self._active, 'tool')} {verb} served {when}.")


def _category_card(one: CategoryRow) -> CardRow:
    title = f"{'    ' * one.depth}{one.title}"
    return CardRow(id=f"category:{one.key}", title=title, light=True, right=Span(f"{one.tools:,}", Role.DIM))


def _status_card(status: ToolStatus | None, tools: int) -> CardRow:
    right = Span(f"{tools:,}", Role.DIM)
    if status is None:
        return CardRow(id="status:", title="Any status", light=True, right=right)
    return CardRow(id=f"status:{status}", title=STATUSES[status], light=True, mark=MARKS[status], right=right)


class ToolHead(QWidget):
    """Name and status of the selected tool, how often it is selected, its place, and links to the other screens."""

    status_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.name = LineText(size=Size.LEAD, strong=True, mono=True)
        self.status = MenuButton("Status of the tool")
        self.place = LineText(size=Size.SMALL, role=Role.DIM)
        self.evaluate = Button("Evaluate…", icon="play-circle")
        self.links = Links()
        self.share = Label(size=Size.FIGURE, strong=True, tabular=True)
        self.counts = FlowText(size=Size.SMALL, role=Role.DIM, max_lines=3)
        self.counts.setFixedWidth(sized(COUNTS))
        named, reached = QVBoxLayout(), QVBoxLayout()
        buttons = row_layout(None, self.status, self.evaluate, spacing=None)
        named.addWidget(self.name)
        named.addWidget(self.place)
        reached.addLayout(buttons)
        reached.addWidget(self.links)
        row = row_layout(self, margins=(SIDE, 12, SIDE, 6), spacing=8)
        row.addLayout(named, 1)
        for figure in (self.share, self.counts):
            row.addWidget(figure, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addSpacing(8)
        row.addLayout(reached)
        self.status.setMinimumWidth(sized(124))
        self.status.changed.connect(self._choose)
        self._now = ""

    def show_tool(self, tool: LibraryTool, following: Sequence[ToolStatus], server: str) -> None:
        """Show a tool, and the statuses that it can get."""
        self._now = tool.status.value
        self.name.set_text(tool.name)
        verbs = {
            ToolStatus.ACTIVE: "Activate",
            ToolStatus.DISABLED: "Disable",
            ToolStatus.DEPRECATED: "Deprecate",
        }
        choices: list[tuple[str, str] | None] = [(self._now, STATUSES[tool.status]), None]
        self.status.set_choices([*choices, *((one.value, verbs[one]) for one in following)], self._now)
        hidden = tool.status is ToolStatus.DISABLED
        self.place.set_text("Disabled: it is not listed anywhere." if hidden else f"Listed as {server} / {tool.name}")

    def show_picked(self, shares: Mapping[int, PickedShare], version: int) -> None:
        """Show how often the tool was selected as it is now, or that nobody knows yet."""
        now = shares.get(version, PickedShare())
        self.share.setText(percent(now.picked / now.runs) if now.runs else "")
        self.share.setVisible(bool(now.runs))
        earlier = max((one for one, share in shares.items() if share.runs), default=0)
        if now.runs:
            said = now.detail
        elif earlier:
            said = f"version {version} not evaluated; {earlier} was selected in {shares[earlier].counts}"
        else:
            said = "not evaluated yet"
        self.counts.set_text(said)

    def _choose(self, key: str) -> None:
        self.status.set_current(self._now)
        if key != self._now:
            self.status_chosen.emit(key)


class LibraryView(QStackedWidget):
    """Either words about why there is nothing, or the sidebar, the list and the selected tool."""

    @classmethod
    def in_parts(cls) -> "IncrementalBuild[LibraryView]":
        """Build it in several turns of the event loop."""
        definition = DesignPane()
        yield
        run, versions = RunPane(), VersionsPane()
        yield
        executions = ExecutionsPane()
        yield
        return cls(definition, run, versions, executions)

    def __init__(
        self, definition: DesignPane, run: RunPane, versions: VersionsPane, executions: ExecutionsPane
    ) -> None:
        super().__init__()
        self.definition, self.run, self.versions, self.executions = definition, run, versions, executions
        self.sidebar, self.head = FilterSidebar(), ToolHead()
        self.tools = CardList("Library tools", row_height=height("server_row"), many=True)
        self.tabs = DetailPane("Parts of the tool")
        for key, label, pane in (
            (DEFINITION, "Definition", definition),
            (RUN, "Run", run),
            (VERSIONS, "Versions", versions),
            (EXECUTIONS, "Executions", executions),
        ):
            self.tabs.add_tab(key, label, pane, scroll=False)
        self.empty = EmptyState("books", "", "")
        self._nothing = EmptyState("magnifying-glass", "No tools match", "No tool matches the search and the filters.")
        self._right = QStackedWidget()
        self._lay_out()

    def _lay_out(self) -> None:
        tool = QWidget()
        column = column_layout(tool, self.head)
        column.addWidget(self.tabs, 1)
        for part in (tool, self._nothing):
            self._right.addWidget(part)
        self.tools.setMinimumWidth(sized(150))
        self.split = Split([self.sidebar, self.tools, self._right], "Filters, tools and tool", [160, 200, 744])
        self.split.set_stretch(2)
        for page in (QWidget(), self.empty, self.split):
            self.addWidget(page)

    def restore(self, settings: Settings) -> None:
        """Restore the sizes of the panes."""
        self.split.restore_layout(settings.get(SPLIT, []))

    def remember(self, settings: Settings) -> None:
        """Save the sizes of the panes."""
        if not self.narrow():
            settings.set(SPLIT, self.split.layout_state())

    def narrow(self) -> bool:
        """Return True if there is no room for the filters beside the list."""
        return self.sidebar.isHidden()

    def show_empty(self, actions: Sequence[Action], text: str) -> None:
        """Say why there is no tool."""
        self.empty.set("books", "No tools of your own yet", text, actions)
        self.setCurrentIndex(1)

    def show_tools(self, rows: Sequence[CardRow], clear: Action) -> None:
        """Show the list, and the tool or that none matches."""
        self.setCurrentIndex(2)
        self.tools.set_rows(rows)
        self._right.setCurrentIndex(0 if rows else 1)
        self._nothing.set("magnifying-glass", "No tools match", "No tool matches the search and the filters.", [clear])
        if rows and not self.tools.current_id():
            self.tools.select_first()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sidebar.setVisible(event.size().width() >= sized(NARROW))
