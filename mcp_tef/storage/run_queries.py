"""Reads runs: pages of summaries under a filter and in an order, counts, and one run in full."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import FromClause, Select, Text, and_, func, literal_column, select, type_coerce
from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session

from mcp_tef.errors import NotFoundError
from mcp_tef.model.cases import Expectation
from mcp_tef.model.comparison import PairableRun
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.runs import RunDetail, RunFilter, RunSummary
from mcp_tef.model.verdicts import Classification, Verdict
from mcp_tef.storage import judging, snapshots
from mcp_tef.storage.columns import truth
from mcp_tef.storage.ids import one_of
from mcp_tef.storage.naming import row_of
from mcp_tef.storage.run_filters import conditions, order, source
from mcp_tef.storage.run_rows import SummaryRow, answer_of, settings_of, summary_of
from mcp_tef.storage.tables import BATCHES, CASES, FACTS, MODEL_SETTINGS, RESULTS, RUNS
from mcp_tef.storage.verdict_rows import expectation_of, verdict_of

_HIDDEN = select(CASES.c.id).where(CASES.c.removed_at.is_not(None))
_GONE = select(BATCHES.c.id).where(BATCHES.c.removed_at.is_not(None))


def _batch_stands(runs: FromClause) -> ColumnElement[bool]:
    return func.coalesce(runs.c.batch_id, "").not_in(_GONE)


VISIBLE: ColumnElement[bool] = and_(RUNS.c.test_case_id.not_in(_HIDDEN), _batch_stands(RUNS))

_ELSEWHERE: Mapping[str, ColumnElement[Any]] = {
    "case_name": CASES.c.name,
    "provider": MODEL_SETTINGS.c.provider,
    "model": MODEL_SETTINGS.c.model,
}


def _column(name: str) -> ColumnElement[Any]:
    """The column of a run, its case, its settings or its verdict that fills a field of `SummaryRow`."""
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    return RUNS.c[name] if name in RUNS.c else RESULTS.c[name]


_COLUMNS = tuple(_column(name) for name in SummaryRow._fields)


def _with_verdict(runs: FromClause) -> FromClause:
    """Runs, joined so that no row is lost, with their settings and verdict."""
    settings = runs.outerjoin(MODEL_SETTINGS, MODEL_SETTINGS.c.id == RUNS.c.model_settings_id)
    return settings.outerjoin(RESULTS, RESULTS.c.test_run_id == RUNS.c.id)


_RUNS_OF_CASES = RUNS.outerjoin(CASES, CASES.c.id == RUNS.c.test_case_id)
_SUMMARY = select(*_COLUMNS).select_from(_with_verdict(_RUNS_OF_CASES))


_OUTCOMES = select(
    RUNS.c.id,
    RUNS.c.test_case_id,
    MODEL_SETTINGS.c.provider,
    MODEL_SETTINGS.c.model,
    RUNS.c.repeat_index,
    RUNS.c.classification,
    RESULTS.c.parameters_ok,
    RUNS.c.query,
    type_coerce(RUNS.c.expectation, Text),
).select_from(_with_verdict(RUNS))


def page(session: Session, where: RunFilter, limit: int | None, offset: int) -> tuple[RunSummary, ...]:
    """One page of the runs that a filter names, in its order; only those are read whole."""
    statement = select(FACTS.c.run_id).select_from(source(where)).where(*conditions(where)).order_by(*order(where))
    found = session.execute(statement.limit(-1 if limit is None else limit).offset(offset))
    ids = found.scalars().all()
    there = summaries(session, ids)
    return tuple(there[run_id] for run_id in ids if run_id in there)


def count(session: Session, where: RunFilter) -> int:
    """How many runs a filter names."""
    return int(session.execute(select(func.count()).select_from(FACTS).where(*conditions(where))).scalar_one())


def summaries(session: Session, ids: Iterable[str]) -> dict[str, RunSummary]:
    """The summaries of some runs, by id."""
    rows = session.execute(_SUMMARY.where(RUNS.c.id.in_(one_of(ids))))
    return {row.id: summary_of(row) for row in map(SummaryRow._make, rows)}


def outcomes(session: Session, batch_id: BatchId) -> tuple[PairableRun, ...]:
    """The little of every run of a batch that pairing needs, as planned."""
    rows = session.execute(_OUTCOMES.where(RUNS.c.batch_id == batch_id, VISIBLE).order_by(RUNS.c.position))
    return tuple(
        PairableRun(
            id=RunId(run_id),
            case_id=CaseId(case_id),
            model=f"{provider}/{model}",
            repeat=repeat,
            classification=Classification(classification) if classification else None,
            parameters_ok=truth(parameters_ok),
            posed=f"{query}\0{expectation}",
        )
        for run_id, case_id, provider, model, repeat, classification, parameters_ok, query, expectation in rows
    )


def recent(session: Session, limit: int) -> dict[CaseId, tuple[RunSummary, ...]]:
    """The last `limit` ended runs of every case, newest last; an index gives them without reading the others."""
    ended = RUNS.alias("ended")
    last: Select[Any] = (
        select(literal_column("ended.rowid"))
        .where(ended.c.test_case_id == CASES.c.id, ended.c.completed_at.is_not(None), _batch_stands(ended))
        .order_by(ended.c.completed_at.desc())
        .limit(limit)
        .correlate(CASES)
    )
    source = _with_verdict(CASES.join(RUNS, literal_column("test_runs.rowid").in_(last)))
    statement = select(*_COLUMNS).select_from(source).where(CASES.c.removed_at.is_(None))
    found: defaultdict[CaseId, list[RunSummary]] = defaultdict(list)
    for row in map(SummaryRow._make, session.execute(statement.order_by(RUNS.c.completed_at))):
        found[CaseId(row.test_case_id)].append(summary_of(row))
    return {case_id: tuple(runs) for case_id, runs in found.items()}


def detail(session: Session, run_id: RunId) -> RunDetail:
    """A run with everything that was kept of it. NotFoundError."""
    run = session.execute(select(RUNS).where(RUNS.c.id == run_id, VISIBLE)).one_or_none()
    if run is None:
        raise NotFoundError("That run is not here any more.", hint="Its batch or its test case was removed.")
    settings = session.execute(select(MODEL_SETTINGS).where(MODEL_SETTINGS.c.id == run.model_settings_id)).one()
    result = session.execute(select(RESULTS).where(RESULTS.c.test_run_id == run_id)).one_or_none()
    snapshot = snapshots.load(session, run.snapshot_id) if run.snapshot_id else None
    return RunDetail(
        summary=summaries(session, [run_id])[run_id],
        settings=settings_of(settings),
        expectation=_expectation(run),
        snapshot=snapshot,
        answer=answer_of(run, snapshot),
        verdict=_verdict(result) if result else None,
        attempts=run.attempts,
        past_verdicts=judging.past(session, run_id),
    )


@row_of("test_runs")
def _expectation(run: Any) -> Expectation:
    return expectation_of(run.expectation)


@row_of("evaluation_results")
def _verdict(result: Any) -> Verdict:
    return verdict_of(result)
