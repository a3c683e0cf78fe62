"""Really deletes what was removed before, and what nothing refers to any more; only while nobody else is here."""

from sqlalchemy import delete, exists, or_, select
from sqlmodel import Session

from mcp_tef.storage.database import Database
from mcp_tef.storage.runs import delete_runs
from mcp_tef.storage.tables import (
    BATCHES,
    CASES,
    RUNS,
    SERVERS,
    SNAPSHOT_TOOLS,
    SNAPSHOTS,
    SUITE_CASES,
    SUITES,
    TOOLS,
)

_REMOVED_CASES = select(CASES.c.id).where(CASES.c.removed_at.is_not(None))
_REMOVED_BATCHES = select(BATCHES.c.id).where(BATCHES.c.removed_at.is_not(None))
_REMOVED = or_(RUNS.c.test_case_id.in_(_REMOVED_CASES), RUNS.c.batch_id.in_(_REMOVED_BATCHES))


def tidy(database: Database) -> None:
    """Delete for good, in transactions of at most 250 runs. To be called on the store thread."""
    while database.write_here(lambda session: delete_runs(session, _REMOVED)):
        pass
    database.write_here(_delete_removed)
    database.write_here(_delete_unreferenced)


def _delete_removed(session: Session) -> None:
    for table in (CASES, SERVERS, BATCHES):
        session.execute(delete(table).where(table.c.removed_at.is_not(None)))


def _delete_unreferenced(session: Session) -> None:
    for kept, reference in (
        (BATCHES.c.id, RUNS.c.batch_id),
        (SUITES.c.id, SUITE_CASES.c.suite_id),
        (SNAPSHOTS.c.id, RUNS.c.snapshot_id),
        (TOOLS.c.id, SNAPSHOT_TOOLS.c.tool_id),
    ):
        session.execute(delete(kept.table).where(~exists().where(reference == kept)))
