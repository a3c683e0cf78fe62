"""Verdicts and metrics as JSON, in the shapes that the command line promises."""

from dataclasses import asdict

from mcp_tef.model.json import Json
from mcp_tef.model.metrics import GroupMetrics, Metrics, Rate
from mcp_tef.model.verdicts import CallMatch, ParameterFinding, Verdict


def verdict_to_json(verdict: Verdict) -> dict[str, Json]:
    """All of a verdict; beside what `score` promises, the index of the acceptable answer that was judged."""
    return {
        "classification": verdict.classification.value,
        "kind": verdict.kind.value,
        "matches": [_match_to_json(match) for match in verdict.matches],
        "completeness": verdict.completeness,
        "correctness": verdict.correctness,
        "type_conformance": verdict.type_conformance,
        "hallucinated": list(verdict.hallucinated),
        "parameters_ok": verdict.parameters_ok,
        "confidence_category": verdict.confidence_category.value if verdict.confidence_category else None,
        "explanation": verdict.explanation,
        "alternative": verdict.alternative,
    }


def _match_to_json(match: CallMatch) -> dict[str, Json]:
    return {
        "expected": match.expected,
        "actual": match.actual,
        "completeness": match.completeness,
        "correctness": match.correctness,
        "type_conformance": match.type_conformance,
        "hallucinated": list(match.hallucinated),
        "findings": [_finding_to_json(finding) for finding in match.findings],
    }


def _finding_to_json(finding: ParameterFinding) -> dict[str, Json]:
    return {
        "parameter": finding.parameter,
        "reason": finding.reason.value,
        "expected": finding.expected,
        "actual": finding.actual,
        "sentence": finding.sentence,
    }


def metrics_to_json(metrics: Metrics) -> dict[str, Json]:
    """Metrics in the shape of `mcp-tef metrics --json`; what is not defined is None."""
    return {
        "n": metrics.n,
        "tp": metrics.tp,
        "fp": metrics.fp,
        "tn": metrics.tn,
        "fn": metrics.fn,
        "failed": metrics.failed,
        "precision": rate_to_json(metrics.precision),
        "recall": rate_to_json(metrics.recall),
        "f1": metrics.f1,
        "accuracy": rate_to_json(metrics.accuracy),
        "parameters_right": rate_to_json(metrics.parameters_right),
        "parameter_accuracy": metrics.parameter_accuracy,
        "completeness": metrics.completeness,
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
        "cost_per_run_usd": {"p50": metrics.cost_p50_usd, "p95": metrics.cost_p95_usd},
        "tokens": metrics.tokens,
        "recall_at": {str(depth): rate_to_json(rate) for depth, rate in metrics.recall_at.items()},
        "by_tool": [_group_to_json(group) for group in metrics.by_tool],
        "by_server": [_group_to_json(group) for group in metrics.by_server],
        "by_model": [_group_to_json(group) for group in metrics.by_model],
    }


def rate_to_json(rate: Rate) -> dict[str, Json]:
    """`{"value", "low", "high", "n"}`."""
    return asdict(rate)


def _group_to_json(group: GroupMetrics) -> dict[str, Json]:
    return asdict(group)
