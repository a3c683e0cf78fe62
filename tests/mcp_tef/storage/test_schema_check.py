"""A file whose schema mcp-tef did not make is refused before any of its triggers, views or checks can run."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.storage.schema import VERSION
from mcp_tef.storage.schema_check import KNOWN_SCHEMAS, schema_hash
from mcp_tef.storage.schema_upgrade import OLDEST
from mcp_tef.storage.store import open_store, open_store_for_reading
from mcp_tef.storage.workspace_copies import rename_workspace, save_copy
from mcp_tef.storage.workspace_file import connect, prepare, require_workspace
from tests.support.processes import read_only
from tests.support.workspace_files import VERSION_8, change, fill, loaded, rows, run_all

SPY = "CREATE TRIGGER spy AFTER INSERT ON test_runs BEGIN DELETE FROM mcp_servers; END"
WRITABLE, NO_LONGER = "PRAGMA writable_schema = ON", "PRAGMA writable_schema = OFF"


def edited(name: str, before: str, after: str) -> tuple[str, ...]:
    """The statements that change the SQL of one object behind SQLite's back."""
    text = f"UPDATE sqlite_schema SET sql = replace(sql, '{before}', '{after}') WHERE name = '{name}'"
    return WRITABLE, text, NO_LONGER


TABLE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"
ATTACKS: dict[str, tuple[tuple[str, ...], str]] = {
    "another trigger": ((SPY,), 'its trigger "spy" was not made by mcp-tef'),
    "another table": ((TABLE,), 'its table "notes" was not made by mcp-tef'),
    "another index": (("CREATE INDEX mine ON test_runs (status)",), 'its index "mine" was not made'),
    "a view in the place of a table": (
        ("DROP TABLE past_verdicts", "CREATE VIEW past_verdicts AS SELECT id AS test_run_id FROM test_runs"),
        'its view "past_verdicts" was not made',
    ),
    "another body of a trigger": (
        ("DROP TRIGGER test_runs_drop_snapshot", SPY.replace("spy", "test_runs_drop_snapshot")),
        'its trigger "test_runs_drop_snapshot" was not made',
    ),
    "a virtual table": (
        (
            WRITABLE,
            "INSERT INTO sqlite_schema VALUES ('table', 'search', 'search', 0, 'CREATE VIRTUAL TABLE search USING x')",
            NO_LONGER,
        ),
        'its table "search" was not made',
    ),
    "a generated column": (
        ("ALTER TABLE suites ADD COLUMN twice TEXT AS (name || name)",),
        'its table "suites" was not made',
    ),
    "a check": (
        edited("suites", "name TEXT NOT NULL", "name TEXT NOT NULL CHECK (length(randomblob(9)) > 0)"),
        'its table "suites" was not made',
    ),
    "a default that is computed": (
        edited("batches", "CURRENT_TIMESTAMP", "(hex(randomblob(9)))"),
        'its table "batches" was not made',
    ),
    "a comment": (edited("suites", "name TEXT", "name /* */ TEXT"), 'its table "suites" was not made'),
    "white space": (edited("suites", "name TEXT", "name  TEXT"), 'its table "suites" was not made'),
    "a missing trigger": (("DROP TRIGGER test_runs_drop_snapshot",), 'it lacks the trigger "test_runs_drop_snapshot"'),
    "an older version": (
        (f"PRAGMA user_version = {OLDEST}",),
        "made for version 8",
    ),
    "version 0": (("PRAGMA user_version = 0",), "made for version 0"),
    "a name that could steer a terminal": (
        ('CREATE TABLE "\x1b[2J\u202ename" (id TEXT)',),
        r'its table "\u001b[2J\u202ename" was not made',
    ),
}


@pytest.fixture
async def ours(workspace: Path) -> Path:
    """A workspace with a run in it."""
    store = await open_store(workspace)
    filled = await fill(store)
    await run_all(store, filled.runs)
    await store.close()
    return workspace


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_schema_that_mcp_tef_did_not_make_is_refused_and_left_as_it_is(ours: Path, attack: str) -> None:
    statements, said = ATTACKS[attack]
    change(ours, "PRAGMA journal_mode = DELETE", *statements)
    before = content_of(ours)
    for opening in (open_store, open_store_for_reading):
        with pytest.raises(StoreError) as caught:
            await opening(ours)
        assert caught.value.code == "workspace_schema_foreign"
        assert caught.value.message.startswith("The workspace workspace.db is refused: ")
        assert said in caught.value.message
        assert caught.value.hint.startswith("Nothing was changed.")
    with pytest.raises(StoreError, match="is refused"):
        require_workspace(ours)
    with pytest.raises(StoreError, match="is refused"):
        rename_workspace(ours, "other")
    assert content_of(ours) == before
    assert [file.name for file in ours.parent.iterdir()] == ["workspace.db"]


def content_of(path: Path) -> bytes:
    """The bytes of a file."""
    return path.read_bytes()


async def test_a_workspace_that_cannot_be_written_is_compared_as_well(ours: Path) -> None:
    change(ours, SPY)
    with read_only(ours.parent), pytest.raises(StoreError, match=r'its trigger "spy" was not made'):
        await open_store_for_reading(ours)


async def test_a_trigger_in_a_journal_is_found(ours: Path) -> None:
    with closing(sqlite3.connect(ours, isolation_level=None)) as other:
        other.execute(SPY)
        assert ours.with_name("workspace.db-wal").stat().st_size > 0
        with pytest.raises(StoreError, match=r'its trigger "spy" was not made'):
            await open_store(ours)


async def test_a_trigger_that_comes_while_a_workspace_is_open_does_not_run_in_its_copy(ours: Path) -> None:
    tools = ours.with_name("workspace-tools")
    tools.mkdir()
    change(ours, "CREATE TRIGGER late AFTER UPDATE ON mcp_servers BEGIN DELETE FROM test_runs; END")
    with pytest.raises(StoreError, match=r'its trigger "late" was not made'):
        save_copy(ours, ours.with_name("copy.db"))
    assert rows(ours, "SELECT count(*) FROM test_runs") == [(1,)]
    assert not ours.with_name("copy.db").exists()


async def test_statistics_of_sqlite_are_no_reason_to_refuse(ours: Path) -> None:
    change(ours, "ANALYZE")
    await (await open_store(ours)).close()


def test_nothing_in_a_schema_is_trusted_with_functions_that_have_effects(workspace: Path) -> None:
    prepare(workspace, alone=True, lock_wait=1)
    with closing(connect(workspace)) as connection:
        connection.create_function("leak", 1, lambda value: value)
        connection.execute("CREATE VIEW seen AS SELECT leak('x')")
        with pytest.raises(sqlite3.OperationalError, match="unsafe use of leak"):
            connection.execute("SELECT * FROM seen")


def test_the_schema_is_the_one_that_is_known_for_its_version(workspace: Path) -> None:
    prepare(workspace, alone=True, lock_wait=1)
    assert list(KNOWN_SCHEMAS) == [OLDEST, VERSION]
    with closing(sqlite3.connect(workspace)) as connection:
        assert schema_hash(connection) == KNOWN_SCHEMAS[VERSION]


def test_a_workspace_of_version_8_that_was_changed_is_refused(workspace: Path) -> None:
    loaded(VERSION_8, workspace)
    change(workspace, SPY)
    with pytest.raises(StoreError, match="not the one that mcp-tef made for version 8") as caught:
        prepare(workspace, alone=True, lock_wait=1)
    assert caught.value.code == "workspace_schema_foreign"
