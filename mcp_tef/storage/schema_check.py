"""Compares the schema of a file with those that mcp-tef makes: triggers, views and checks in a file are code.

A workspace may come from somebody else, and its triggers would run with our statements. Only schemas of
this list are opened; each migration that changes the schema adds its own.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias

from mcp_tef.errors import StoreError

Migration: TypeAlias = Callable[[sqlite3.Connection], None]
_Row: TypeAlias = tuple[bytes, bytes, bytes, bytes | None]

KNOWN_SCHEMAS: Final = {
    1: "28c17f33378859c4fdfaa8b4ab409c3677831e0a37bf264a7d6b366c977d51ac",
    2: "dbd99d7887dd1022f192a404ff1d11f693ea2e59777986aa8907da501a94ad57",
    3: "42f376d18fac5436622b3c03378d094d45a6065bd5d43f1e8b538527d1b87c84",
    4: "bf3d45cb3ab8ade93729fd8fc67137ed5d6a358721b4a30f27d047c8dccd310c",
    5: "f04e3f83c4d2e2910b6b2160f2778a07ec07129592a68fe1e4023dad33f1889f",
    6: "e8712c67c6f39ce4845bc6a318697aadd760071d8c4a4621afe35cf3c52ead59",
    7: "df91b1c954e4ea3b058413642c34a30ee7d3347fbb15783fce52339bf595642b",
    8: "c240f945e56a7a34e5710de6397a3172a2aaf14de28ce3087e7977e35b35d11f",
}
"""The hash of each version's schema, by version."""

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


def require_known_schema(
    connection: sqlite3.Connection, path: Path, version: int, migrations: Sequence[Migration]
) -> None:
    """Raise StoreError unless the schema is exactly that of a version; the first object that differs is named.

    Nothing of the file is executed: SQLite parses its schema, and its rows are read as bytes.
    """
    if schema_hash(connection) == KNOWN_SCHEMAS.get(version):
        return
    raise StoreError(
        f"The workspace {path.name} is refused: {_difference(connection, migrations[:version])}.",
        hint="Nothing was changed. Use a workspace that only mcp-tef has changed.",
        code="workspace_schema_foreign",
        context={"path": str(path)},
    )


def _difference(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> str:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as own:
        for upgrade in migrations:
            upgrade(own)
        expected = _objects(own)
    found = _objects(connection)
    for item in found:
        if item not in expected:
            return f"its {_label(item)} was not made by mcp-tef"
    for item in expected:
        if item not in found:
            return f"it lacks the {_label(item)}"
    return "it is of no known version"


def _objects(connection: sqlite3.Connection) -> list[_Row]:
    """Return what the file defines, without what SQLite adds by itself."""
    before, connection.text_factory = connection.text_factory, bytes
    try:
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    finally:
        connection.text_factory = before
    return sorted((row for row in rows if not _is_automatic(row)), key=repr)


def _is_automatic(row: _Row) -> bool:
    kind, name, _, sql = row
    if kind == b"index" and sql is None and isinstance(name, bytes):
        return name.startswith(b"sqlite_autoindex_")
    return row in _STATISTICS


def _label(row: _Row) -> str:
    kind, name = (str(part, "utf-8", "replace") if isinstance(part, bytes) else str(part) for part in row[:2])
    shown = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in name[:_LONGEST_NAME])
    return f'{kind if kind in _KINDS else "object"} "{shown}"'
