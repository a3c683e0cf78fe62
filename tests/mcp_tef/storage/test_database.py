"""All access happens on one thread, to its end, and what goes wrong is told in words."""

import asyncio
import threading
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlmodel import Session

from mcp_tef.errors import StoreError
from mcp_tef.model.runs import RunFilter, RunStatus
from mcp_tef.storage.database import Database, chunks
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.workspace_files import change, fill, http, right


def database_of(store: SqliteStore) -> Database:
    """The connection behind a store."""
    return store._database


async def test_reads_and_writes_use_the_store_thread_only(store: SqliteStore) -> None:
    def where(_: Session) -> str:
        return threading.current_thread().name

    database = database_of(store)
    names = {await database.read(where) for _ in range(5)} | {await database.write(where) for _ in range(5)}
    assert names == {"mcp-tef-store_0"}


async def test_a_write_that_raises_changes_nothing(store: SqliteStore) -> None:
    def half(session: Session) -> None:
        session.execute(text("INSERT INTO suites (id, name) VALUES ('a', 'b')"))
        raise ValueError("the caller's own mistake")

    with pytest.raises(ValueError, match="own mistake"):
        await database_of(store).write(half)
    assert await store.cases.suites() == ()


async def test_a_write_whose_caller_is_cancelled_is_still_made(store: SqliteStore) -> None:
    filled = await fill(store, repeats=200)
    task = asyncio.create_task(store.runs.finish([right(run) for run in filled.runs]))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert await store.runs.count(RunFilter(statuses=(RunStatus.COMPLETED,))) == 200


async def test_a_closed_workspace_says_so(workspace: Path) -> None:
    store = await open_store(workspace)
    await store.close()
    with pytest.raises(StoreError, match=r"workspace\.db is closed"):
        await store.servers.all()


async def test_damage_that_shows_only_later_is_told_in_words(store: SqliteStore, workspace: Path) -> None:
    await store.servers.add(http("docs"))
    change(workspace, "DROP TABLE suites")
    with pytest.raises(StoreError, match="could not be used") as caught:
        await store.cases.suites()
    assert "sqlalche.me" not in caught.value.message


async def test_readers_of_one_moment_see_all_of_a_write_or_nothing(workspace: Path) -> None:
    writer, reader = await open_store(workspace), await open_store(workspace)
    filled = await fill(writer, repeats=250)
    finishing = asyncio.create_task(writer.runs.finish([right(run) for run in filled.runs]))
    seen = set()
    while not finishing.done():
        seen.add(await reader.runs.count(RunFilter(statuses=(RunStatus.COMPLETED,))))
    seen.add(await reader.runs.count(RunFilter(statuses=(RunStatus.COMPLETED,))))
    assert seen <= {0, 250}
    await reader.close()
    await writer.close()


def test_pieces_fit_one_transaction() -> None:
    assert [len(piece) for piece in chunks(range(600))] == [250, 250, 100]
    assert list(chunks([])) == []
