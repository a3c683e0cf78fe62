"""Runs, verdicts, batches and comparisons as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_tef.model.cases import expectation_to_json, messages_to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from mcp_tef.errors import TefError
    from mcp_tef.model.answers import Answer
    from mcp_tef.model.comparison import (
        BatchComparison,
        CasePair,
        CaseSide,
        DefinitionChange,
        HeldCase,
        RejudgeReport,
        ShareChange,
    )
    from mcp_tef.model.json import Json
    from mcp_tef.model.runs import Batch, FailureInfo, ModelSettings, RunDetail, RunSummary
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
        "mark": run.mark.value if run.mark else None,
        "unreadable": run.unreadable,
        "read_from_text": run.read_from_text,
        "kind": run.kind.value if run.kind else None,
        "expected": _label(run.expected),
        "selected": _label(run.selected),
        "parameters_ok": run.parameters_ok,
        "completeness": run.completeness,
        "correctness": run.correctness,
        "type_conformance": run.type_conformance,
        "hallucinated": list(run.hallucinated),
        "findings": [_finding_to_json(finding) for finding in run.findings],
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


def _place_in_trial(run: RunSummary) -> dict[str, Json]:
    """Return the arm, the round from 1 and the place from 1 of a run of a trial; nothing for any other run."""
    if run.arm is None or run.place is None:
        return {}
    return {"arm": run.arm.value, "round": run.repeat + 1, "place": run.place + 1}


def run_detail_to_json(detail: RunDetail, since: Mapping[str, DefinitionChange]) -> Json:
    """One run with everything that was kept of it; `since` is what became of its tools afterwards."""
    settings, answer, snapshot = detail.settings, detail.answer, detail.snapshot
    return {
        **run_to_json(detail.summary),
        **_place_in_trial(detail.summary),
        "batch": detail.summary.batch_id,
        "before": messages_to_json(detail.before) or [],
        "expectation": expectation_to_json(detail.expectation),
        "verdict": verdict_to_json(detail.verdict) if detail.verdict else None,
        "calls": _calls(detail),
        "words": answer.words if answer else None,
        "notes": list(answer.notes) if answer else [],
        "prompt": answer.prompt if answer else None,
        "answered_model": answer.answered_model if answer else None,
        "answered_fingerprint": answer.answered_fingerprint if answer else None,
        "routing": answer.routing if answer else None,
        "settings": {
            "timeout": settings.timeout,
            "temperature": settings.temperature,
            "max_retries": settings.max_retries,
            "base_url": settings.base_url,
            "mode": settings.mode.value,
            "tool_choice": settings.tool_choice.value,
            "system_prompt": settings.system_prompt,
            "seed": settings.seed,
            "max_tokens": settings.max_tokens,
            **_conditions(settings),
        },
        "used": _used(answer) if answer else None,
        "cached_tokens": answer.cached_tokens if answer else None,
        "attempts": detail.attempts,
        "tools": [item.offered_name for item in snapshot.tools] if snapshot else [],
        "changed_since": {name: change.value for name, change in since.items()},
        "raw_request": answer.sent_request if answer else None,
        "raw_response": answer.raw_response if answer else None,
        "past_verdicts": [past_verdict_to_json(past) for past in detail.past_verdicts],
    }


def _conditions(settings: ModelSettings) -> dict[str, Json]:
    """Serialize the client whose tools were shown, and the prompt with the values of its variables."""
    asked = {"client": settings.client or None, "prompt": settings.prompt or None}
    return asked | {"variables": dict(settings.variables)}


def _used(answer: Answer) -> Json:
    """Serialize what was really sent: mode, address (None for the provider's own), seed and answer limit."""
    sent = {"base_url": answer.base_url, "seed": answer.seed, "answer_limit": answer.answer_limit}
    return {"mode": answer.mode.value, **sent}


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
        "stopped": batch.stopped,
        "models": list(batch.models),
        "total": batch.total,
        "counts": dict(batch.counts),
        "correct_calls": batch.correct_calls,
        "correct_tools": batch.correct_tools,
        "unreadable": batch.unreadable,
        "not_offered": batch.not_offered,
        "cut_off": batch.cut_off,
        "interrupted": batch.interrupted,
        "cost_usd": batch.cost_usd,
        "created_at": timestamp(batch.created_at),
        "completed_at": timestamp(batch.completed_at),
    }


def comparison_to_json(comparison: BatchComparison) -> dict[str, Json]:
    """Serialize a comparison of two batches."""
    from mcp_tef.model.comparison import PairChange

    judged = dict(_shares(comparison))[comparison.criterion.value]
    return {
        "before": batch_to_json(comparison.before),
        "after": batch_to_json(comparison.after),
        "paired_by": comparison.paired_by.value,
        "counts": {change.value: number for change, number in comparison.counts.items()},
        "cases": {change.value: _cases(comparison.of(change)) for change in PairChange},
        "pairs": [_pair(pair) for pair in comparison.pairs],
        "criterion": comparison.criterion.value,
        "on_these_cases": comparison.on_these_cases.verdict.value,
        "for_queries_like_these": comparison.for_queries_like_these.verdict.value,
        "sentence": comparison.on_these_cases.sentence,
        "sentences": [comparison.on_these_cases.sentence, comparison.for_queries_like_these.sentence],
        "n": comparison.run_pairs,
        "compared_cases": comparison.cases,
        "families": comparison.families,
        "wins": comparison.wins,
        "losses": comparison.losses,
        "evidence": dict(zip(("better", "worse"), comparison.evidence, strict=True)),
        "p": comparison.for_queries_like_these.p,
        "icc": comparison.icc,
        "left_out": comparison.left_out,
        "rates": _rates(judged),
        "difference": asdict(judged.difference),
        **{name: {**_rates(share), "difference": asdict(share.difference)} for name, share in _shares(comparison)},
        "must_hold": [_held(case) for case in comparison.must_hold],
        "notes": list(comparison.notes),
    }


def _shares(comparison: BatchComparison) -> Iterator[tuple[str, ShareChange]]:
    yield "correct_call", comparison.correct_call
    yield "correct_tool", comparison.correct_tool


def _rates(share: ShareChange) -> dict[str, Json]:
    return {"before": asdict(share.before), "after": asdict(share.after)}


def _held(case: HeldCase) -> dict[str, Json]:
    return {"case": case.case_id, "holds": case.holds, "p": case.p, "sentence": case.sentence}


def _cases(pairs: Sequence[CasePair]) -> list[str]:
    return list(dict.fromkeys(pair.case_id for pair in pairs))


def _pair(pair: CasePair) -> dict[str, Json]:
    sides = {"before": pair.before, "after": pair.after}
    return {
        "case": pair.case_id,
        "change": pair.change.value,
        **{name: _side(side) if side else None for name, side in sides.items()},
    }


def _side(side: CaseSide) -> dict[str, Json]:
    return {"passed": side.passed, "n": side.judged, "runs": list(side.runs)}


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
