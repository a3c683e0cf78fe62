"""Grid of cases and clients, and what the selected client does to the tool that the selected case expects."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core_link.targets import ShowBatch, ShowCase, Target
from app.screens.kit.run_marks import RUN_MARK_SHAPES
from app.screens.models.clients_presenter import ClientsPresenter, GridRow, run_model
from app.theme import Role, Size, height, sized
from app.widgets import (
    Action,
    CardList,
    CardRow,
    Cell,
    CellKind,
    Column,
    FlowText,
    Label,
    Links,
    ListTable,
    Mark,
    MarkLabel,
    Row,
    Rule,
    ScrollPane,
    Span,
    Split,
    column_layout,
    row_layout,
)
from mcp_tef import NOT_OFFERED_CODE, CaseVisibility, ClientProfile, RunMark, RunSummary

VISIBILITY_MARKS: Final[Mapping[CaseVisibility, Mark]] = {
    CaseVisibility.SHOWN: Mark.LISTED,
    CaseVisibility.CUT: Mark.CUT,
    CaseVisibility.NOT_FOUND: Mark.LENS,
    CaseVisibility.LEFT_OUT: Mark.LEFT_OUT,
}
"""Square marks for the tool list of a client; the marks of runs beside them are round."""
RUN_TEXTS: Final[Mapping[Mark, str]] = {
    RUN_MARK_SHAPES[RunMark.CORRECT_CALL]: "correct tool",
    RUN_MARK_SHAPES[RunMark.WRONG]: "wrong tool",
    Mark.TRIANGLE: "failed",
    Mark.WAITING: "no answer yet",
}
SHORT_TEXTS: Final[Mapping[CaseVisibility, str]] = {
    CaseVisibility.SHOWN: "shown",
    CaseVisibility.CUT: "cut",
    CaseVisibility.NOT_FOUND: "not found",
    CaseVisibility.LEFT_OUT: "left out",
}
VISIBILITY_TEXTS: Final[Mapping[CaseVisibility, str]] = {
    CaseVisibility.SHOWN: "shown",
    CaseVisibility.CUT: "shown, but cut",
    CaseVisibility.NOT_FOUND: "not found by the search",
    CaseVisibility.LEFT_OUT: "left out",
}
CLIENT_WIDTH: Final = 82
LONGEST_LOST: Final = 600
SIDE: Final = 16


class Legend(QWidget):
    """One kind of marks of the grid with their meaning and number."""

    def __init__(self, title: str, texts: Mapping[Mark, str]) -> None:
        super().__init__()
        self._texts = texts
        self.labels = {mark: Label(size=Size.SMALL, role=Role.DIM) for mark in texts}
        row = row_layout(self, Label(title, size=Size.SMALL), margins=(SIDE, 6, SIDE, 6), spacing=6)
        for mark, label in self.labels.items():
            row.addSpacing(12)
            row.addWidget(MarkLabel(mark, texts[mark], 14))
            row.addWidget(label)
        row.addStretch(1)

    def show_numbers(self, numbers: Mapping[Mark, int]) -> None:
        """Show how many cells have each mark."""
        for mark, label in self.labels.items():
            label.setText(f"{numbers.get(mark, 0):,} {self._texts[mark]}")


class CaseInClients(QWidget):
    """The selected case: each client at the left, and at the right what the selected one does to its tool."""

    profile_wanted = Signal(str)

    def __init__(self, go: Callable[[Target], object]) -> None:
        super().__init__()
        self._go = go
        self._presenter: ClientsPresenter | None = None
        self._row: GridRow | None = None
        self.clients = CardList("Clients of the case", row_height=height("table_row"))
        self.query = FlowText(role=Role.DIM)
        self.mark, self.sentence = MarkLabel(size=20), FlowText(size=Size.LEAD)
        self.lost_title, self.lost = Label(size=Size.SMALL, role=Role.BAD, strong=True), FlowText(role=Role.DIM)
        self.runs = FlowText()
        self.links = Links()
        self._lay_out()
        self.clients.chosen.connect(self._show_client)
        self.clients.opened.connect(lambda _: self._open())
        self.clients.describe_keys(Enter="Open the run, else the test case")

    def _lay_out(self) -> None:
        inside = QWidget()
        column = column_layout(inside, margins=(SIDE, 10, SIDE - 8, 10), spacing=8)
        line = row_layout(spacing=10)
        line.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.sentence, 1)
        column.addWidget(self.query)
        column.addLayout(line)
        for part in (self.runs, self.lost_title, self.lost, self.links):
            column.addWidget(part)
        column.addStretch(1)
        self.clients.setMinimumWidth(sized(224))
        split = Split([self.clients, ScrollPane(inside, "The tool in the client")], "Clients and reason", [280, 700])
        split.set_stretch(1)
        column_layout(self, split, spacing=None)
        self.setMinimumHeight(sized(130))

    def show_case(self, presenter: ClientsPresenter, row: GridRow, clients: Sequence[ClientProfile]) -> None:
        """Show a case; the selected client stays selected."""
        self._presenter, self._row = presenter, row
        self.query.set_text(f"“{row.case.draft.query}”")
        self.clients.set_rows([_client_card(one, row) for one in clients if one.name in row.cells])
        if not self.clients.current_id():
            self.clients.select_first()
        self._show_client(self.clients.current_id())

    def _show_client(self, name: str) -> None:
        presenter, row = self._presenter, self._row
        if presenter is None or row is None or name not in row.cells:
            return
        cell = row.cells[name]
        self.mark.set_mark(VISIBILITY_MARKS[cell.visibility], VISIBILITY_TEXTS[cell.visibility])
        self.sentence.set_text(presenter.cell_text(row, name))
        runs = row.runs.get(name, ())
        self.runs.set_text("\n".join(map(presenter.run_text, runs)))
        self.runs.setVisible(bool(runs))
        lost = " ".join(cell.lost.split())
        self.lost_title.setText(f"{len(cell.lost):,} characters that the model does not see")
        self.lost.set_text(lost if len(lost) <= LONGEST_LOST else f"{lost[:LONGEST_LOST]}…")
        for part in (self.lost_title, self.lost):
            part.setVisible(bool(lost))
        self.links.set_links(self._actions(name, row, runs))

    def _actions(self, name: str, row: GridRow, runs: Sequence[RunSummary]) -> list[Action]:
        opened = [
            Action(text=f"Open the run of {run_model(run)}", do=partial(self._go, target), kind="link")
            for run in runs
            if (target := _run_target(run)) is not None
        ]
        case = Action(text="Open the test case", do=partial(self._go, ShowCase(row.case.id)), kind="link")
        sources = Action(text="Sources of the limits", do=partial(self.profile_wanted.emit, name), kind="link")
        return [*opened, case, sources]

    def _open(self) -> None:
        if self.links.buttons:
            self.links.buttons[0].click()


class ClientGrid(QWidget):
    """A headline, the grid, its legend, and the selected case below it."""

    def __init__(self, go: Callable[[Target], object]) -> None:
        super().__init__()
        self._presenter: ClientsPresenter | None = None
        self._clients: tuple[ClientProfile, ...] = ()
        self.headline = FlowText(size=Size.LEAD, strong=True)
        self.detail = CaseInClients(go)
        self.legend = Legend("Tool lists", {VISIBILITY_MARKS[one]: text for one, text in VISIBILITY_TEXTS.items()})
        self.run_legend = Legend("Runs", RUN_TEXTS)
        self.table = self._table(())
        self._top = QVBoxLayout()
        upper = QWidget()
        upper.setLayout(self._top)
        self._top.setContentsMargins(0, 0, 0, 0)
        self._top.setSpacing(0)
        head = column_layout(None, self.headline, margins=(SIDE, 12, SIDE, 10), spacing=None)
        self._top.addLayout(head)
        self._top.addWidget(self.table, 1)
        self._top.addWidget(Rule())
        self._top.addWidget(self.legend)
        self._top.addWidget(self.run_legend)
        split = Split([upper, self.detail], "Grid and case", [460, 190], stacked=True)
        split.set_stretch(0)
        column_layout(self, split, spacing=None)

    def show_grid(self, presenter: ClientsPresenter) -> None:
        """Show all cases; the table is replaced if the clients changed."""
        self._presenter, clients = presenter, presenter.shown_clients()
        if clients != self._clients:
            self._clients = clients
            made = self._table(clients)
            self._top.replaceWidget(self.table, made)
            self.table.deleteLater()
            self.table = made
        self.headline.set_text(presenter.headline())
        self.legend.show_numbers({VISIBILITY_MARKS[one]: number for one, number in presenter.legend().items()})
        runs = Counter(mark for row in presenter.rows.values() for name in row.runs for mark in _run_marks(row, name))
        self.run_legend.show_numbers(runs)
        self.run_legend.setVisible(bool(runs))
        self.table.set_rows([self._grid_row(row) for row in presenter.rows.values()])
        if not self.table.current_id():
            self.table.select_first()
        self._show_case(self.table.current_id())

    def find_rows(self, text: str) -> None:
        """Show only cases that hold every word."""
        self.table.find_rows(text)

    def _table(self, clients: Sequence[ClientProfile]) -> ListTable:
        columns = [Column(key="case", title="Case", stretch=True, least=140, tip="The test case")]
        columns += [
            Column(key=one.name, title=one.title, kind=CellKind.MARKS, width=CLIENT_WIDTH, least=48, tip=one.title)
            for one in clients
        ]
        table = ListTable(columns, "Cases and clients")
        table.setSelectionMode(ListTable.SelectionMode.SingleSelection)
        table.chosen.connect(self._show_case)
        table.clicked.connect(lambda index: self._choose_client(index.column()))
        table.opened.connect(lambda _: self.detail.clients.setFocus())
        table.describe_keys(Enter="Go to the clients of the case")
        return table

    def _grid_row(self, row: GridRow) -> Row:
        return Row(row.case.id, lambda: [row.case.name, *(self._cell(row, one.name) for one in self._clients)])

    def _cell(self, row: GridRow, name: str) -> Cell:
        cell, presenter = row.cells.get(name), self._presenter
        if cell is None or presenter is None:
            return Cell()
        runs = row.runs.get(name, ())
        texts = [presenter.cell_text(row, name), *map(presenter.run_text, runs)]
        marks = (VISIBILITY_MARKS[cell.visibility], *_run_marks(row, name))
        return Cell(marks=marks, tip="\n".join(texts), sort=cell.visibility.value)

    def _choose_client(self, column: int) -> None:
        if 0 < column <= len(self._clients):
            self.detail.clients.select(self._clients[column - 1].name)

    def _show_case(self, case_id: str) -> None:
        if self._presenter is not None and case_id in self._presenter.rows:
            self.detail.show_case(self._presenter, self._presenter.rows[case_id], self._clients)


def _client_card(one: ClientProfile, row: GridRow) -> CardRow:
    cell = row.cells[one.name]
    lost = cell.visibility is not CaseVisibility.SHOWN
    right = Span(SHORT_TEXTS[cell.visibility], Role.TEXT if lost else Role.DIM)
    return CardRow(id=one.name, title=one.title, light=True, mark=VISIBILITY_MARKS[cell.visibility], right=right)


def _run_marks(row: GridRow, name: str) -> tuple[Mark, ...]:
    return tuple(_run_mark(run) for run in row.runs.get(name, ()) if not _unasked(run))


def _unasked(run: RunSummary) -> bool:
    return run.failure is not None and run.failure.code == NOT_OFFERED_CODE


def _run_mark(run: RunSummary) -> Mark:
    if run.mark is None:
        return Mark.TRIANGLE if run.failure else Mark.WAITING
    return RUN_MARK_SHAPES[RunMark.CORRECT_CALL if run.mark is not RunMark.WRONG else RunMark.WRONG]


def _run_target(run: RunSummary) -> Target | None:
    return ShowBatch(run.batch_id, run.id) if run.batch_id else None
