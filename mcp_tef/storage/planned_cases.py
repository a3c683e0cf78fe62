"""The cases and tools of a batch as they were when it began."""

from typing import Any

from sqlalchemy import func, or_, select
from sqlmodel import Session

from mcp_tef.model.batch_plans import PlannedCase
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.tools import Snapshot
from mcp_tef.storage import batch_rows, snapshots
from mcp_tef.storage.columns import expectation_of, messages_of, row_of
from mcp_tef.storage.run_tables import MODEL_SETTINGS, RUNS

# A client shows a model other tools than the servers list, and a trial those of its draft.
_AS_LISTED = or_(MODEL_SETTINGS.c.client == "", batch_rows.UNFINISHED) & RUNS.c.arm.is_(None)


def planned_cases(session: Session, batch_id: BatchId) -> dict[CaseId, PlannedCase]:
    """Return each case of a batch as its first run asks it, with the tools that its runs were offered."""
    of_batch = select(RUNS.c.test_case_id, func.min(RUNS.c.snapshot_id).label("snapshot_id"))
    offered = of_batch.join(MODEL_SETTINGS).where(RUNS.c.batch_id == batch_id, _AS_LISTED).group_by(RUNS.c.test_case_id)
    ids = {row.test_case_id: row.snapshot_id for row in session.execute(offered)}
    loaded = {one: snapshots.load(session, one) for one in {*ids.values()} if one}
    columns = (RUNS.c.id, RUNS.c.test_case_id, RUNS.c.query, RUNS.c.expectation, RUNS.c.before)
    rows = session.execute(select(*columns).where(RUNS.c.batch_id == batch_id).order_by(RUNS.c.position.desc()))
    found: dict[CaseId, PlannedCase] = {}
    for row in {row.test_case_id: row for row in rows}.values():
        found[CaseId(row.test_case_id)] = _planned(row, loaded.get(ids.get(row.test_case_id) or ""))
    return found


@row_of("test_runs")
def _planned(row: Any, snapshot: Snapshot | None) -> PlannedCase:
    return PlannedCase(
        query=row.query,
        expectation=expectation_of(row.expectation),
        before=messages_of(row.before),
        snapshot=snapshot,
    )
