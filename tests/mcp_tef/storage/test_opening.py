"""Opening a workspace: any file gives a workspace or one clear sentence, and all access is on one thread."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlmodel import Session

from mcp_tef.errors import StoreError
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import RunStatus
from mcp_tef.storage.database import Database, chunks
from mcp_tef.storage.schema import VERSION
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.workspace_files import change, fill, http, made_own, right, rows


def put(path: Path, content: bytes) -> None:
    """Make the file hold this and nothing else, under a new inode."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    made_own(path)


def content_of(path: Path) -> bytes:
    """What the file holds."""
    return path.read_bytes()


def names_in(folder: Path) -> list[str]:
    """The names of all files and folders in a folder."""
    return sorted(file.name for file in folder.iterdir())


async def test_a_new_workspace_is_made_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "new.db"
    store = await open_store(path)
    await store.servers.add(http("docs"))
    await store.close()
    assert store.notices == ()
    assert names_in(path.parent) == ["new.db"]
    assert rows(path, "PRAGMA user_version") == [(VERSION,)]
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]


async def test_what_was_stored_is_there_at_the_next_open(workspace: Path) -> None:
    store = await open_store(workspace)
    filled = await fill(store)
    await store.close()
    store = await open_store(workspace)
    assert await store.runs.batch(filled.batch.id) == filled.batch
    assert store.notices == ()
    await store.close()


async def test_an_empty_file_becomes_a_workspace(workspace: Path) -> None:
    put(workspace, b"")
    store = await open_store(workspace)
    assert await store.servers.all() == ()
    await store.close()


async def test_damage_that_is_met_in_a_large_file_sets_it_aside_at_the_next_start(workspace: Path) -> None:
    store = await open_store(workspace)
    await fill(store, repeats=500)
    await store.close()
    ((page,),) = rows(workspace, "SELECT rootpage FROM sqlite_schema WHERE name = 'test_runs'")
    change(workspace, "CREATE TABLE padding AS SELECT zeroblob(65 * 1024 * 1024)", "DROP TABLE padding")
    with workspace.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xa5" * 4096)
    with pytest.raises(StoreError, match="is damaged") as caught:
        await everything_in(workspace)
    assert "set aside" in caught.value.hint
    with pytest.raises(StoreError, match="is damaged"):
        await open_store(workspace)
    store = await open_store(workspace, recover=True)
    assert "was damaged. It was set aside" in store.notices[0]
    await store.close()
    assert [name for name in names_in(workspace.parent) if "met" in name] == []


async def everything_in(workspace: Path) -> None:
    """Open a workspace and read all of its runs."""
    store = await open_store(workspace)
    try:
        await store.runs.runs(RunFilter())
    finally:
        await store.close()


@pytest.mark.parametrize("content", [b"not a database at all " * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
async def test_a_damaged_file_is_set_aside_and_a_fresh_one_started(workspace: Path, content: bytes) -> None:
    put(workspace, content)
    store = await open_store(workspace, recover=True)
    await store.servers.add(http("docs"))
    await store.close()
    (aside,) = workspace.parent.glob("workspace.db.damaged-*")
    assert content_of(aside) == content
    (notice,) = store.notices
    assert notice.startswith("The workspace workspace.db was damaged.")
    assert aside.name in notice


async def test_a_damaged_file_is_refused_and_left_as_it_is_unless_it_is_to_be_recovered(workspace: Path) -> None:
    content = b"SQLite format 3\x00" + b"\xff" * 5000
    put(workspace, content)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"The workspace workspace\.db is damaged") as caught:
            await open_store(workspace)
        assert caught.value.code == "workspace_damaged"
    assert content_of(workspace) == content
    assert names_in(workspace.parent) == ["workspace.db"]


async def test_damage_in_the_middle_of_the_file_is_noticed_at_the_start(workspace: Path) -> None:
    store = await open_store(workspace)
    await fill(store, repeats=500)
    await store.close()
    whole = bytearray(content_of(workspace))
    whole[4096 * 20 : 4096 * 60] = b"\xa5" * 4096 * 40
    put(workspace, bytes(whole))
    store = await open_store(workspace, recover=True)
    assert await store.servers.all() == ()
    assert len(store.notices) == 1
    await store.close()


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
async def test_a_file_that_was_cut_off_is_set_aside(workspace: Path, share: float) -> None:
    store = await open_store(workspace)
    await fill(store, repeats=500)
    await store.close()
    whole = content_of(workspace)
    put(workspace, whole[: int(len(whole) * share)])
    store = await open_store(workspace, recover=True)
    await store.servers.add(http("docs"))
    await store.close()
    (aside,) = workspace.parent.glob("workspace.db.damaged-*")
    assert whole.startswith(content_of(aside))
    assert len(store.notices) == 1


async def test_a_damaged_file_that_another_process_uses_stays_where_it_is(workspace: Path) -> None:
    first = await open_store(workspace)
    content = b"not a database at all " * 100
    workspace.write_bytes(content)
    with pytest.raises(StoreError, match="damaged, and another mcp-tef is using it"):
        await open_store(workspace)
    assert content_of(workspace) == content
    await first.close()


async def test_a_workspace_of_a_newer_version_is_refused_and_not_changed(workspace: Path) -> None:
    await (await open_store(workspace)).close()
    change(workspace, f"PRAGMA user_version = {VERSION + 1}")
    before = content_of(workspace)
    with pytest.raises(StoreError, match="written by a newer mcp-tef") as caught:
        await open_store(workspace)
    assert "Update mcp-tef" in caught.value.hint
    assert content_of(workspace) == before
    assert names_in(workspace.parent) == ["workspace.db"]


async def test_a_database_of_another_program_is_refused_and_not_changed(workspace: Path) -> None:
    change(workspace, "CREATE TABLE bookmarks (url TEXT)")
    before = content_of(workspace)
    with pytest.raises(StoreError, match="a database of another program"):
        await open_store(workspace)
    assert content_of(workspace) == before


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be opened or written") as caught:
        await open_store(tmp_path / "file" / "workspace.db")
    assert "folder that you may write to" in caught.value.hint


async def test_a_folder_is_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be opened or written"):
        await open_store(tmp_path / "folder")
    assert names_in(tmp_path) == ["folder"]


async def test_a_file_that_another_program_has_locked_is_named(workspace: Path) -> None:
    await (await open_store(workspace)).close()
    with closing(sqlite3.connect(workspace, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"workspace\.db is locked by another program") as caught:
            await open_store(workspace, lock_wait=0.05)
    assert caught.value.code == "workspace_locked"


async def test_several_openings_at_once_make_one_workspace(tmp_path: Path) -> None:
    for attempt in range(4):
        path = tmp_path / f"{attempt}.db"
        stores = await asyncio.gather(*(open_store(path, lock_wait=60) for _ in range(3)))
        await asyncio.gather(*(store.servers.add(http(f"s{place}")) for place, store in enumerate(stores)))
        assert len(await stores[0].servers.all()) == 3
        for store in stores:  # of two that close at once, neither may see that it is the last, and clear up
            await store.close()
    assert names_in(tmp_path) == [f"{attempt}.db" for attempt in range(4)]


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
