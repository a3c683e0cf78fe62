"""Results of a batch as reports take them, with words in them that try to break out."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.metrics import (
    CalibrationBin,
    CalibrationReport,
    ConfusionMatrix,
    Metrics,
    MetricsOverview,
    Rate,
    RepeatStatistics,
    SourceCalibration,
)
from mcp_tef.model.runs import FailureInfo, RunStatus, RunSummary
from mcp_tef.model.tools import LabelKind, ToolLabel
from mcp_tef.model.verdicts import Classification, VerdictKind
from mcp_tef.reports.results import Results

EVIL = '<script>alert(1)</script> "&\x00\x1b[31m\ud800 ]]>'
NOW = datetime(2026, 11, 21, 14, 2, tzinfo=UTC)
SOME = Rate(0.5, 0.2, 0.8, 4)
NONE = Rate(None, None, None, 0)


def run(number: int, **changes: Any) -> RunSummary:
    """A run that passed, or as changed."""
    made = RunSummary(
        id=RunId(f"run-{number}"),
        batch_id=BatchId("batch"),
        case_id=CaseId(f"case-{number}"),
        case_name=f"case {number}",
        query=f"question {number}",
        model="openai/gpt-4.1-mini",
        repeat=0,
        status=RunStatus.COMPLETED,
        classification=Classification.TP,
        kind=VerdictKind.MATCH,
        expected="find",
        selected="find",
        parameters_ok=True,
        confidence=0.9,
        explanation="Picked `find`, as expected.",
        execution_time_ms=1500,
        created_at=NOW,
    )
    return replace(made, **changes)


def every_outcome() -> tuple[RunSummary, ...]:
    """A pass, a miss with hostile words, wrong parameters, a failed run and one that was not run."""
    wrong = {"classification": Classification.FN, "kind": VerdictKind.WRONG_TOOL, "selected": EVIL}
    failure = FailureInfo("server_silent", f"The server did not answer. {EVIL}", "Check it.")
    nothing = {"classification": None, "kind": None, "selected": None, "parameters_ok": None, "explanation": None}
    return (
        run(1),
        run(2, **wrong, case_name=EVIL, query=EVIL, explanation=f"Picked {EVIL}."),
        run(3, parameters_ok=False, explanation="The right tool with a wrong value."),
        run(4, status=RunStatus.FAILED, failure=failure, **nothing),
        run(5, status=RunStatus.CANCELLED, model="offline/retrieval", **nothing),
    )


def metrics(**changes: Any) -> Metrics:
    """Figures of which some are not defined."""
    rates = ("precision", "recall", "accuracy", "parameters_right", "type_conformance")
    counts = ("n", "tp", "fp", "tn", "fn", "failed", "confidence_high", "confidence_low", "confidence_none")
    open_ones = ("cost_usd", "cost_p50_usd", "cost_p95_usd", "tokens", "latency_p99_ms")
    values: dict[str, Any] = dict.fromkeys(rates, SOME) | dict.fromkeys(counts, 1)
    values |= dict.fromkeys(open_ones) | {"hallucination": NONE, "f1": None, "parameter_accuracy": 0.75}
    values |= {"completeness": 1.0, "robust": 1, "needs_clarity": 0, "misleading": 1, "recall_at": {}}
    values |= {"latency_p50_ms": 20.0, "latency_p95_ms": 40.0}
    return Metrics(**(values | changes))


def matrix(tools: int = 2) -> ConfusionMatrix:
    """A confusion matrix with a hostile name in it."""
    names = [EVIL, *(f"tool_{number}" for number in range(1, tools))]
    rows = (*(ToolLabel(tool=name, kind=LabelKind.TOOL) for name in names), ToolLabel(kind=LabelKind.NO_TOOL))
    columns = (*rows, ToolLabel(kind=LabelKind.INVENTED))
    cells = {(0, 0): 1, (0, 1): 3, (1, 1): 2}
    totals = (4, 2, *([0] * (tools - 1)))
    return ConfusionMatrix(
        rows=rows,
        columns=columns,
        cells=cells,
        tools=(),
        row_totals=totals,
        column_totals=(1, 5, *([0] * tools)),
    )


def results(*runs: RunSummary, tools: int = 2, name: str = EVIL) -> Results:
    """A whole batch."""
    bins = (
        CalibrationBin(low=0.9, high=1.0, n=4, mean=0.93, right=SOME),
        CalibrationBin(low=0.0, high=0.1, n=0, mean=None, right=NONE),
    )
    overall = SourceCalibration(source=None, n=4, without=0, bins=bins, mean_gap=0.1, brier=0.2)
    overview = MetricsOverview(
        metrics=metrics(),
        confusions=matrix(tools),
        calibration=CalibrationReport(overall=overall, by_source=()),
        repeats=RepeatStatistics(groups=0, runs=0, pass_rate=NONE, pass_power=(), always=0, never=0, mixed=0, flaky=()),
        trend=(),
        models=(),
    )
    return Results(name, runs or every_outcome(), overview, BatchId("batch"))
