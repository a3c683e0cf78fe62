"""Rows that other processes changed: which they are, read only where SQLite says that somebody committed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sqlmodel import Session

from mcp_tef.model.ids import BatchId, RunId
from mcp_tef.storage.held_connection import HeldConnection, connection_of

if TYPE_CHECKING:
    from mcp_tef.storage.database import Database

# A row for each thing: its id first, then what differs once the thing is another one.
_STAMPS: Final[Mapping[str, str]] = {
    "cases": "SELECT id, updated_at, removed_at FROM test_cases",
    "suites": "SELECT id, name FROM suites",
    "servers": (
        "SELECT id, updated_at, removed_at, status, last_connected_at, seen_at FROM mcp_servers "
        "LEFT JOIN server_listings ON mcp_server_id = id"
    ),
    "calls": (
        "SELECT mcp_server_id || char(10) || tool_name, count(*), count(execution_time_ms), max(asked_at) "
        "FROM tool_calls GROUP BY mcp_server_id, tool_name"
    ),
    "drafts": "SELECT id, name, step, updated_at FROM drafts",
    "definitions": (
        "SELECT kind || char(10) || name, max(version), count(removed_at) FROM definitions GROUP BY kind, name"
    ),
    "library": "SELECT id, version, status, updated_at, removed_at FROM library_tools",
    "categories": "SELECT name, updated_at, parent FROM library_categories",
    "batches": "SELECT id, name, status, completed_at, removed_at FROM batches WHERE owner_token <> :own",
    "verdicts": "SELECT '', max(id) FROM past_verdicts",
}
_UNDER_WAY: Final = "SELECT id FROM batches WHERE owner_token <> ? AND status IN ('running', 'paused')"
_FINISHED: Final = "SELECT id FROM test_runs WHERE batch_id = ? AND status NOT IN ('pending', 'running')"
_Stamps = Mapping[str, Mapping[str, tuple[Any, ...]]]


class ForeignChanges:
    """Compares the workspace with what it was at the last look; commits of this process alone start no comparison."""

    def __init__(self, database: "Database", own_token: str) -> None:
        self._database = database
        self._own_token = own_token
        self._version: int | None = None
        self._stamps: _Stamps = {}

    async def look(self) -> Mapping[str, frozenset[str]]:
        """Return the ids of what was added, changed or removed since the last look, by kind; the first finds nothing.

        Raises StoreError.
        """
        return await self._database.read(self._look)

    def _look(self, session: Session) -> Mapping[str, frozenset[str]]:
        held, connection = connection_of(session), session.connection()
        if isinstance(held, HeldConnection):
            held.require_in_place()
        version = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
        if version == self._version:
            return {}
        is_first = self._version is None
        now: _Stamps = {
            kind: {row[0]: tuple(row[1:]) for row in connection.exec_driver_sql(sql, {"own": self._own_token})}
            for kind, sql in _STAMPS.items()
        }
        before, self._stamps, self._version = self._stamps, now, version
        if is_first:
            return {}
        changed = {kind: frozenset(dict(now[kind].items() ^ before[kind].items())) for kind in now}
        return {kind: ids for kind, ids in changed.items() if ids}

    async def under_way(self) -> frozenset[BatchId]:
        """Return the batches of other processes that have not ended, as far as their rows tell."""
        return frozenset(map(BatchId, await self._column(_UNDER_WAY, self._own_token)))

    async def finished(self, batch_id: BatchId) -> frozenset[RunId]:
        """Return the runs of a batch that have ended."""
        return frozenset(map(RunId, await self._column(_FINISHED, batch_id)))

    async def _column(self, statement: str, value: str) -> list[str]:
        def read(session: Session) -> list[str]:
            return list(session.connection().exec_driver_sql(statement, (value,)).scalars())

        return await self._database.read(read)
