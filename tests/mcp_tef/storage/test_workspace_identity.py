"""What this user did not write on this machine is read from a copy of its main file alone, and adopted as a copy."""

import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mcp_tef.errors import InputError, StoreError
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.storage.store import open_store, open_store_for_reading
from mcp_tef.storage.workspace_backups import adopt_workspace, back_up_workspace, restore_workspace
from mcp_tef.trust.own_workspaces import WorkspaceRecord, record
from tests.support import isolation
from tests.support.command_line import say
from tests.support.workspace_files import VERSION_8, change, fill, http, loaded, rows, run_all

MAGIC = bytes.fromhex("d9d505f920a163d7")


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def put_journal(path: Path, victim: Path) -> None:
    """Put a rollback journal beside a database whose last record names a file, which SQLite then deletes."""
    name = str(victim).encode()
    header = MAGIC + struct.pack(">IIIII", 0, 0, path.stat().st_size // 4096, 512, 4096)
    tail = struct.pack(">I", 2**30 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + MAGIC
    path.with_name(f"{path.name}-journal").write_bytes(header.ljust(512, b"\0") + tail)


@pytest.fixture
async def stranger(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a finished run that another user made; from then on, HOME is the user's own."""
    isolation.move_in(monkeypatch, tmp_path / "their-home")
    path = tmp_path / "theirs" / "work.db"
    store = await open_store(path)
    filled = await fill(store)
    await run_all(store, filled.runs)
    await store.close()
    isolation.move_in(monkeypatch, home)
    return path


async def test_a_strangers_workspace_is_read_from_a_copy_and_not_written(stranger: Path) -> None:
    before = content(stranger.parent)
    store = await open_store_for_reading(stranger)
    assert (await store.runs.count(RunFilter()), store.read_only) == (1, True)
    assert "was not made by you on this machine" in store.notices[0]
    await store.close()
    with pytest.raises(InputError, match="was not made by you on this machine") as refused:
        await open_store(stranger)
    assert "mcp-tef workspace adopt" in refused.value.hint
    assert content(stranger.parent) == before


READING = (("cases", "list"), ("runs", "list"), ("metrics",), ("cases", "list", "--recover"))


@pytest.mark.parametrize("own", [False, True], ids=["a stranger's", "one's own"])
def test_a_journal_beside_a_workspace_makes_nothing_be_deleted(stranger: Path, tmp_path: Path, *, own: bool) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("kept")
    change(stranger, "PRAGMA journal_mode = DELETE")
    path = adopt_workspace(stranger)[0] if own else stranger
    verbs = (*READING, ("workspace", "backup", tmp_path / "copy.db"), ("workspace", "adopt", path))
    for verb in verbs:
        put_journal(path, victim)
        where = () if "adopt" in verb else ("--workspace", path)
        assert say(*verb, *where).code == 0, verb
        assert victim.read_text() == "kept", verb
    put_journal(path, victim)
    assert say("runs", "merge", path, "--workspace", tmp_path / "other.db").code in (0, 2)
    assert victim.read_text() == "kept"


def test_sqlite_alone_deletes_the_file_so_that_the_journal_of_this_test_is_a_real_one(tmp_path: Path) -> None:
    path, victim = tmp_path / "work.db", tmp_path / "victim.txt"
    change(path, "CREATE TABLE one (cell)")
    victim.write_text("lost")
    put_journal(path, victim)
    rows(path, "SELECT * FROM one")
    assert not victim.exists()


async def test_the_log_beside_a_strangers_workspace_is_not_read(stranger: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(stranger, isolation_level=None)) as writer:
        writer.execute("UPDATE mcp_servers SET name = 'from the log'")
        shutil.copytree(stranger.parent, tmp_path / "received")
    received = tmp_path / "received" / "work.db"
    store = await open_store_for_reading(received)
    assert "from the log" not in [server.name for server in await store.servers.all()]
    assert "work.db-wal beside it was not read" in store.notices[0]
    await store.close()


async def test_what_is_adopted_is_the_users_own_and_bears_another_id(stranger: Path) -> None:
    copy, _ = adopt_workspace(stranger)
    assert copy.name == "work-own.db"
    store = await open_store(copy)
    assert await store.runs.count(RunFilter()) == 1
    await store.servers.add(http("more"))
    await store.close()
    assert rows(copy, "SELECT id FROM workspace_identity") != rows(stranger, "SELECT id FROM workspace_identity")
    with pytest.raises(InputError, match="is there already"):
        adopt_workspace(stranger)


def moved(path: Path) -> Path:
    """The same file under another name."""
    return Path(shutil.move(path, path.with_name("moved.db")))


def linked(path: Path) -> Path:
    """A symbolic link to it."""
    path.with_name("link.db").symlink_to(path)
    return path.with_name("link.db")


def copied(path: Path) -> Path:
    """A copy that nothing has changed."""
    return Path(shutil.copy(path, path.with_name("copied.db")))


@pytest.mark.parametrize("way", [moved, linked, copied])
async def test_ones_own_workspace_stays_ones_own(workspace: Path, way: Callable[[Path], Path]) -> None:
    await (await open_store(workspace)).close()
    store = await open_store(way(workspace))
    await store.servers.add(http("more"))
    assert store.notices == ()
    await store.close()


async def test_a_copy_of_one_that_was_moved_is_ones_own_too(workspace: Path) -> None:
    await (await open_store(workspace)).close()
    await (await open_store_for_reading(moved(workspace))).close()
    await (await open_store(copied(workspace.with_name("moved.db")))).close()


@pytest.mark.parametrize("had_one_before", [False, True], ids=["new", "a number used before"])
async def test_a_file_without_an_id_is_a_strangers_however_old_it_is(tmp_path: Path, *, had_one_before: bool) -> None:
    path = tmp_path / "older.db"
    loaded(VERSION_8, path, own=False)
    if had_one_before:  # a deleted workspace had the same inode
        record(path, WorkspaceRecord("gone", ("gone",)))
    with pytest.raises(InputError, match="was not made by you"):
        await open_store(path)
    copy, _ = adopt_workspace(path)
    store = await open_store(copy)
    assert await store.cases.all()
    await store.close()


async def test_an_empty_database_with_a_log_of_a_stranger_gets_nothing_of_it(tmp_path: Path, stranger: Path) -> None:
    path = tmp_path / "empty.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("VACUUM")
    held = sqlite3.connect(stranger)
    held.execute("INSERT INTO suites (id, name) VALUES ('1', 'theirs')")
    held.commit()
    shutil.copy(stranger.with_name("work.db-wal"), tmp_path / "empty.db-wal")
    held.close()
    with pytest.raises(InputError, match="was not made by you"):
        await open_store(path)


async def test_a_file_that_came_back_changed_under_a_known_id_is_a_strangers(workspace: Path) -> None:
    await (await open_store(workspace)).close()
    back = Path(shutil.copy(workspace, workspace.with_name("back.db")))
    change(back, "PRAGMA journal_mode = DELETE", "UPDATE workspace_identity SET generation = generation")
    change(back, "INSERT INTO suites (id, name) VALUES ('1', 'theirs')")
    with pytest.raises(InputError, match="was not made by you"):
        await open_store(back)


def kept_log(workspace: Path) -> Path:
    """A second name of the log of an open workspace, under which it outlives the store, as it outlives a kill."""
    held = workspace.with_name("held")
    held.hardlink_to(workspace.with_name("workspace.db-wal"))
    return held


async def names(workspace: Path) -> tuple[set[str], tuple[str, ...]]:
    """The servers of a workspace, and the notices of its opening."""
    store = await open_store(workspace)
    found = {server.name for server in await store.servers.all()}
    await store.close()
    return found, store.notices


async def test_the_log_of_a_killed_process_is_played_back(workspace: Path) -> None:
    store = await open_store(workspace)
    await store.servers.add(http("first"))
    main, held = workspace.read_bytes(), kept_log(workspace)
    await store.close()
    workspace.write_bytes(main)
    held.rename(workspace.with_name("workspace.db-wal"))
    assert await names(workspace) == ({"first"}, ())


async def test_an_older_state_copied_over_the_file_is_not_mixed_with_a_newer_log(workspace: Path) -> None:
    store = await open_store(workspace)
    await store.servers.add(http("first"))
    await store.close()
    backup = workspace.read_bytes()
    store = await open_store(workspace)
    await store.servers.add(http("second"))
    held = kept_log(workspace)
    await store.close()
    held.rename(workspace.with_name("workspace.db-wal"))
    workspace.write_bytes(backup)
    found, notices = await names(workspace)
    assert found == {"first"}
    assert "workspace.db-wal belongs to another state of the file" in notices[0]
    assert [file for file in workspace.parent.iterdir() if "set-aside" in file.name]


async def test_a_backup_is_one_file_that_goes_back_as_a_whole(workspace: Path, tmp_path: Path) -> None:
    store = await open_store(workspace)
    await store.servers.add(http("first"))
    backup = tmp_path / "backup.db"
    back_up_workspace(workspace, backup)
    await store.servers.add(http("second"))
    with pytest.raises(StoreError, match="is open"):
        restore_workspace(backup, workspace)
    await store.close()
    kept = restore_workspace(backup, workspace)
    assert (await names(workspace))[0] == {"first"}
    assert kept is not None
    assert (await names(kept))[0] == {"first", "second"}


def test_backups_are_made_and_put_back_by_commands(tmp_path: Path) -> None:
    work, backup = tmp_path / "work.db", tmp_path / "backup.db"
    assert say("cases", "add", "one", "--no-tool", "--workspace", work).code == 0
    assert say("workspace", "backup", backup, "--workspace", work).code == 0
    assert say("workspace", "backup", backup, "--workspace", work).code == 2
    assert say("cases", "add", "two", "--no-tool", "--workspace", work).code == 0
    assert say("workspace", "restore", backup, "--workspace", work).code == 0
    assert len(say("cases", "list", "--json", "--workspace", work).document["cases"]) == 1
    assert say("workspace", "restore", tmp_path / "none.db", "--workspace", work).code == 3
    assert say("workspace", "restore", work, "--workspace", work).code == 2
    assert sorted(file.name for file in tmp_path.iterdir() if "-wal" in file.name or ".part" in file.name) == []


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
async def test_links_beside_a_workspace_lead_to_no_file_that_is_copied_or_loses_its_mode(
    workspace: Path, tmp_path: Path
) -> None:
    backup, secret, others = tmp_path / "backup.db", tmp_path / "others" / "secret", tmp_path / "others"
    await (await open_store(workspace)).close()
    back_up_workspace(workspace, backup)
    others.mkdir()
    secret.write_bytes(b"secret")
    secret.chmod(0o644)
    stranger = tmp_path / "clone" / "stranger.db"
    stranger.parent.mkdir()
    shutil.copyfile(workspace, stranger)
    stranger.with_name("stranger.db-wal").symlink_to(secret)
    stranger.with_name("stranger-tools").symlink_to(others)
    restore_workspace(backup, stranger)
    assert b"secret" not in content(stranger.parent).values()
    await (await open_store(stranger)).close()
    assert secret.stat().st_mode & 0o777 == 0o644
