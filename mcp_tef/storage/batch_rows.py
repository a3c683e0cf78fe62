"""Reads and writes batches: what was asked for, how far it is, and which runs are still to be done."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import product
from typing import Any

from sqlalchemy import case, func, insert, literal, or_, select, text, update
from sqlmodel import Session

from mcp_tef.errors import ConflictError, InputError, NotFoundError
from mcp_tef.model.answers import CallingMode, ToolChoiceMode
from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId, RunId, new_id
from mcp_tef.model.json import Json
from mcp_tef.model.runs import (
    CUT_OFF_CODE,
    FAILED,
    INTERRUPTED,
    NOT_OFFERED_CODE,
    PRICED,
    READ_FROM_TEXT,
    UNREADABLE,
    Arm,
    Batch,
    BatchRequest,
    BatchStatus,
    ModelSettings,
    PlannedRun,
    RunStatus,
    shown_together,
)
from mcp_tef.model.secrets import without_credentials
from mcp_tef.model.times import moment_after
from mcp_tef.model.verdicts import RunMark
from mcp_tef.ports import KnownRuns
from mcp_tef.storage.columns import Moment, attributes, now, one_of, row_of
from mcp_tef.storage.process_locks import Owner
from mcp_tef.storage.run_queries import REMOVED_CASE_KEYS, VISIBLE
from mcp_tef.storage.run_rows import case_cells, settings_of, variables_of
from mcp_tef.storage.run_tables import BATCHES, FACT_KEYS, FACTS, MODEL_SETTINGS, RUNS
from mcp_tef.trust.field_changes import merged_fields

UNDER_WAY = (BatchStatus.RUNNING.value, BatchStatus.PAUSED.value)
_THERE = BATCHES.c.removed_at.is_(None)
LEFT_OVER = (RunStatus.PENDING.value, RunStatus.RUNNING.value)
UNFINISHED = or_(RUNS.c.status.in_((*LEFT_OVER, RunStatus.CANCELLED.value)), RUNS.c.error_code == INTERRUPTED.code)


def plan(
    batch_id: BatchId, request: BatchRequest, cases: Sequence[TestCase], known: KnownRuns
) -> tuple[PlannedRun, ...]:
    """Every run of a batch: all cases and models once, then again for each repeat; runs of elsewhere keep their ids."""
    models = dict.fromkeys(request.models)
    return tuple(
        PlannedRun(
            id=known.get((item.id, model, repeat)) or RunId(new_id()),
            case_id=item.id,
            settings=model,
            repeat=repeat,
            batch_id=batch_id,
        )
        for repeat, item, model in product(range(request.repeats), cases, models)
    )


def require_new_runs(session: Session, ids: Iterable[RunId]) -> None:
    """Raise ConflictError where the file holds one of these runs already, also where its batch was removed."""
    if session.execute(select(RUNS.c.id).where(RUNS.c.id.in_(one_of(ids))).limit(1)).first():
        hint = "A removed batch goes for good when the workspace is opened next. Merge then, or into another workspace."
        raise ConflictError("Runs of these parts are in this workspace already.", hint=hint)


def rows_of(
    runs: Sequence[PlannedRun],
    settings: Mapping[ModelSettings, str],
    cases: Sequence[TestCase],
    moment: datetime,
    first: int = 0,
) -> list[dict[str, Any]]:
    """Rows of pending runs, by the ids of their settings; the first has the position `first` in its batch."""
    kept = {item.id: case_cells(item) for item in cases}
    return [
        {
            "id": run.id,
            "test_case_id": run.case_id,
            "model_settings_id": settings[run.settings],
            "status": RunStatus.PENDING.value,
            "created_at": moment,
            "batch_id": run.batch_id,
            "position": position,
            "repeat_index": run.repeat,
            "arm": run.arm,
            "place": run.place,
        }
        | kept[run.case_id]
        for position, run in enumerate(runs, first)
    ]


def next_moment(session: Session) -> datetime:
    """Return the time for a new batch, after all that the file holds: a clock may be set back, or have been wrong.

    Runs and batches are ordered by it where an index helps, so it goes on from the last one.
    """
    last = session.execute(select(func.max(BATCHES.c.created_at), func.max(BATCHES.c.completed_at))).one()
    return moment_after(moment for moment in last if moment)


def begun_at(session: Session, batch_id: BatchId) -> datetime:
    """Return the time at which a batch began, or now if that is later."""
    created: datetime = _row(session, batch_id).created_at
    return max([now(), created])


def next_position(session: Session, batch_id: BatchId) -> int:
    """Return the position behind the last run of a batch. NotFoundError."""
    _row(session, batch_id)
    last = session.execute(select(func.max(RUNS.c.position)).where(RUNS.c.batch_id == batch_id)).scalar_one()
    return 0 if last is None else int(last) + 1


def settings_ids(session: Session, batch_id: BatchId) -> dict[ModelSettings, str]:
    """Return the id of each of the settings of a batch."""
    stored = session.execute(select(MODEL_SETTINGS).where(MODEL_SETTINGS.c.batch_id == batch_id))
    return {settings_of(row): row.id for row in stored}


def add(
    session: Session, batch_id: BatchId, request: BatchRequest, owner: str, moment: datetime
) -> dict[ModelSettings, str]:
    """Store a batch and the settings of its models; the id of the row of each."""
    row = {
        "id": batch_id,
        "name": request.name,
        "status": BatchStatus.RUNNING.value,
        "request": _request_json(request),
        "trial": request.trial,
        "repeats": request.repeats,
        "concurrency": request.concurrency,
        "max_cost_usd": request.max_cost_usd,
        "owner_token": owner,
        "created_at": moment,
    }
    session.execute(insert(BATCHES), [row])
    return _add_settings(session, batch_id, dict.fromkeys(request.models))


def _request_json(request: BatchRequest) -> dict[str, Json]:
    """Return a request as JSON; what describes a trial has a column of its own."""
    value = asdict(request)
    del value["trial"]
    return value


def _add_settings(session: Session, batch_id: BatchId, models: Iterable[ModelSettings]) -> dict[ModelSettings, str]:
    settings = {model: new_id() for model in models}
    rows = [
        {"id": settings_id, "created_at": now(), "batch_id": batch_id, **asdict(model)}
        for model, settings_id in settings.items()
    ]
    session.execute(insert(MODEL_SETTINGS), rows)
    return settings


def add_new_settings(session: Session, batch_id: BatchId, runs: Sequence[PlannedRun]) -> None:
    """Store settings that no run of the batch had before, for the runs that have them now."""
    new = {run.settings for run in runs} - settings_ids(session, batch_id).keys()
    if not new:
        return
    request = _row(session, batch_id).request
    wider = request | {"models": [*request["models"], *map(asdict, new)]}
    session.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(request=wider))
    for model, settings_id in _add_settings(session, batch_id, new).items():
        theirs = RUNS.c.id.in_(one_of(run.id for run in runs if run.settings == model))
        session.execute(update(RUNS).where(theirs).values(model_settings_id=settings_id))


def request_of(session: Session, batch_id: BatchId) -> BatchRequest:
    """Return the request of a batch. NotFoundError."""
    return _request(_row(session, batch_id))


@row_of("batches")
def _request(row: Any) -> BatchRequest:
    value = row.request
    return BatchRequest(
        cases=tuple(CaseId(item) for item in value["cases"]),
        suites=tuple(value["suites"]),
        tags=tuple(value["tags"]),
        models=tuple(_settings_from_json(item) for item in value["models"]),
        repeats=value["repeats"],
        concurrency=value["concurrency"],
        max_cost_usd=value["max_cost_usd"],
        name=value["name"],
        trial=dict(row.trial) if row.trial else None,
    )


def get(session: Session, batch_id: BatchId) -> Batch:
    """One batch with its counts. NotFoundError."""
    return _batches(session, [_row(session, batch_id)], batch_id)[0]


def all_batches(session: Session) -> tuple[Batch, ...]:
    """Every batch with its counts, newest first."""
    rows = session.execute(select(BATCHES).where(_THERE).order_by(text("batches.rowid DESC"))).all()
    return tuple(_batches(session, rows))


def set_status(session: Session, batch_id: BatchId, status: BatchStatus, stopped: str | None = None) -> None:
    """Store where a batch is in its life, also where it is hidden, or nothing else of it can be read."""
    ended = None if status.value in UNDER_WAY else func.max(literal(now(), Moment()), BATCHES.c.created_at)
    session.execute(
        update(BATCHES).where(BATCHES.c.id == batch_id).values(status=status.value, completed_at=ended, stopped=stopped)
    )


def set_trial(session: Session, batch_id: BatchId, trial: Mapping[str, Json]) -> Batch:
    """Describe the trial that a batch is. NotFoundError."""
    session.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(trial=trial))
    return get(session, batch_id)


def rename(session: Session, batch_id: BatchId, name: str, seen: str | None = None) -> Batch:
    """Call a batch otherwise. NotFoundError; ChangedMeanwhileError where it has another name than was seen."""
    stored = _row(session, batch_id).name
    merged_fields({"name": stored if seen is None else seen}, {"name": name}, {"name": stored}, "the batch")
    session.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(name=name))
    return get(session, batch_id)


def remove(session: Session, ids: Sequence[BatchId], owner: Owner) -> None:
    """Hide batches. InputError, and none is hidden, where another process works on one."""
    columns = (BATCHES.c.name, BATCHES.c.status, BATCHES.c.owner_token)
    for row in session.execute(select(*columns).where(BATCHES.c.id.in_(one_of(ids)))):
        _require_idle(row, owner, "Cancel it there first.")
    set_removed(session, ids, removed=True)


def set_removed(session: Session, ids: Sequence[BatchId], *, removed: bool) -> None:
    """Hide batches, or show them again."""
    moment = now() if removed else None
    session.execute(update(BATCHES).where(BATCHES.c.id.in_(one_of(ids))).values(removed_at=moment))


def take_over(session: Session, batch_id: BatchId, owner: Owner, max_cost_usd: float | None) -> None:
    """Make a batch run again, by this process and under this cost cap. NotFoundError, InputError."""
    row = _row(session, batch_id)
    _require_idle(row, owner, "Wait until it has ended there.")
    request = replace(_request(row), max_cost_usd=max_cost_usd)
    set_status(session, batch_id, BatchStatus.RUNNING)
    cells = {"owner_token": owner.token, "max_cost_usd": max_cost_usd, "request": _request_json(request)}
    session.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(**cells))


def _require_idle(row: Any, owner: Owner, hint: str) -> None:
    if row.status in UNDER_WAY and row.owner_token != owner.token and owner.alive(row.owner_token):
        raise InputError(f"{row.name or 'The batch'} is running in another window or command.", hint=hint)


def planned(session: Session, batch_id: BatchId, *conditions: Any) -> tuple[PlannedRun, ...]:
    """The runs of a batch that meet the conditions, as they were planned. NotFoundError."""
    _row(session, batch_id)
    rows = session.execute(select(MODEL_SETTINGS).where(MODEL_SETTINGS.c.batch_id == batch_id))
    settings = {row.id: settings_of(row) for row in rows}
    runs = session.execute(
        select(RUNS.c.id, RUNS.c.test_case_id, RUNS.c.model_settings_id, RUNS.c.repeat_index, RUNS.c.arm, RUNS.c.place)
        .where(RUNS.c.batch_id == batch_id, VISIBLE, *conditions)
        .order_by(RUNS.c.position)
    )
    return tuple(
        PlannedRun(
            id=RunId(run.id),
            case_id=CaseId(run.test_case_id),
            settings=settings[run.model_settings_id],
            repeat=run.repeat_index,
            batch_id=batch_id,
            arm=Arm(run.arm) if run.arm else None,
            place=run.place,
        )
        for run in runs
    )


def _row(session: Session, batch_id: BatchId) -> Any:
    row = session.execute(select(BATCHES).where(BATCHES.c.id == batch_id, _THERE)).one_or_none()
    if row is None:
        raise NotFoundError("That batch is not here any more.", hint="It was removed.")
    return row


def _settings_from_json(value: Mapping[str, Json]) -> ModelSettings:
    address = value.get("base_url")
    plain = {"base_url": address and without_credentials(address), "mode": CallingMode(value["mode"])}
    plain["tool_choice"] = ToolChoiceMode(value.get("tool_choice", ToolChoiceMode.AUTO))
    plain["variables"] = variables_of(value.get("variables", ()))
    return ModelSettings(**{**value, **plain})


def _batches(session: Session, rows: Sequence[Any], only: BatchId | None = None) -> list[Batch]:
    counts, costs = _counts(session, only)
    tallies = _tallies(session, only)
    cut_off = _cut_off(session, [row.id for row in rows if row.status == BatchStatus.INTERRUPTED.value])
    none: Counter[str] = Counter()
    return [
        _batch(row, dict(counts[row.id]), tallies.get(row.id, none), cut_off.get(row.id, 0), costs.get(row.id))
        for row in rows
    ]


def _cut_off(session: Session, ids: Sequence[BatchId]) -> dict[str, int]:
    """Return the number of interrupted runs of each batch."""
    interrupted = RUNS.c.batch_id.in_(one_of(ids)) & (RUNS.c.error_code == INTERRUPTED.code)
    counted = select(RUNS.c.batch_id, func.count().label("number")).where(interrupted, VISIBLE)
    found = session.execute(counted.group_by(RUNS.c.batch_id))
    return {row.batch_id: row.number for row in found}


@row_of("batches")
def _batch(
    row: Any, counts: dict[str, int], tally: Mapping[str, int], interrupted: int, cost_usd: float | None
) -> Batch:
    return Batch(
        id=BatchId(row.id),
        name=row.name,
        status=BatchStatus(row.status),
        models=tuple(_settings_from_json(model).asked for model in row.request["models"]),
        total=sum(counts.values()),
        counts=counts,
        tally=tally,
        interrupted=interrupted,
        cost_usd=cost_usd,
        **attributes(row, "repeats concurrency max_cost_usd created_at completed_at stopped"),
        trial=dict(row.trial) if row.trial else None,
    )


def _tallies(session: Session, only: BatchId | None) -> dict[str, Counter[str]]:
    """Return the tally of each batch."""
    tallies = _outcomes(session, only)
    priced = select(RUNS.c.batch_id, func.count(RUNS.c.cost_usd)).where(VISIBLE, RUNS.c.batch_id.is_not(None))
    # Written out, since SQLite matches no bound value with the condition of an index.
    written = select(RUNS.c.batch_id, func.count()).where(VISIBLE, text("read_from_text = 1"))
    for name, amounts in ((PRICED, priced), (READ_FROM_TEXT, written)):
        of_batch = amounts if only is None else amounts.where(RUNS.c.batch_id == only)
        for batch_id, number in session.execute(of_batch.group_by(RUNS.c.batch_id)):
            tallies[batch_id][name] = number
    return tallies


def _outcomes(session: Session, only: BatchId | None) -> defaultdict[str, Counter[str]]:
    """Count the marks and failures of each batch in facts, which hold what no index of the runs does."""
    model = FACT_KEYS.alias("model")
    facts = FACTS.join(FACT_KEYS, FACT_KEYS.c.id == FACTS.c.batch_key).outerjoin(model, model.c.id == FACTS.c.model_key)
    columns = (FACT_KEYS.c.value, model.c.value, FACTS.c.mark, FACTS.c.unreadable, FACTS.c.failure_code)
    statement = select(*columns, func.count()).select_from(facts).where(FACTS.c.case_key.not_in(REMOVED_CASE_KEYS))
    if only is not None:
        statement = statement.where(FACT_KEYS.c.value == only)
    of_model: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for batch_id, label, mark, unreadable, failure, number in session.execute(statement.group_by(*columns)):
        codes = {mark, failure, FAILED if failure else None, UNREADABLE if unreadable else None} & _TALLIED
        of_model[batch_id][label or ""].update(dict.fromkeys(codes, number))
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for batch_id, counts in of_model.items():
        tallies[batch_id].update(sum((counts[label] for label in shown_together(counts)), Counter()))
    return tallies


_TALLIED = frozenset({*(mark.value for mark in RunMark), NOT_OFFERED_CODE, CUT_OFF_CODE, FAILED, UNREADABLE})


def _counts(session: Session, only: BatchId | None) -> tuple[dict[str, dict[str, int]], dict[str, float]]:
    status = case((RUNS.c.status == RunStatus.RUNNING.value, RunStatus.PENDING.value), else_=RUNS.c.status)
    outcome = func.coalesce(RUNS.c.classification, status)
    statement = select(RUNS.c.batch_id, outcome, func.count(), func.sum(RUNS.c.cost_usd)).where(VISIBLE)
    if only is not None:
        statement = statement.where(RUNS.c.batch_id == only)
    counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
    costs: dict[str, float] = {}
    for batch_id, key, number, cost in session.execute(statement.group_by(RUNS.c.batch_id, outcome)):
        counts[batch_id][key] = number
        if cost is not None:
            costs[batch_id] = costs.get(batch_id, 0.0) + cost
    return counts, costs
