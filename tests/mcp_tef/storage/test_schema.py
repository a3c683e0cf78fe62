"""The tables that the code names are those of the schema, and the schema has the hash that is known."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from mcp_tef.storage.columns import StoredRow
from mcp_tef.storage.workspace_file import prepare
from tests.support.workspace_files import rows

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
    StoredRow.metadata.create_all(engine)
    engine.dispose()
    return path


def test_every_table_is_described_and_made(created: Path) -> None:
    made = rows(created, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    assert {name for (name,) in made} == set(StoredRow.metadata.tables)


@pytest.mark.parametrize("table", sorted(StoredRow.metadata.tables))
@pytest.mark.parametrize("reader", [columns, foreign_keys, indexes])
def test_tables_are_made_as_they_are_described(created: Path, described: Path, reader: Reader, table: str) -> None:
    with closing(sqlite3.connect(created)) as one, closing(sqlite3.connect(described)) as other:
        assert reader(one, table) == reader(other, table)


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
    tmp_path: Path, table: str, values: dict[str, Any]
) -> None:
    path = tmp_path / "workspace.db"
    prepare(path, alone=True, lock_wait=1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("INSERT INTO test_cases (id, name, query) VALUES ('c', 'case', 'query')")
        marks = ", ".join("?" for _ in values)
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
