"""Models and servers set beside each other, each share with its interval; a baseline is always called one."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.screens.metrics.exports import DataTable, rate_columns, rate_values
from app.screens.metrics.words import is_baseline, milliseconds, model_name, score
from app.text.formatting import money
from mcp_tef import GroupMetrics, ModelFigures, Rate


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


BASELINE_NOTE = "The baseline is no model: it is what plain search over names and descriptions would pick."


def model_rows(models: Sequence[ModelFigures]) -> tuple[GroupRow, ...]:
    """Models by accuracy, best first, and the baseline after them."""
    ordered = sorted(models, key=lambda one: (one.baseline, -(one.metrics.accuracy.value or 0.0), one.model))
    return tuple(_model_row(one) for one in ordered)


def _model_row(one: ModelFigures) -> GroupRow:
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
    """Servers by accuracy, worst first."""
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


def models_table(models: Sequence[ModelFigures]) -> DataTable:
    """Every model with its figures."""
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


def _values(one: ModelFigures) -> tuple[str | int | float | None, ...]:
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
