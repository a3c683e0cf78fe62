"""Queries over runs: filters, orders, pages of summaries, counts, and one run in full."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Text,
    and_,
    case,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    type_coerce,
)
from sqlmodel import Session

from mcp_tef.errors import NotFoundError
from mcp_tef.model.answers import AnsweringModel, without_address
from mcp_tef.model.cases import EarlierMessage, Expectation
from mcp_tef.model.comparison import PairableRun
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import INTERRUPTED, Arm, RunDetail, RunStatus, RunSummary
from mcp_tef.model.secrets import without_credentials
from mcp_tef.model.tools import LabelKind, ToolLabel
from mcp_tef.model.verdicts import RunMark, Verdict
from mcp_tef.storage import snapshots, verdict_rows
from mcp_tef.storage.columns import expectation_of, mark_of, messages_of, one_of, one_of_bound, row_of
from mcp_tef.storage.run_rows import SummaryRow, answer_of, settings_of, summary_of
from mcp_tef.storage.run_tables import (
    ASKED_LABEL,
    ASKED_MODEL,
    BATCHES,
    FACT_KEYS,
    FACTS,
    MODEL_SETTINGS,
    RESULTS,
    RUNS,
    SNAPSHOT_TOOLS,
    TOOL_NAMES,
    TOOLS,
)
from mcp_tef.storage.tables import CASE_TAGS, CASES, SUITE_CASES, SUITES
from mcp_tef.storage.verdict_rows import verdict_of

_Condition = ColumnElement[bool]
_FACT = FACTS.c
_MODEL = select(FACT_KEYS.c.value).where(FACT_KEYS.c.id == _FACT.model_key).scalar_subquery()
_WORST_FIRST = (RunMark.WRONG.value, RunMark.WRONG_ARGUMENTS.value, RunMark.CORRECT_CALL.value)
_SORTED_BY: Mapping[RunOrder, ColumnElement[Any]] = {
    RunOrder.OUTCOME: 10 * case({mark: place for place, mark in enumerate(_WORST_FIRST)}, value=_FACT.mark)
    + case({"FN": 0, "FP": 1, "TP": 2, "TN": 3}, value=_FACT.classification),
    RunOrder.QUERY: func.lower(RUNS.c.query),
    RunOrder.EXPECTED: func.lower(RUNS.c.expected_label),
    RunOrder.SELECTED: func.lower(RUNS.c.selected_label),
    RunOrder.CONFIDENCE: _FACT.confidence_score,
    RunOrder.MODEL: _MODEL,
}
_OF_THE_RUN = (RunOrder.QUERY, RunOrder.EXPECTED, RunOrder.SELECTED)
_FIRST_OF_CASE = func.min(_FACT.position).over(partition_by=(_FACT.batch_key, _FACT.case_key, _FACT.model_key))


def named(words: Select[Any]) -> Select[Any]:
    """The numbers of the ids or labels that a query gives."""
    return select(FACT_KEYS.c.id).where(FACT_KEYS.c.value.in_(words))


_CUT_OFF = RUNS.alias("cut_off")
_INTERRUPTED = and_(
    _FACT.status == RunStatus.FAILED.value,
    exists().where(_CUT_OFF.c.id == _FACT.run_id, _CUT_OFF.c.error_code == INTERRUPTED.code),
)
REMOVED_CASE_KEYS = named(select(CASES.c.id).where(CASES.c.removed_at.is_not(None)))
_REMOVED_BATCH_KEYS = named(select(BATCHES.c.id).where(BATCHES.c.removed_at.is_not(None)))
_TRIAL = type_coerce(BATCHES.c.trial, Text)
_HINTS, _AGAINST = (
    case((func.json_valid(_TRIAL) == 1, func.coalesce(func.json_extract(_TRIAL, path), 0)), else_=0)
    for path in ("$.hints", "$.against")
)
_CHANGED_BATCH_KEYS = named(select(BATCHES.c.id).where(or_(_HINTS != 0, _AGAINST != 0)))
_TRIAL_BATCH_KEYS = named(select(BATCHES.c.id).where(BATCHES.c.trial.is_not(None)))
_OF_ARM, _DRAFT = RUNS.alias("of_arm"), Arm.DRAFT.value


def conditions(where: RunFilter) -> list[_Condition]:
    """Return the conditions that a filter puts on facts. Runs of removed cases and batches never meet them."""
    there = (_FACT.case_key.not_in(REMOVED_CASE_KEYS), func.coalesce(_FACT.batch_key, 0).not_in(_REMOVED_BATCH_KEYS))
    return [*there, *_by_state(where), *_by_name(where), *_by_case(where), *_by_tool(where), *_by_time(where)]


def past_conditions(where: RunFilter) -> list[_Condition]:
    """Return the conditions on runs that metrics count.

    Those that were offered other tools than the servers list, by hints or a draft, only where their batch or run is
    named.
    """
    if where.batch_id or where.batch_ids or where.run_ids:
        return conditions(where)
    batch = func.coalesce(_FACT.batch_key, 0)
    # The wide rows, which tell the arm, are read for the runs of trials only.
    drafted = and_(batch.in_(_TRIAL_BATCH_KEYS), exists().where(_OF_ARM.c.id == _FACT.run_id, _OF_ARM.c.arm == _DRAFT))
    return [*conditions(where), batch.not_in(_CHANGED_BATCH_KEYS), not_(drafted)]


def order(where: RunFilter) -> Sequence[ColumnElement[Any]]:
    """By what the runs of a filter are ordered."""
    newest = (_FACT.created_at.desc(), _FACT.batch_key.desc(), _FACT.position)
    if where.order is RunOrder.PLANNED:
        if where.batch_id is not None:
            return (_FACT.position.desc() if where.descending else _FACT.position,)
        return (_FACT.created_at, _FACT.batch_key, _FACT.position.desc()) if where.descending else newest
    if where.order is RunOrder.CASE:
        return (_FACT.created_at.desc(), _FACT.batch_key.desc(), _FIRST_OF_CASE, _FACT.position)
    key = _SORTED_BY[where.order]
    return ((key.desc() if where.descending else key).nulls_last(), *newest)


def page_ids(where: RunFilter) -> Select[Any]:
    """The ids of the runs of a filter, in its order."""
    statement = select(_FACT.run_id).where(*conditions(where)).order_by(*order(where))
    if where.order not in _OF_THE_RUN:
        return statement
    # By itself SQLite takes the index of the key, which leads to the wide rows: 2 s instead of 0.2 s for 100,000 runs.
    return statement.select_from(text("test_runs INDEXED BY ix_test_runs_texts")).where(text("test_runs.id = run_id"))


def _by_state(where: RunFilter) -> list[_Condition]:
    stands: list[_Condition] = [_FACT.status.in_([value.value for value in where.statuses])] if where.statuses else []
    if where.interrupted is None:
        return stands
    return [or_(*stands, _INTERRUPTED)] if where.interrupted else [*stands, not_(_INTERRUPTED)]


def _by_name(where: RunFilter) -> list[_Condition]:
    numbered = (
        (_FACT.batch_key, _told(where.batch_id)),
        (_FACT.batch_key, where.batch_ids),
        (_FACT.case_key, _told(where.case_id)),
        (_FACT.case_key, where.case_ids),
        (_FACT.model_key, list(map(without_address, _told(where.model)))),
        (_FACT.model_key, list(map(without_address, where.models))),
    )
    plain = (
        (_FACT.classification, where.classifications),
        (_FACT.kind, where.kinds),
        (_FACT.mark, where.marks),
    )
    return [
        *([_FACT.run_id.in_(one_of(where.run_ids))] if where.run_ids else ()),
        *(column.in_(named(one_of(values))) for column, values in numbered if values),
        *(column.in_([value.value for value in values]) for column, values in plain if values),
        *([] if where.unreadable is None else [_FACT.unreadable == int(where.unreadable)]),
        *([_FACT.failure_code.in_(where.failures)] if where.failures else []),
    ]


def _told(value: str | None) -> tuple[str, ...]:
    return () if value is None else (value,)


def _by_case(where: RunFilter) -> list[_Condition]:
    found: list[_Condition] = []
    if where.suites:
        there = SUITE_CASES.join(SUITES, SUITES.c.id == SUITE_CASES.c.suite_id)
        cases = select(SUITE_CASES.c.test_case_id).select_from(there)
        found.append(_FACT.case_key.in_(named(cases.where(SUITES.c.name.in_(where.suites)))))
    if where.tags:
        cases = select(CASE_TAGS.c.test_case_id).where(CASE_TAGS.c.tag.in_(where.tags))
        found.append(_FACT.case_key.in_(named(cases)))
    if words := where.text.strip():
        found.append(or_(_FACT.run_id.in_(_saying(words)), _FACT.case_key.in_(named(_called(words)))))
    return found


def _saying(words: str) -> Select[Any]:
    columns = (RUNS.c.query, RUNS.c.expected_label, RUNS.c.selected_label)
    return select(RUNS.c.id).where(or_(*(column.contains(words, autoescape=True) for column in columns)))


def _called(words: str) -> Select[Any]:
    return select(CASES.c.id).where(CASES.c.name.contains(words, autoescape=True))


def _by_tool(where: RunFilter) -> list[_Condition]:
    found: list[_Condition] = []
    if where.expected:
        found += _is(_FACT.expected_tool_key, where.expected)
    if where.selected:
        found += _is(_FACT.selected_tool_key, where.selected)
        if where.selected.kind is not None:
            found.append(_FACT.invented_tool == int(where.selected.kind is LabelKind.INVENTED))
    if where.offered and (offered := _names(TOOLS.c.name, TOOLS.c.server_name, where.offered)):
        tools = SNAPSHOT_TOOLS.join(TOOLS, TOOLS.c.id == SNAPSHOT_TOOLS.c.tool_id)
        snapshots = select(SNAPSHOT_TOOLS.c.snapshot_id).select_from(tools).where(*offered)
        found.append(_FACT.snapshot_key.in_(named(snapshots)))
    return found


def _is(column: ColumnElement[Any], label: ToolLabel) -> list[_Condition]:
    if label.kind is LabelKind.NO_TOOL:
        return [column.is_(None)]
    meant = _names(TOOL_NAMES.c.tool, TOOL_NAMES.c.server, label)
    if meant:
        return [column.in_(select(TOOL_NAMES.c.id).where(*meant))]
    return [] if label.kind is None else [column.is_not(None)]


def _names(tool: ColumnElement[Any], server: ColumnElement[Any], label: ToolLabel) -> list[_Condition]:
    pairs = ((tool, label.tool), (server, label.server))
    return [column == name for column, name in pairs if name is not None]


def _by_time(where: RunFilter) -> list[_Condition]:
    found: list[_Condition] = []
    if where.since is not None:
        found.append(_FACT.created_at >= where.since)
    if where.until is not None:
        found.append(_FACT.created_at < where.until)
    return found


_REMOVED_CASES = select(CASES.c.id).where(CASES.c.removed_at.is_not(None))
_REMOVED_BATCHES = select(BATCHES.c.id).where(BATCHES.c.removed_at.is_not(None))


def _batch_stands(runs: FromClause) -> ColumnElement[bool]:
    return func.coalesce(runs.c.batch_id, "").not_in(_REMOVED_BATCHES)


VISIBLE: ColumnElement[bool] = and_(RUNS.c.test_case_id.not_in(_REMOVED_CASES), _batch_stands(RUNS))

_ELSEWHERE: Mapping[str, ColumnElement[Any]] = {
    "case_name": CASES.c.name,
    "provider": MODEL_SETTINGS.c.provider,
    "model": ASKED_MODEL,
    "matches": case((RESULTS.c.parameters_ok == 0, RESULTS.c.matches)),
}
"""Columns of other tables. Matches are large, so that they are read only where parameters are wrong."""


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
_SUMMARIES = select(*_COLUMNS).select_from(_with_verdict(_RUNS_OF_CASES)).where(RUNS.c.id.in_(one_of_bound("ids")))


_OUTCOMES = select(
    RUNS.c.id,
    RUNS.c.test_case_id,
    MODEL_SETTINGS.c.provider,
    ASKED_MODEL,
    RUNS.c.repeat_index,
    RUNS.c.classification,
    RESULTS.c.parameters_ok,
    RESULTS.c.unreadable,
    CASES.c.family,
    type_coerce(RUNS.c.before, Text),
    RUNS.c.query,
    type_coerce(RUNS.c.expectation, Text),
).select_from(_with_verdict(_RUNS_OF_CASES))


def page(session: Session, where: RunFilter, limit: int | None, offset: int) -> tuple[RunSummary, ...]:
    """One page of the runs that a filter names, in its order; only those are read whole."""
    found = session.execute(page_ids(where).limit(-1 if limit is None else limit).offset(offset))
    ids = found.scalars().all()
    there = summaries(session, ids)
    return tuple(there[run_id] for run_id in ids if run_id in there)


def count(session: Session, where: RunFilter) -> int:
    """Return the number of runs that pass a filter."""
    return int(session.execute(select(func.count()).select_from(FACTS).where(*conditions(where))).scalar_one())


def summaries(session: Session, ids: Iterable[str]) -> dict[str, RunSummary]:
    """The summaries of some runs, by id."""
    rows = session.connection().execute(_SUMMARIES, {"ids": json.dumps(list(ids))})
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
            mark=mark_of(classification, parameters_ok, unreadable),
            family=family or "",
            posed="\0".join(map(str, posed)),
        )
        for run_id, case_id, provider, model, repeat, classification, parameters_ok, unreadable, family, *posed in rows
    )


def answering_models(session: Session, batch_id: BatchId | None = None) -> dict[BatchId, frozenset[AnsweringModel]]:
    """The models that answered runs of a batch (None: of each), as providers named them; an index holds all of it."""
    columns = RUNS.c.batch_id, RUNS.c.model_settings_id, RUNS.c.answered_model, RUNS.c.answered_fingerprint
    named = select(*columns).where(RUNS.c.answered_model.is_not(None)).distinct()
    each = (named.where(RUNS.c.batch_id == batch_id) if batch_id else named).subquery()
    statement = select(
        each.c.batch_id, MODEL_SETTINGS.c.base_url, ASKED_LABEL, each.c.answered_model, each.c.answered_fingerprint
    )
    found: defaultdict[BatchId, set[AnsweringModel]] = defaultdict(set)
    for batch, url, asked, name, fingerprint in session.execute(
        statement.join(MODEL_SETTINGS, MODEL_SETTINGS.c.id == each.c.model_settings_id)
    ):
        address = urlsplit(without_credentials(url or "")).netloc
        found[BatchId(batch)].add(AnsweringModel(asked, name, fingerprint, address))
    return {batch: frozenset(models) for batch, models in found.items()}


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
        past_verdicts=verdict_rows.past(session, run_id),
        before=_before(run),
    )


@row_of("test_runs")
def _expectation(run: Any) -> Expectation:
    return expectation_of(run.expectation)


@row_of("test_runs")
def _before(run: Any) -> tuple[EarlierMessage, ...]:
    return messages_of(run.before)


@row_of("evaluation_results")
def _verdict(result: Any) -> Verdict:
    return verdict_of(result)
