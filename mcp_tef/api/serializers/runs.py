"""Runs, verdicts, batches and comparisons as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_tef.model.cases import expectation_to_json, messages_to_json
from mcp_tef.model.json import as_json, fields_to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcp_tef.errors import TefError
    from mcp_tef.model.answers import Answer
    from mcp_tef.model.comparison import (
        BatchComparison,
        CasePair,
        CaseSide,
        DefinitionChange,
        RejudgeReport,
        ShareChange,
    )
    from mcp_tef.model.json import Json
    from mcp_tef.model.runs import Batch, FailureInfo, ModelSettings, RunDetail, RunSummary
    from mcp_tef.model.verdicts import CallMatch, ParameterFinding, PastVerdict, Verdict

NO_TOOL_TEXT = "no tool"
_SETTINGS = "timeout temperature max_retries base_url mode tool_choice system_prompt seed max_tokens"


def error_to_json(error: TefError | FailureInfo) -> dict[str, Json]:
    """Serialize an error or the failure of a run: code, message and hint."""
    return fields_to_json(error, "code message hint")


def run_to_json(run: RunSummary) -> dict[str, Json]:
    """Serialize one run."""
    return {
        "id": run.id,
        "case": run.case_name,
        **fields_to_json(run, "query model status classification mark unreadable read_from_text kind"),
        "expected": _label(run.expected),
        "selected": _label(run.selected),
        **fields_to_json(run, "parameters_ok completeness correctness type_conformance hallucinated"),
        "findings": [_finding_to_json(finding) for finding in run.findings],
        **fields_to_json(
            run, "confidence confidence_source confidence_category explanation execution_time_ms tokens cost_usd"
        ),
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
        "settings": fields_to_json(settings, _SETTINGS) | _conditions(settings),
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
    return fields_to_json(answer, "mode base_url seed answer_limit")


def _calls(detail: RunDetail) -> Json:
    if detail.answer is None or detail.answer.calls is None:
        return None
    return [fields_to_json(call, "tool server arguments") for call in detail.answer.calls]


def past_verdict_to_json(past: PastVerdict) -> Json:
    """Serialize a replaced verdict with the expectation that it was judged by."""
    return {
        **fields_to_json(past, "replaced_at reason"),
        "verdict": verdict_to_json(past.verdict),
        "expectation": expectation_to_json(past.expectation),
    }


def rejudge_report_to_json(report: RejudgeReport) -> Json:
    """Serialize a rejudge report; each change holds the run with its new and its earlier verdict."""
    return {
        **fields_to_json(report, "judged unchanged without_answer gone"),
        "changes": [
            {"run": run_to_json(change.run), "past": past_verdict_to_json(change.past)} for change in report.changes
        ],
    }


def batch_to_json(batch: Batch) -> dict[str, Json]:
    """Serialize a batch with its counts."""
    return fields_to_json(
        batch,
        "id name status stopped models total counts correct_calls correct_tools unreadable not_offered cut_off "
        "interrupted cost_usd created_at completed_at",
    )


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
        **fields_to_json(comparison, "families wins losses"),
        "evidence": dict(zip(("better", "worse"), comparison.evidence, strict=True)),
        "p": comparison.for_queries_like_these.p,
        **fields_to_json(comparison, "icc left_out"),
        "rates": _rates(judged),
        "difference": as_json(judged.difference),
        **{name: {**_rates(share), "difference": as_json(share.difference)} for name, share in _shares(comparison)},
        "must_hold": [
            {"case": case.case_id, **fields_to_json(case, "holds p sentence")} for case in comparison.must_hold
        ],
        "notes": list(comparison.notes),
    }


def _shares(comparison: BatchComparison) -> Iterator[tuple[str, ShareChange]]:
    yield "correct_call", comparison.correct_call
    yield "correct_tool", comparison.correct_tool


def _rates(share: ShareChange) -> dict[str, Json]:
    return {"before": as_json(share.before), "after": as_json(share.after)}


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
        **fields_to_json(verdict, "classification kind"),
        "matches": [_match_to_json(match) for match in verdict.matches],
        **fields_to_json(
            verdict,
            "completeness correctness type_conformance hallucinated parameters_ok confidence_category explanation "
            "alternative",
        ),
    }


def _match_to_json(match: CallMatch) -> dict[str, Json]:
    return {
        **fields_to_json(match, "expected actual completeness correctness type_conformance hallucinated"),
        "findings": [_finding_to_json(finding) for finding in match.findings],
    }


def _finding_to_json(finding: ParameterFinding) -> dict[str, Json]:
    return fields_to_json(finding, "parameter reason expected actual sentence")
