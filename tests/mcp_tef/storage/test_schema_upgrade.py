"""A workspace of version 8 to 14 opens with all that it held and today's schema; older ones are refused."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchStatus, ModelSettings, RunStatus
from mcp_tef.model.servers import AuthType, ServerStatus
from mcp_tef.storage.schema import VERSION
from mcp_tef.storage.schema_versions import schema_hash
from mcp_tef.storage.store import SqliteStore, open_store
from mcp_tef.storage.workspace_file import prepare
from tests.support.command_line import say
from tests.support.workspace_files import VERSION_8, change, fill, loaded, offered, rows, run_all, tool

PRINTED = json.loads(VERSION_8.with_suffix(".json").read_text("utf-8"))
"""Output of the commands of the last version before, for the same workspace."""
MADE_WHEN_OPENED = ("completed_at", "error", "findings")
WORDS = ModelSettings(provider="offline", model="words")


@pytest.fixture(params=[8, 9, 10, 11, 12, 13, 14])
def version(request: pytest.FixtureRequest) -> int:
    """A version that can be opened."""
    return int(request.param)


@pytest.fixture
def past(workspace: Path, version: int) -> Path:
    """The same workspace in an older version."""
    loaded(VERSION_8.with_name(f"workspace_version_{version}.sql"), workspace)
    return workspace


@pytest.fixture
async def upgraded(past: Path) -> SqliteStore:
    """The same workspace, opened."""
    return await open_store(past)


def hash_of(path: Path) -> str:
    """The hash of a file's schema."""
    with closing(sqlite3.connect(path)) as connection:
        return schema_hash(connection)


def lasting(value: Any) -> Any:
    """A document without what opening a workspace changes (interrupted runs), and what that version did not print."""
    if isinstance(value, list):
        return [lasting(one) for one in value]
    if isinstance(value, dict):
        return {name: lasting(one) for name, one in value.items() if name not in MADE_WHEN_OPENED}
    return value


def test_commands_print_what_they_printed_before(past: Path) -> None:
    for words, document in PRINTED.items():
        assert lasting(say(*words.split(), "--json", "--workspace", past).document) == lasting(document), words


def test_it_has_the_schema_of_a_new_workspace_and_every_reference_holds(past: Path, tmp_path: Path) -> None:
    prepare(past, alone=True, lock_wait=1)
    prepare(tmp_path / "new.db", alone=True, lock_wait=1)
    assert hash_of(past) == hash_of(tmp_path / "new.db")
    assert rows(past, "PRAGMA user_version") == [(VERSION,)]
    assert rows(past, "PRAGMA foreign_key_check") == []
    assert rows(past, "PRAGMA integrity_check") == [("ok",)]


def test_a_copy_is_taken_first_and_named(past: Path, version: int) -> None:
    (notice,) = prepare(past, alone=True, lock_wait=1)
    copy = past.with_name(f"workspace.db.v{version}.bak")
    assert copy.name in notice
    assert rows(copy, "PRAGMA user_version") == [(version,)]
    assert rows(copy, "SELECT count(*) FROM test_runs") == rows(past, "SELECT count(*) FROM test_runs")
    assert prepare(past, alone=True, lock_wait=1) == ()


async def test_servers_listings_and_calls_are_as_they_were(upgraded: SqliteStore) -> None:
    docs, files, wiki = await upgraded.servers.all()
    assert (docs.status, docs.spec.secret) == (ServerStatus.ACTIVE, "${DOCS_TOKEN}")
    assert (files.status, files.reason, files.exit_code) == (ServerStatus.FAILED, "It ended at once.", 3)
    assert (wiki.spec.auth_type, wiki.spec.oauth.client_id) == (AuthType.CLIENT_CREDENTIALS, "mcp-tef")
    listing, seen = await upgraded.servers.listing(docs.id), await upgraded.servers.accepted_listing(docs.id)
    assert listing is not None
    assert seen is not None
    assert listing.tools == (tool(), tool("read"))
    assert [item.description for item in seen.tools] == ["Looks.", "Looks for words."]
    (call,) = await upgraded.calls.of_server(docs.id)
    assert call.reply is not None
    assert (call.tool, call.arguments, call.reply.text) == ("search", {"query": "retry"}, "Nothing found.")
    await upgraded.close()


async def test_runs_are_as_they_were_and_can_be_resumed(upgraded: SqliteStore) -> None:
    second, first = await upgraded.runs.batches()
    assert first.counts == {"TP": 3, "FN": 1, "failed": 1, "cancelled": 1, "pending": 2}
    assert second.counts == {"FN": 11, "FP": 5, "TN": 1, "TP": 6, "failed": 1}
    details = [await upgraded.runs.detail(run.id) for run in await upgraded.runs.runs(RunFilter(batch_id=first.id))]
    assert details[0].snapshot is not None
    assert details[0].snapshot.tools == offered(tool(), tool("read"))
    assert details[0].answer is not None
    assert (details[0].answer.words, details[0].answer.confidence) == ("I will look for it.", 0.9)
    assert [len(detail.past_verdicts) for detail in details] == [1, 0, 0, 0, 0, 0, 0, 0]
    assert await upgraded.runs.interrupt_leftovers() == 2
    assert (await upgraded.runs.batch(first.id)).status is BatchStatus.INTERRUPTED
    await upgraded.runs.reopen(first.id, await upgraded.runs.unfinished(first.id), None)
    assert await upgraded.runs.count(RunFilter(statuses=(RunStatus.PENDING,))) == 3
    await upgraded.close()


async def test_runs_done_again_have_their_new_settings_and_the_others_keep_theirs(
    upgraded: SqliteStore,
) -> None:
    _, first = await upgraded.runs.batches()
    before = {run.id: run.model for run in await upgraded.runs.runs(RunFilter(batch_id=first.id))}
    again = [replace(run, settings=WORDS) for run in await upgraded.runs.unfinished(first.id)]
    for _ in range(2):
        await upgraded.runs.reopen(first.id, again, None)
    after = {run.id: run.model for run in await upgraded.runs.runs(RunFilter(batch_id=first.id))}
    assert after == before | {run.id: "offline/words" for run in again}
    assert (await upgraded.runs.batch(first.id)).models == (*first.models, "offline/words")
    await upgraded.close()


async def test_new_runs_share_the_tools_that_are_there(upgraded: SqliteStore, past: Path) -> None:
    before = rows(past, "SELECT count(*) FROM tool_definitions")
    filled = await fill(upgraded)
    await run_all(upgraded, filled.runs, tool(), tool("read"))
    assert rows(past, "SELECT count(*) FROM tool_definitions") == before
    await upgraded.close()


@pytest.mark.parametrize("version", [8])
def test_an_upgrade_that_fails_leaves_the_workspace_as_it_was(past: Path) -> None:
    change(past, "UPDATE run_facts SET figures = 'no hexadecimal digits' WHERE position = 1")
    before = hash_of(past)
    with pytest.raises(StoreError, match="could not be used"):
        prepare(past, alone=True, lock_wait=1)
    assert hash_of(past) == before
    assert rows(past, "PRAGMA user_version") == [(8,)]


@pytest.mark.parametrize("older", [1, 7])
def test_an_older_version_is_refused_with_a_way_out_and_not_changed(past: Path, older: int) -> None:
    change(past, f"PRAGMA user_version = {older}")
    before = past.read_bytes()
    with pytest.raises(StoreError, match=f"made by an older mcp-tef .version {older}") as caught:
        prepare(past, alone=True, lock_wait=1)
    assert caught.value.code == "workspace_too_old"
    assert "27e12ba" in caught.value.hint
    assert past.read_bytes() == before
    assert [file.name for file in past.parent.iterdir()] == ["workspace.db"]
