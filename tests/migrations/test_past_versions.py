"""A workspace of every past version opens, keeps what it held, and then has the schema of a new one."""

import re
from pathlib import Path

import pytest

from mcp_tef.model.runs import BatchStatus, RunFilter, RunStatus
from mcp_tef.model.servers import ServerStatus
from mcp_tef.model.verdicts import Classification
from mcp_tef.storage.store import open_store
from mcp_tef.storage.workspace_file import MIGRATIONS, VERSION, prepare
from tests.support.dumps import loaded, schema
from tests.support.stored import fill, offered, right, rows, run_all, tool

HERE = Path(__file__).parent
STORED = sorted(HERE.glob("version_*.sql"))


def number(dump: Path) -> int:
    """The version that a stored database has."""
    return int(dump.stem.removeprefix("version_"))


@pytest.fixture(params=STORED, ids=[dump.stem for dump in STORED])
def past(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, int]:
    """A workspace of a past version, and that version."""
    dump: Path = request.param
    path = tmp_path / "workspace.db"
    loaded(dump, path)
    return path, number(dump)


def test_a_database_of_every_version_is_kept() -> None:
    assert [number(dump) for dump in STORED] == list(range(1, VERSION + 1))


def test_every_step_has_a_number_and_says_why() -> None:
    for place, upgrade in enumerate(MIGRATIONS, start=1):
        assert re.search(rf"\.m{place:04}_\w+$", upgrade.__module__)


def test_it_ends_with_the_schema_of_a_new_workspace(past: tuple[Path, int], tmp_path: Path) -> None:
    path, _ = past
    prepare(path, alone=True, lock_wait=1)
    prepare(tmp_path / "new.db", alone=True, lock_wait=1)
    assert schema(path) == schema(tmp_path / "new.db")
    assert rows(path, "PRAGMA foreign_key_check") == []
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


async def test_a_copy_is_taken_first_where_something_changes(past: tuple[Path, int]) -> None:
    path, version = past
    store = await open_store(path)
    await store.close()
    copies = list(path.parent.glob("*.bak"))
    assert [rows(copy, "PRAGMA user_version")[0][0] for copy in copies] == ([version] if version < VERSION else [])
    assert len(store.notices) == len(copies)


async def test_servers_and_cases_are_as_they_were(past: tuple[Path, int]) -> None:
    store = await open_store(past[0])
    docs, files = await store.servers.all()
    assert (docs.name, docs.status, docs.spec.secret) == ("docs", ServerStatus.ACTIVE, "${DOCS_TOKEN}")
    assert (files.status, files.reason, files.exit_code) == (ServerStatus.FAILED, "It ended at once.", 3)
    listing = await store.servers.listing(docs.id)
    assert listing is not None
    assert listing.tools == (tool(), tool("read"))
    assert [case.draft.suites for case in await store.cases.all()] == [("Everyday",), ("Everyday", "Nightly")]
    await store.close()


async def test_runs_are_as_they_were_and_can_be_resumed(past: tuple[Path, int]) -> None:
    store = await open_store(past[0])
    (batch,) = await store.runs.batches()
    assert batch.counts == {"TP": 3, "FN": 1, "failed": 1, "cancelled": 1, "pending": 2}
    (judged, *_) = await store.runs.runs(RunFilter(classifications=(Classification.TP,)))
    detail = await store.runs.detail(judged.id)
    assert detail.snapshot is not None
    assert detail.snapshot.tools == offered(tool(), tool("read"))
    assert detail.answer == right((await store.runs.unfinished(batch.id))[0]).answer
    assert await store.runs.interrupt_leftovers() == 2
    assert (await store.runs.batch(batch.id)).status is BatchStatus.INTERRUPTED
    await store.runs.reopen(batch.id, await store.runs.unfinished(batch.id), None)
    assert await store.runs.count(RunFilter(statuses=(RunStatus.PENDING,))) == 3
    await store.close()


async def test_calls_by_hand_and_what_was_last_seen_are_as_they_were(past: tuple[Path, int]) -> None:
    store = await open_store(past[0])
    docs, _ = await store.servers.all()
    calls, seen = await store.calls.of_server(docs.id), await store.servers.accepted_listing(docs.id)
    await store.close()
    if past[1] < 7:
        assert (calls, seen) == ((), None)
        return
    assert [(call.tool, call.arguments, call.reply.text) for call in calls if call.reply] == [
        ("search", {"query": "retry"}, "Nothing found.")
    ]
    assert seen is not None
    assert [item.description for item in seen.tools] == ["Looks.", "Looks for words."]


async def test_new_runs_share_the_tools_that_are_there(past: tuple[Path, int]) -> None:
    store = await open_store(past[0])
    filled = await fill(store)
    await run_all(store, filled.runs, tool(), tool("read"))
    await store.close()
    assert rows(past[0], "SELECT count(*) FROM tool_definitions") == [(2,)]
