"""The schema: its classes describe it, its hash is known, and a file with another one is refused."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from mcp_tef.errors import StoreError
from mcp_tef.storage.definition_store import DEFINITIONS
from mcp_tef.storage.draft_store import DRAFTS
from mcp_tef.storage.library_tables import LibraryToolRow
from mcp_tef.storage.run_tables import FACTS, RUNS
from mcp_tef.storage.schema import VERSION
from mcp_tef.storage.schema_versions import KNOWN_SCHEMAS, OLDEST, schema_hash
from mcp_tef.storage.store import open_store, open_store_for_reading
from mcp_tef.storage.tables import SERVERS
from mcp_tef.storage.workspace_copies import rename_workspace, save_copy
from mcp_tef.storage.workspace_file import connect, prepare, require_workspace
from tests.support.processes import read_only
from tests.support.workspace_files import VERSION_8, change, fill, loaded, made_own, rows, run_all

(METADATA,) = {table.metadata for table in (DEFINITIONS, DRAFTS, FACTS, RUNS, SERVERS, LibraryToolRow)}
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


async def make(workspace: Path) -> None:
    """Make a workspace with a run in it."""
    store = await open_store(workspace)
    await run_all(store, (await fill(store)).runs)
    await store.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run in it."""
    workspace = tmp_path_factory.mktemp("filled") / "workspace.db"
    asyncio.run(make(workspace))
    return workspace


@pytest.fixture
def ours(filled: Path, workspace: Path) -> Path:
    """A copy of it."""
    return made_own(Path(shutil.copy(filled, workspace)))


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
        made_own(ours)
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
    assert list(KNOWN_SCHEMAS) == list(range(OLDEST, VERSION + 1))
    with closing(sqlite3.connect(workspace)) as connection:
        assert schema_hash(connection) == KNOWN_SCHEMAS[VERSION]


def test_a_workspace_of_version_8_that_was_changed_is_refused(workspace: Path) -> None:
    loaded(VERSION_8, workspace)
    change(workspace, SPY)
    with pytest.raises(StoreError, match="not the one that mcp-tef made for version 8") as caught:
        prepare(workspace, alone=True, lock_wait=1)
    assert caught.value.code == "workspace_schema_foreign"


Reader = Callable[[sqlite3.Connection, str], Any]


def columns(connection: sqlite3.Connection, table: str) -> Any:
    """Name, type, whether it must be filled, and place in the primary key."""
    found = connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,))
    return sorted(found.fetchall())


def foreign_keys(connection: sqlite3.Connection, table: str) -> Any:
    """What refers to what, and what happens when that is deleted."""
    statement = 'SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(?)'
    return sorted(connection.execute(statement, (table,)).fetchall())


def indexes(connection: sqlite3.Connection, table: str) -> Any:
    """Unique or not, partial or not, and the columns with their directions."""
    statement = 'SELECT name, "unique", partial FROM pragma_index_list(?)'
    listed = connection.execute(statement, (table,)).fetchall()
    by_column = 'SELECT name, "desc" FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno'
    return sorted(
        (unique, partial, connection.execute(by_column, (name,)).fetchall()) for name, unique, partial in listed
    )


@pytest.fixture(scope="module")
def created(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new workspace."""
    path = tmp_path_factory.mktemp("created") / "workspace.db"
    prepare(path, alone=True, lock_wait=1)
    return path


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that SQLModel made of the classes."""
    path = tmp_path_factory.mktemp("described") / "workspace.db"
    engine = create_engine(f"sqlite:///{path}")
    METADATA.create_all(engine)
    engine.dispose()
    return path


def test_every_table_is_described_and_made(created: Path) -> None:
    made = rows(created, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    assert {name for (name,) in made} == set(METADATA.tables)


@pytest.mark.parametrize("reader", [columns, foreign_keys, indexes])
def test_tables_are_made_as_they_are_described(created: Path, described: Path, reader: Reader) -> None:
    with closing(sqlite3.connect(created)) as one, closing(sqlite3.connect(described)) as other:
        for table in METADATA.tables:
            assert reader(one, table) == reader(other, table), table


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("mcp_servers", {"id": "1", "name": "a", "transport": "carrier pigeon"}),
        ("mcp_servers", {"id": "1", "name": "a", "transport": "stdio", "status": "starting"}),
        ("mcp_servers", {"id": "1", "name": "a", "transport": "sse", "secret": "sk-live-123"}),
        (
            "model_settings",
            {"id": "1", "provider": "p", "model": "m", "timeout": 0, "temperature": 1, "max_retries": 1},
        ),
        (
            "model_settings",
            {"id": "1", "provider": "p", "model": "m", "timeout": 301, "temperature": 1, "max_retries": 1},
        ),
        (
            "model_settings",
            {"id": "1", "provider": "p", "model": "m", "timeout": 9, "temperature": 2.1, "max_retries": 1},
        ),
        (
            "model_settings",
            {"id": "1", "provider": "p", "model": "m", "timeout": 9, "temperature": 1, "max_retries": 11},
        ),
        ("test_runs", {"id": "1", "test_case_id": "c", "status": "lost"}),
        ("test_runs", {"id": "1", "test_case_id": "c", "confidence_score": 1.1}),
        ("test_runs", {"id": "1", "test_case_id": "c", "classification": "TX"}),
        ("test_runs", {"id": "1", "test_case_id": "c", "execution_time_ms": 0}),
        ("test_runs", {"id": "1", "test_case_id": "nobody"}),
        ("evaluation_results", {"id": "1", "test_run_id": "nobody", "classification": "TP"}),
    ],
)
def test_values_outside_the_data_model_are_refused_by_the_file_itself(
    created: Path, table: str, values: dict[str, Any]
) -> None:
    with closing(sqlite3.connect(created)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("INSERT INTO test_cases (id, name, query) VALUES ('c', 'case', 'query')")
        marks = ", ".join("?" for _ in values)
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
