"""Rows of verdicts, and of the earlier verdicts that rejudging replaced; empty fields of matches are left out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlmodel import Session

from mcp_tef.model.answers import Answer, ConfidenceSource
from mcp_tef.model.cases import (
    expectation_to_json,
)
from mcp_tef.model.comparison import AnsweredRun, Judgement
from mcp_tef.model.ids import BatchId, CaseId, RunId, new_id
from mcp_tef.model.json import Json, fields_to_json
from mcp_tef.model.runs import Arm
from mcp_tef.model.tools import Snapshot
from mcp_tef.model.verdicts import (
    CallMatch,
    Classification,
    ConfidenceCategory,
    PastVerdict,
    RejudgeReason,
    Verdict,
    VerdictKind,
)
from mcp_tef.storage import snapshots
from mcp_tef.storage.columns import expectation_of, now, one_of, row_of, truth
from mcp_tef.storage.database import PreparedStatement
from mcp_tef.storage.run_rows import calls_of, expectation_cells, findings_in, ranking_of
from mcp_tef.storage.run_tables import PAST_VERDICTS, RESULTS, RUNS

_SCORES = ("completeness", "correctness", "type_conformance")
_FINDING = "parameter reason sentence expected actual"


def cells_of(run_id: str, verdict: Verdict) -> dict[str, Any]:
    """The row of a verdict."""
    return {
        "id": new_id(),
        "test_run_id": run_id,
        "classification": verdict.classification.value,
        "tool_selection_correct": int(verdict.mark.correct_tool),
        "parameter_completeness": verdict.completeness,
        "parameter_correctness": verdict.correctness,
        "parameter_type_conformance": _flag(verdict.type_conformance),
        "hallucinated_parameters": list(verdict.hallucinated) or None,
        "confidence_category": verdict.confidence_category,
        "reasoning": verdict.explanation,
        "created_at": now(),
        "kind": verdict.kind.value,
        "matched_alternative": verdict.alternative,
        "parameters_ok": _flag(verdict.parameters_ok),
        "matches": [_match_to_json(match) for match in verdict.matches],
        "unreadable": int(verdict.unreadable),
    }


def judge(session: Session, verdicts: Iterable[tuple[str, Verdict]]) -> None:
    """Store the verdicts on some runs in place of those that they have."""
    _JUDGE.run_many(session, ({**cells_of(run_id, verdict), "recommendations": []} for run_id, verdict in verdicts))


def verdict_of(row: Any) -> Verdict:
    """The verdict that a row of `evaluation_results` holds."""
    return Verdict(
        classification=Classification(row.classification),
        kind=VerdictKind(row.kind),
        explanation=row.reasoning,
        matches=tuple(_match_from_json(match) for match in row.matches),
        alternative=row.matched_alternative,
        completeness=row.parameter_completeness,
        correctness=row.parameter_correctness,
        type_conformance=truth(row.parameter_type_conformance),
        hallucinated=tuple(row.hallucinated_parameters or ()),
        parameters_ok=truth(row.parameters_ok),
        confidence_category=ConfidenceCategory(row.confidence_category) if row.confidence_category else None,
        unreadable=bool(row.unreadable),
    )


def document_of(verdict: Verdict) -> dict[str, Json]:
    """A whole verdict in one cell."""
    names = "classification kind explanation alternative completeness correctness type_conformance hallucinated"
    plain = fields_to_json(verdict, f"{names} parameters_ok confidence_category unreadable")
    return _filled(plain | {"matches": [_match_to_json(match) for match in verdict.matches]})


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
    plain = fields_to_json(match, "expected actual completeness correctness type_conformance")
    findings = [_filled(fields_to_json(one, _FINDING)) for one in match.findings]
    return _filled(plain | {"hallucinated": list(match.hallucinated) or None, "findings": findings or None})


def _filled(values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value is not None}


def _match_from_json(value: Mapping[str, Json]) -> CallMatch:
    return CallMatch(
        **{name: value.get(name) for name in ("expected", "actual", *_SCORES)},
        hallucinated=tuple(value.get("hallucinated", ())),
        findings=findings_in(value),
    )


_JUDGE = PreparedStatement(insert(RESULTS).prefix_with("OR REPLACE"), [column.name for column in RESULTS.c])

_EXPECTATION = ("expectation", "expected_label", "expected_server_name", "expected_tool_name")
_REPLACED = ("classification", "expected_rank", *_EXPECTATION)
_UPDATE = update(RUNS).where(RUNS.c.id == bindparam("run")).values({name: bindparam(name) for name in _REPLACED})
_AGREE = (
    update(RUNS)
    .where(RUNS.c.id == bindparam("run"))
    .values(confidence_score=bindparam("share"), confidence_source=ConfidenceSource.AGREEMENT.value)
)
_VERDICT = tuple(column.name for column in RESULTS.c if column.name not in ("id", "test_run_id", "recommendations"))
_JUDGE_AGAIN = (
    update(RESULTS)
    .where(RESULTS.c.test_run_id == bindparam("run"))
    .values({name: bindparam(name) for name in _VERDICT})
)
_ANSWERED = select(
    RUNS.c.id,
    RUNS.c.test_case_id,
    RUNS.c.batch_id,
    RUNS.c.snapshot_id,
    RUNS.c.mode,
    RUNS.c.arm,
    RUNS.c.expectation,
    RUNS.c.calls,
    RUNS.c.confidence_score,
    RUNS.c.confidence_source,
    RUNS.c.ranking,
    RESULTS,
).join(RESULTS, RESULTS.c.test_run_id == RUNS.c.id)


def answered(session: Session, ids: Iterable[str]) -> tuple[AnsweredRun, ...]:
    """Those of the runs that have an answer and a verdict, and whose tools are known, in no order."""
    found = session.execute(_ANSWERED.where(RUNS.c.id.in_(one_of(ids))))
    rows = [row for row in found if row.mode is not None and row.snapshot_id is not None]
    offered = {key: snapshots.load(session, key) for key in {row.snapshot_id for row in rows}}
    return tuple(_answered(row, offered[row.snapshot_id]) for row in rows)


@row_of("test_runs")
def _answered(row: Any, snapshot: Snapshot) -> AnsweredRun:
    return AnsweredRun(
        id=RunId(row.id),
        case_id=CaseId(row.test_case_id),
        batch_id=BatchId(row.batch_id) if row.batch_id else None,
        expectation=expectation_of(row.expectation),
        snapshot=snapshot,
        answer=Answer(
            calls=calls_of(row.calls),
            confidence=row.confidence_score,
            confidence_source=ConfidenceSource(row.confidence_source) if row.confidence_source else None,
            ranking=ranking_of(row.ranking or (), snapshot),
        ),
        verdict=verdict_of(row),
        arm=Arm(row.arm) if row.arm else None,
    )


def replace_verdicts(session: Session, judgements: Sequence[Judgement]) -> list[RunId]:
    """Keep the old verdicts if they are given, put the new ones in their place, and return the runs that had one."""
    wanted = one_of(judgement.run_id for judgement in judgements)
    here = set(session.execute(select(RESULTS.c.test_run_id).where(RESULTS.c.test_run_id.in_(wanted))).scalars())
    kept = [judgement for judgement in judgements if judgement.run_id in here]
    steps = (insert(PAST_VERDICTS), _past_cells), (_AGREE, _agreement_cells), (_UPDATE, _run_cells)
    for statement, cells in (*steps, (_JUDGE_AGAIN, _verdict_cells)):
        if rows := [row for judgement in kept if (row := cells(judgement))]:
            session.connection().execute(statement, rows)
    return [judgement.run_id for judgement in kept]


def _agreement_cells(judgement: Judgement) -> dict[str, Any] | None:
    return None if judgement.agreement is None else {"run": judgement.run_id, "share": judgement.agreement}


def _run_cells(judgement: Judgement) -> dict[str, Any]:
    return {
        "run": judgement.run_id,
        "classification": judgement.verdict.classification.value,
        "expected_rank": judgement.expected_rank,
        **expectation_cells(judgement.expectation),
    }


def _verdict_cells(judgement: Judgement) -> dict[str, Any]:
    cells = cells_of(judgement.run_id, judgement.verdict)
    return {"run": judgement.run_id, **{name: cells[name] for name in _VERDICT}}


def _past_cells(judgement: Judgement) -> dict[str, Any] | None:
    past = judgement.past
    if past is None:
        return None
    return {
        "test_run_id": judgement.run_id,
        "replaced_at": past.replaced_at,
        "classification": past.verdict.classification.value,
        "kind": past.verdict.kind.value,
        "verdict": document_of(past.verdict),
        "expectation": expectation_to_json(past.expectation),
        "reason": past.reason.value,
    }


def past(session: Session, run_id: str) -> tuple[PastVerdict, ...]:
    """The verdicts that a run had before, newest first."""
    statement = select(PAST_VERDICTS).where(PAST_VERDICTS.c.test_run_id == run_id)
    return tuple(_past(row) for row in session.execute(statement.order_by(PAST_VERDICTS.c.id.desc())))


@row_of("past_verdicts")
def _past(row: Any) -> PastVerdict:
    return PastVerdict(
        verdict=verdict_from(row.verdict),
        expectation=expectation_of(row.expectation),
        replaced_at=row.replaced_at,
        reason=RejudgeReason(row.reason),
    )
