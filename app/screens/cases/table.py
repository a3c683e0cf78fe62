"""Columns and cells of the table of cases."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtGui import QResizeEvent

from app.screens.cases.rows import RECENT, CaseTableRow, LastResult, failure_sort_key
from app.theme import Role, sized
from app.widgets import Cell, CellKind, Column, ListTable, Mark, Row, one_line

MARKS: Final[Mapping[LastResult, Mark]] = {
    LastResult.TP: Mark.CHECK,
    LastResult.TN: Mark.DASH,
    LastResult.FN: Mark.CROSS,
    LastResult.FP: Mark.BANG,
    LastResult.FAILED: Mark.BROKEN,
    LastResult.NEVER: Mark.BLANK,
}


COLUMNS: Final = (
    Column(key="query", title="Query", width=220, least=120, stretch=True),
    Column(key="expected", title="Expected", kind=CellKind.PAIR, width=172, least=80),
    Column(
        key="runs",
        title=f"Last {RECENT} runs",
        kind=CellKind.MARKS,
        width=104,
        least=60,
        tip="One mark per recent run, newest on the right. Sorting puts failures first.",
    ),
    Column(key="suite", title="Suite", width=96, least=40, role=Role.DIM),
    Column(key="tag", title="Tag", width=104, least=40, role=Role.DIM),
)
SUITE: Final = 3
ROOM_FOR_ALL: Final = 720


class CasesTable(ListTable):
    """Table of cases; hides the suite column if there is little room."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, "Test cases")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setColumnHidden(SUITE, event.size().width() < sized(ROOM_FOR_ALL))


def table_row(row: CaseTableRow) -> Row:
    """Return the table row of a case; its cells are made on first paint."""
    return Row(row.id, lambda: _cells(row))


def _cells(row: CaseTableRow) -> tuple[Cell, ...]:
    return (
        Cell(
            text=one_line(row.query),
            italic=bool(row.unsaved),
            marks=(Mark.NOTE,) if row.unsaved else (),
            tip=f"Not saved: {row.unsaved}" if row.unsaved else "",
        ),
        _expected(row),
        _runs(row),
        Cell(text=one_line(row.suite), sort=row.suite.casefold() or "\uffff"),
        Cell(text=one_line(row.tag), sort=row.tag.casefold() or "\uffff"),
    )


def _expected(row: CaseTableRow) -> Cell:
    if row.no_tool:
        return Cell(text="no tool", role=Role.DIM, italic=True, sort="\uffff")
    short = f"{row.server} / {row.tools}" if row.server else row.tools
    return Cell(
        text=one_line(row.tools),
        lead=one_line(row.server),
        sort=row.expected.casefold(),
        tip=row.expected if row.expected != short else "",
    )


def _runs(row: CaseTableRow) -> Cell:
    words = "\n".join(mark.text for mark in row.recent_runs)
    return Cell(
        marks=tuple(MARKS[mark.result] for mark in row.recent_runs),
        sort=failure_sort_key(row),
        tip=f"Last runs, oldest first:\n{words}" if words else "Not run yet",
    )
