"""Check that a file has exactly a schema that mcp-tef makes, and the upgrades of older ones.

A workspace may come from somebody else, and its triggers, views and checks would run with our statements. So only the
schemas in `KNOWN_SCHEMAS` are opened.
"""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias

from mcp_tef.errors import StoreError
from mcp_tef.storage.columns import mark_of
from mcp_tef.storage.schema import VERSION, create_schema, new_database
from mcp_tef.storage.schema_columns import ADDED_COLUMNS

_Object: TypeAlias = tuple[bytes, bytes, bytes, bytes | None]

KNOWN_SCHEMAS: Final = {
    8: "c240f945e56a7a34e5710de6397a3172a2aaf14de28ce3087e7977e35b35d11f",
    9: "44b54294bdb348be3fc1313475271f0f45656a30d93a36b847e62a59131e0341",
    10: "a06a6e9a307a9da84886f551bfa5559be2fcde297052ed65fa057bb25288afeb",
    11: "a19f248b312dced8df55d4110e31844e36244db0db689c6a7c24c67ef537a98e",
    12: "73d847f834374dfcf641c03d7a93899e6bf753a5ad1673d2f239f3ed4db138b9",
    13: "4cdbd3ce3435876e3b5e8106d91f6084b1fa9ea63a34598d1eba9a84f3d977d8",
    14: "3cfa2c860c7405fd1a28c615bc66b620543bf8725040a8e65248d2446b6f4dbe",
    15: "03020d36c0cf4d302669a3c0c77e9386f9682558fb57cbe5dcbde3a56bbad2cc",
}
"""The hash of each schema that can be opened, by version; `upgrade` turns the older into the newest."""

_STATISTICS = frozenset(
    {
        (b"table", b"sqlite_stat1", b"sqlite_stat1", b"CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
        (b"table", b"sqlite_stat4", b"sqlite_stat4", b"CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
    }
)
"""Tables of SQLite's own that ANALYZE adds, which change no result."""
_KINDS = frozenset({"table", "index", "trigger", "view"})
_LONGEST_NAME = 80


def schema_hash(connection: sqlite3.Connection) -> str:
    """Return the SHA-256 of every object's type, name, table and SQL, in order of these, as hexadecimal digits."""
    return hashlib.sha256(repr(_objects(connection)).encode()).hexdigest()


def require_known_schema(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Raise StoreError unless the schema is exactly that of a version; the first object that differs is named.

    Nothing of the file is executed: SQLite parses its schema, and its rows are read as bytes.
    """
    if schema_hash(connection) == KNOWN_SCHEMAS.get(version):
        return
    raise StoreError(
        f"The workspace {path.name} is refused: {_difference(connection, version)}.",
        hint="Nothing was changed. Use a workspace that only mcp-tef has changed.",
        code="workspace_schema_foreign",
        context={"path": str(path)},
    )


def _difference(connection: sqlite3.Connection, version: int) -> str:
    if version != VERSION:
        return f"its schema is not the one that mcp-tef made for version {version}"
    with closing(new_database()) as own:
        expected = _objects(own)
    found = _objects(connection)
    for item in found:
        if item not in expected:
            return f"its {_label(item)} was not made by mcp-tef"
    missing = next(item for item in expected if item not in found)
    return f"it lacks the {_label(missing)}"


def _objects(connection: sqlite3.Connection) -> list[_Object]:
    """Return what the file defines, without what SQLite adds by itself."""
    before, connection.text_factory = connection.text_factory, bytes
    try:
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    finally:
        connection.text_factory = before
    return sorted((row for row in rows if not _is_automatic(row)), key=repr)


def _is_automatic(row: _Object) -> bool:
    kind, name, _, sql = row
    if kind == b"index" and sql is None and isinstance(name, bytes):
        return name.startswith(b"sqlite_autoindex_")
    return row in _STATISTICS


def _label(row: _Object) -> str:
    kind, name = (str(part, "utf-8", "replace") if isinstance(part, bytes) else str(part) for part in row[:2])
    shown = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in name[:_LONGEST_NAME])
    return f'{kind if kind in _KINDS else "object"} "{shown}"'


OLDEST: Final = 8
"""The oldest version that can be opened."""

_RENAMED_COLUMNS = (
    ("evaluation_results", "alternative", "matched_alternative"),
    ("test_cases", "expected_calls", "expectation"),
    ("test_runs", "words", "answer_text"),
    ("tool_definitions", "raw", "raw_definition"),
)
"""Columns of tables that stay otherwise as they are, which include the large ones."""

_OF_VERDICT = "FROM evaluation_results WHERE test_run_id = run_id"
_FACTS_OF_RUNS = {
    "mark": f"(SELECT mark(classification, parameters_ok, unreadable) {_OF_VERDICT})",
    "unreadable": f"coalesce((SELECT unreadable {_OF_VERDICT}), 0)",
    "failure_code": "(SELECT error_code FROM test_runs WHERE id = run_id)",
}
_WITH_OUTCOME = "with_outcome({record}, " + ", ".join(_FACTS_OF_RUNS.values()) + ")"

_REPLACED_TABLES = {
    8: {
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
            "metrics": _WITH_OUTCOME.format(record="from_hexadecimal(figures)"),
            **_FACTS_OF_RUNS,
        },
    },
    9: {"run_facts": {"metrics": _WITH_OUTCOME.format(record="metrics"), **_FACTS_OF_RUNS}},
}
"""Tables that are created anew, by version, with the source of each column that is not copied from its namesake."""

_RENAMED_TABLES = {"fact_keys": "words"}
_DROPPED_TABLES = ("being_judged", "consents")

_MARK_UNREADABLE = """
UPDATE evaluation_results SET unreadable = 1
WHERE test_run_id IN (SELECT id FROM test_runs WHERE classification IS NOT NULL AND calls IS NULL)
"""
_CATEGORISE = """
UPDATE evaluation_results SET confidence_category = (
    SELECT category(test_runs.classification, parameters_ok, unreadable, confidence_score)
    FROM test_runs WHERE test_runs.id = test_run_id
)
"""
_FILLED_COLUMNS = {10: (_MARK_UNREADABLE, _CATEGORISE)}


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Turn an older version into the newest, in the transaction that is open; foreign keys must be off."""
    for name, arguments, function in _FUNCTIONS:
        connection.create_function(name, arguments, function, deterministic=True)
    if version == OLDEST:
        _rename_parts(connection)
    for later in range(version + 1, VERSION + 1):
        _add_columns(connection, later)
    replaced = _REPLACED_TABLES.get(version, {})
    for table in replaced:
        _set_aside(connection, _RENAMED_TABLES.get(table, table) if version == OLDEST else table, f"previous_{table}")
    create_schema(connection)
    for table, sources in replaced.items():
        _copy_rows(connection, f"previous_{table}", table, sources)
        connection.execute(f"DROP TABLE previous_{table}")


def _add_columns(connection: sqlite3.Connection, version: int) -> None:
    """Add the columns of one version, and fill those that follow from others."""
    for table, columns in ADDED_COLUMNS.get(version, {}).items():
        for column in columns:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    for statement in _FILLED_COLUMNS.get(version, ()):
        connection.execute(statement)


def _rename_parts(connection: sqlite3.Connection) -> None:
    """Drop the triggers and tables of version 8 that went, and rename columns."""
    dropped = "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view')"
    for kind, name in connection.execute(dropped).fetchall():
        connection.execute(f"DROP {kind} {name}")
    for table in _DROPPED_TABLES:
        connection.execute(f"DROP TABLE {table}")
    for table, before, after in _RENAMED_COLUMNS:
        connection.execute(f"ALTER TABLE {table} RENAME COLUMN {before} TO {after}")


def _category(classification: str, parameters_ok: int | None, unreadable: int, confidence: float | None) -> str | None:
    from mcp_tef.scoring.judge import categorise

    mark = mark_of(classification, parameters_ok, unreadable)
    return categorise(mark, confidence, unreadable=bool(unreadable)) if mark else None


def _with_outcome(record: bytes, mark: str | None, unreadable: int, failure_code: str | None) -> bytes:
    from mcp_tef.statistics.run_codes import outcome_codes

    return record + bytes(outcome_codes(mark, unreadable, failure_code))


_FUNCTIONS: Final[tuple[tuple[str, int, Callable[..., str | bytes | None]], ...]] = (
    ("from_hexadecimal", 1, bytes.fromhex),
    ("mark", 3, mark_of),
    ("category", 4, _category),
    ("with_outcome", 4, _with_outcome),
)


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
