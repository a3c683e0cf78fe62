"""Opens a workspace file and gives out its stores; the database library is loaded on the store thread."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef.ports import CaseStore, MetricsStore, RunStore, ServerStore, ToolCallStore
from mcp_tef.storage.faults import cannot_write
from mcp_tef.storage.opening import prepare
from mcp_tef.storage.owners import Owner

if TYPE_CHECKING:
    from mcp_tef.storage.database import Database

LOCK_WAIT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteStore:
    """One open workspace file; satisfies `Store`. `notices` tell people what the opening did."""

    path: Path
    servers: ServerStore
    calls: ToolCallStore
    cases: CaseStore
    runs: RunStore
    metrics: MetricsStore
    notices: tuple[str, ...]
    _database: "Database" = field(repr=False)
    _owner: Owner = field(repr=False)
    _thread: ThreadPoolExecutor = field(repr=False)

    async def close(self) -> None:
        """Finish what was asked, close the file and end the store thread."""
        await self._database.close()
        self._owner.release()
        self._thread.shutdown()


async def open_store(path: Path, *, lock_wait: float = LOCK_WAIT_S, keep_removed: bool = False) -> SqliteStore:
    """Open or create a workspace. Raises StoreError where the file cannot be used.

    Each access waits up to `lock_wait` seconds for other programs that write to it.
    What was removed in an earlier session is deleted, unless another process has the file open, or it is to be kept.
    """
    with ExitStack() as on_failure:
        thread = ThreadPoolExecutor(1, thread_name_prefix="mcp-tef-store")
        on_failure.callback(thread.shutdown, wait=False)
        store = await asyncio.get_running_loop().run_in_executor(thread, _open, path, thread, lock_wait, keep_removed)
        on_failure.pop_all()
        return store


def _open(path: Path, thread: ThreadPoolExecutor, lock_wait: float, keep_removed: bool) -> SqliteStore:
    path = path.absolute()
    owner = Owner(path)
    with ExitStack() as on_failure:
        try:
            owner.acquire()
            on_failure.callback(owner.release)
            store = _assemble(path, owner, thread, lock_wait, keep_removed=keep_removed)
        except OSError as error:
            raise cannot_write(path) from error
        on_failure.pop_all()
        return store


def _assemble(
    path: Path, owner: Owner, thread: ThreadPoolExecutor, lock_wait: float, *, keep_removed: bool
) -> SqliteStore:
    alone = not owner.others()
    notices = prepare(path, alone=alone, lock_wait=lock_wait)
    from mcp_tef.storage.cases import SqliteCases
    from mcp_tef.storage.database import Database
    from mcp_tef.storage.housekeeping import tidy
    from mcp_tef.storage.metrics import SqliteMetrics
    from mcp_tef.storage.runs import SqliteRuns
    from mcp_tef.storage.servers import SqliteServers
    from mcp_tef.storage.tool_calls import SqliteToolCalls

    database = Database(path, thread, lock_wait)
    with ExitStack() as on_failure:
        on_failure.callback(database.close_here)
        if alone and not keep_removed:
            tidy(database)
        on_failure.pop_all()
    return SqliteStore(
        path=path,
        servers=SqliteServers(database),
        calls=SqliteToolCalls(database),
        cases=SqliteCases(database),
        runs=SqliteRuns(database, owner),
        metrics=SqliteMetrics(database),
        notices=notices,
        _database=database,
        _owner=owner,
        _thread=thread,
    )
