"""Versions of a library tool with their differences, and its executions with their figures."""

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.screens.library.library_rows import EXECUTION_STATUSES, PickedShare
from app.screens.library.run_pane import output_text
from app.screens.library.schema_text import compact
from app.text.formatting import clock, count, duration, percent
from app.text.text_diff import difference
from app.theme import Role, Size, sized
from app.widgets import (
    Button,
    Cell,
    CellKind,
    Column,
    FlowText,
    ListTable,
    Mark,
    MenuButton,
    Row,
    Rule,
    ScrollPane,
    SearchField,
    Span,
    Split,
    column_layout,
    row_layout,
)
from app.widgets.text_view import CodeView
from mcp_tef import Execution, ExecutionFigures, ExecutionStatus, ToolVersion

SIDE: Final = 16
VERSION_COLUMNS: Final = (
    Column(key="version", title="Version", width=92, tip="Each saved change is a version"),
    Column(key="when", title="When", width=110, role=Role.DIM, tip="The time at which the version was saved"),
    Column(key="what", title="What changed", stretch=True, tip="What was noted when the version was saved"),
    Column(
        key="picked",
        title="Selected",
        kind=CellKind.NUMBER,
        width=110,
        tip="Of the runs that expect it",
    ),
)
DIFFERENCE_COLUMNS: Final = (
    Column(key="field", title="Field", kind=CellKind.MONO, width=170, tip="The path of the field in the definition"),
    Column(key="before", title="Before", width=250, role=Role.DIM, tip="The value in the older version"),
    Column(key="after", title="After", stretch=True, tip="The value in the newer version"),
)
EXECUTION_COLUMNS: Final = (
    Column(key="status", title="Status", width=124, tip="How the execution ended"),
    Column(key="when", title="When", width=84, role=Role.DIM, tip="The time at which it began"),
    Column(key="input", title="Input", kind=CellKind.MONO, stretch=True, tip="The arguments"),
    Column(key="output", title="Output", width=150, role=Role.DIM, tip="The output, or the error"),
    Column(key="time", title="Time", kind=CellKind.NUMBER, width=80, tip="The time that the tool took"),
    Column(key="caller", title="Caller", width=128, role=Role.DIM, tip="The window, the command line or a client"),
)
MARKS: Final = {
    ExecutionStatus.SUCCESS: Mark.CHECK,
    ExecutionStatus.FAILED: Mark.CROSS,
    ExecutionStatus.TIMEOUT: Mark.TRIANGLE,
    ExecutionStatus.CANCELLED: Mark.RING,
    ExecutionStatus.RUNNING: Mark.ARC,
    ExecutionStatus.PENDING: Mark.WAITING,
}
ALL: Final = ""
NO_EXECUTION: Final = "No execution yet. Run the tool, or call it from a client."


class VersionsPane(QWidget):
    """Versions, newest first, above the fields in which the selected one differs from the one before it."""

    chosen = Signal(int)
    restore_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.table = ListTable(VERSION_COLUMNS, "Versions")
        self.differences = ListTable(DIFFERENCE_COLUMNS, "Differences")
        self.title = FlowText(size=Size.SMALL, role=Role.DIM)
        self.restore = Button("Restore this version", kind="link")
        self.before, self.after = FlowText(size=Size.SMALL), FlowText(size=Size.SMALL)
        self._found: Sequence[tuple[str, str, str]] = ()
        self._lay_out()
        self.differences.chosen.connect(self._show_texts)
        self.table.chosen.connect(lambda row_id: self.chosen.emit(int(row_id or 0)))
        self.restore.clicked.connect(lambda: self.restore_wanted.emit(self.current()))

    def _lay_out(self) -> None:
        below = QWidget()
        column = column_layout(below)
        head = row_layout(margins=(SIDE, 6, SIDE, 6), spacing=None)
        head.addWidget(self.title, 1)
        head.addWidget(self.restore)
        column.addLayout(head)
        column.addWidget(Rule())
        column.addWidget(self.differences, 1)
        column.addWidget(Rule())
        column.addWidget(self._texts(), 1)
        split = Split([self.table, below], "Versions and differences", [220, 300], stacked=True)
        column_layout(self, split, spacing=None)

    def _texts(self) -> ScrollPane:
        """Return the place of the selected difference: both texts whole, since a row of the table cuts them."""
        both = QWidget()
        row = row_layout(both, margins=(SIDE, 8, SIDE, 8), spacing=SIDE)
        for text in (self.before, self.after):
            row.addWidget(text, 1, Qt.AlignmentFlag.AlignTop)
        return ScrollPane(both, "Selected difference")

    def _show_texts(self, place: str) -> None:
        """Show a difference with its changed words marked."""
        _, before, after = self._found[int(place)] if place else ("", "", "")
        old, new = difference(before, after)
        for text, parts, back in ((self.before, old, Role.BAD_TINT), (self.after, new, Role.GOOD_TINT)):
            text.set_spans([Span(one.text, back=back if one.changed else None) for one in parts])

    def current(self) -> int:
        """Return the number of the selected version; 0 if there is none."""
        return int(self.table.current_id() or 0)

    def show_versions(self, versions: Sequence[ToolVersion], picked: Mapping[int, PickedShare]) -> None:
        """Show all versions; one that is new is selected."""
        newest = str(versions[0].version) if versions else ""
        is_new = self.table.rows.place(newest) is None
        self.table.set_rows([_version_row(one, picked.get(one.version, PickedShare())) for one in versions])
        if versions and (is_new or not self.table.current_id()):
            self.table.select(newest)

    def show_differences(self, version: ToolVersion | None, found: Sequence[tuple[str, str, str]]) -> None:
        """Show in which fields a version differs from the one before it."""
        self._found = found
        self.differences.set_rows([Row(str(place), _difference_cells(one)) for place, one in enumerate(found)])
        self.differences.select_first()
        self._show_texts(self.differences.current_id())
        number = version.version if version else 0
        first = "Version 1 is the first." if number else ""
        self.title.set_text(f"Version {number} compared with version {number - 1}" if number > 1 else first)
        self.restore.setVisible(version is not None and not version.is_latest)


def _version_row(one: ToolVersion, picked: PickedShare) -> Row:
    latest = " · latest" if one.is_latest else ""
    what = Cell(text=one.changelog) if one.changelog else Cell(text="Nothing was noted", role=Role.DIM)
    version = Cell(text=f"{one.version}{latest}", strong=one.is_latest, sort=one.version)
    share = Cell(
        text=picked.text,
        sort=picked.picked / picked.runs if picked.runs else -1,
        strong=one.is_latest and bool(picked.runs),
        role=Role.TEXT if picked.runs else Role.DIM,
    )
    return Row(str(one.version), (version, Cell(text=clock(one.created_at)), what, share))


def _difference_cells(one: tuple[str, str, str]) -> tuple[Cell, ...]:
    path, before, after = one
    return Cell(text=path), *(Cell(text=value or "nothing", tip=value) for value in (before, after))


class ExecutionsPane(QWidget):
    """Executions, newest first, with figures, a search and a filter; below is the selected one.

    `filtered` gives a status ("" for all) and a search text; `again_wanted` and `use_wanted` give an execution.
    """

    filtered = Signal(str, str)
    again_wanted = Signal(object)
    use_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._executions: dict[str, Execution] = {}
        self.figures = FlowText(size=Size.SMALL, role=Role.DIM)
        self.search = SearchField("Search executions")
        self.status = MenuButton("Status")
        self.status.set_choices([(ALL, "All"), *((one.value, text) for one, text in EXECUTION_STATUSES.items())], ALL)
        self.table = ListTable(EXECUTION_COLUMNS, "Executions")
        self.table.when_empty = NO_EXECUTION
        self.again, self.use = Button("Run again", kind="link"), Button("Use these arguments", kind="link")
        self.output = CodeView("Output of the execution")
        self._foot = QWidget()
        self._lay_out()
        self.search.searched.connect(lambda _: self._filter())
        self.status.changed.connect(lambda _: self._filter())
        self.table.chosen.connect(self._show)
        self.table.opened.connect(lambda _: self._with_current(self.use_wanted.emit))
        self.table.describe_keys(Enter="Use the arguments of the execution")
        self.again.clicked.connect(lambda: self._with_current(self.again_wanted.emit))
        self.use.clicked.connect(lambda: self._with_current(self.use_wanted.emit))

    def _lay_out(self) -> None:
        head, buttons = QHBoxLayout(), QHBoxLayout()
        head.setContentsMargins(SIDE, 8, SIDE, 8)
        head.setSpacing(8)
        head.addWidget(self.search, 1)
        head.addWidget(self.status)
        column = column_layout(self._foot, margins=(SIDE, 8, SIDE, 8), spacing=None)
        buttons.setSpacing(12)
        buttons.addWidget(self.again)
        buttons.addWidget(self.use)
        buttons.addStretch(1)
        column.addLayout(buttons)
        column.addWidget(self.output, 1)
        line = row_layout(None, self.figures, margins=(SIDE, 0, SIDE, 8), spacing=None)
        self.status.setMinimumWidth(sized(110))
        outer = column_layout(self, head, line, Rule())
        outer.addWidget(Split([self.table, self._foot], "Executions and output", [320, 160], stacked=True), 1)

    def show_executions(self, executions: Sequence[Execution]) -> None:
        """Show executions, and figures over those that ended."""
        self._executions = {one.id: one for one in executions}
        self.figures.set_text(figures_text(ExecutionFigures.of(executions)))
        self.figures.setVisible(bool(executions))
        self.table.set_rows([Row(one.id, _execution_cells(one)) for one in executions])
        if executions and not self.table.current_id():
            self.table.select_first()
        self._show(self.table.current_id())

    def clear_filter(self) -> None:
        """Show all executions again, without asking for them."""
        self.search.say("")
        self.status.set_current(ALL)

    def _filter(self) -> None:
        self.filtered.emit(self.status.current(), self.search.text())

    def _show(self, row_id: str) -> None:
        execution = self._executions.get(row_id)
        self._foot.setVisible(execution is not None)
        self.output.show_text(output_text(execution) if execution else "")

    def _with_current(self, do: object) -> None:
        execution = self._executions.get(self.table.current_id())
        if execution is not None and callable(do):
            do(execution)


def figures_text(figures: ExecutionFigures) -> str:
    """Return the figures of executions as one line: "12 executions · p50 84 ms · p95 310 ms · 8 % failed"."""
    if figures.error_rate is None:
        return ""
    given = [(name, value) for name, value in (("p50", figures.p50_ms), ("p95", figures.p95_ms)) if value is not None]
    times = [f"{name} {f'{value:,}' if value else 'under 1'} ms" for name, value in given]
    return " · ".join([count(figures.count, "execution"), *times, f"{percent(figures.error_rate)} failed"])


def _execution_cells(one: Execution) -> tuple[Cell, ...]:
    failed = one.status in (ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT)
    taken = "" if one.duration_ms is None else duration(one.duration_ms / 1000)
    output = one.error_message or compact(one.output)
    return (
        Cell(text=EXECUTION_STATUSES[one.status], marks=(MARKS[one.status],), role=Role.BAD if failed else Role.TEXT),
        Cell(text=clock(one.created_at), sort=one.created_at.timestamp()),
        Cell(text=compact(dict(one.input))),
        Cell(text=output[:200], tip=output[:1_000]),
        Cell(text=taken, sort=one.duration_ms or 0),
        Cell(text=one.caller_id or ""),
    )
