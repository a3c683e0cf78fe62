"""Judging again: answered runs with what they were offered, new verdicts in place of old ones, and the old ones."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Insert, bindparam, insert, select, update
from sqlmodel import Session

from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import expectation_to_json
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.rejudging import AnsweredRun, Judgement
from mcp_tef.model.tools import Snapshot
from mcp_tef.model.verdicts import PastVerdict, RejudgeReason
from mcp_tef.storage import snapshots, verdict_rows
from mcp_tef.storage.ids import one_of
from mcp_tef.storage.naming import row_of
from mcp_tef.storage.run_rows import calls_of, expectation_cells, ranking_of
from mcp_tef.storage.tables import BEING_JUDGED, PAST_VERDICTS, RESULTS, RUNS

JUDGE: Insert = insert(RESULTS).prefix_with("OR REPLACE")

_EXPECTATION = ("expectation", "expected_label", "expected_server_name", "expected_tool_name")
_REPLACED = ("classification", "expected_rank", *_EXPECTATION)
_UPDATE = update(RUNS).where(RUNS.c.id == bindparam("run")).values({name: bindparam(name) for name in _REPLACED})
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
    RUNS.c.expectation,
    RUNS.c.calls,
    RUNS.c.confidence_score,
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
        expectation=verdict_rows.expectation_of(row.expectation),
        snapshot=snapshot,
        answer=Answer(
            calls=calls_of(row.calls),
            confidence=row.confidence_score,
            ranking=ranking_of(row.ranking or (), snapshot),
        ),
        verdict=verdict_rows.verdict_of(row),
    )


def replace_verdicts(session: Session, judgements: Sequence[Judgement]) -> list[RunId]:
    """Keep the old verdicts, and put the new ones in their place; which runs still had one.

    The file brings a run's facts up to date with its verdict, once that was announced; so the verdict comes last.
    """
    wanted = one_of(judgement.run_id for judgement in judgements)
    here = set(session.execute(select(RESULTS.c.test_run_id).where(RESULTS.c.test_run_id.in_(wanted))).scalars())
    kept = [judgement for judgement in judgements if judgement.run_id in here]
    if kept:
        connection = session.connection()
        connection.execute(insert(BEING_JUDGED), [{"run_id": judgement.run_id} for judgement in kept])
        connection.execute(insert(PAST_VERDICTS), [_past_cells(judgement) for judgement in kept])
        connection.execute(_UPDATE, [_run_cells(judgement) for judgement in kept])
        connection.execute(_JUDGE_AGAIN, [_verdict_cells(judgement) for judgement in kept])
    return [judgement.run_id for judgement in kept]


def _run_cells(judgement: Judgement) -> dict[str, Any]:
    return {
        "run": judgement.run_id,
        "classification": judgement.verdict.classification.value,
        "expected_rank": judgement.expected_rank,
        **expectation_cells(judgement.expectation),
    }


def _verdict_cells(judgement: Judgement) -> dict[str, Any]:
    cells = verdict_rows.cells_of(judgement.run_id, judgement.verdict)
    return {"run": judgement.run_id, **{name: cells[name] for name in _VERDICT}}


def _past_cells(judgement: Judgement) -> dict[str, Any]:
    past = judgement.past
    return {
        "test_run_id": judgement.run_id,
        "replaced_at": past.replaced_at,
        "classification": past.verdict.classification.value,
        "kind": past.verdict.kind.value,
        "verdict": verdict_rows.document_of(past.verdict),
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
        verdict=verdict_rows.verdict_from(row.verdict),
        expectation=verdict_rows.expectation_of(row.expectation),
        replaced_at=row.replaced_at,
        reason=RejudgeReason(row.reason),
    )
