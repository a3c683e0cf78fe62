"""Tab of steal tests: what a server takes from each tool of the others, the cases, and who takes them."""

from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core_link.session import Page
from app.core_link.targets import AddServer, ChangeTool, NewCases, ShowRuns
from app.screens.workshop.batch_tab import STACKED, BatchTab
from app.screens.workshop.crowd_rows import plain
from app.screens.workshop.steal_presenter import StealPresenter, tool_key
from app.text.data_tables import DataTable
from app.text.formatting import count, percent
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    Cell,
    CellKind,
    Column,
    DetailPane,
    FlowText,
    Links,
    ListTable,
    Mark,
    MenuButton,
    Row,
    Split,
    one_line,
)
from mcp_tef import RunFilter, RunSummary, StealResult, StolenPair, StolenTool, ToolLabel

SHORT: Final = 30
SHARES, ROOMY = ("without", "with"), 1_000
PAIRS, TAKERS, UNKNOWN = "pairs", "takers", "unknown"
TOOLS: Final = (
    Column(key="tool", title="Tool of another server", kind=CellKind.MONO, stretch=True, least=110, tip="The tool"),
    Column(key="server", title="Server", width=80, least=50, role=Role.DIM, tip="Its server"),
    Column(key="cases", title="Cases", kind=CellKind.NUMBER, width=56, tip="Test cases that expect the tool"),
    Column(key="without", title="Without", kind=CellKind.NUMBER, width=70, tip="Correct tool without the new server"),
    Column(key="with", title="With", kind=CellKind.NUMBER, width=60, tip="Correct tool with the new server"),
    Column(key="taken", title="Taken, 95 %", width=146, least=80, tip="The paired loss with its 95 % interval"),
    Column(key="verdict", title="Verdict", width=118, least=60, tip="Worse: the loss holds after Holm over all tools"),
)
CASES: Final = (
    Column(key="case", title="Case", stretch=True, least=90, tip="The test case"),
    Column(key="without", title="Without", kind=CellKind.MONO, width=110, least=60, tip="Selected without the server"),
    Column(key="with", title="With", kind=CellKind.MONO, width=110, least=60, tip="Selected with the server"),
)
TAKEN: Final = (
    Column(key="from", title="Taken from", kind=CellKind.MONO, stretch=True, least=80, tip="The expected tool"),
    Column(key="by", title="By", kind=CellKind.MONO, width=140, least=60, tip="The selected tool of the new server"),
    Column(key="times", title="Times", kind=CellKind.NUMBER, width=56, tip="How often it was selected instead"),
)
NO_CASE: Final = (Column(key="tool", title="Tool without a case", stretch=True, tip="Nothing is known about it"),)
NOTHING: Final = (
    "A steal test shows what a new server takes from the tools of the others: each case about them is asked with and "
    "without it. It needs two servers whose tools are known, and test cases that expect a tool."
)


class StealTab(BatchTab[StealPresenter]):
    """Starts a steal test, and shows its verdicts, its cases, and who takes them."""

    def __init__(self, page: Page) -> None:
        self.server, self.among, model = MenuButton("New server"), MenuButton("Among"), MenuButton("Model")
        super().__init__(page, StealPresenter(page.session.call), model, (self.server, self.among, model))
        self.tools = ListTable(TOOLS, "Tools of other servers")
        self.links_of_pair = Links()
        self.cases = ListTable(CASES, "Cases that went differently")
        self.cases.describe_keys(Enter="Show both runs")
        self.takers = ListTable(TAKEN, "Taken from and by")
        self.unknown = ListTable(NO_CASE, "Tools without a case")
        self.about = FlowText(size=Size.SMALL, role=Role.DIM)
        self.details = DetailPane("Results of the steal test")
        self.details.add_tab(PAIRS, "Cases", self._pairs_pane(), scroll=False)
        self.details.add_tab(TAKERS, "Taken by", self.takers, scroll=False)
        self.details.add_tab(UNKNOWN, "Without cases", self.unknown, scroll=False)
        self.details.setMinimumWidth(300)
        self.split = Split([self.tools, self.details], "Tools and cases", [620, 380])
        self.split.set_stretch(0)
        self._quiet = False
        self.lay_out(self.split)
        self._connect()

    def _pairs_pane(self) -> QWidget:
        pane = QWidget()
        head = QVBoxLayout()
        head.setContentsMargins(16, 8, 16, 4)
        head.setSpacing(4)
        head.addWidget(self.about)
        head.addWidget(self.links_of_pair, 0, Qt.AlignmentFlag.AlignLeft)
        column = QVBoxLayout(pane)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.cases, 1)
        return pane

    def _connect(self) -> None:
        self.server.changed.connect(self.ask_about)
        self.among.changed.connect(self._toggle_among)
        self.tools.chosen.connect(self._choose_tool)
        self.cases.chosen.connect(lambda _: self._show_links())
        self.cases.opened.connect(lambda key: self._show_runs(int(key)))
        self.cases.set_menu(lambda _: self._pair_actions())

    def ask_about(self, name: str) -> None:
        """Ask what a server takes from the others."""
        self.presenter.choose_server(name)
        self.session.spawn(self.replan())

    def _toggle_among(self, name: str) -> None:
        self.presenter.toggle_among(name)
        self.session.spawn(self.replan())

    # ------------------------------------------------------------ showing

    def show_all(self) -> None:
        presenter = self.presenter
        super().show_all()
        if not presenter.others() and presenter.result is None:
            add = Action(text="Add server…", do=lambda: self.session.go(AddServer()), kind="primary", icon="plus")
            self.show_empty("Fewer than two servers", NOTHING, [add])
            return
        self.setCurrentIndex(2)
        self.server.set_choices([(name, name) for name in presenter.servers], presenter.server)
        self.among.set_choices([(name, name) for name in presenter.others()], "")
        self.among.set_ticked(presenter.among() or ("",), f"among {count(len(presenter.among()), 'server')}")
        self._show_sentence()
        self._quiet = True  # rows that come select themselves, which is no choice of the user
        self.tools.set_rows([_tool_row(one, presenter.margin / 100) for one in presenter.tools()])
        self.tools.select(presenter.tool)
        self._quiet = False
        self.takers.set_rows(_taker_rows(presenter.result))
        self.unknown.set_rows([Row(name, (Cell(text=name),)) for name in _unknown(presenter.result)])
        self._show_pairs()

    def _show_sentence(self) -> None:
        presenter, result = self.presenter, self.presenter.result
        if result is None:
            head = f"What does {presenter.server} take from others?"
            note = presenter.problem or "Start the test to ask each case about their tools with and without it."
            self.banner.show_lines([(Mark.BLANK, "not asked yet", head)], note, self._write_link())
            return
        self.banner.show_lines([(*_mark(result), plain(result.sentence))], presenter.how_text(), self.links())

    def _write_link(self) -> list[Action]:
        """Return the way to write cases, where none is about a tool of the others."""
        write = Action(text="Write a test case", do=lambda: self.session.go(NewCases(())), kind="link")
        return [write] if self.presenter.problem else []

    def place_panes(self) -> None:
        """Put the cases below the tools where there is no room beside them."""
        narrow = self.width() < sized(STACKED)
        self.split.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)
        for place, column in enumerate(TOOLS):
            if column.key in SHARES:
                self.tools.setColumnHidden(place, self.width() < sized(ROOMY))

    # ------------------------------------------------------------ cases of a tool

    def _choose_tool(self, key: str) -> None:
        if self._quiet:
            return
        self.presenter.choose_tool(key)
        self.details.set_current(PAIRS)
        self._show_pairs()

    def _show_pairs(self) -> None:
        pairs = self.presenter.pairs()
        lost = sum(one.lost for one in pairs)
        text = f"{self.presenter.tool}: {lost:,} lost, {len(pairs) - lost:,} won" if self.presenter.tool else ""
        self.about.set_text(text)
        self.cases.set_rows([_pair_row(place, one) for place, one in enumerate(pairs)])
        if pairs and not self.cases.current_id():
            self.cases.select_first()
        self._show_links()

    def _show_links(self) -> None:
        self.links_of_pair.set_links(self._pair_actions())

    def _pair_actions(self) -> list[Action]:
        """Return what to do with the selected case."""
        key, pairs = self.cases.current_id(), self.presenter.pairs()
        if not key or int(key) >= len(pairs):
            return []
        pair = pairs[int(key)]
        found = [Action(text="Show both runs", do=partial(self._show_runs, int(key)), kind="link")]
        taker = pair.with_new
        if taker.selected_tool and taker.selected_server:
            tool = ToolLabel(tool=taker.selected_tool, server=taker.selected_server)
            target = ChangeTool(tool, f"takes “{taker.case_name}” from {pair.tool}", beside=pair.without.id)
            found.append(
                Action(
                    text=f"Change {one_line(taker.selected_tool, SHORT)}",
                    do=partial(self.session.go, target),
                    kind="link",
                )
            )
        return found

    def _show_runs(self, place: int) -> None:
        pair = self.presenter.pairs()[place]
        where = RunFilter(run_ids=(pair.without.id, pair.with_new.id))
        self.session.go(ShowRuns(where, "Without and with the new server", pair.with_new.id))

    def export(self) -> None:
        if self.presenter.result is not None:
            self.ask_export("Steal test", _table(self.presenter.result), None)


def _mark(result: StealResult) -> tuple[Mark, str]:
    if result.worse:
        return Mark.CROSS, "worse"
    open_ones = [one for one in result.tools if one.taken.high is None or one.taken.high > result.margin]
    return (Mark.UNDECIDED, "cannot tell yet") if open_ones or not result.tools else (Mark.CHECK, "takes nothing")


def _verdict(one: StolenTool, margin: float) -> str:
    if one.worse:
        return "worse"
    excluded = one.taken.high is not None and one.taken.high <= margin
    return "no worthwhile change" if excluded else "cannot tell yet"


def _tool_row(one: StolenTool, margin: float) -> Row:
    taken = one.taken
    ends = "" if taken.low is None or taken.high is None else f" ({100 * taken.low:.0f} to {100 * taken.high:.0f})"
    text = "–" if taken.value is None else f"{100 * taken.value:.0f} %{ends}".replace("-", "−")
    worse = Role.BAD if one.worse else Role.TEXT
    return Row(
        tool_key(one.server, one.tool),
        (
            Cell(text=one.tool, tip=one.sentence),
            Cell(text=one.server),
            Cell(text=f"{one.cases:,}", sort=one.cases),
            Cell(text=percent(one.without.value), sort=one.without.value),
            Cell(text=percent(one.with_new.value), sort=one.with_new.value),
            Cell(text=text, sort=taken.value, role=worse),
            Cell(
                text=_verdict(one, margin),
                role=worse if one.worse else Role.DIM,
                strong=one.worse,
                tip=_verdict(one, margin),
            ),
        ),
    )


def _pair_row(place: int, one: StolenPair) -> Row:
    case = Cell(text=one.without.case_name, tip=one.without.query)
    return Row(str(place), (case, _selected(one.without, right=one.lost), _selected(one.with_new, right=not one.lost)))


def _selected(run: RunSummary, *, right: bool) -> Cell:
    text = run.selected_tool or "no tool"
    tip = f"{text} of {run.selected_server}" if run.selected_server else text
    return Cell(text=text, role=Role.TEXT if right else Role.BAD, prose=not run.selected_tool, tip=tip)


def _taker_rows(result: StealResult | None) -> list[Row]:
    found = [(one.tool, by, times) for one in (result.tools if result else ()) for by, times in one.takers]
    ordered = sorted(found, key=lambda one: -one[2])
    return [
        Row(str(place), (Cell(text=tool, tip=tool), Cell(text=by, tip=by), Cell(text=f"{times:,}", sort=times)))
        for place, (tool, by, times) in enumerate(ordered)
    ]


def _unknown(result: StealResult | None) -> tuple[str, ...]:
    return result.unknown if result else ()


def _table(result: StealResult) -> DataTable:
    columns = ("Tool", "Server", "Cases", "Without", "With", "Taken", "Low", "High", "p, Holm", "Verdict", "Taken by")
    rows = tuple(
        (
            one.tool,
            one.server,
            one.cases,
            one.without.value,
            one.with_new.value,
            one.taken.value,
            one.taken.low,
            one.taken.high,
            one.p,
            _verdict(one, result.margin),
            ", ".join(f"{tool} {times}" for tool, times in one.takers),
        )
        for one in result.tools
    )
    return DataTable(name=f"What {result.server} takes", columns=columns, rows=rows)
