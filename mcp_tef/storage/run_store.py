"""Batches, runs, verdicts and snapshots in the workspace file, and the final deletion of removed rows."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Update, and_, bindparam, delete, exists, func, insert, literal, or_, select, text, update
from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session

from mcp_tef.model.answers import AnsweringModel
from mcp_tef.model.batch_plans import PlannedCase
from mcp_tef.model.cases import NO_TOOL, TestCase
from mcp_tef.model.comparison import AnsweredRun, Judgement, PairableRun
from mcp_tef.model.ids import BatchId, CaseId, RunId, SnapshotId, new_id
from mcp_tef.model.json import Json
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import (
    INTERRUPTED,
    Batch,
    BatchRequest,
    BatchStatus,
    PlannedRun,
    RunDetail,
    RunResult,
    RunStatus,
    RunSummary,
)
from mcp_tef.model.tools import OfferedTool
from mcp_tef.ports import NOTHING_SEEN, KnownRuns
from mcp_tef.storage import batch_rows, case_store, run_queries, snapshots, verdict_rows
from mcp_tef.storage.case_store import Selection
from mcp_tef.storage.columns import Moment, now, one_of, one_of_bound
from mcp_tef.storage.database import ROWS_PER_TRANSACTION, Database, PreparedStatement, chunks
from mcp_tef.storage.library_tables import LIBRARY_TOOLS
from mcp_tef.storage.planned_cases import planned_cases
from mcp_tef.storage.process_locks import Owner
from mcp_tef.storage.run_facts import mark_facts_running, refresh_facts
from mcp_tef.storage.run_rows import NOT_ENDED, expectation_cells, failure_cells, outcome_cells
from mcp_tef.storage.run_tables import BATCHES, RESULTS, RUNS, SNAPSHOT_TOOLS, SNAPSHOTS, TOOLS
from mcp_tef.storage.snapshots import Directory
from mcp_tef.storage.tables import CASE_SERVERS, CASES, SERVERS, SUITE_CASES, SUITES

_FAILED = RUNS.c.status == RunStatus.FAILED.value


def _set_by_id(*columns: str) -> Update:
    """An update of many runs, each with its own values, found by `run`."""
    return update(RUNS).where(RUNS.c.id == bindparam("run")).values({name: bindparam(name) for name in columns})


_END = PreparedStatement(
    _set_by_id(*NOT_ENDED, "status").values(
        snapshot_id=func.coalesce(bindparam("snapshot"), RUNS.c.snapshot_id),
        # No run ends before it began, though the clock was set back; max() of a NULL is NULL.
        completed_at=func.max(bindparam("completed_at", type_=Moment()), RUNS.c.created_at),
    )
)
_HERE = PreparedStatement(select(RUNS.c.id).where(RUNS.c.id.in_(one_of_bound("ids"))))
_RUNNING = PreparedStatement(
    update(RUNS).where(RUNS.c.id.in_(one_of_bound("ids"))).values(status=RunStatus.RUNNING.value)
)
_EXPECT = _set_by_id(*expectation_cells(NO_TOOL))


class SqliteRuns:
    """Satisfies `RunStore`."""

    def __init__(self, database: Database, owner: Owner) -> None:
        self._database = database
        self._owner = owner

    async def create_batch(
        self, request: BatchRequest, cases: Sequence[TestCase], known: KnownRuns = NOTHING_SEEN
    ) -> tuple[Batch, tuple[PlannedRun, ...]]:
        """Store a batch with one pending run for each case × model × repeat; all of it, or nothing.

        Runs that are `known` from elsewhere keep their ids. ConflictError where one of them is here already.
        """
        batch_id = BatchId(new_id())

        def work(session: Session) -> tuple[PlannedRun, ...]:
            batch_rows.require_new_runs(session, known.values())
            moment = batch_rows.next_moment(session)
            settings = batch_rows.add(session, batch_id, request, self._owner.token, moment)
            runs = batch_rows.plan(batch_id, request, cases, known)
            _insert_runs(session, batch_rows.rows_of(runs, settings, cases, moment))
            return runs

        runs = await self._database.write(work)
        return await self.batch(batch_id), runs

    async def add_runs(self, batch_id: BatchId, runs: Sequence[PlannedRun]) -> None:
        """Plan further runs of a batch behind those it has; all of them, or nothing. NotFoundError."""
        await self._database.write(partial(_add_runs, batch_id=batch_id, runs=runs))

    async def set_trial(self, batch_id: BatchId, trial: Mapping[str, Json]) -> Batch:
        """Describe the trial that a batch is, as JSON. NotFoundError."""
        return await self._database.write(lambda session: batch_rows.set_trial(session, batch_id, trial))

    async def unfinished(self, batch_id: BatchId) -> tuple[PlannedRun, ...]:
        """Runs without a verdict that are not failed otherwise: pending, cancelled and interrupted ones."""
        return await self._database.read(lambda session: batch_rows.planned(session, batch_id, batch_rows.UNFINISHED))

    async def failed(self, batch_id: BatchId) -> tuple[PlannedRun, ...]:
        """Runs that failed, interrupted ones among them."""
        return await self._database.read(lambda session: batch_rows.planned(session, batch_id, _FAILED))

    async def planned_cases(self, batch_id: BatchId) -> Mapping[CaseId, PlannedCase]:
        """The cases and tools of a batch as they were when it began."""
        return await self._database.read(lambda session: planned_cases(session, batch_id))

    async def reopen(self, batch_id: BatchId, runs: Sequence[PlannedRun], max_cost_usd: float | None) -> Batch:
        """Make the runs pending with the settings given, and the batch running again; cases count as was planned.

        InputError where another process works on it.
        """
        await self._database.write(lambda session: batch_rows.take_over(session, batch_id, self._owner, max_cost_usd))
        await self._database.write(lambda session: batch_rows.add_new_settings(session, batch_id, runs))
        for piece in chunks(runs):
            await self._database.write(partial(_reopen, runs=piece))
        return await self.batch(batch_id)

    async def request(self, batch_id: BatchId) -> BatchRequest:
        """Return the request of a batch. NotFoundError."""
        return await self._database.read(lambda session: batch_rows.request_of(session, batch_id))

    async def save_snapshot(
        self, tools: Sequence[OfferedTool], first_run: RunId, strangers: Collection[str] = (), *, listed: bool = True
    ) -> SnapshotId:
        """Store the tools as they are now; equal definitions and equal snapshots are stored once.

        Servers in `strangers` need not be in the workspace. What is not `listed` by servers stands in the row of the
        run when it ends, since a run that is left is offered what was listed.
        """

        def work(session: Session) -> SnapshotId:
            snapshot_id = snapshots.save(session, tools, first_run, strangers, noted=listed)
            refresh_facts(session, [first_run])
            return snapshot_id

        return await self._database.write(work)

    async def plan_tools(self, ids: Sequence[RunId], snapshot_id: SnapshotId) -> None:
        """Note which tools runs will be offered, where they have none yet."""
        for piece in chunks(ids):
            without = RUNS.c.id.in_(one_of(piece)) & RUNS.c.snapshot_id.is_(None)
            planned = update(RUNS).where(without).values(snapshot_id=snapshot_id)
            await self._database.write(partial(Session.execute, statement=planned))

    async def mark_running(self, ids: Sequence[RunId]) -> None:
        """Note that runs left the queue."""
        for piece in chunks(ids):
            await self._database.write(partial(_mark_running, ids=piece))

    async def finish(self, outcomes: Sequence[RunResult]) -> tuple[RunSummary, ...]:
        """Store outcomes, at most 250 a transaction; the rows as they now read, in order, without those removed."""
        stored: list[RunSummary] = []
        for piece in chunks(outcomes):
            stored += await self._database.write(partial(_finish, outcomes=piece))
        return tuple(stored)

    async def set_batch_status(self, batch_id: BatchId, status: BatchStatus, stopped: str | None = None) -> Batch:
        """Store where a batch is in its life. NotFoundError where it was removed; that is stored all the same."""
        await self._set_status(batch_id, status, stopped)
        return await self.batch(batch_id)

    async def _set_status(self, batch_id: BatchId, status: BatchStatus, stopped: str | None = None) -> None:
        await self._database.write(lambda session: batch_rows.set_status(session, batch_id, status, stopped))

    async def batches(self) -> tuple[Batch, ...]:
        """Newest first, with their counts."""
        return await self._database.read(batch_rows.all_batches)

    async def batch(self, batch_id: BatchId) -> Batch:
        """One batch with its counts. NotFoundError."""
        return await self._database.read(lambda session: batch_rows.get(session, batch_id))

    async def runs(self, where: RunFilter, *, limit: int | None = None, offset: int = 0) -> tuple[RunSummary, ...]:
        """One page of runs under a filter, in its order."""
        return await self._database.read(lambda session: run_queries.page(session, where, limit, offset))

    async def count(self, where: RunFilter) -> int:
        """Return the number of runs that pass a filter."""
        return await self._database.read(lambda session: run_queries.count(session, where))

    async def detail(self, run_id: RunId) -> RunDetail:
        """A run with everything that was kept of it. NotFoundError."""
        return await self._database.read(lambda session: run_queries.detail(session, run_id))

    async def batches_of(self, ids: Sequence[RunId]) -> Mapping[RunId, BatchId | None]:
        """The batch of each of some runs; those that are gone are left out."""
        statement = select(RUNS.c.id, RUNS.c.batch_id).where(RUNS.c.id.in_(one_of(ids)))
        return dict(await self._database.read(lambda session: [(*row,) for row in session.execute(statement)]))

    async def summaries(self, ids: Sequence[RunId]) -> Mapping[RunId, RunSummary]:
        """Some runs by id; those that are gone are left out."""
        found = await self._database.read(lambda session: run_queries.summaries(session, ids))
        return {RunId(run_id): run for run_id, run in found.items()}

    async def changed_definitions(self, ids: Sequence[RunId]) -> Mapping[RunId, tuple[str, ...]]:
        """Of some runs those whose expected or selected tool its server defines otherwise by now, with its name."""
        return await self._database.read(lambda session: snapshots.changed_definitions(session, ids))

    async def outcomes(self, batch_id: BatchId) -> tuple[PairableRun, ...]:
        """The little of every run of a batch that pairing needs, as planned."""
        return await self._database.read(lambda session: run_queries.outcomes(session, batch_id))

    async def answering_models(self, batch_id: BatchId) -> frozenset[AnsweringModel]:
        """The models that answered runs of a batch, as their providers named them."""
        found = await self._database.read(lambda session: run_queries.answering_models(session, batch_id))
        return found.get(batch_id, frozenset())

    async def answered(self, ids: Sequence[RunId]) -> tuple[AnsweredRun, ...]:
        """Those of the runs that can be judged again, in no order."""
        return await self._database.read(lambda session: verdict_rows.answered(session, ids))

    async def rejudge(self, judgements: Sequence[Judgement]) -> tuple[RunSummary, ...]:
        """Put new verdicts in place of old ones, which are kept; the runs that were still there, as they now read."""
        changed: list[RunSummary] = []
        for piece in chunks(judgements):
            changed += await self._database.write(partial(_rejudge, judgements=piece))
        return tuple(changed)

    async def rename_batch(self, batch_id: BatchId, name: str, *, seen: str | None = None) -> Batch:
        """Call a batch otherwise. NotFoundError."""
        return await self._database.write(lambda session: batch_rows.rename(session, batch_id, name, seen))

    async def remove_batches(self, ids: Sequence[BatchId]) -> None:
        """Hide batches and their runs until the next open, which deletes them; `restore_batches` undoes it.

        InputError where another process works on one.
        """
        await self._database.write(lambda session: batch_rows.remove(session, ids, self._owner))

    async def restore_batches(self, ids: Sequence[BatchId]) -> None:
        """Show removed batches and their runs again."""
        await self._database.write(lambda session: batch_rows.set_removed(session, ids, removed=False))

    async def interrupt_leftovers(self) -> int:
        """Mark runs that a dead process left pending or running as failed, "interrupted"; how many."""
        marked = 0
        for batch_id in await self._database.read(self._abandoned):
            marked += await self._interrupt(batch_id)
            await self._set_status(batch_id, BatchStatus.INTERRUPTED)
        return marked

    def _abandoned(self, session: Session) -> list[BatchId]:
        under_way = select(BATCHES.c.id, BATCHES.c.owner_token).where(BATCHES.c.status.in_(batch_rows.UNDER_WAY))
        rows = session.execute(under_way).all()
        living = {owner for owner in {row.owner_token for row in rows} if self._owner.alive(owner)}
        return [BatchId(row.id) for row in rows if row.owner_token not in living]

    async def _interrupt(self, batch_id: BatchId) -> int:
        left = await self._database.read(lambda session: _left_over(session, batch_id))
        for piece in chunks(left):
            await self._database.write(partial(_mark_interrupted, ids=piece))
        return len(left)


def _insert_runs(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    for piece in chunks(rows):
        session.execute(insert(RUNS), list(piece))
        refresh_facts(session, [row["id"] for row in piece])


def _add_runs(session: Session, batch_id: BatchId, runs: Sequence[PlannedRun]) -> None:
    first = batch_rows.next_position(session, batch_id)
    cases = case_store.select_cases(session, Selection(ids=tuple({run.case_id for run in runs})))
    missing = {run.case_id for run in runs} - {case.id for case in cases}
    for case_id in missing:
        case_store.get(session, case_id)
    batch_rows.add_new_settings(session, batch_id, runs)
    ours = [replace(run, batch_id=batch_id) for run in runs]
    settings, moment = batch_rows.settings_ids(session, batch_id), batch_rows.begun_at(session, batch_id)
    _insert_runs(session, batch_rows.rows_of(ours, settings, cases, moment, first))


def _left_over(session: Session, batch_id: BatchId) -> list[str]:
    pending = select(RUNS.c.id).where(RUNS.c.batch_id == batch_id, RUNS.c.status.in_(batch_rows.LEFT_OVER))
    return list(session.execute(pending).scalars())


def _mark_running(session: Session, ids: Sequence[RunId]) -> None:
    _RUNNING.run(session, ids=json.dumps(ids))
    mark_facts_running(session, ids)


def _mark_interrupted(session: Session, ids: Sequence[str]) -> None:
    cells = {**failure_cells(INTERRUPTED), "status": RunStatus.FAILED.value, "completed_at": now()}
    session.execute(update(RUNS).where(RUNS.c.id.in_(one_of(ids))).values(cells))
    refresh_facts(session, ids)


def delete_runs(session: Session, condition: ColumnElement[bool]) -> int:
    """Delete up to 250 runs, newest first, so that the owner of shared tools goes last; how many."""
    newest = select(RUNS.c.id).where(condition).order_by(text("test_runs.rowid DESC")).limit(ROWS_PER_TRANSACTION)
    ids = session.execute(newest).scalars().all()
    for run_id in ids:
        session.execute(delete(RUNS).where(RUNS.c.id == run_id))
    return len(ids)


def _reopen(session: Session, runs: Sequence[PlannedRun]) -> None:
    ids = [run.id for run in runs]
    session.execute(delete(RESULTS).where(RESULTS.c.test_run_id.in_(one_of(ids))))
    pending = update(RUNS).where(RUNS.c.id.in_(one_of(ids)))
    session.execute(pending.values({**NOT_ENDED, "status": RunStatus.PENDING.value}))
    refresh_facts(session, ids)


def _finish(session: Session, outcomes: Sequence[RunResult]) -> list[RunSummary]:
    here = set(_HERE.run(session, ids=json.dumps([item.run_id for item in outcomes])).scalars())
    kept = [outcome for outcome in outcomes if outcome.run_id in here]
    if not kept:
        return []
    known = snapshots.directories(session, {item.snapshot_id for item in kept if item.snapshot_id})
    _END.run_many(session, (_end_cells(outcome, known) for outcome in kept))
    _expect(session, kept)
    verdict_rows.judge(session, ((item.run_id, item.verdict) for item in kept if item.verdict))
    refresh_facts(session, here)
    found = run_queries.summaries(session, here)
    return [found[outcome.run_id] for outcome in kept]


def _expect(session: Session, outcomes: Sequence[RunResult]) -> None:
    """Store what runs were judged by, where that is not the expectation of their case."""
    judged_by = [(one.run_id, one.expectation) for one in outcomes if one.expectation is not None]
    if judged_by:
        rows = [{"run": run_id, **expectation_cells(expectation)} for run_id, expectation in judged_by]
        session.connection().execute(_EXPECT, rows)


def _rejudge(session: Session, judgements: Sequence[Judgement]) -> list[RunSummary]:
    changed = verdict_rows.replace_verdicts(session, judgements)
    refresh_facts(session, changed)
    found = run_queries.summaries(session, changed)
    return [found[run_id] for run_id in changed]


def _end_cells(outcome: RunResult, known: Mapping[str, Directory]) -> dict[str, Any]:
    directory = known.get(outcome.snapshot_id or "")
    return {
        "run": outcome.run_id,
        "snapshot": outcome.snapshot_id if directory else None,
        **outcome_cells(outcome, directory or Directory()),
    }


_REMOVED_CASES = select(CASES.c.id).where(CASES.c.removed_at.is_not(None))
_REMOVED_BATCHES = select(BATCHES.c.id).where(BATCHES.c.removed_at.is_not(None))
_REMOVED = or_(RUNS.c.test_case_id.in_(_REMOVED_CASES), RUNS.c.batch_id.in_(_REMOVED_BATCHES))


# Cases keep the name of a removed server, and attach to the next one of that name.
_NAMED_SERVER = exists().where(CASE_SERVERS.c.mcp_server_id == SERVERS.c.id)
_UNWANTED = (
    (CASES, CASES.c.removed_at.is_not(None)),
    (SERVERS, and_(SERVERS.c.removed_at.is_not(None), ~_NAMED_SERVER, SERVERS.c.id != snapshots.STRANGERS)),
    (BATCHES, BATCHES.c.removed_at.is_not(None)),
    (LIBRARY_TOOLS, LIBRARY_TOOLS.c.removed_at.is_not(None)),
    *(
        (kept.table, ~exists().where(reference == kept))
        for kept, reference in (
            (BATCHES.c.id, RUNS.c.batch_id),
            (SUITES.c.id, SUITE_CASES.c.suite_id),
            (SNAPSHOTS.c.id, RUNS.c.snapshot_id),
            (TOOLS.c.id, SNAPSHOT_TOOLS.c.tool_id),
        )
    ),
)
"""Deletion of what was removed, then of what nothing refers to any more."""
_IS_UNTIDY = PreparedStatement(
    select(or_(*(select(literal(1)).select_from(table).where(unwanted).exists() for table, unwanted in _UNWANTED)))
)


def tidy(database: Database) -> None:
    """Delete for good, in transactions of at most 250 runs. To be called on the store thread."""
    if not database.write_here(lambda session: _IS_UNTIDY.run(session).scalar_one()):
        return
    while database.write_here(lambda session: delete_runs(session, _REMOVED)):
        pass
    for table, unwanted in _UNWANTED:
        database.write_here(partial(Session.execute, statement=delete(table).where(unwanted)))
