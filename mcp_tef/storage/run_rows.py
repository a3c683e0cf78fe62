"""Conversion of runs to rows and back: what is planned, what became of it, and what tables show."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from mcp_tef.model.answers import (
    ActualCall,
    Answer,
    CallingMode,
    ConfidenceSource,
    RankedTool,
    ToolChoiceMode,
    selected_label,
)
from mcp_tef.model.cases import Expectation, TestCase, expectation_to_json, messages_to_json
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.json import Json
from mcp_tef.model.runs import Arm, FailureInfo, ModelSettings, RunResult, RunStatus, RunSummary
from mcp_tef.model.secrets import without_credentials
from mcp_tef.model.tools import Snapshot
from mcp_tef.model.verdicts import Classification, ConfidenceCategory, FindingReason, ParameterFinding, VerdictKind
from mcp_tef.storage.columns import attributes, now, row_of, truth
from mcp_tef.storage.snapshots import Directory

_SCORE_DIGITS = 6

_SAME_IN_ANSWER = "tokens_in tokens_out cost_usd answered_model answered_fingerprint seed answer_limit routing"
"""Fields of an answer that have columns of the same names."""
_FAILURE = ("error_code", "error_message", "error_hint")
_COMPUTED = (
    "selected_tool_id selected_label selected_server_name selected_tool_name confidence_score confidence_source mode "
    "classification extracted_parameters calls answer_text ranking llm_request_raw llm_response_raw base_url"
)
NOT_ANSWERED: Mapping[str, Any] = {
    **dict.fromkeys(f"{_COMPUTED} {_SAME_IN_ANSWER}".split()),
    "read_from_text": 0,
}
NOT_ENDED: Mapping[str, Any] = {
    **NOT_ANSWERED,
    **dict.fromkeys(("execution_time_ms", "completed_at", "expected_rank", *_FAILURE)),
    "attempts": 1,
}


def case_cells(case: TestCase) -> dict[str, Any]:
    """Return the columns that a run copies from its case: messages, query and expectation as they are now."""
    asked = {"before": messages_to_json(case.draft.before), "query": case.draft.query}
    return {**asked, **expectation_cells(case.draft.expectation)}


def expectation_cells(expectation: Expectation) -> dict[str, Any]:
    """Return the columns of the expectation that a run is judged by."""
    first = expectation.first_call
    return {
        "expectation": expectation_to_json(expectation),
        "expected_label": expectation.label,
        "expected_server_name": first.server if first else None,
        "expected_tool_name": first.tool if first else None,
    }


def failure_cells(failure: FailureInfo | None) -> dict[str, Any]:
    """The columns of a failure."""
    texts = (failure.code, failure.message, failure.hint) if failure else (None, None, None)
    return dict(zip(_FAILURE, texts, strict=True))


def outcome_cells(outcome: RunResult, directory: Directory) -> dict[str, Any]:
    """The columns that an outcome fills. A cancelled run has no moment of completion."""
    return {
        **(answer_cells(outcome.answer, directory) if outcome.answer else NOT_ANSWERED),
        **failure_cells(outcome.failure),
        "status": outcome.status.value,
        "classification": outcome.verdict.classification.value if outcome.verdict else None,
        "execution_time_ms": None if outcome.execution_time_ms is None else max(1, outcome.execution_time_ms),
        "completed_at": None if outcome.status is RunStatus.CANCELLED else now(),
        "expected_rank": outcome.expected_rank,
        "attempts": outcome.attempts,
    }


def answer_cells(answer: Answer, directory: Directory) -> dict[str, Any]:
    """The columns that an answer fills."""
    first = answer.calls[0] if answer.calls else None
    return {
        "selected_tool_id": directory.tool_id(first) if first else None,
        "confidence_score": _share(answer.confidence),
        "selected_label": selected_label(answer.calls),
        "selected_server_name": first.server if first else None,
        "selected_tool_name": first.tool if first else None,
        "confidence_source": answer.confidence_source,
        "mode": answer.mode.value,
        "extracted_parameters": first.arguments if first else None,
        "calls": None if answer.calls is None else [_call_to_json(call) for call in answer.calls],
        "answer_text": answer.words or None,
        "ranking": [_rank_to_json(ranked, directory) for ranked in answer.ranking] or None,
        "llm_request_raw": answer.raw_request,
        "llm_response_raw": answer.raw_response,
        "read_from_text": int(answer.read_from_text),
        "base_url": answer.base_url and without_credentials(answer.base_url),
        **attributes(answer, _SAME_IN_ANSWER),
    }


@row_of("test_runs")
def answer_of(row: Any, snapshot: Snapshot | None) -> Answer | None:
    """The answer that a row of `test_runs` holds; None where the run got none."""
    if row.mode is None:
        return None
    return Answer(
        calls=calls_of(row.calls),
        words=row.answer_text or "",
        confidence=row.confidence_score,
        confidence_source=ConfidenceSource(row.confidence_source) if row.confidence_source else None,
        mode=CallingMode(row.mode),
        raw_request=row.llm_request_raw,
        raw_response=row.llm_response_raw,
        ranking=ranking_of(row.ranking or (), snapshot),
        read_from_text=bool(row.read_from_text),
        base_url=row.base_url and without_credentials(row.base_url),
        **attributes(row, _SAME_IN_ANSWER),
    )


def variables_of(value: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """Return the variables of a prompt that a list of pairs holds."""
    return tuple((name, text) for name, text in value)


@row_of("model_settings")
def settings_of(row: Any) -> ModelSettings:
    """The settings that a row of `model_settings` holds."""
    return ModelSettings(
        **attributes(row, "provider model timeout temperature max_retries system_prompt seed max_tokens"),
        **attributes(row, "input_price output_price client prompt"),
        base_url=row.base_url and without_credentials(row.base_url),
        mode=CallingMode(row.mode),
        tool_choice=ToolChoiceMode(row.tool_choice),
        variables=variables_of(row.variables),
    )


class SummaryRow(NamedTuple):
    """Row of the summary query: columns of a run, its case, its settings and its verdict (a tuple, for speed)."""

    id: str
    batch_id: str | None
    test_case_id: str
    case_name: str
    query: str
    provider: str
    model: str
    repeat_index: int
    status: str
    classification: str | None
    expected_label: str
    selected_label: str | None
    confidence_score: float | None
    confidence_source: str | None
    execution_time_ms: int | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    error_code: str | None
    error_message: str | None
    error_hint: str | None
    expected_tool_name: str | None
    expected_server_name: str | None
    selected_tool_name: str | None
    selected_server_name: str | None
    expected_rank: int | None
    created_at: datetime
    completed_at: datetime | None
    kind: str | None
    parameters_ok: int | None
    parameter_completeness: float | None
    parameter_correctness: float | None
    parameter_type_conformance: int | None
    hallucinated_parameters: list[str] | None
    matches: list[Json] | None
    confidence_category: str | None
    reasoning: str | None
    read_from_text: int
    unreadable: int | None
    arm: str | None
    place: int | None


@row_of("test_runs")
def summary_of(row: SummaryRow) -> RunSummary:
    """The summary that a row of the summary query holds."""
    return RunSummary(
        id=RunId(row.id),
        batch_id=BatchId(row.batch_id) if row.batch_id else None,
        case_id=CaseId(row.test_case_id),
        case_name=row.case_name or "",  # the case is gone where somebody else changed the row
        query=row.query,
        model=f"{row.provider}/{row.model}",
        repeat=row.repeat_index,
        status=RunStatus(row.status),
        classification=Classification(row.classification) if row.classification else None,
        kind=VerdictKind(row.kind) if row.kind else None,
        expected=row.expected_label,
        selected=row.selected_label,
        parameters_ok=truth(row.parameters_ok),
        completeness=row.parameter_completeness,
        correctness=row.parameter_correctness,
        type_conformance=truth(row.parameter_type_conformance),
        hallucinated=tuple(row.hallucinated_parameters or ()),
        findings=tuple(finding for match in row.matches or () for finding in findings_in(match)),
        confidence=row.confidence_score,
        confidence_source=row.confidence_source,
        confidence_category=ConfidenceCategory(row.confidence_category) if row.confidence_category else None,
        explanation=row.reasoning,
        execution_time_ms=row.execution_time_ms,
        tokens=_sum(row.tokens_in, row.tokens_out),
        cost_usd=row.cost_usd,
        failure=FailureInfo(row.error_code, row.error_message or "", row.error_hint or "") if row.error_code else None,
        expected_tool=row.expected_tool_name,
        expected_server=row.expected_server_name,
        selected_tool=row.selected_tool_name,
        selected_server=row.selected_server_name,
        expected_rank=row.expected_rank,
        created_at=row.created_at,
        completed_at=row.completed_at,
        unreadable=bool(row.unreadable),
        read_from_text=bool(row.read_from_text),
        arm=Arm(row.arm) if row.arm else None,
        place=row.place,
    )


def findings_in(match: Mapping[str, Json]) -> tuple[ParameterFinding, ...]:
    """The findings of one stored match of an expected and an actual call."""
    found = match.get("findings", ())
    return tuple(ParameterFinding(**{**value, "reason": FindingReason(value["reason"])}) for value in found)


def _sum(tokens_in: int | None, tokens_out: int | None) -> int | None:
    return None if tokens_in is None and tokens_out is None else (tokens_in or 0) + (tokens_out or 0)


def _share(confidence: float | None) -> float | None:
    if confidence is None or math.isnan(confidence):
        return None
    return min(max(confidence, 0.0), 1.0)


def _call_to_json(call: ActualCall) -> Json:
    value = {"tool": call.tool, "arguments": call.arguments}
    value |= {"repeated": list(call.repeated)} if call.repeated else {}
    return value | {"server": call.server} if call.server is not None else value


def calls_of(cell: Json) -> tuple[ActualCall, ...] | None:
    """The calls that a cell holds; None for an answer that could not be read."""
    if cell is None:
        return None
    return tuple(ActualCall(**{**call, "repeated": tuple(call.get("repeated", ()))}) for call in cell)


def _rank_to_json(ranked: RankedTool, directory: Directory) -> Json:
    place = directory.positions.get(ranked.offered_name, ranked.offered_name)
    return [place, round(ranked.score, _SCORE_DIGITS)]


def ranking_of(values: Sequence[Json], snapshot: Snapshot | None) -> tuple[RankedTool, ...]:
    """The ranking that a cell holds; places are those in the snapshot."""
    names: Sequence[str] = [offered.offered_name for offered in snapshot.tools] if snapshot else ()
    named = ((place if isinstance(place, str) else _at(names, place), score) for place, score in values)
    return tuple(RankedTool(name, score) for name, score in named if name is not None)


def _at(names: Sequence[str], place: int) -> str | None:
    return names[place] if place < len(names) else None
