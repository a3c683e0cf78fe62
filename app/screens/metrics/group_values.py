"""Statistics by model, by server and by repeated case, as text and plain tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.screens.metrics.charts import Curve, power_curve
from app.screens.metrics.formatting import (
    INTERVAL,
    DataTable,
    bounds,
    is_baseline,
    milliseconds,
    model_name,
    part_of,
    rate_columns,
    rate_values,
    score,
)
from app.screens.metrics.metric_values import Figure
from app.text.formatting import count, money, percent
from mcp_tef import Batch, BatchId, CaseId, GroupMetrics, ModelMetrics, Rate, RepeatedCase, RepeatStatistics, RunFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One model or one server. `kind` is a word beside its name; `missing` parts are empty for servers."""

    id: str
    name: str
    kind: str
    n: int
    accuracy: Rate
    precision: Rate
    recall: Rate
    f1: str
    parameters: Rate | None = None
    made_up: Rate | None = None
    latency: str = ""
    latency_ms: float | None = None
    cost: str = ""
    cost_usd: float | None = None


BASELINE_NOTE = "The baseline is not a model: it selects tools by plain text search in names and descriptions."


def model_rows(models: Sequence[ModelMetrics]) -> tuple[GroupRow, ...]:
    """Sort models by accuracy, best first, with the baseline last."""
    ordered = sorted(models, key=lambda one: (one.baseline, -(one.metrics.accuracy.value or 0.0), one.model))
    return tuple(_model_row(one) for one in ordered)


def _model_row(one: ModelMetrics) -> GroupRow:
    metrics = one.metrics
    return GroupRow(
        id=one.model,
        name=model_name(one.model),
        kind="baseline" if one.baseline else one.model.split("/", 1)[0],
        n=metrics.accuracy.n,
        accuracy=metrics.accuracy,
        precision=metrics.precision,
        recall=metrics.recall,
        f1=score(metrics.f1),
        parameters=metrics.parameters_right,
        made_up=metrics.hallucination,
        latency=milliseconds(metrics.latency_p50_ms),
        latency_ms=metrics.latency_p50_ms,
        cost="–" if one.baseline and metrics.cost_usd is None else money(metrics.cost_usd),
        cost_usd=metrics.cost_usd,
    )


def server_rows(servers: Sequence[GroupMetrics]) -> tuple[GroupRow, ...]:
    """Sort servers by accuracy, worst first."""
    ordered = sorted(servers, key=lambda one: (one.accuracy.value if one.accuracy.value is not None else 2.0, one.name))
    return tuple(
        GroupRow(
            id=one.name,
            name=one.name,
            kind="",
            n=one.accuracy.n,
            accuracy=one.accuracy,
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
        *rate_columns("Accuracy"),
        *rate_columns("Precision"),
        *rate_columns("Recall"),
        "F1",
        *rate_columns("Parameters right"),
        *rate_columns("Made-up parameters"),
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
        *rate_values(metrics.accuracy),
        *rate_values(metrics.precision),
        *rate_values(metrics.recall),
        metrics.f1,
        *rate_values(metrics.parameters_right),
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

    figure: Figure
    always: int
    flaky_count: int
    never: int
    power: Curve
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
    return RepeatsView(
        figure=_figure(repeats),
        always=repeats.always,
        flaky_count=len(repeats.flaky),
        never=repeats.never,
        power=power_curve(repeats.pass_power),
        flaky=repeats.flaky,
        batch_names=names,
        table=_table(repeats, names),
        message=message,
    )


_NO_REPEATS = (
    "One correct run can be luck. Run each case three times or more in one batch to see which cases pass only "
    "sometimes."
)


def _figure(repeats: RepeatStatistics) -> Figure:
    rate = repeats.pass_rate
    sentence = f"{part_of(rate, 'repeated run')} passed, {count(repeats.groups, 'repeated case')}"
    return Figure(
        title="Pass rate",
        value=percent(rate.value),
        bounds=bounds(rate),
        rate=rate,
        sentence=sentence,
        help="Pass rate: a run passes if it selected the correct tool and no judged parameter is wrong.\n" + INTERVAL,
    )


def _batch_name(one: RepeatedCase, batches: Mapping[BatchId, Batch]) -> str:
    batch = batches.get(one.batch_id) if one.batch_id else None
    return batch.name or "Batch" if batch else ""


def _table(repeats: RepeatStatistics, names: tuple[str, ...]) -> DataTable:
    columns = ("Case", "Model", "Batch", "Passed", "Runs", *rate_columns("Pass rate")[:3])
    rows = tuple(
        (one.case_name, model_name(one.model), name, one.passed, one.n, *rate_values(one.rate)[:3])
        for one, name in zip(repeats.flaky, names, strict=True)
    )
    return DataTable(name="Flaky cases", columns=columns, rows=rows)
