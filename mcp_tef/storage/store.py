"""Opens a workspace file and gives out its stores; the database library is loaded on the store thread."""

import asyncio
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef.errors import StoreError
from mcp_tef.model.runs import BatchStatus
from mcp_tef.storage.held_connection import connect_held, write_known
from mcp_tef.storage.process_locks import Owner
from mcp_tef.storage.sqlite_errors import DAMAGED_FILE, NOT_WRITABLE, cannot_write
from mcp_tef.storage.workspace_file import (
    LOCK_WAIT_S,
    is_empty,
    prepare,
    require_one_name,
    require_there,
    require_workspace,
    require_writable,
    resolved,
)
from mcp_tef.storage.workspace_identity import begin_generation, foreign, is_own, read_from_copy
from mcp_tef.storage.workspace_reading import Connections, private_copy, read_only_connections
from mcp_tef.trust.files import create_private, make_private_folder, tighten
from mcp_tef.trust.own_workspaces import tools_folder

if TYPE_CHECKING:
    from sqlmodel import Session

    from mcp_tef.ports import (
        CaseStore,
        ContactStore,
        DefinitionStore,
        DraftStore,
        LibraryStore,
        MetricsStore,
        RunStore,
        ServerStore,
        ToolCallStore,
    )
    from mcp_tef.storage.database import Database
    from mcp_tef.storage.foreign_changes import ForeignChanges

_BESIDE = r"(-wal|-shm|-journal|\.damage-met|\.v\d+\.bak|\.damaged-.*)?"


class SqliteStore:
    """One open workspace file; satisfies `Store`. `notices` tell people what the opening did.

    One that is `read_only` refuses every change. A part loads its statements when it is first used.
    """

    def __init__(
        self,
        database: "Database",
        owner: Owner,
        cleanup: ExitStack,
        thread: ThreadPoolExecutor,
        *,
        notices: tuple[str, ...] = (),
        read_only: bool = False,
    ) -> None:
        self.notices = notices
        self.read_only = read_only
        self._database = database
        self._owner = owner
        self._cleanup = cleanup
        self._thread = thread

    @cached_property
    def servers(self) -> "ServerStore":
        """Servers with their listings."""
        from mcp_tef.storage.server_store import SqliteServers

        return SqliteServers(self._database)

    @cached_property
    def calls(self) -> "ToolCallStore":
        """Tools that were called by hand."""
        from mcp_tef.storage.server_store import SqliteToolCalls

        return SqliteToolCalls(self._database)

    @cached_property
    def cases(self) -> "CaseStore":
        """Test cases with their suites and tags."""
        from mcp_tef.storage.case_store import SqliteCases

        return SqliteCases(self._database)

    @cached_property
    def runs(self) -> "RunStore":
        """Batches, runs, verdicts and snapshots."""
        from mcp_tef.storage.run_store import SqliteRuns

        return SqliteRuns(self._database, self._owner)

    @cached_property
    def drafts(self) -> "DraftStore":
        """Drafts of changed tools."""
        from mcp_tef.storage.draft_store import SqliteDrafts

        return SqliteDrafts(self._database)

    @cached_property
    def library(self) -> "LibraryStore":
        """Tools of the library, with their versions and executions."""
        from mcp_tef.storage.library_store import SqliteLibrary

        return SqliteLibrary(self._database)

    @cached_property
    def contacts(self) -> "ContactStore":
        """Contacts with servers."""
        from mcp_tef.storage.server_store import SqliteContacts

        return SqliteContacts(self._database)

    @cached_property
    def definitions(self) -> "DefinitionStore":
        """Versioned prompts, model groups, routes and search tools."""
        from mcp_tef.storage.definition_store import SqliteDefinitions

        return SqliteDefinitions(self._database)

    @cached_property
    def foreign_changes(self) -> "ForeignChanges":
        """Changes by other processes."""
        from mcp_tef.storage.foreign_changes import ForeignChanges

        return ForeignChanges(self._database, self._owner.token)

    @cached_property
    def metrics(self) -> "MetricsStore":
        """The history of runs as numbers."""
        from mcp_tef.storage.run_metrics import SqliteMetrics

        return SqliteMetrics(self._database)

    def together(self) -> AbstractAsyncContextManager[None]:
        """Store all that this task writes in one transaction, at the end, or nothing of it; other tasks wait."""
        return self._database.together()

    async def save_known(self, target: Path) -> None:
        """Write all that is known here to another file, also where the workspace's own is gone. Raises StoreError."""
        try:
            await self._database.read(lambda session: write_known(session, target))
        except OSError as error:
            raise cannot_write(target) from error

    async def interrupt_leftovers(self) -> int:
        """Mark runs that a dead process left pending or running as failed, "interrupted"; how many."""
        if await self._database.read(_has_batch_under_way):
            return await self.runs.interrupt_leftovers()
        return 0

    async def close(self) -> None:
        """Finish what was asked, close the file and end the store thread."""
        await self._database.close()
        self._cleanup.close()
        self._thread.shutdown()


_BATCH_UNDER_WAY = "SELECT EXISTS (SELECT * FROM batches WHERE status IN (?, ?))"


async def open_store(
    path: Path, *, lock_wait: float = LOCK_WAIT_S, keep_removed: bool = False, recover: bool = False
) -> SqliteStore:
    """Open or create a workspace. Raises StoreError where the file cannot be used.

    Each access waits up to `lock_wait` seconds for other programs that write to it.
    What was removed in an earlier session is deleted, unless another process has the file open, or it is to be kept.
    To `recover`, a damaged file is set aside and a new one started.
    """
    opening = partial(_open, path, lock_wait=lock_wait, keep_removed=keep_removed, recover=recover)
    return await _on_store_thread(opening)


async def open_store_for_reading(
    path: Path, *, lock_wait: float = LOCK_WAIT_S, may_be_missing: bool = False, recover: bool = False
) -> SqliteStore:
    """Open a workspace that may be read-only, and create none. Raises StoreError where the file cannot be read.

    One that `may_be_missing` reads as empty. What was removed in an earlier session stays for the next `open_store`.
    """
    opening = partial(_open_for_reading, path, lock_wait=lock_wait, may_be_missing=may_be_missing, recover=recover)
    return await _on_store_thread(opening)


async def _on_store_thread(opening: Callable[[ThreadPoolExecutor], SqliteStore]) -> SqliteStore:
    with ExitStack() as on_failure:
        thread = ThreadPoolExecutor(1, thread_name_prefix="mcp-tef-store")
        on_failure.callback(thread.shutdown, wait=False)
        store = await asyncio.get_running_loop().run_in_executor(thread, opening, thread)
        on_failure.pop_all()
        return store


def _open(
    path: Path, thread: ThreadPoolExecutor, *, lock_wait: float, keep_removed: bool, recover: bool
) -> SqliteStore:
    path = resolved(path)
    with ExitStack() as on_failure:
        cleanup = on_failure.enter_context(ExitStack())
        try:
            make_private_folder(path.parent)
            create_private(path)
            require_writable(path.parent, path)
            require_one_name(path)
            if not is_own(path):
                require_workspace(path)
                raise foreign(path)
            owner = Owner(path)
            cleanup.callback(owner.release)
            owner.acquire()
            alone = not owner.others()
            notices = prepare(path, alone=alone, lock_wait=lock_wait, recover=recover)
            owner.follow(path)
            _tighten_files(path)
            database = _database(path, thread, partial(connect_held, path, lock_wait, owner.others), begin_generation)
            on_failure.callback(database.close_here)
            if alone and not keep_removed:
                from mcp_tef.storage.run_store import tidy

                tidy(database)
        except OSError as error:
            raise cannot_write(path) from error
        on_failure.pop_all()
        return SqliteStore(database, owner, cleanup, thread, notices=notices)


def _open_for_reading(
    path: Path, thread: ThreadPoolExecutor, *, lock_wait: float, may_be_missing: bool, recover: bool
) -> SqliteStore:
    path = path.absolute()
    if not may_be_missing:
        require_there(path)
    if is_empty(path):
        return _open_read_only(path, thread, lock_wait)
    require_one_name(path)
    if path.is_file() and not _is_own(path):
        return _open_copy(path, thread, lock_wait, recover=recover)
    return _open_own_for_reading(path, thread, lock_wait, recover=recover)


def _open_own_for_reading(path: Path, thread: ThreadPoolExecutor, lock_wait: float, *, recover: bool) -> SqliteStore:
    try:
        return _open(path, thread, lock_wait=lock_wait, keep_removed=True, recover=recover)
    except StoreError as not_writable:
        if not_writable.code != NOT_WRITABLE:
            raise
        try:
            return _open_read_only(path, thread, lock_wait)
        except StoreError as error:
            raise not_writable if recover and error.code == DAMAGED_FILE else error from error


def _is_own(path: Path) -> bool:
    try:
        return is_own(path)
    except OSError:
        return False


def _open_copy(path: Path, thread: ThreadPoolExecutor, lock_wait: float, *, recover: bool) -> SqliteStore:
    """Open a private copy of a workspace that may be a stranger's, only to read it."""
    with ExitStack() as on_failure:
        cleanup = on_failure.enter_context(ExitStack())
        try:
            copy, notices = private_copy(path, lock_wait, cleanup, recover=recover)
            database = _database(path, thread, read_only_connections(copy, lock_wait, cleanup))
        except OSError as error:
            raise cannot_write(path) from error
        on_failure.pop_all()
        notices = (read_from_copy(path), *notices)
        return SqliteStore(database, Owner(path), cleanup, thread, notices=notices, read_only=True)


def _open_read_only(path: Path, thread: ThreadPoolExecutor, lock_wait: float) -> SqliteStore:
    with ExitStack() as on_failure:
        cleanup = on_failure.enter_context(ExitStack())
        try:
            connections = read_only_connections(path, lock_wait, cleanup)
            database = _database(path, thread, connections)
        except OSError as error:
            raise cannot_write(path) from error
        on_failure.pop_all()
        return SqliteStore(database, Owner(path), cleanup, thread, read_only=True)


def _database(
    path: Path,
    thread: ThreadPoolExecutor,
    connections: Connections,
    before_changes: Callable[[sqlite3.Connection, Path], None] | None = None,
) -> "Database":
    from mcp_tef.storage.database import Database

    return Database(path, thread, connections, before_changes)


def _has_batch_under_way(session: "Session") -> bool:
    connection = session.connection()
    return bool(connection.exec_driver_sql(_BATCH_UNDER_WAY, (BatchStatus.RUNNING, BatchStatus.PAUSED)).scalar_one())


def _tighten_files(path: Path) -> None:
    """Make private what an earlier version or another program left readable: the file, and what belongs to it."""
    belonging = re.compile(re.escape(path.name) + _BESIDE)
    beside = (file for file in path.parent.iterdir() if belonging.fullmatch(file.name))
    tools = tools_folder(path)
    copies = () if tools.is_symlink() else tools.glob("*")  # a link leads to files that are not the workspace's
    for file in (path.resolve(), *beside, tools, *copies):
        tighten(file)
