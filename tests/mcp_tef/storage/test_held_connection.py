"""The file of a workspace that is open here: nothing of ours opens it again, and other processes keep its journal."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from mcp_tef import FileKind
from mcp_tef.errors import StoreError, TefError
from mcp_tef.formats.cases.texts import is_database, read_text, require_replaceable, write_text
from mcp_tef.storage.store import SqliteStore, open_store
from mcp_tef.storage.workspace_copies import copy_workspace, save_copy
from mcp_tef.storage.workspace_file import require_workspace
from mcp_tef.trust.files import append_text, copy_private, open_regular_file, replaced_database, write_private
from mcp_tef.trust.held_folder import open_folder
from mcp_tef.trust.open_files import is_open_here
from mcp_tef.workflows.file_detection import detect_files
from tests.support.workspace_files import draft, rows

USE_IT = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT * FROM test_cases').fetchall()"


@pytest.fixture
async def used(workspace: Path) -> AsyncIterator[Path]:
    """A workspace that is open here, with a case that stands in its journal."""
    store = await open_store(workspace)
    await add_case(store, "first")
    yield workspace
    await store.close()


async def add_case(store: SqliteStore, name: str) -> None:
    await store.cases.add([draft(name, tool=None, servers=())])


def use_elsewhere(workspace: Path) -> None:
    """Have another process read a workspace; it deletes the journal if it takes itself for the last one."""
    subprocess.run([sys.executable, "-I", "-c", USE_IT, workspace], check=True)


def _held(path: Path, name: str) -> None:
    with open_folder(path.parent) as folder:
        folder.read(name).close()


def _replaced(path: Path) -> None:
    with replaced_database(path):
        pass


DOORS: dict[str, Callable[[Path], object]] = {
    "open_regular_file": open_regular_file,
    "copy_private": lambda path: copy_private(path, path.with_name("copy")),
    "HeldFolder.read": lambda path: _held(path, path.name),
    "append_text": lambda path: append_text(path, "text"),
    "write_private": lambda path: write_private(path, b"text"),
    "replaced_database": _replaced,
    "read_text": read_text,
    "write_text": lambda path: write_text(path, "text"),
    "save_copy": lambda path: save_copy(path, path),
    "require_replaceable": require_replaceable,
}
OF_WORKSPACES = {"save_copy"}


@pytest.mark.parametrize("ending", ["", "-shm", "-wal"])
async def test_each_way_to_a_file_refuses_one_of_the_open_workspace(used: Path, ending: str) -> None:
    file = used.with_name(used.name + ending)
    before = file.stat()
    for door in DOORS if not ending else DOORS.keys() - OF_WORKSPACES:
        with pytest.raises((OSError, TefError)) as refused:
            DOORS[door](file)
        assert "workspace" in str(refused.value), door
    copy_workspace(used, used.with_name("copies"))  # by SQLite, which keeps the locks
    use_elsewhere(used)
    assert used.with_name(f"{used.name}-wal").exists()
    assert (file.stat().st_ino, file.stat().st_size) == (before.st_ino, before.st_size)


async def test_by_any_name_it_is_known_as_the_workspace_that_it_is(used: Path) -> None:
    link = used.with_name("link.db")
    link.symlink_to(used)
    for name in (used, link):
        require_workspace(name)
        assert is_database(name)
        assert [one.kind for one in detect_files([name])] == [FileKind.WORKSPACE]
    use_elsewhere(used)
    assert used.with_name(f"{used.name}-wal").exists()


async def test_the_first_of_two_in_a_process_to_close_leaves_the_journal_to_the_second(used: Path) -> None:
    second = await open_store(used)
    await add_case(second, "second")
    await second.close()
    use_elsewhere(used)
    assert used.with_name(f"{used.name}-wal").exists()
    assert not is_open_here(used.with_name("other.db"))


async def test_the_last_one_puts_the_journal_away_and_closes_what_it_held(workspace: Path) -> None:
    store = await open_store(workspace)
    await add_case(store, "only")
    assert is_open_here(workspace)
    await store.close()
    assert not is_open_here(workspace)
    assert [file.name for file in workspace.parent.iterdir()] == [workspace.name]
    with open_regular_file(workspace) as file:
        assert file.read(6) == b"SQLite"


@pytest.mark.parametrize("by", [None, "other.db"])
async def test_a_change_to_a_file_that_is_gone_or_replaced_is_an_error_and_a_copy_holds_it(
    workspace: Path, by: str | None
) -> None:
    store = await open_store(workspace)
    await add_case(store, "first")
    if by is None:
        workspace.unlink()
    else:
        other = await open_store(workspace.with_name(by))
        await add_case(other, "stranger")
        await other.close()
        workspace.with_name(by).replace(workspace)
    with pytest.raises(StoreError, match="is gone" if by is None else "was replaced") as told:
        await add_case(store, "second")
    assert told.value.code == "workspace_gone"
    with pytest.raises(StoreError):
        await store.foreign_changes.look()
    await store.save_known(workspace.with_name("copy.db"))
    assert rows(workspace.with_name("copy.db"), "SELECT name FROM test_cases") == [("first",), ("second",)]
    await store.close()
