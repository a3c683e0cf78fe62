"""Widgets of the quality screen: server list, tool table, level summary and hints about missing servers."""

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.settings import Settings
from app.screens.quality.detail_pane import QualityDetailPane
from app.screens.quality.finding_card import LEVEL_MARKS, severity_mark
from app.screens.quality.labels import SEVERITIES, QualityLevel, danger, level, worst
from app.screens.quality.presenter import LEVELS, ServerCard
from app.text.formatting import count
from app.text.glossary import explain
from app.theme import Role, Size, height, sized
from app.widgets import (
    Button,
    CardList,
    CardRow,
    Cell,
    CellKind,
    Column,
    EmptyState,
    FlowText,
    IconPicture,
    Label,
    LineText,
    ListTable,
    Mark,
    MarkLabel,
    Notice,
    Row,
    Rule,
    Segment,
    Span,
    Split,
    column_layout,
    describe,
    row_layout,
)
from app.widgets.panes import DetailWithBack, HeadedPane
from mcp_tef import LintFinding, ToolQuality

EVERY: Final = "every"
COLUMNS: Final = (
    Column(
        key="score",
        title="Score",
        kind=CellKind.NUMBER,
        width=60,
        least=56,
        tip=explain("quality score"),
    ),
    Column(key="tool", title="Tool", kind=CellKind.MONO, width=148, least=80),
    Column(key="server", title="Server", width=96, role=Role.DIM),
    Column(key="worst", title="Worst finding", stretch=True, tip=explain("finding")),
    Column(key="findings", title="Findings", kind=CellKind.NUMBER, width=80, least=56, tip=explain("finding")),
    Column(
        key="tokens",
        title="Tokens",
        kind=CellKind.NUMBER,
        width=76,
        least=56,
        tip=explain("token weight"),
    ),
)
SERVER: Final = 2
FINDINGS: Final = 4
LEVEL_PHRASES: Final[Mapping[QualityLevel, str]] = {
    QualityLevel.ERROR: "with an error",
    QualityLevel.WARNING: "with a warning",
    QualityLevel.NOTE: "with a note",
    QualityLevel.FINE: "without issues",
}
_FILLS: Final[Mapping[QualityLevel, Role]] = {
    QualityLevel.ERROR: Role.BAD_FILL,
    QualityLevel.WARNING: Role.WARN_FILL,
    QualityLevel.NOTE: Role.INFO_FILL,
    QualityLevel.FINE: Role.GOOD_FILL,
}


def tool_row(quality: ToolQuality) -> Row:
    """Return a tool as a row; its cells are built when they are first shown."""
    return Row(quality.tool.id, lambda: _cells(quality))


def _cells(quality: ToolQuality) -> tuple[Cell, ...]:
    tool = quality.tool.tool
    return (
        Cell(text=str(quality.score), sort=quality.score, strong=level(quality) is QualityLevel.ERROR),
        Cell(text=tool.name),
        Cell(text=tool.server),
        _worst_cell(quality),
        Cell(text=f"{len(quality.findings):,}", sort=len(quality.findings), role=Role.DIM),
        Cell(text=f"{quality.tokens:,}", sort=quality.tokens, role=Role.DIM),
    )


def _worst_cell(quality: ToolQuality) -> Cell:
    found, place = worst(quality), LEVELS.index(level(quality))
    if found is None:
        return Cell(text="No issues", role=Role.DIM, marks=(Mark.CHECK,), sort=place)
    role = Role.BAD if danger(found.rule) else Role.TEXT
    said = _tip(found)
    return Cell(
        text=found.rule.title,
        role=role,
        strong=role is Role.BAD,
        marks=(severity_mark(found.rule.severity),),
        sort=f"{place} {found.rule.title}",
        tip=said,
    )


def _tip(found: LintFinding) -> str:
    aimed = danger(found.rule)
    return f"{SEVERITIES[found.rule.severity]}{f', {aimed}' if aimed else ''}: {found.sentence}"


def card_row(card: ServerCard) -> CardRow:
    """Return a server as a card: tools, tokens, and a bar of its levels."""
    errors = card.levels[QualityLevel.ERROR]
    return CardRow(
        id=f"server:{card.name}" if card.name else EVERY,
        title=card.name or "All servers",
        right=Span(count(card.tools, "tool"), Role.DIM),
        sub=(Span(count(card.tokens, "token"), Role.DIM),),
        sub_right=Span(f"{errors:,} with errors", Role.BAD, strong=True) if errors else None,
        bar=level_segments(card.levels),
        tip=f"{card.name or 'All servers'}: {level_texts(card.levels)}",
    )


def level_segments(levels: Mapping[QualityLevel, int]) -> tuple[Segment, ...]:
    """Return the number of tools at each level as segments of a bar."""
    return tuple(
        Segment(
            role=_FILLS[one],
            value=levels[one],
            ticked=one is QualityLevel.WARNING,
            gap=one is QualityLevel.FINE,
            name=LEVEL_PHRASES[one],
        )
        for one in LEVELS
    )


def level_texts(levels: Mapping[QualityLevel, int]) -> str:
    """Return the number of tools at each level as text."""
    return ", ".join(f"{levels[one]:,} {LEVEL_PHRASES[one]}" for one in LEVELS if levels[one])


NARROW = 1100
ROOM_FOR_SERVER = 560
ROOM_FOR_FINDINGS = 640
SPLIT = "quality.split"


class LevelSummaryBar(QWidget):
    """The most important number, and how the tools stand."""

    def __init__(self) -> None:
        super().__init__()
        self.figure = Label(size=Size.FIGURE, strong=True, tabular=True)
        self.caption = Label(strong=True)
        self.detail = LineText(size=Size.SMALL, role=Role.DIM)
        self.tallies = {one: (MarkLabel(LEVEL_MARKS[one]), Label(tabular=True)) for one in LEVELS}
        describe(explain("finding", explain("quality score")), self.figure, self.caption)
        describe(explain("token weight"), self.detail)
        words = column_layout(None, self.caption, self.detail)
        row = row_layout(self, self.figure, margins=(16, 14, 16, 12), spacing=10)
        row.addLayout(words, 1)
        for mark, number in self.tallies.values():
            row.addWidget(mark)
            row.addWidget(number)

    def show_levels(self, levels: Mapping[QualityLevel, int], weight: str) -> None:
        """Show how many stand where."""
        work = levels[QualityLevel.ERROR] + levels[QualityLevel.WARNING]
        tools = sum(levels[one] for one in LEVELS)
        self.figure.setText(f"{work:,}")
        self.caption.setText(f"of {count(tools, 'tool')} {'needs' if 1 in (work, tools) else 'need'} work")
        self.detail.set_text(weight)
        for one, (mark, number) in self.tallies.items():
            mark.set_mark(LEVEL_MARKS[one], LEVEL_PHRASES[one])
            number.setText(f"{levels[one]:,}")
            for part in (mark, number):
                part.setToolTip(f"{count(levels[one], 'tool')} {LEVEL_PHRASES[one]}")
            number.setAccessibleName(f"{count(levels[one], 'tool')} {LEVEL_PHRASES[one]}")


class MissingServersBar(QWidget):
    """A calm line about what is missing from the list, with the reasons behind a link."""

    servers_wanted = Signal()
    read_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.line = LineText(role=Role.DIM)
        self.reasons = FlowText(size=Size.SMALL, role=Role.DIM)
        self.why = Button("Why", kind="link")
        self.to_servers = Button("Go to Servers", kind="link")
        self.why.clicked.connect(lambda: self.reasons.setVisible(self.reasons.isHidden()))
        self.again = Button("Read the servers again", kind="link")
        self.to_servers.clicked.connect(self.servers_wanted)
        self.again.clicked.connect(self.read_wanted)
        row = row_layout(None, IconPicture("info", Role.INFO, 16), margins=(16, 7, 12, 7), spacing=8)
        row.addWidget(self.line, 1)
        for link in (self.why, self.again, self.to_servers):
            row.addWidget(link)
        below = column_layout(None, self.reasons, margins=(40, 0, 16, 8), spacing=None)
        column_layout(self, row, below, Rule())
        self.show_missing("", "")

    def show_missing(self, line: str, reasons: str) -> None:
        """Say what is missing, and why; an empty line hides all."""
        self.line.set_text(line)
        self.reasons.set_text(reasons)
        self.reasons.hide()
        self.setVisible(bool(line))


class ToolColumn(QWidget):
    """The column of the list; tells when it has another width."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class QualityView(QStackedWidget):
    """Either words about why there is nothing, or the three panes. `server_chosen` gives a name, empty for all."""

    server_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._detail_open = False
        self._many = False
        self._one_server = False
        self.server_list = CardList("Servers", row_height=height("batch_card"))
        self.table = ListTable(COLUMNS, "Tools, from worst to best")
        self.summary = LevelSummaryBar()
        self.good, self.gaps = Notice("good"), MissingServersBar()
        self.nothing = EmptyState("funnel", "", "")
        self.detail = QualityDetailPane()
        self.empty = EmptyState("medal", "", "")
        self.server_pane = HeadedPane("Servers, most tokens first", self.server_list)
        self._tools = QStackedWidget()
        self.middle = self._middle()
        self.split = self._split()
        for page in (QWidget(), self.empty, self.split):
            self.addWidget(page)
        self._connect()

    def _middle(self) -> "ToolColumn":
        self._tools.addWidget(self.table)
        self._tools.addWidget(self.nothing)
        middle = ToolColumn()
        middle.resized.connect(self._place_columns)
        column = column_layout(middle, self.gaps, self.summary, self.good)
        column.addWidget(self._tools, 1)
        return middle

    def _split(self) -> Split:
        sizes = [204, 528, 372]
        self._right = DetailWithBack(self.detail, "Back to the servers", lambda: self.open_detail(shown=False))
        split = Split([self.server_pane, self.middle, self._right], "Servers, tools and one tool", sizes)
        split.set_stretch(1)
        for pane, least in ((self.server_pane, 168), (self.middle, 280), (self._right, 320)):
            pane.setMinimumWidth(least)
        return split

    def _connect(self) -> None:
        self.server_list.chosen.connect(
            lambda row: self.server_chosen.emit(row.removeprefix("server:") if row != EVERY else "")
        )
        self.table.clicked.connect(lambda _: self.open_detail(shown=True, focus=False) if self.narrow() else None)
        for wanted in (self.table.opened, self.table.peek_wanted):
            wanted.connect(lambda _: self.open_detail(shown=True))
        self.detail.closed.connect(lambda: self.open_detail(shown=False))

    def show_blank(self) -> None:
        """Show nothing until the first report is there."""
        self.setCurrentIndex(0)

    def show_empty(self) -> None:
        """Show `empty`."""
        self.setCurrentIndex(1)

    def show_panes(self) -> None:
        """Show the panes."""
        self.setCurrentIndex(2)
        self.place_panes()

    def show_tools(self, tools: Sequence[ToolQuality]) -> None:
        """Show these tools."""
        self.table.set_rows([tool_row(one) for one in tools])
        self._tools.setCurrentWidget(self.table if tools else self.nothing)
        if tools and not self.table.current_id():
            self.table.select_first()

    def show_servers(self, cards: Sequence[ServerCard], chosen: str) -> None:
        """Show the server list, unless there is only one server."""
        self._many = len(cards) > 1
        self.server_list.set_rows([card_row(card) for card in cards])
        self.server_list.select(f"server:{chosen}" if chosen else EVERY)
        self._one_server = not self._many or bool(chosen)
        self.place_panes()
        self._place_columns()

    def narrow(self) -> bool:
        """Return True if there is no room for three panes."""
        return self.window().width() < sized(NARROW)

    def open_detail(self, *, shown: bool, focus: bool = True) -> None:
        """Give the keyboard to the tool or back to the list; in a narrow window, show or hide it."""
        self._detail_open = shown
        self.place_panes()
        if focus:
            (self.detail if shown else self.table).setFocus()

    def place_panes(self) -> None:
        """Show the tool instead of the server list where there is no room for both."""
        narrow = self.narrow()
        self.server_pane.setVisible(self._many and not (narrow and self._detail_open))
        self._right.setVisible(not narrow or self._detail_open)
        self._right.show_back(shown=narrow)

    def _place_columns(self) -> None:
        """Hide the server and the count in a narrow list, so that the worst finding stays readable."""
        wide = self.middle.width()
        self.table.setColumnHidden(SERVER, self._one_server or wide < sized(ROOM_FOR_SERVER))
        self.table.setColumnHidden(FINDINGS, wide < sized(ROOM_FOR_FINDINGS))

    def remember(self, settings: Settings) -> None:
        """Keep the sizes of panes."""
        if not self.narrow() and self.currentWidget() is self.split and self._many:
            settings.set(SPLIT, self.split.layout_state())

    def restore(self, settings: Settings) -> None:
        """Take over what was kept."""
        self.split.restore_layout(settings.get(SPLIT, []))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place_panes()
