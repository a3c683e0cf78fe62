"""Metrics, confusions, calibration and repeats as JSON; what is not defined is None, never 0."""

from dataclasses import asdict

from mcp_tef.model.json import Json
from mcp_tef.model.metrics import (
    ConfusionMatrix,
    GroupMetrics,
    Metrics,
    MetricsOverview,
    Rate,
    RepeatStatistics,
    SourceCalibration,
    ToolMetrics,
)
from mcp_tef.model.tools import LabelKind, ToolLabel


def metrics_to_json(metrics: Metrics) -> dict[str, Json]:
    """Metrics in the shape of `mcp-tef metrics --json`; what is not defined is None."""
    return {
        "n": metrics.n,
        "cases": metrics.cases,
        "repeats": metrics.repeats,
        "correct_call": rate_to_json(metrics.correct_call),
        "correct_tool": rate_to_json(metrics.correct_tool),
        "unreadable": metrics.unreadable,
        "not_offered": metrics.not_offered,
        "cut_off": metrics.cut_off,
        "tp": metrics.tp,
        "fp": metrics.fp,
        "tn": metrics.tn,
        "fn": metrics.fn,
        "failed": metrics.failed,
        "precision": rate_to_json(metrics.precision),
        "recall": rate_to_json(metrics.recall),
        "f1": metrics.f1,
        "f1_interval": dict(zip(("low", "high"), metrics.f1_interval or (None, None), strict=True)),
        "accuracy": rate_to_json(metrics.accuracy),
        "parameter_accuracy": metrics.parameter_accuracy.value,
        "completeness": metrics.completeness.value,
        "type_conformance": rate_to_json(metrics.type_conformance),
        "hallucination": rate_to_json(metrics.hallucination),
        "confidence": {
            "high": metrics.confidence_high,
            "low": metrics.confidence_low,
            "none": metrics.confidence_none,
            "robust": metrics.robust,
            "needs_clarity": metrics.needs_clarity,
            "misleading": metrics.misleading,
        },
        "latency_ms": {
            "p50": metrics.latency_p50_ms,
            "p95": metrics.latency_p95_ms,
            "p99": metrics.latency_p99_ms,
        },
        "cost_usd": metrics.cost_usd,
        "priced": metrics.priced,
        "cost_per_run_usd": {"p50": metrics.cost_p50_usd, "p95": metrics.cost_p95_usd},
        "tokens": metrics.tokens,
        "recall_at": {str(depth): rate_to_json(rate) for depth, rate in metrics.recall_at.items()},
        "by_tool": [_group_to_json(group) for group in metrics.by_tool],
        "by_server": [_group_to_json(group) for group in metrics.by_server],
        "by_model": [_group_to_json(group) for group in metrics.by_model],
        "by_origin": {origin.value: asdict(counts) for origin, counts in metrics.by_origin.items()},
    }


def rate_to_json(rate: Rate) -> dict[str, Json]:
    """`{"value", "low", "high", "n"}`."""
    return asdict(rate)


def _group_to_json(group: GroupMetrics) -> dict[str, Json]:
    return asdict(group)


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
        "n": figures.n,
        "tp": figures.tp,
        "fp": figures.fp,
        "fn": figures.fn,
        "tn": figures.tn,
        "precision": rate_to_json(figures.precision),
        "recall": rate_to_json(figures.recall),
        "f1": figures.f1,
        "taken_for": _label_to_json(figures.taken_for),
        "taken_for_count": figures.taken_for_count,
    }


def calibration_to_json(calibration: SourceCalibration) -> dict[str, Json]:
    """Return the share of correct runs at each level of confidence."""
    return {
        "n": calibration.n,
        "without": calibration.without,
        "mean_gap": calibration.mean_gap,
        "brier": calibration.brier,
        "bins": [
            {"low": each.low, "high": each.high, "n": each.n, "mean": each.mean, "right": rate_to_json(each.right)}
            for each in calibration.bins
        ],
    }


def repeats_to_json(repeats: RepeatStatistics) -> dict[str, Json]:
    """Pass rate, the chance that k runs all pass by k, and the flaky cases."""
    return {
        "groups": repeats.groups,
        "runs": repeats.runs,
        "pass_rate": rate_to_json(repeats.pass_rate),
        "pass_power": {str(power.k): rate_to_json(power.rate) for power in repeats.pass_power},
        "always": repeats.always,
        "never": repeats.never,
        "mixed": repeats.mixed,
        "flaky": [
            {"case": case.case_name, "model": case.model, "batch": case.batch_id, "n": case.n, "passed": case.passed}
            for case in repeats.flaky
        ],
    }
