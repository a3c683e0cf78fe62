"""Reading a workspace that cannot be written: all that it holds, and nothing is left beside it."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import gettempdir

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.storage.store import SqliteStore, open_store, open_store_for_reading
from tests.support.processes import read_only
from tests.support.workspace_files import VERSION_8, change, fill, http, loaded, made_own, run_all


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A folder of its own with a workspace that has one finished run."""
    made = tmp_path / "theirs"
    store = await open_store(made / "work.db")
    filled = await fill(store)
    await run_all(store, filled.runs)
    await store.close()
    return made


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, with its bytes; of what programs share in memory, the name alone."""
    files = {file.name: file for file in folder.iterdir()}
    return {name: b"" if name.endswith("-shm") else file.read_bytes() for name, file in files.items()}


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """A folder that cannot be written, in which nothing changes, and no temporary copy stays anywhere."""
    temporary = Path(gettempdir())
    before, copies = content(folder), set(temporary.glob("mcp-tef-*"))
    with read_only(folder):
        yield
    assert content(folder) == before
    assert set(temporary.glob("mcp-tef-*")) == copies


async def runs_in(path: Path) -> int:
    """The number of runs that reading finds."""
    store = await open_store_for_reading(path)
    found = await store.runs.count(RunFilter())
    await store.close()
    return found


async def test_a_workspace_in_a_read_only_folder_is_read(folder: Path) -> None:
    with untouched(folder):
        assert await runs_in(folder / "work.db") == 1


async def test_a_read_only_file_in_a_folder_that_can_be_written_is_read_and_nothing_put_beside_it(folder: Path) -> None:
    (folder / "work.db").chmod(0o444)
    before = content(folder)
    with read_only(folder.parent):
        assert await runs_in(folder / "work.db") == 1
    assert content(folder) == before


@contextmanager
def unfinished(path: Path) -> Iterator[None]:
    """A writer whose second run stands in the journal only."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        for table in ("test_runs", "run_facts"):
            cells = writer.execute(f"SELECT * FROM {table}").fetchone()
            writer.execute(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in cells)})", ("other", *cells[1:]))
        yield


async def test_what_another_program_is_writing_is_read_from_its_journal(folder: Path) -> None:
    with unfinished(folder / "work.db"), untouched(folder):
        assert await runs_in(folder / "work.db") == 2


@pytest.mark.parametrize("names", [("work.db", "work.db-wal"), ("work.db", "work.db-wal", "work.db-shm")])
async def test_the_journal_of_a_program_that_died_is_read(folder: Path, tmp_path: Path, names: tuple[str, ...]) -> None:
    left = tmp_path / "left"
    left.mkdir()
    with unfinished(folder / "work.db"):
        for name in names:
            shutil.copyfile(folder / name, left / name)
            (left / name).chmod(0o444)
    made_own(left / "work.db")
    with untouched(left):
        assert await runs_in(left / "work.db") == 2


async def test_an_older_version_is_read_in_a_copy(tmp_path: Path) -> None:
    folder = tmp_path / "older"
    folder.mkdir()
    loaded(VERSION_8, folder / "work.db")
    with untouched(folder):
        assert await runs_in(folder / "work.db") == 32


async def read_only_store(folder: Path) -> SqliteStore:
    """A store on a workspace that cannot be written."""
    with read_only(folder):
        return await open_store_for_reading(folder / "work.db")


async def test_every_change_is_refused(folder: Path) -> None:
    store = await read_only_store(folder)
    with pytest.raises(StoreError, match="cannot be opened or written"):
        await store.servers.add(http("other"))
    assert store.read_only
    await store.close()


async def test_a_change_to_a_copy_is_refused_as_well(tmp_path: Path) -> None:
    loaded(VERSION_8, tmp_path / "work.db")
    store = await read_only_store(tmp_path)
    with pytest.raises(StoreError, match="cannot be opened or written"):
        await store.servers.add(http("other"))
    await store.close()


async def test_damage_is_told_and_cannot_be_recovered_from(folder: Path) -> None:
    path = folder / "work.db"
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    with untouched(folder):
        with pytest.raises(StoreError, match=r"work\.db is damaged"):
            await open_store_for_reading(path)
        with pytest.raises(StoreError, match="cannot be opened or written"):
            await open_store_for_reading(path, recover=True)


async def test_a_workspace_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"There is no workspace .*work\.db") as caught:
        await open_store_for_reading(tmp_path / "work.db")
    assert caught.value.code == "workspace_missing"
    assert content(tmp_path) == {}


async def test_one_that_may_be_missing_reads_as_empty_and_is_not_made(tmp_path: Path) -> None:
    store = await open_store_for_reading(tmp_path / "work.db", may_be_missing=True)
    assert await store.servers.all() == ()
    with pytest.raises(StoreError, match="cannot be opened or written"):
        await store.servers.add(http("other"))
    await store.close()
    assert content(tmp_path) == {}


async def test_a_file_without_content_reads_as_empty_and_stays_so(tmp_path: Path) -> None:
    (tmp_path / "work.db").touch()
    assert await runs_in(tmp_path / "work.db") == 0
    assert content(tmp_path) == {"work.db": b""}


@pytest.mark.parametrize("name", ["folder", "file/work.db"])
async def test_what_is_no_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(StoreError, match=r"cannot be opened or written|There is no workspace"):
        await open_store_for_reading(tmp_path / name)


async def test_a_workspace_that_can_be_written_is_brought_up_to_date_by_reading(tmp_path: Path) -> None:
    loaded(VERSION_8, tmp_path / "work.db")
    store = await open_store_for_reading(tmp_path / "work.db")
    await store.close()
    assert not store.read_only
    assert "work.db.v8.bak" in content(tmp_path)


async def test_a_database_of_another_program_is_refused_in_a_read_only_folder(tmp_path: Path) -> None:
    change(tmp_path / "work.db", "CREATE TABLE bookmarks (url TEXT)")
    with untouched(tmp_path), pytest.raises(StoreError, match="a database of another program"):
        await open_store_for_reading(tmp_path / "work.db")
