"""Recovery of a damaged workspace: what can still be read is copied to a new file, table by table.

Each row is read by its number, so that a page that is spoilt costs only the rows on it. Tables that are computed from
others are not copied; `run_facts` fills them again.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp_tef.storage.schema import new_database
from mcp_tef.storage.sqlite_errors import CheckedConnection

_FIRST: Final = ("mcp_servers", "test_cases", "drafts", "draft_steps", "suites", "server_listings", "definitions")
_COMPUTED: Final = frozenset({"run_facts", "fact_keys", "tool_names", "workspace_identity"})
_LABELS: Final = {"mcp_servers": "servers", "test_cases": "cases", "test_runs": "runs"}
_TOLD: Final = ("test_cases", "mcp_servers", "drafts", "batches", "test_runs")
_MOST_ROUNDS: Final = 10
_LAST_ROW: Final = 2**62


@dataclass(frozen=True, slots=True)
class SavedRows:
    """The rows of one table that were saved, and how many the damaged file says it had; None where it cannot say."""

    table: str
    saved: int
    before: int | None

    def __str__(self) -> str:
        label = _LABELS.get(self.table, self.table.replace("_", " "))
        if self.before is None:
            return f"{self.saved} {label} (others may be lost)"
        return f"{self.saved} of {max(self.before, self.saved)} {label}"


def salvage(damaged: Path, target: sqlite3.Connection) -> tuple[SavedRows, ...]:
    """Copy what can be read of a file to an empty workspace that is open; the rows of each table that came along.

    Both are private copies: nobody else uses them. Rows that refer to a lost one go too, or lose the reference.
    """
    target.execute("PRAGMA foreign_keys = OFF")
    with closing(sqlite3.connect(damaged, isolation_level=None, factory=CheckedConnection)) as source:
        source.execute("PRAGMA cell_size_check = ON")
        source.execute("PRAGMA trusted_schema = OFF")
        found = [(table, _copied_rows(source, target, table)) for table in _tables()]
    _drop_loose_ends(target)
    target.execute("PRAGMA foreign_keys = ON")
    _add_facts(target, damaged)
    return tuple([SavedRows(table, _count(target, table) or 0, before) for table, before in found])


def _add_facts(target: sqlite3.Connection, damaged: Path) -> None:
    """Fill the computed tables before the file is used, since a process that is killed afterwards cannot."""
    from mcp_tef.storage.database import Database
    from mcp_tef.storage.run_facts import add_missing_facts

    with ThreadPoolExecutor(1) as unused:
        Database(damaged, unused, lambda: target).write_here(add_missing_facts)


def summary(saved: Sequence[SavedRows]) -> str:
    """Return what came along in one sentence, cases first; other tables are named where they lost rows."""
    by_table = {one.table: one for one in saved}
    told = [by_table[table] for table in _TOLD]
    told += [one for one in saved if one not in told and one.before is not None and one.saved < one.before]
    return f"Saved: {', '.join(map(str, told))}."


def _tables() -> list[str]:
    with closing(new_database()) as own:
        names = [name for (name,) in own.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    first = [name for name in _FIRST if name in names]
    return [*first, *(name for name in names if name not in first and name not in _COMPUTED)]


def _copied_rows(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> int | None:
    """Copy the rows of a table; how many it has to have, as far as the file can say."""
    wanted = _columns(target, table)
    with suppress(sqlite3.Error):
        columns = [name for name in _columns(source, table) if name in wanted]
        if not columns:
            return 0
        marks = ", ".join("?" * len(columns))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608  # own names
        target.execute("BEGIN")
        for row in _rows(source, table, columns):
            with suppress(sqlite3.Error, UnicodeEncodeError):
                target.execute(insert, row)
        target.execute("COMMIT")
        return _count(source, table)
    return None


def _rows(source: sqlite3.Connection, table: str, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Yield each row that can be read, in the order of their numbers."""
    query = f"SELECT rowid, {', '.join(columns)} FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid"  # noqa: S608
    place, last = -_LAST_ROW, _last_row(source, table)
    while place <= last:
        try:
            for number, *cells in source.execute(query, (place,)):
                yield cells
                place = number + 1
            return
        except sqlite3.Error:
            place = _next_readable(source, query, place, last)


def _last_row(source: sqlite3.Connection, table: str) -> int:
    try:
        found = source.execute(f"SELECT max(rowid) FROM {table} NOT INDEXED").fetchone()[0]  # noqa: S608
    except sqlite3.Error:
        return 2**40
    return -_LAST_ROW - 1 if found is None else int(found)


def _next_readable(source: sqlite3.Connection, query: str, place: int, last: int) -> int:
    """Return the first number from which a row can be read again: a spoilt page is passed over as a whole."""
    bad, step = place, 1
    if place < 0 < last:
        place = bad = 0
    while bad + step <= last and not _is_readable(source, query, bad + step):
        bad, step = bad + step, step * 2
    good = min(bad + step, last + 1)
    while good - bad > 1:
        middle = (good + bad) // 2
        bad, good = (bad, middle) if _is_readable(source, query, middle) else (middle, good)
    return good


def _is_readable(source: sqlite3.Connection, query: str, place: int) -> bool:
    try:
        source.execute(f"{query} LIMIT 1", (place,)).fetchone()
    except sqlite3.Error:
        return False
    return True


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _count(connection: sqlite3.Connection, table: str) -> int | None:
    with suppress(sqlite3.Error):
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608  # own names
    return None


_HEIR = """
UPDATE tool_definitions SET test_run_id = (
    SELECT heir.id FROM snapshot_tools JOIN test_runs AS heir ON heir.snapshot_id = snapshot_tools.snapshot_id
    WHERE snapshot_tools.tool_id = tool_definitions.id LIMIT 1
)
WHERE NOT EXISTS (SELECT 1 FROM test_runs WHERE id = test_run_id) AND EXISTS (
    SELECT 1 FROM snapshot_tools JOIN test_runs AS heir ON heir.snapshot_id = snapshot_tools.snapshot_id
    WHERE snapshot_tools.tool_id = tool_definitions.id
)
"""


def _drop_loose_ends(target: sqlite3.Connection) -> None:
    """Take away what refers to rows that are lost; tools that a lost run had brought go to another run first."""
    target.execute(_HEIR)
    for _ in range(_MOST_ROUNDS):
        loose = target.execute("PRAGMA foreign_key_check").fetchall()
        if not loose:
            return
        for table, number, _parent, key in loose:
            _let_go(target, table, number, key)


def _let_go(target: sqlite3.Connection, table: str, number: int, key: int) -> None:
    keys = target.execute('SELECT id, "from", on_delete FROM pragma_foreign_key_list(?)', (table,)).fetchall()
    column, action = next((column, action) for place, column, action in keys if place == key)
    if action == "SET NULL":
        target.execute(f"UPDATE {table} SET {column} = NULL WHERE rowid = ?", (number,))  # noqa: S608  # own names
    else:
        target.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))  # noqa: S608  # own names
