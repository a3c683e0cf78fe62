"""The runs of one batch: the summary bar above, the table below, loaded page by page."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QWidget

from app.screens.runs.batch_summaries import COUNT_ORDER, BatchActionTexts, NamedShare, OutcomeCount, RunsSummary
from app.screens.runs.cell_styles import DRAWN_MARKS, MARK_LABELS, table_row
from app.screens.runs.run_table import LoadedPage, RunTable, RunTableRow, UpdatedRows
from app.text.glossary import TERMS, explain
from app.theme import Role, Size
from app.widgets import (
    Action,
    Button,
    CellKind,
    Column,
    EmptyState,
    FlowText,
    Label,
    LineText,
    MarkLabel,
    Spoken,
    column_layout,
    describe,
    row_layout,
)
from app.widgets.paged import PagedTable
from app.widgets.tokens_edit import ChipRow
from mcp_tef import RunId, RunOrder

COLUMNS = (
    Column(key="outcome", title="", kind=CellKind.MARK, width=40, least=40, tip="The outcome; wrong ones sort first."),
    Column(key="query", title="Query", stretch=True),
    Column(key="expected", title="Expected", kind=CellKind.MONO, width=112, tip="The tool that the case expects."),
    Column(key="selected", title="Selected", kind=CellKind.MONO, width=112, tip="The tool that the model selected."),
    Column(key="model", title="Model", width=104),
    Column(
        key="correct",
        title="Correct",
        width=64,
        sortable=False,
        tip=explain("correct call", "Correct calls out of the judged repeats of the case."),
    ),
    Column(
        key="confidence",
        title="Confidence",
        kind=CellKind.NUMBER,
        width=96,
        tip=explain("confidence", "Bold if it was high without a correct call."),
    ),
)
MODEL, CORRECT = 4, 5
ORDERS: Mapping[str, RunOrder] = {
    "": RunOrder.PLANNED,
    "outcome": RunOrder.OUTCOME,
    "query": RunOrder.QUERY,
    "expected": RunOrder.EXPECTED,
    "selected": RunOrder.SELECTED,
    "model": RunOrder.MODEL,
    "confidence": RunOrder.CONFIDENCE,
}
SHARES = 2


class SummaryBar(QWidget):
    """The two shares of correct runs, with a count for each outcome."""

    retry_requested = Signal()
    resume_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shares = [_ShareLabel() for _ in range(SHARES)]
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.retry = Button("", kind="link")
        self.resume = Button("", icon="play")
        self.counts = [_OutcomeCountLabel() for _ in COUNT_ORDER]
        self.retry.clicked.connect(self.retry_requested)
        self.resume.clicked.connect(self.resume_requested)
        column_layout(
            self,
            self._first_line(),
            self._second_line(),
            self.note,
            self._last_line(),
            margins=(16, 16, 16, 12),
            spacing=6,
        )

    def show_summary(self, summary: RunsSummary, actions: BatchActionTexts) -> None:
        """Show another batch, or the same one further on."""
        for place, label in enumerate(self.shares):
            label.setVisible(place < len(summary.shares))
        for label, share in zip(self.shares, summary.shares, strict=False):
            label.show_share(share)
        for counted, tally in zip(self.counts, summary.counts, strict=True):
            counted.show_tally(tally)
        self.note.set_text(summary.note)
        describe(summary.note_help, self.note)
        self.note.setVisible(bool(summary.note))
        for made, text in ((self.retry, actions.retry), (self.resume, actions.resume)):
            made.setText(text)
            made.setVisible(bool(text))

    def _first_line(self) -> QHBoxLayout:
        line = row_layout(spacing=16)
        for share in self.shares:
            line.addWidget(share)
        line.addStretch(1)
        return line

    def _second_line(self) -> QHBoxLayout:
        line = row_layout(spacing=8)
        for label in self.counts:
            line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        line.addStretch(1)
        return line

    def _last_line(self) -> QHBoxLayout:
        """Return the buttons on a line of their own, so that they never cut the counts."""
        line = row_layout(None, self.resume, self.retry, spacing=8)
        line.addStretch(1)
        return line


class _ShareLabel(QWidget):
    """A share with its name, and below it its counts and interval."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self) -> None:
        super().__init__()
        self.value = Label(size=Size.FIGURE, strong=True, tabular=True)
        self.name = Label(strong=True)
        self.detail = Label(size=Size.SMALL, role=Role.DIM, tabular=True)
        describe(explain("Wilson interval", explain("n")), self.detail)
        words = column_layout(None, self.name, self.detail)
        row_layout(self, self.value, words, spacing=8)

    def show_share(self, share: NamedShare) -> None:
        self.value.setText(share.value)
        self.name.setText(share.name)
        self.detail.setText(share.detail)
        describe(explain(share.name) if share.name in TERMS else "", self.value, self.name)
        self.setAccessibleName(f"{share.value} {share.name}, {share.detail}")


class _OutcomeCountLabel(QWidget):
    """A mark and how often it came."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self) -> None:
        super().__init__()
        self.mark = MarkLabel()
        self.number = Label(tabular=True, strong=True)
        self.name = LineText(size=Size.SMALL, role=Role.DIM)
        row_layout(self, self.mark, self.number, self.name, margins=(0, 0, 8, 0), spacing=6)

    def show_tally(self, tally: OutcomeCount) -> None:
        self.mark.set_mark(DRAWN_MARKS[tally.mark], MARK_LABELS[tally.mark])
        self.number.setText(f"{tally.count:,}")
        self.name.set_text(MARK_LABELS[tally.mark].rpartition(", ")[2])
        self.setToolTip(tally.help)
        self.setAccessibleName(f"{tally.count} {MARK_LABELS[tally.mark]}")


class RunsList(QWidget):
    """Summary bar, filter chips and table. `rows_needed` emits positions of rows to read."""

    order_changed = Signal(RunOrder, bool)
    clear_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.summary_bar = SummaryBar()
        self.chips = ChipRow("Filter")
        self.table = PagedTable(COLUMNS, "Runs")
        self.rows_needed = self.table.pages.wanted
        for number in (MODEL, CORRECT):
            self.table.setColumnHidden(number, True)
        clear = Action(text="Show all runs", do=self.clear_requested.emit)
        sentence = "Change the search or remove a filter."
        self.no_match = EmptyState("magnifying-glass", "No matching runs", sentence, [clear])
        box = QWidget()
        self._stack = QStackedLayout(box)
        self._stack.addWidget(self.table)
        self._stack.addWidget(self.no_match)
        column = column_layout(self, self.summary_bar, self.chips)
        column.addWidget(box, 1)
        self.table.sorted.connect(lambda key, down: self.order_changed.emit(ORDERS.get(key, RunOrder.PLANNED), down))

    def order(self) -> tuple[RunOrder, bool]:
        """Return the sort order, and True if it is descending."""
        now = self.table.sorted_by
        return (ORDERS[COLUMNS[now[0]].key], now[1]) if now else (RunOrder.PLANNED, False)

    def show_table(self, table: RunTable, *, models: int, keep: RunId | None) -> None:
        """Show a table; select the saved run if it is among its first rows, otherwise the first one."""
        shown = _first_rows(table)
        rows = [table_row(row) for row in shown]
        self.table.setColumnHidden(MODEL, models < 2)
        self.table.setColumnHidden(CORRECT, not any(row.correct for row in shown))
        self.table.pages.show_total(table.total, rows)
        self._stack.setCurrentWidget(self.table if table.total else self.no_match)
        if not (keep and self.table.select(keep)):
            self.table.select_first()

    def show_page(self, filled: LoadedPage) -> None:
        """Show a page that was fetched."""
        self.table.pages.forget(filled.evicted)
        self.table.pages.put({filled.first + offset: table_row(row) for offset, row in enumerate(filled.rows)})

    def update_rows(self, updated: UpdatedRows, table: RunTable) -> None:
        """Show what ended: in place, and what is new at the end."""
        before = table.total - updated.added
        if updated.added:
            self.table.pages.grow(updated.added)
            self._stack.setCurrentWidget(self.table)
        places: Sequence[int] = [*updated.changed, *range(before, table.total)]
        rows = {place: table.row(place) for place in places}
        self.table.pages.put({place: table_row(row) for place, row in rows.items() if row is not None})


def _first_rows(table: RunTable) -> list[RunTableRow]:
    rows: list[RunTableRow] = []
    while (row := table.row(len(rows))) is not None:
        rows.append(row)
    return rows
