"""Table columns and cells, and the plots of the charts."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from app.screens.kit.run_marks import RUN_MARK_ROLES, RUN_MARK_SHAPES
from app.screens.metrics.batch_comparison import PairRow
from app.screens.metrics.charts import ChartData, ChartPoint
from app.screens.metrics.group_values import ConfusionView, GroupRow, RepeatsView
from app.screens.metrics.metric_values import (
    NONE,
    TOO_FEW,
    heading_help,
    part_text,
    score,
    share_text,
    shown,
    span_of,
)
from app.text.data_tables import DataTable
from app.text.formatting import MARK_TEXTS, model_name, percent
from app.text.glossary import explain
from app.theme import Role
from app.widgets import Cell, CellKind, Column, Mark, Row
from app.widgets.chart import ChartPanel
from app.widgets.line_chart import Bar, Plot, Point, Tick
from app.widgets.matrix_drawing import Matrix
from mcp_tef import PairChange, Rate, RepeatedCase, RunMark, ToolMetrics

HIGH = 0.7
SHARE_TIP = "With the 95 % interval as a thin bar."
TOOL_COLUMNS = (
    Column(key="tool", title="Tool", kind=CellKind.MONO, width=150, stretch=True),
    Column(key="n", title="n", kind=CellKind.NUMBER, width=40, tip=explain("n", "Here: runs that expected this tool.")),
    Column(
        key="recall",
        title="Recall",
        kind=CellKind.SHARE,
        width=110,
        tip=explain("tool recall", SHARE_TIP),
    ),
    Column(
        key="precision",
        title="Tool precision",
        kind=CellKind.SHARE,
        width=110,
        tip=explain("tool precision", SHARE_TIP),
    ),
    Column(
        key="f1",
        title="F1",
        kind=CellKind.NUMBER,
        width=48,
        role=Role.DIM,
        tip=explain("F1"),
    ),
    Column(key="times", title="", kind=CellKind.NUMBER, width=36, tip="How often."),
    Column(
        key="taken",
        title="Most often mistaken for",
        kind=CellKind.MONO,
        width=128,
        tip=explain("most often mistaken for", "Bold where it is no accident: tested with at most 5 % false alarms."),
    ),
)
GROUP_COLUMNS = (
    Column(key="n", title="n", kind=CellKind.NUMBER, width=60, tip=explain("n")),
    Column(key="call", title="Correct call", kind=CellKind.SHARE, width=132, tip=explain("correct call", SHARE_TIP)),
    Column(key="tool", title="Correct tool", kind=CellKind.SHARE, width=132, tip=explain("correct tool", SHARE_TIP)),
    Column(key="unreadable", title="Unreadable", kind=CellKind.NUMBER, width=88, tip="Answers that could not be read."),
    Column(key="precision", title="Precision", kind=CellKind.SHARE, width=132, tip=explain("precision", SHARE_TIP)),
    Column(key="recall", title="Recall", kind=CellKind.SHARE, width=132, tip=explain("recall", SHARE_TIP)),
    Column(key="f1", title="F1", kind=CellKind.NUMBER, width=52, role=Role.DIM, tip=explain("F1")),
)
MODEL_COLUMNS = (
    Column(key="model", title="Model", width=150, least=96, stretch=True),
    *GROUP_COLUMNS,
    Column(key="made_up", title="Hallucinated", kind=CellKind.NUMBER, width=96, tip=explain("hallucinated parameter")),
    Column(key="latency", title="Latency", kind=CellKind.NUMBER, width=76, tip=explain("latency")),
    Column(key="cost", title="Cost", kind=CellKind.NUMBER, width=96, tip="All runs with a known price."),
)
SERVER_COLUMNS = (
    Column(key="server", title="Server", width=220, stretch=True),
    *GROUP_COLUMNS[:-1],
    replace(GROUP_COLUMNS[-1], width=76),
)
FLAKY_COLUMNS = (
    Column(key="case", title="Case", width=240, least=150, stretch=True),
    Column(key="passed", title="Passed", kind=CellKind.NUMBER, width=80, tip="Passed runs of all runs of this case."),
    Column(key="rate", title="Pass rate", kind=CellKind.SHARE, width=132, tip=explain("pass rate", SHARE_TIP)),
    Column(key="model", title="Model", width=104),
    Column(key="batch", title="Batch", width=144, role=Role.DIM),
)
PAIR_COLUMNS = (
    Column(key="change", title="Change", kind=CellKind.MARK, width=128),
    Column(key="query", title="Query", width=220, stretch=True),
    Column(key="before", title="Before", kind=CellKind.MONO, width=124),
    Column(key="after", title="After", kind=CellKind.MONO, width=124),
)


def share_cell(rate: Rate, *, few: int = TOO_FEW) -> Cell:
    """Return a share with its interval, or a note if there are too few runs."""
    span = span_of(rate)
    if span is None:
        return Cell(text=NONE, role=Role.DIM, sort=-1.0)
    told = f"{share_text(rate)}, {part_text(rate)}"
    if rate.n < few:
        return Cell(text=f"{part_text(rate)}, too few", role=Role.DIM, sort=rate.value, tip=told)
    return Cell(text=percent(rate.value), span=span, sort=rate.value, tip=told)


def tool_rows(view: ConfusionView, tools: Sequence[ToolMetrics]) -> list[Row]:
    """Return tools from worst to best; cells are built when they are first shown."""
    return [_tool_row(view, number, tool) for number, tool in enumerate(tools)]


def _tool_row(view: ConfusionView, number: int, tool: ToolMetrics) -> Row:
    taken = view.matrix.name(tool.taken_for) if view.matrix and tool.taken_for else ""
    often = view.place(tool.label, tool.taken_for) in view.frequent
    return Row(str(number), lambda: _tool_cells(tool, taken, often=often))


def _tool_cells(tool: ToolMetrics, taken: str, *, often: bool) -> tuple[Cell, ...]:
    return (
        Cell(text=tool.name),
        Cell(text=f"{tool.n:,}", role=Role.DIM, sort=tool.n),
        share_cell(tool.recall),
        share_cell(tool.precision),
        Cell(text=score(tool.f1) if tool.n >= TOO_FEW else NONE, sort=tool.f1 if tool.f1 is not None else -1.0),
        *_confusion_cells(tool, taken, often=often),
    )


def _confusion_cells(tool: ToolMetrics, taken: str, *, often: bool) -> tuple[Cell, ...]:
    """Return the number of the most frequent confusion, and the tool that was selected instead."""
    real = tool.taken_for is not None and tool.taken_for.tool is not None
    return (
        Cell(
            text=f"{tool.taken_for_count:,}" if taken else "",
            role=Role.BAD if often else Role.TEXT,
            strong=often,
            sort=tool.taken_for_count,
        ),
        Cell(text=taken or NONE, role=Role.TEXT if often else Role.DIM, italic=bool(taken) and not real),
    )


def model_cells(rows: Sequence[GroupRow]) -> list[Row]:
    """Return models as rows."""
    return [Row(row.id, _model_cells(row)) for row in rows]


def _model_cells(row: GroupRow) -> tuple[Cell, ...]:
    baseline = row.kind == "baseline"
    hallucinated = percent(row.hallucinated.value) if row.hallucinated else NONE
    return (
        Cell(text=row.name, italic=baseline, role=Role.DIM if baseline else Role.TEXT, tip=row.id),
        *_group_cells(row),
        Cell(text=hallucinated, sort=row.hallucinated.value if row.hallucinated else None),
        Cell(text=row.latency, sort=row.latency_ms if row.latency_ms is not None else -1.0),
        Cell(text=row.cost, sort=row.cost_usd if row.cost_usd is not None else -1.0),
    )


def server_cells(rows: Sequence[GroupRow]) -> list[Row]:
    """Return servers as rows."""
    return [Row(row.id, (Cell(text=row.name), *_group_cells(row))) for row in rows]


def _group_cells(row: GroupRow) -> tuple[Cell, ...]:
    return (
        Cell(text=f"{row.n:,}", role=Role.DIM, sort=row.n),
        share_cell(row.correct_call),
        share_cell(row.correct_tool),
        Cell(text=f"{row.unreadable:,}", role=Role.BAD if row.unreadable else Role.DIM, sort=row.unreadable),
        share_cell(row.precision),
        share_cell(row.recall),
        Cell(text=row.f1, sort=row.f1),
    )


def flaky_rows(view: RepeatsView) -> list[Row]:
    """Return flaky cases as rows."""
    pairs = zip(view.flaky, view.batch_names, strict=True)
    return [Row(str(place), partial(_flaky_cells, one, name)) for place, (one, name) in enumerate(pairs)]


def _flaky_cells(one: RepeatedCase, batch: str) -> tuple[Cell, ...]:
    return (
        Cell(text=one.case_name),
        Cell(text=part_text(one.rate), sort=one.rate.value),
        share_cell(one.rate, few=1),
        Cell(text=model_name(one.model)),
        Cell(text=batch),
    )


CHANGE_LOOKS = {
    PairChange.FIXED: (Mark.CHECK, Role.GOOD),
    PairChange.REGRESSED: (Mark.CROSS, Role.BAD),
    PairChange.NEW: (Mark.DOT, Role.DIM),
    PairChange.GONE: (Mark.RING, Role.DIM),
    PairChange.NOT_COMPARABLE: (Mark.BROKEN, Role.DIM),
}


def pair_cells(row: PairRow) -> tuple[Cell, ...]:
    """Return a pair as cells."""
    mark, role = CHANGE_LOOKS.get(row.change, (Mark.DASH, Role.DIM))
    unchanged = row.change not in CHANGE_LOOKS
    return (
        Cell(
            marks=() if unchanged else (mark,),
            text=row.word,
            role=role,
            strong=row.change in (PairChange.FIXED, PairChange.REGRESSED),
        ),
        Cell(text=row.query, tip=row.query),
        _choice_cell(row.before, row.before_mark),
        _choice_cell(row.after, row.after_mark),
    )


def _choice_cell(text: str, mark: RunMark | None) -> Cell:
    if mark is None:
        return Cell(text=text, role=Role.DIM, prose=True)
    role = Role.TEXT if mark is RunMark.CORRECT_CALL else RUN_MARK_ROLES[mark]
    return Cell(text=text, role=role, marks=(RUN_MARK_SHAPES[mark],), prose=text == "no tool", tip=MARK_TEXTS[mark])


def matrix(view: ConfusionView) -> Matrix:
    """Return the confusion matrix for drawing."""
    return Matrix(
        rows=view.rows,
        row_keys=view.row_keys,
        keys=view.keys,
        cells=view.cells,
        totals=view.totals,
        aside=view.aside,
        frequent=view.frequent,
        unit="run" if max(view.cells.values(), default=0) == 1 else "runs",
        cell_text=view.cell_text,
    )


HUNDRED: tuple[Tick, ...] = ((0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %"))


def calibration_plot(data: ChartData) -> Plot:
    """Plot the share of correct runs against the confidence."""
    return Plot(
        points=tuple(_point(point) for point in data.points),
        x_ticks=((0.0, "0"), (0.5, "0.5"), (HIGH, "0.7"), (1.0, "1")),
        y_ticks=HUNDRED,
        diagonal=True,
        bars=tuple(Bar(start=one.low, end=one.high, height=one.n, tip=one.text) for one in data.bars),
        corner="below the line: overconfident",
        guide=HIGH,
    )


def trend_plot(data: ChartData) -> Plot:
    """Plot batches in the order of time."""
    last = max(1.0, len(data.points) - 1.0)
    floor = _floor(data.points)
    quarters = [quarter / 4 for quarter in range(int(floor * 4), 5)]
    return Plot(
        points=tuple(_point(point) for point in data.points),
        x_ticks=_spaced([(point.x, point.name) for point in data.points]),
        y_ticks=tuple((quarter, percent(quarter)) for quarter in quarters),
        x=(0.0, last),
        y=(floor, 1.0),
        band=len(data.points) > 1,
    )


def power_plot(data: ChartData) -> Plot:
    """Plot the chance that k runs all pass against k."""
    most = max((point.x for point in data.points), default=2.0)
    return Plot(
        points=tuple(_point(point) for point in data.points),
        x_ticks=tuple((point.x, point.name) for point in data.points),
        y_ticks=HUNDRED,
        x=(1.0, max(2.0, most)),
    )


def _point(point: ChartPoint) -> Point:
    rate = point.rate
    return Point(x=point.x, y=rate.value or 0.0, low=rate.low, high=rate.high, tip=point.text, id=point.id)


def _floor(points: Sequence[ChartPoint]) -> float:
    """Return the start of the axis: a quarter below every interval."""
    least = min((point.rate.low or 0.0 for point in points), default=0.0)
    return min(0.75, int(least * 4) / 4)


def _spaced(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Return at most eight ticks, always with the last one."""
    every = -(-len(ticks) // 8) or 1
    return tuple(tick for place, tick in enumerate(ticks) if (len(ticks) - 1 - place) % every == 0)


def show_table(panel: ChartPanel, table: DataTable) -> None:
    """Give a panel the plain values behind its chart."""
    tips = [heading_help(name) for name in table.columns]
    panel.set_values(table.columns, lambda: [[shown(value) for value in row] for row in table.rows], tips)
