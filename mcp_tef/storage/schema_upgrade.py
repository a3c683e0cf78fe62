"""Upgrade of a workspace of version 8, in place and in one transaction."""

import sqlite3
from typing import Final

from mcp_tef.storage.schema import create_schema

OLDEST: Final = 8
"""The oldest version that can be opened."""

_RENAMED_COLUMNS = (
    ("evaluation_results", "alternative", "matched_alternative"),
    ("test_cases", "expected_calls", "expectation"),
    ("test_runs", "words", "answer_text"),
    ("tool_definitions", "raw", "raw_definition"),
)
"""Columns of tables that stay otherwise as they are, which include the large ones."""

_REPLACED_TABLES = {
    "mcp_servers": {
        "auth_type": "coalesce(json_extract(oauth, '$.grant'), auth_type)",
        "oauth": "json_remove(oauth, '$.grant')",
    },
    "server_listings": {"accepted_listing": "accepted"},
    "batches": {"owner_token": "owner"},
    "fact_keys": {"value": "word"},
    "run_facts": {
        "batch_key": "batch",
        "case_key": "test_case",
        "model_key": "model",
        "snapshot_key": "snapshot",
        "expected_tool_key": "expected",
        "selected_tool_key": "selected",
        "invented_tool": "invented",
        "confidence_score": "confidence",
        "metrics": "from_hexadecimal(figures)",
    },
}
"""Tables that are created anew, with the source of each column that is not copied from one of the same name."""

_RENAMED_TABLES = {"fact_keys": "words"}
_DROPPED_TABLES = ("being_judged", "consents")


def upgrade(connection: sqlite3.Connection) -> None:
    """Turn version 8 into the newest version, in the transaction that is open; foreign keys must be off."""
    connection.create_function("from_hexadecimal", 1, bytes.fromhex, deterministic=True)
    dropped = "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view')"
    for kind, name in connection.execute(dropped).fetchall():
        connection.execute(f"DROP {kind} {name}")
    for table in _DROPPED_TABLES:
        connection.execute(f"DROP TABLE {table}")
    for table, before, after in _RENAMED_COLUMNS:
        connection.execute(f"ALTER TABLE {table} RENAME COLUMN {before} TO {after}")
    for table in _REPLACED_TABLES:
        _set_aside(connection, _RENAMED_TABLES.get(table, table), f"previous_{table}")
    create_schema(connection)
    for table, sources in _REPLACED_TABLES.items():
        _copy_rows(connection, f"previous_{table}", table, sources)
        connection.execute(f"DROP TABLE previous_{table}")


def _set_aside(connection: sqlite3.Connection, table: str, name: str) -> None:
    """Rename a table; its indexes are dropped, since the new table takes their names."""
    indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    for (index,) in connection.execute(indexes, (table,)).fetchall():
        connection.execute(f"DROP INDEX {index}")
    connection.execute(f"ALTER TABLE {table} RENAME TO {name}")


def _copy_rows(connection: sqlite3.Connection, previous: str, table: str, sources: dict[str, str]) -> None:
    columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    copied = ", ".join(sources.get(name, name) for name in columns)
    statement = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {copied} FROM {previous}"  # noqa: S608  # own names
    connection.execute(statement)
