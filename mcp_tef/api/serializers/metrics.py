"""Metrics, confusions, calibration and repeats as JSON; what is not defined is None, never 0."""

from mcp_tef.model.json import Json, as_json, fields_to_json
from mcp_tef.model.metrics import (
    ConfusionMatrix,
    Metrics,
    MetricsOverview,
    RepeatStatistics,
    SourceCalibration,
    ToolMetrics,
)
from mcp_tef.model.tools import LabelKind, ToolLabel


def metrics_to_json(metrics: Metrics) -> dict[str, Json]:
    """Metrics in the shape of `mcp-tef metrics --json`; what is not defined is None."""
    return {
        **fields_to_json(
            metrics,
            "n cases repeats correct_call correct_tool unreadable not_offered cut_off tp fp tn fn failed precision "
            "recall f1",
        ),
        "f1_interval": dict(zip(("low", "high"), metrics.f1_interval or (None, None), strict=True)),
        "accuracy": as_json(metrics.accuracy),
        "parameter_accuracy": metrics.parameter_accuracy.value,
        "completeness": metrics.completeness.value,
        **fields_to_json(metrics, "type_conformance hallucination"),
        "confidence": {
            "high": metrics.confidence_high,
            "low": metrics.confidence_low,
            "none": metrics.confidence_none,
            **fields_to_json(metrics, "robust needs_clarity misleading"),
        },
        "latency_ms": {
            "p50": metrics.latency_p50_ms,
            "p95": metrics.latency_p95_ms,
            "p99": metrics.latency_p99_ms,
        },
        **fields_to_json(metrics, "cost_usd priced"),
        "cost_per_run_usd": {"p50": metrics.cost_p50_usd, "p95": metrics.cost_p95_usd},
        "tokens": metrics.tokens,
        "recall_at": {str(depth): as_json(rate) for depth, rate in metrics.recall_at.items()},
        **fields_to_json(metrics, "by_tool by_server by_model by_origin"),
    }


def overview_to_json(overview: MetricsOverview) -> dict[str, Json]:
    """Serialize metrics with repeats, and with calibration within confidence."""
    metrics = metrics_to_json(overview.metrics)
    confidence = metrics["confidence"] | {"calibration": calibration_to_json(overview.calibration.overall)}
    return metrics | {"confidence": confidence, "repeated_cases": repeats_to_json(overview.repeats)}


def confusions_to_json(matrix: ConfusionMatrix) -> dict[str, Json]:
    """Labels of rows and columns, the counts above 0 as `[row, column, count]`, and each tool against the rest."""
    return {
        "n": matrix.n,
        "rows": [_label_to_json(label) for label in matrix.rows],
        "columns": [_label_to_json(label) for label in matrix.columns],
        "cells": [[row, column, count] for (row, column), count in sorted(matrix.cells.items())],
        "tools": [_tool_to_json(figures) for figures in matrix.tools],
    }


def _label_to_json(label: ToolLabel | None) -> Json:
    if label is None:
        return None
    kind = label.kind or LabelKind.TOOL
    return {"kind": kind.value, "tool": label.tool, "server": label.server or None}


def _tool_to_json(figures: ToolMetrics) -> dict[str, Json]:
    return {
        "tool": figures.label.tool,
        "server": figures.label.server or None,
        **fields_to_json(figures, "n tp fp fn tn precision recall f1"),
        "taken_for": _label_to_json(figures.taken_for),
        "taken_for_count": figures.taken_for_count,
    }


def calibration_to_json(calibration: SourceCalibration) -> dict[str, Json]:
    """Return the share of correct runs at each level of confidence."""
    return {
        **fields_to_json(calibration, "n without mean_gap brier"),
        "bins": [fields_to_json(each, "low high n mean right") for each in calibration.bins],
    }


def repeats_to_json(repeats: RepeatStatistics) -> dict[str, Json]:
    """Pass rate, the chance that k runs all pass by k, and the flaky cases."""
    return {
        **fields_to_json(repeats, "groups runs pass_rate"),
        "pass_power": {str(power.k): as_json(power.rate) for power in repeats.pass_power},
        **fields_to_json(repeats, "always never mixed"),
        "flaky": [
            {"case": case.case_name, "model": case.model, "batch": case.batch_id, "n": case.n, "passed": case.passed}
            for case in repeats.flaky
        ],
    }
