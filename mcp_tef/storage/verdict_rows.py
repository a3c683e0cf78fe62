"""Between a verdict and its row; matches and findings leave out what is empty."""

from collections.abc import Mapping
from typing import Any

from mcp_tef.errors import InputError
from mcp_tef.model.cases import Expectation, expectation_from_json
from mcp_tef.model.ids import new_id
from mcp_tef.model.json import Json
from mcp_tef.model.verdicts import (
    CallMatch,
    Classification,
    ConfidenceCategory,
    FindingReason,
    ParameterFinding,
    Verdict,
    VerdictKind,
)
from mcp_tef.storage.columns import now, truth


def cells_of(run_id: str, verdict: Verdict) -> dict[str, Any]:
    """The row of a verdict."""
    return {
        "id": new_id(),
        "test_run_id": run_id,
        "classification": verdict.classification.value,
        "tool_selection_correct": int(verdict.right),
        "parameter_completeness": verdict.completeness,
        "parameter_correctness": verdict.correctness,
        "parameter_type_conformance": _flag(verdict.type_conformance),
        "hallucinated_parameters": list(verdict.hallucinated) or None,
        "confidence_category": verdict.confidence_category,
        "reasoning": verdict.explanation,
        "created_at": now(),
        "kind": verdict.kind.value,
        "alternative": verdict.alternative,
        "parameters_ok": _flag(verdict.parameters_ok),
        "matches": [_match_to_json(match) for match in verdict.matches],
    }


def expectation_of(cell: Json) -> Expectation:
    """The expectation that a cell holds; ValueError where it holds none."""
    try:
        return expectation_from_json(cell)
    except InputError as error:
        raise ValueError(error.message) from error


def verdict_of(row: Any) -> Verdict:
    """The verdict that a row of `evaluation_results` holds."""
    return Verdict(
        classification=Classification(row.classification),
        kind=VerdictKind(row.kind),
        explanation=row.reasoning,
        matches=tuple(_match_from_json(match) for match in row.matches),
        alternative=row.alternative,
        completeness=row.parameter_completeness,
        correctness=row.parameter_correctness,
        type_conformance=truth(row.parameter_type_conformance),
        hallucinated=tuple(row.hallucinated_parameters or ()),
        parameters_ok=truth(row.parameters_ok),
        confidence_category=ConfidenceCategory(row.confidence_category) if row.confidence_category else None,
    )


def document_of(verdict: Verdict) -> dict[str, Json]:
    """A whole verdict in one cell."""
    return _filled(
        classification=verdict.classification.value,
        kind=verdict.kind.value,
        explanation=verdict.explanation,
        matches=[_match_to_json(match) for match in verdict.matches],
        alternative=verdict.alternative,
        completeness=verdict.completeness,
        correctness=verdict.correctness,
        type_conformance=verdict.type_conformance,
        hallucinated=list(verdict.hallucinated),
        parameters_ok=verdict.parameters_ok,
        confidence_category=verdict.confidence_category,
    )


def verdict_from(document: Mapping[str, Json]) -> Verdict:
    """The verdict that such a cell holds."""
    category = document.get("confidence_category")
    return Verdict(
        **{
            **document,
            "classification": Classification(document["classification"]),
            "kind": VerdictKind(document["kind"]),
            "matches": tuple(_match_from_json(match) for match in document["matches"]),
            "hallucinated": tuple(document["hallucinated"]),
            "confidence_category": ConfidenceCategory(category) if category else None,
        }
    )


def _flag(value: bool | None) -> int | None:
    return None if value is None else int(value)


def _match_to_json(match: CallMatch) -> Json:
    return _filled(
        expected=match.expected,
        actual=match.actual,
        completeness=match.completeness,
        correctness=match.correctness,
        type_conformance=match.type_conformance,
        hallucinated=list(match.hallucinated) or None,
        findings=[_finding_to_json(finding) for finding in match.findings] or None,
    )


def _finding_to_json(finding: ParameterFinding) -> Json:
    return _filled(
        parameter=finding.parameter,
        reason=finding.reason.value,
        sentence=finding.sentence,
        expected=finding.expected,
        actual=finding.actual,
    )


def _filled(**values: Json) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value is not None}


def _match_from_json(value: Mapping[str, Json]) -> CallMatch:
    return CallMatch(
        expected=value.get("expected"),
        actual=value.get("actual"),
        completeness=value.get("completeness"),
        correctness=value.get("correctness"),
        type_conformance=value.get("type_conformance"),
        hallucinated=tuple(value.get("hallucinated", ())),
        findings=tuple(_finding_from_json(finding) for finding in value.get("findings", ())),
    )


def _finding_from_json(value: Mapping[str, Json]) -> ParameterFinding:
    return ParameterFinding(**{**value, "reason": FindingReason(value["reason"])})
