"""Statistics by tool (confusion matrix), model, server and repeated case, as text and plain tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase

from app.screens.metrics.charts import ChartData, pass_all_data
from app.screens.metrics.metric_values import (
    INTERVAL,
    MetricValue,
    bounds,
    least_cost,
    milliseconds,
    part_of,
    rate_columns,
    rate_values,
    runs_text,
    score,
)
from app.text.data_tables import DataTable
from app.text.formatting import count, model_name, percent
from mcp_tef import (
    Batch,
    BatchId,
    CaseId,
    ConfusionMatrix,
    GroupMetrics,
    LabelKind,
    ModelMetrics,
    Rate,
    RepeatedCase,
    RepeatStatistics,
    RunFilter,
    ToolLabel,
    ToolMetrics,
    cluster_confusions,
    is_baseline,
)

DASH, INVENTED, EXTRA, UNREADABLE = "–", "?", "+", "∅"
_LEGEND = (EXTRA, UNREADABLE, INVENTED)
Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionView:
    """The matrix as it is drawn, and where a click links; invented tools have a column where there are some."""

    rows: tuple[str, ...] = ()
    row_keys: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    cells: Mapping[Place, int] = field(default_factory=dict)
    totals: tuple[int, ...] = ()
    aside: frozenset[int] = frozenset()
    frequent: frozenset[Place] = frozenset()
    n: int = 0
    matrix: ConfusionMatrix | None = None
    table: DataTable = DataTable(name="Confusion matrix")  # noqa: RUF009

    @property
    def note(self) -> str:
        """Number of runs, and a legend of the columns that are no tool."""
        legend = [f"{key} {name}" for key, name in zip(self.keys, self.column_names, strict=True) if key in _LEGEND]
        return " · ".join([f"n {self.n:,}", *legend])

    def cell_text(self, row: int, column: int) -> str:
        """Return a cell as text: both names and the count."""
        number = self.cells.get((row, column), 0)
        right = self.row_keys[row] == self.keys[column]
        if right:
            return f"{self.rows[row]}: selected as expected in {number:,} of {runs_text(self.totals[row])}"
        picked = self.column_names[column]
        return f"Expected {self.rows[row]}, selected {picked}: {number:,} of {runs_text(self.totals[row])}"

    def runs_of(self, where: RunFilter, row: int, column: int) -> RunFilter:
        """Return the filter of the runs that a cell counts."""
        return self.matrix.runs_of(where, row, column) if self.matrix else where

    def pair_of(self, row: int, column: int) -> tuple[ToolLabel, ToolLabel] | None:
        """Return the two tools that a cell confuses; None if it is about fewer."""
        if self.matrix is None:
            return None
        expected, selected = self.matrix.rows[row], self.matrix.columns[column]
        both = expected.tool and selected.tool and expected != selected
        return (_bare(expected), _bare(selected)) if both else None

    def place(self, tool: ToolLabel, taken_for: ToolLabel | None) -> Place | None:
        """Return the cell of an expected and a selected label."""
        if self.matrix is None or taken_for is None or tool not in self.matrix.rows:
            return None
        if taken_for not in self.matrix.columns[: len(self.keys)]:
            return None
        return self.matrix.rows.index(tool), self.matrix.columns.index(taken_for)


def _bare(label: ToolLabel) -> ToolLabel:
    return ToolLabel(tool=label.tool, server=label.server)


def letters(number: int) -> str:
    """Return the short name of a column: a … z, aa, ab and so on."""
    head, last = divmod(number, 26)
    return (letters(head - 1) if head else "") + ascii_lowercase[last]


def _keys(labels: tuple[ToolLabel, ...]) -> tuple[str, ...]:
    special = {
        LabelKind.NO_TOOL: DASH,
        LabelKind.INVENTED: INVENTED,
        LabelKind.EXTRA: EXTRA,
        LabelKind.UNREADABLE: UNREADABLE,
    }
    kinds = (label.kind for label in labels)
    return tuple(special.get(kind, letters(number)) if kind else letters(number) for number, kind in enumerate(kinds))


def confusion_view(matrix: ConfusionMatrix) -> ConfusionView:
    """Return the matrix for the screen."""
    matrix = cluster_confusions(matrix)
    width = _width(matrix)
    columns = matrix.columns[:width]
    rows = tuple(matrix.name(label) for label in matrix.rows)
    names = tuple(matrix.name(label) for label in columns)
    row_keys, keys = _keys(matrix.rows), _keys(columns)
    return ConfusionView(
        rows=rows,
        row_keys=row_keys,
        keys=keys,
        column_names=names,
        cells=matrix.cells,
        totals=matrix.row_totals,
        aside=frozenset(n for n, label in enumerate(matrix.rows) if label.kind is LabelKind.NO_TOOL),
        frequent=matrix.frequent,
        n=matrix.n,
        matrix=matrix,
        table=_table(matrix, rows, names),
    )


def _width(matrix: ConfusionMatrix) -> int:
    """Return the number of columns; invented tools are shown only if there are any."""
    last = len(matrix.columns) - 1
    invented = last >= 0 and matrix.columns[last].kind is LabelKind.INVENTED
    return last if invented and not matrix.column_totals[last] else last + 1


def _table(matrix: ConfusionMatrix, rows: tuple[str, ...], names: tuple[str, ...]) -> DataTable:
    cells = sorted(matrix.cells.items())  # in the order of the rows and columns on the screen
    return DataTable(
        name="Expected against selected",
        columns=("Expected", "Selected", "Runs", "Of runs"),
        rows=tuple((rows[row], names[column], number, matrix.row_totals[row]) for (row, column), number in cells),
    )


def worst_first(matrix: ConfusionMatrix) -> tuple[ToolMetrics, ...]:
    """Sort tools by the upper bound of their recall, lowest first: few runs leave it high, so they come last."""
    return tuple(sorted(matrix.tools, key=lambda tool: (*_favourable(tool.recall), tool.name)))


def _favourable(rate: Rate) -> tuple[float, float]:
    """Return the sort key of a worst-first list: the bound that favours the tool, then the share."""
    return (2.0, 2.0) if rate.high is None or rate.value is None else (rate.high, rate.value)


def tools_table(matrix: ConfusionMatrix) -> DataTable:
    """Return every tool with its metrics."""
    columns = (
        "Tool",
        "n",
        *rate_columns("Recall"),
        *rate_columns("Precision"),
        "F1",
        "Most often mistaken for",
        "Times",
    )
    rows = tuple(
        (
            tool.name,
            tool.n,
            *rate_values(tool.recall),
            *rate_values(tool.precision),
            tool.f1,
            matrix.name(tool.taken_for) if tool.taken_for else None,
            tool.taken_for_count,
        )
        for tool in worst_first(matrix)
    )
    return DataTable(name="Tools", columns=columns, rows=rows)


def runs_title(view: ConfusionView, row: int, column: int) -> str:
    """Return the title of the runs of a cell."""
    if view.row_keys[row] == view.keys[column]:
        return f"{view.rows[row]}, selected as expected"
    return f"{view.column_names[column]} selected where {view.rows[row]} was expected"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One model or one server. `kind` is a word beside its name; `missing` parts are empty for servers."""

    id: str
    name: str
    kind: str
    n: int
    unreadable: int
    correct_call: Rate
    correct_tool: Rate
    precision: Rate
    recall: Rate
    f1: str
    hallucinated: Rate | None = None
    latency: str = ""
    latency_ms: float | None = None
    cost: str = ""
    cost_usd: float | None = None


BASELINE_NOTE = "A baseline is not a model: it ranks tools by their similarity to the query, as a tool search does."


def model_rows(models: Sequence[ModelMetrics]) -> tuple[GroupRow, ...]:
    """Sort models by correct calls, best first, with the baselines last."""
    return tuple(_model_row(one) for one in _best_first(models))


def _best_first(models: Sequence[ModelMetrics]) -> list[ModelMetrics]:
    return sorted(models, key=lambda one: (one.baseline, -(one.metrics.correct_call.value or 0.0), one.model))


def best_model(models: Sequence[ModelMetrics]) -> str:
    """Return the label of the best of several models, a baseline only if there is nothing else; "" for fewer."""
    judged = [one for one in models if one.metrics.correct_call.n] or models
    return _best_first(judged)[0].model if len(models) > 1 else ""


def _model_row(one: ModelMetrics) -> GroupRow:
    metrics = one.metrics
    return GroupRow(
        id=one.model,
        name=model_name(one.model),
        kind="baseline" if one.baseline else one.model.split("/", 1)[0],
        n=metrics.correct_call.n,
        unreadable=metrics.unreadable,
        correct_call=metrics.correct_call,
        correct_tool=metrics.correct_tool,
        precision=metrics.precision,
        recall=metrics.recall,
        f1=score(metrics.f1),
        hallucinated=metrics.hallucination,
        latency=milliseconds(metrics.latency_p50_ms),
        latency_ms=metrics.latency_p50_ms,
        cost=least_cost(metrics, baseline=one.baseline),
        cost_usd=metrics.cost_usd,
    )


def server_rows(servers: Sequence[GroupMetrics]) -> tuple[GroupRow, ...]:
    """Sort servers by the upper bound of their correct calls, worst first."""
    ordered = sorted(servers, key=lambda one: (*_favourable(one.correct_call), one.name))
    return tuple(
        GroupRow(
            id=one.name,
            name=one.name,
            kind="",
            n=one.correct_call.n,
            unreadable=one.unreadable,
            correct_call=one.correct_call,
            correct_tool=one.correct_tool,
            precision=one.precision,
            recall=one.recall,
            f1=score(one.f1),
        )
        for one in ordered
    )


def models_table(models: Sequence[ModelMetrics]) -> DataTable:
    """Return every model with its metrics."""
    columns = (
        "Model",
        "Baseline",
        *rate_columns("Correct call"),
        *rate_columns("Correct tool"),
        *rate_columns("Accuracy"),
        *rate_columns("Precision"),
        *rate_columns("Recall"),
        "F1",
        *rate_columns("Hallucinated parameters"),
        *rate_columns("Types conform"),
        "p50 ms",
        "p95 ms",
        "USD",
        "Failed",
    )
    return DataTable(name="Models", columns=columns, rows=tuple(_values(one) for one in models))


def _values(one: ModelMetrics) -> tuple[str | int | float | None, ...]:
    metrics = one.metrics
    return (
        one.model,
        "yes" if is_baseline(one.model) else "no",
        *rate_values(metrics.correct_call),
        *rate_values(metrics.correct_tool),
        *rate_values(metrics.accuracy),
        *rate_values(metrics.precision),
        *rate_values(metrics.recall),
        metrics.f1,
        *rate_values(metrics.hallucination),
        *rate_values(metrics.type_conformance),
        metrics.latency_p50_ms,
        metrics.latency_p95_ms,
        metrics.cost_usd,
        metrics.failed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatsView:
    """The repeats for the screen; `message` stands alone where no case was repeated."""

    figure: MetricValue
    always: int
    flaky_count: int
    flaky_title: str
    never: int
    power: ChartData
    flaky: tuple[RepeatedCase, ...]
    batch_names: tuple[str, ...]
    table: DataTable
    message: str = ""

    def runs_of(self, place: int, where: RunFilter) -> RunFilter:
        """Return the filter of the runs of a flaky case."""
        one = self.flaky[place]
        batches = (one.batch_id,) if one.batch_id else ()
        return RunFilter(
            case_ids=(CaseId(one.case_id),), models=(one.model,), batch_ids=batches, statuses=where.statuses
        )


def repeats_view(repeats: RepeatStatistics, batches: Mapping[BatchId, Batch]) -> RepeatsView:
    """Return the statistics of repeated cases for the screen."""
    names = tuple(_batch_name(one, batches) for one in repeats.flaky)
    message = "" if repeats.groups else _NO_REPEATS
    shown, known = len(repeats.flaky), repeats.mixed
    cut = f": {shown:,} of {known:,}; filter to see the others" if shown < known else ""
    return RepeatsView(
        figure=_figure(repeats),
        always=repeats.always,
        flaky_count=repeats.mixed,
        flaky_title=f"Flaky cases, closest to 50 % first{cut}",
        never=repeats.never,
        power=pass_all_data(repeats.pass_power),
        flaky=repeats.flaky,
        batch_names=names,
        table=_flaky_table(repeats, names),
        message=message,
    )


_NO_REPEATS = (
    "One correct run can be luck. Run each case three times or more in one batch to see which cases pass only "
    "sometimes."
)


def _figure(repeats: RepeatStatistics) -> MetricValue:
    rate = repeats.pass_rate
    sentence = f"{part_of(rate, 'repeated run')} passed, {count(repeats.groups, 'repeated case')}"
    return MetricValue(
        title="Pass rate",
        value=percent(rate.value),
        bounds=bounds(rate),
        rate=rate,
        sentence=sentence,
        help="Pass rate: a run passes if it is a correct call.\n" + INTERVAL,
    )


def _batch_name(one: RepeatedCase, batches: Mapping[BatchId, Batch]) -> str:
    batch = batches.get(one.batch_id) if one.batch_id else None
    return batch.name or "Batch" if batch else ""


def _flaky_table(repeats: RepeatStatistics, names: tuple[str, ...]) -> DataTable:
    columns = ("Case", "Model", "Batch", "Passed", "Runs", *rate_columns("Pass rate")[:3])
    rows = tuple(
        (one.case_name, model_name(one.model), name, one.passed, one.n, *rate_values(one.rate)[:3])
        for one, name in zip(repeats.flaky, names, strict=True)
    )
    return DataTable(name="Flaky cases", columns=columns, rows=rows)
