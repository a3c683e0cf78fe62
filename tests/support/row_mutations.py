"""Mutations of the rows of a workspace, as a stranger could write them, and what the verbs that read it do then."""

import asyncio
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.storage.store import open_store
from tests.support import workspace_files
from tests.support.command_line import say

VERBS = (
    *(("cases", "list"), ("servers", "list"), ("runs", "list"), ("metrics",), ("suites", "list")),
    *(
        ("cases", "export", "--format", "json"),
        ("servers", "check", "program"),
        ("drafts", "list"),
        ("library", "list"),
    ),
)
BESIDE = "victim.lock"


@dataclass(frozen=True)
class Tried:
    """One mutation, the verb that ran then, its exit code, and what was wrong with that; empty where nothing was."""

    place: str
    value: str
    verb: str
    code: int
    fault: str


def values(folder: Path) -> tuple[Any, ...]:
    """What a cell may hold instead of what the product wrote."""
    deep = "[" * 3_000 + "]" * 3_000
    numbers = (0, -1, 2**31, 2**63 - 1, -(2**63), 1.5, 1e308, float("inf"))
    texts = ("", "\0", "a\0b", "x" * 100_000, "\u202e\u200b", "nonsense", "NULL", "true", "9999-99-99T99:99:99")
    paths = (f"{folder}/victim", f"../{BESIDE.removesuffix('.lock')}", "/proc/self/environ", "/dev/zero")
    documents = ("{", "[]", "{}", "null", "[1]", '{"a": 1e999}', '{"name": []}', deep, '"\\ud800"', "9" * 5_000)
    dates = ("0000-00-00", "2026-02-30T00:00:00+00:00", "2026-01-01", "99999-01-01T00:00:00Z")
    return (None, *numbers, b"", b"\xff\xfe\x00", *texts, *paths, *documents, *dates)


async def _make(path: Path) -> None:
    store = await open_store(path)
    filled = await workspace_files.fill(store, [workspace_files.draft(), workspace_files.draft("two")])
    await workspace_files.run_all(store, filled.runs)
    await store.servers.add(ServerSpec(name="program", transport=Transport.STDIO, command="/bin/touch"))
    await store.servers.add(
        ServerSpec(name="file", transport=Transport.FILE, path=str(workspace_files.tools_file(path.parent)))
    )
    await store.close()


def cells(path: Path) -> list[tuple[str, str]]:
    """Every column of every table that has a row."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return [
            (table, row[1])
            for table in tables
            if table != "workspace_identity" and connection.execute(f"SELECT 1 FROM {table}").fetchone()
            for row in connection.execute(f"PRAGMA table_info({table})")
        ]


def tried(folder: Path, mutations: int, seed: int) -> Iterator[Tried]:
    """Yield what a verb did with a workspace of one's own, each time with another cell mutated."""
    dice, first = random.Random(seed), folder / "first.db"
    asyncio.run(_make(first))
    places, victim = cells(first), folder / BESIDE
    for number in range(mutations):
        victim.write_text("kept")
        path = folder / f"{number}.db"
        path.write_bytes(first.read_bytes())
        table, column = places[number % len(places)]
        value, verb = dice.choice(values(folder)), dice.choice(VERBS)
        if not mutated(path, table, column, value):
            continue
        workspace_files.made_own(path)
        said = say(*verb, "--workspace", path, *dice.choice([(), ("--json",)]))
        yield Tried(
            f"{table}.{column}", repr(value)[:60], " ".join(verb), said.code, _fault(said.code, said.err, victim)
        )


def mutated(path: Path, table: str, column: str, value: Any) -> bool:
    """Write a value into a column of each row, without any check; False where SQLite itself refuses it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        try:
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))  # own names
        except sqlite3.Error:
            return False
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True


def _fault(code: int, err: str, victim: Path) -> str:
    if code not in (0, 1, 2, 3):
        return f"exit code {code}: {err[-200:]}"
    if "Traceback" in err:
        return "a traceback"
    return "" if victim.exists() else "a file was removed"
