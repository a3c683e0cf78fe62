"""A file whose schema mcp-tef did not make is refused before any of its triggers, views or checks can run."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.storage.schema_check import KNOWN_SCHEMAS, schema_hash
from mcp_tef.storage.store import open_store, open_store_for_reading
from mcp_tef.storage.workspace_copies import rename_workspace, save_copy
from mcp_tef.storage.workspace_file import MIGRATIONS, VERSION, connect, prepare, require_workspace
from tests.support.dumps import loaded
from tests.support.rights import read_only
from tests.support.stored import change, fill, rows, run_all

STORED = sorted((Path(__file__).parents[2] / "migrations").glob("version_*.sql"))
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
        ("DROP TABLE being_judged", "CREATE VIEW being_judged AS SELECT id AS run_id FROM test_runs"),
        'its view "being_judged" was not made',
    ),
    "another body of a trigger": (
        ("DROP TRIGGER mcp_servers_updated_at", SPY.replace("spy", "mcp_servers_updated_at")),
        'its trigger "mcp_servers_updated_at" was not made',
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
    "a missing trigger": (("DROP TRIGGER mcp_servers_updated_at",), 'it lacks the trigger "mcp_servers_updated_at"'),
    "an older version": ((f"PRAGMA user_version = {VERSION - 1}",), 'its table "batches" was not made'),
    "version 0": (("PRAGMA user_version = 0",), "was not made by mcp-tef"),
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


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_the_schema_of_each_version_is_known(version: int) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for upgrade in MIGRATIONS[:version]:
            upgrade(connection)
        assert KNOWN_SCHEMAS.get(version) == schema_hash(connection)


def test_no_schema_is_known_beside_those_of_the_versions() -> None:
    assert list(KNOWN_SCHEMAS) == list(range(1, VERSION + 1))


@pytest.mark.parametrize("dump", STORED, ids=[dump.stem for dump in STORED])
def test_a_workspace_of_every_past_version_has_a_known_schema(dump: Path, workspace: Path) -> None:
    loaded(dump, workspace)
    with closing(sqlite3.connect(workspace)) as connection:
        assert schema_hash(connection) == KNOWN_SCHEMAS[int(dump.stem.removeprefix("version_"))]
