"""Runs of a process that died are marked, runs of one that lives are left alone; nothing finished is lost."""

import asyncio
import shutil
import sqlite3
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from uuid import uuid4

import pytest

from mcp_tef.engine import Engine
from mcp_tef.errors import InputError, StoreError
from mcp_tef.model.ids import RunId
from mcp_tef.model.installation import data_folder
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import BatchStatus, FailureInfo, RunStatus
from mcp_tef.storage.process_locks import Owner, locks_folder
from mcp_tef.storage.store import SqliteStore, open_store, open_store_for_reading
from tests.support.workspace_files import Filled, change, fill, made_own, rows

ROOT = Path(__file__).parents[3]
CHILD = """
import asyncio, sys
from pathlib import Path
from mcp_tef.storage.store import open_store
from tests.support.workspace_files import fill, right

async def main():
    store = await open_store(Path(sys.argv[1]))
    filled = await fill(store, repeats=int(sys.argv[2]))
    await store.runs.mark_running([run.id for run in filled.runs[:2]])
    for run in filled.runs[int(sys.argv[3]):]:
        await store.runs.finish([right(run)])
        print(run.id, flush=True)
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@asynccontextmanager
async def other_process(workspace: Path, *, repeats: int, first_finished: int) -> AsyncIterator[Process]:
    """A process with a batch under way, of which runs from `first_finished` on are being finished."""
    arguments = ("-c", CHILD, str(workspace), str(repeats), str(first_finished))
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=PIPE, cwd=ROOT)
    try:
        yield process
    finally:
        await killed(process)


async def killed(process: Process) -> None:
    """End the process as a crash does."""
    if process.returncode is None:
        process.kill()
    await process.communicate()


async def heard(process: Process) -> str:
    """The next line that the process prints."""
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def until_ready(process: Process) -> list[RunId]:
    """The runs that the process says it finished."""
    lines: list[RunId] = []
    while (line := await heard(process)) != "ready":
        assert line
        lines.append(RunId(line))
    return lines


async def statuses(store: SqliteStore) -> list[RunStatus]:
    """Where each run is, in the order planned."""
    return [run.status for run in await store.runs.runs(RunFilter())]


async def found(store: SqliteStore, where: RunFilter) -> int:
    """How many runs a filter names, counted and listed."""
    listed = len(await store.runs.runs(where))
    assert await store.runs.count(where) == listed
    return listed


async def die(workspace: Path) -> None:
    """Let a process be killed while it has two of three runs under way."""
    async with other_process(workspace, repeats=3, first_finished=2) as process:
        await until_ready(process)


@pytest.fixture(scope="module")
def dead(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a workspace in which a process died."""
    folder = tmp_path_factory.mktemp("dead")
    asyncio.run(die(folder / "workspace.db"))
    return folder


@pytest.fixture
def left(dead: Path, workspace: Path) -> Path:
    """A copy of it."""
    shutil.copytree(dead, workspace.parent, dirs_exist_ok=True)
    return made_own(workspace)


async def test_runs_of_a_killed_process_become_failed_with_the_reason_and_can_be_resumed(left: Path) -> None:
    store = await open_store(left)
    assert await store.runs.interrupt_leftovers() == 2
    assert await statuses(store) == [RunStatus.FAILED] * 2 + [RunStatus.COMPLETED]
    failed = (await store.runs.runs(RunFilter(statuses=(RunStatus.FAILED,))))[0]
    assert failed.failure == FailureInfo(
        "interrupted", "The run was interrupted before it ended.", "Resume the batch to run it again."
    )
    assert await found(store, RunFilter(interrupted=True)) == 2
    assert await found(store, RunFilter(interrupted=False)) == 1
    assert await found(store, RunFilter(statuses=(RunStatus.FAILED,), interrupted=False)) == 0
    assert await found(store, RunFilter(statuses=(RunStatus.COMPLETED,), interrupted=True, order=RunOrder.QUERY)) == 3
    (batch,) = await store.runs.batches()
    assert batch.status is BatchStatus.INTERRUPTED
    assert (batch.count("failed"), batch.interrupted, batch.failed) == (2, 2, 0)
    assert await store.runs.interrupt_leftovers() == 0
    again = await store.runs.unfinished(batch.id)
    assert len(again) == 2
    assert (await store.runs.reopen(batch.id, again, None)).interrupted == 0
    assert await statuses(store) == [RunStatus.PENDING] * 2 + [RunStatus.COMPLETED]
    assert await store.runs.interrupt_leftovers() == 0
    await store.close()
    assert list((data_folder() / "locks").iterdir()) == []


async def test_the_mark_of_a_killed_process_is_removed(workspace: Path) -> None:
    await die(workspace)
    folder = locks_folder(workspace)
    assert folder is not None
    (mark,) = folder.iterdir()
    store = await open_store(workspace)
    assert not mark.exists()
    await store.close()
    assert not folder.exists()


async def test_a_kill_in_the_middle_of_writing_loses_nothing_that_was_finished(workspace: Path) -> None:
    async with other_process(workspace, repeats=500, first_finished=0) as process:
        said = [RunId(await heard(process)) for _ in range(40)]
        await killed(process)
    store = await open_store(workspace)
    await store.runs.interrupt_leftovers()
    done = {run.id for run in await store.runs.runs(RunFilter(statuses=(RunStatus.COMPLETED,)))}
    assert store.notices == ()
    assert set(said) <= done
    assert await store.runs.count(RunFilter()) == 500
    await store.close()
    assert rows(workspace, "PRAGMA integrity_check") == [("ok",)]


async def test_a_batch_left_running_by_a_closed_store_is_interrupted_too(workspace: Path) -> None:
    store = await open_store(workspace)
    filled: Filled = await fill(store, repeats=2)
    await store.close()
    store = await open_store(workspace)
    assert await store.runs.interrupt_leftovers() == 2
    assert (await store.runs.batch(filled.batch.id)).count("failed") == 2
    await store.close()


async def test_a_workspace_whose_opening_failed_half_way_is_held_by_nobody(workspace: Path) -> None:
    store = await open_store(workspace)
    with closing(sqlite3.connect(workspace)) as file:
        file.execute("DROP TABLE batches")
    with pytest.raises(StoreError):
        await Engine.open(workspace, environment={})
    await store.close()
    assert Owner(workspace).others() == ()
    folder = locks_folder(workspace)
    assert folder is not None
    assert not folder.exists()


async def test_what_a_living_process_works_on_is_left_alone_and_neither_resumed_nor_deleted(workspace: Path) -> None:
    async with other_process(workspace, repeats=3, first_finished=2) as process:
        await until_ready(process)
        store = await open_store(workspace)
        assert await store.runs.interrupt_leftovers() == 0
        before = await statuses(store)
        assert before == [RunStatus.RUNNING, RunStatus.RUNNING, RunStatus.COMPLETED]
        (batch,) = await store.runs.batches()
        unfinished = await store.runs.unfinished(batch.id)
        with pytest.raises(InputError, match="is running in another window or command"):
            await store.runs.reopen(batch.id, unfinished, None)
        with pytest.raises(InputError, match="is running in another window or command") as refused:
            await store.runs.remove_batches([batch.id])
        assert refused.value.hint == "Cancel it there first."
        assert await statuses(store) == before
        await killed(process)
    assert await store.runs.interrupt_leftovers() == 2
    assert (await store.runs.reopen(batch.id, unfinished, None)).status is BatchStatus.RUNNING
    await store.runs.remove_batches([batch.id])
    assert await store.runs.batches() == ()
    await store.close()


@pytest.mark.parametrize("spoilt", ["request = '[{'", "request = '5'", "removed_at = created_at"])
async def test_whatever_stands_in_a_batch_that_a_dead_process_left_the_workspace_opens(left: Path, spoilt: str) -> None:
    change(left, f"UPDATE batches SET {spoilt}")
    store = await open_store(left, keep_removed=True)
    assert await store.runs.interrupt_leftovers() > 0
    assert rows(left, "SELECT DISTINCT status FROM batches") == [("interrupted",)]
    if "request" in spoilt:
        with pytest.raises(StoreError, match=r"cannot be read: .*batches, row "):
            await store.runs.batches()
    await store.close()


async def test_a_link_to_a_workspace_leads_to_the_same_locks(workspace: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(workspace)
    async with other_process(workspace, repeats=3, first_finished=2) as process:
        await until_ready(process)
        store = await open_store(link)
        assert await store.runs.interrupt_leftovers() == 0
        (batch,) = await store.runs.batches()
        assert (batch.status, batch.count("failed")) == (BatchStatus.RUNNING, 0)
        await store.close()


async def test_a_file_with_two_hard_links_is_refused_by_both_names(workspace: Path, tmp_path: Path) -> None:
    await (await open_store(workspace)).close()
    other = tmp_path / "other.db"
    other.hardlink_to(workspace)
    for name in (workspace, other):
        for opening in (open_store, open_store_for_reading):
            with pytest.raises(StoreError, match="more than one name"):
                await opening(name)
    other.unlink()
    await (await open_store(workspace)).close()


async def test_a_link_that_leads_nowhere_makes_no_file_elsewhere(tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(StoreError, match="cannot be opened or written"):
        await open_store(link)
    assert not (tmp_path / "elsewhere.db").exists()


@pytest.mark.parametrize("form", ["{file}", "../{name}", "../../{name}", "", ".", "\x00", "x" * 36, "-" * 36, "🚲"])
async def test_a_token_of_a_row_names_no_file(left: Path, tmp_path: Path, form: str) -> None:
    """Beside the workspace lies a lock of another program, and a folder of locks that leads to it."""
    lock = tmp_path / "project" / "Cargo.lock"
    lock.parent.mkdir()
    lock.write_text("kept")
    left.with_name(f"{left.name}-owners").symlink_to(lock.parent)
    token = form.format(file=lock.with_suffix(""), name="project/Cargo")
    change(left, f"UPDATE batches SET owner_token = CAST(x'{token.encode().hex()}' AS TEXT)")
    store = await open_store(left)
    assert await store.runs.interrupt_leftovers() == 2
    await store.close()
    assert lock.read_text() == "kept"


def test_a_lock_that_is_a_link_or_has_two_names_is_neither_followed_nor_removed(workspace: Path) -> None:
    workspace.touch()
    owner, folder = Owner(workspace), locks_folder(workspace)
    assert folder is not None
    folder.mkdir(parents=True)
    victim = workspace.with_name("victim")
    victim.write_text("kept")
    tokens = [str(uuid4()), str(uuid4())]
    (folder / f"{tokens[0]}.lock").symlink_to(victim)
    (folder / f"{tokens[1]}.lock").hardlink_to(victim)
    assert [owner.alive(token) for token in tokens] == [False, False]
    assert owner.others() == ()
    assert victim.read_text() == "kept"
    assert len(list(folder.iterdir())) == 2
