"""Runs, verdicts, batches and comparisons as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from mcp_tef.errors import TefError
from mcp_tef.model.cases import expectation_to_json
from mcp_tef.model.comparison import BatchComparison, DefinitionChange, PairChange, PairedTest, RejudgeReport, RunPair
from mcp_tef.model.json import Json
from mcp_tef.model.runs import Batch, FailureInfo, RunDetail, RunSummary
from mcp_tef.model.verdicts import CallMatch, ParameterFinding, PastVerdict, Verdict

NO_TOOL_TEXT = "no tool"


def error_to_json(error: TefError | FailureInfo) -> dict[str, Json]:
    """Serialize an error or the failure of a run: code, message and hint."""
    return {"code": error.code, "message": error.message, "hint": error.hint}


def timestamp(value: datetime | None) -> str | None:
    """Return a moment in ISO 8601, None for none."""
    return None if value is None else value.isoformat()


def run_to_json(run: RunSummary) -> dict[str, Json]:
    """Serialize one run."""
    return {
        "id": run.id,
        "case": run.case_name,
        "query": run.query,
        "model": run.model,
        "status": run.status.value,
        "classification": run.classification.value if run.classification else None,
        "kind": run.kind.value if run.kind else None,
        "expected": _label(run.expected),
        "selected": _label(run.selected),
        "parameters_ok": run.parameters_ok,
        "completeness": run.completeness,
        "correctness": run.correctness,
        "type_conformance": run.type_conformance,
        "hallucinated": list(run.hallucinated),
        "confidence": run.confidence,
        "confidence_source": run.confidence_source,
        "confidence_category": run.confidence_category.value if run.confidence_category else None,
        "explanation": run.explanation,
        "execution_time_ms": run.execution_time_ms,
        "tokens": run.tokens,
        "cost_usd": run.cost_usd,
        "error": error_to_json(run.failure) if run.failure else None,
    }


def _label(label: str | None) -> str | None:
    return None if label in (None, "", NO_TOOL_TEXT) else label


def run_detail_to_json(detail: RunDetail, since: Mapping[str, DefinitionChange]) -> Json:
    """One run with everything that was kept of it; `since` is what became of its tools afterwards."""
    settings, answer, snapshot = detail.settings, detail.answer, detail.snapshot
    return {
        **run_to_json(detail.summary),
        "batch": detail.summary.batch_id,
        "expectation": expectation_to_json(detail.expectation),
        "verdict": verdict_to_json(detail.verdict) if detail.verdict else None,
        "calls": _calls(detail),
        "words": answer.words if answer else None,
        "notes": list(answer.notes) if answer else [],
        "prompt": answer.prompt if answer else None,
        "settings": {
            "timeout": settings.timeout,
            "temperature": settings.temperature,
            "max_retries": settings.max_retries,
            "base_url": settings.base_url,
            "mode": settings.mode.value,
        },
        "attempts": detail.attempts,
        "tools": [item.offered_name for item in snapshot.tools] if snapshot else [],
        "changed_since": {name: change.value for name, change in since.items()},
        "raw_request": answer.sent_request if answer else None,
        "raw_response": answer.raw_response if answer else None,
        "past_verdicts": [past_verdict_to_json(past) for past in detail.past_verdicts],
    }


def _calls(detail: RunDetail) -> Json:
    if detail.answer is None or detail.answer.calls is None:
        return None
    return [
        {"tool": call.tool, "server": call.server, "arguments": dict(call.arguments)} for call in detail.answer.calls
    ]


def past_verdict_to_json(past: PastVerdict) -> Json:
    """Serialize a replaced verdict with the expectation that it was judged by."""
    return {
        "replaced_at": timestamp(past.replaced_at),
        "reason": past.reason.value,
        "verdict": verdict_to_json(past.verdict),
        "expectation": expectation_to_json(past.expectation),
    }


def rejudge_report_to_json(report: RejudgeReport) -> Json:
    """Serialize a rejudge report; each change holds the run with its new and its earlier verdict."""
    return {
        "judged": report.judged,
        "unchanged": report.unchanged,
        "without_answer": report.without_answer,
        "gone": report.gone,
        "changes": [
            {"run": run_to_json(change.run), "past": past_verdict_to_json(change.past)} for change in report.changes
        ],
    }


def batch_to_json(batch: Batch) -> dict[str, Json]:
    """Serialize a batch with its counts."""
    return {
        "id": batch.id,
        "name": batch.name,
        "status": batch.status.value,
        "models": list(batch.models),
        "total": batch.total,
        "counts": dict(batch.counts),
        "interrupted": batch.interrupted,
        "cost_usd": batch.cost_usd,
        "created_at": timestamp(batch.created_at),
        "completed_at": timestamp(batch.completed_at),
    }


def comparison_to_json(comparison: BatchComparison) -> dict[str, Json]:
    """Serialize a comparison of two batches."""
    return {
        "before": batch_to_json(comparison.before),
        "after": batch_to_json(comparison.after),
        "paired_by": comparison.paired_by.value,
        "counts": {change.value: number for change, number in comparison.counts.items()},
        "cases": {change.value: _cases(comparison.of(change)) for change in PairChange},
        "pairs": [_pair(pair) for pair in comparison.pairs],
        **_test(comparison.selection),
        "parameters": _test(comparison.parameters),
        "notes": list(comparison.notes),
    }


def _cases(pairs: Sequence[RunPair]) -> list[str]:
    return list(dict.fromkeys(pair.case_id for pair in pairs))


def _pair(pair: RunPair) -> dict[str, Json]:
    return {
        "case": pair.case_id,
        "change": pair.change.value,
        "parameters": pair.parameters.value if pair.parameters else None,
        "before": pair.before,
        "after": pair.after,
    }


def _test(test: PairedTest) -> dict[str, Json]:
    return {
        "reading": test.reading.value,
        "mcnemar_p": test.p,
        "more_runs": test.more_pairs,
        "n": test.n,
        "accuracy": {"before": asdict(test.before), "after": asdict(test.after)},
        "difference": asdict(test.difference),
        "sentence": test.sentence,
    }


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
