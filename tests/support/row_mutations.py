"""Mutations of the rows of a workspace, as a stranger could write them, and what the verbs that read it do then."""

import asyncio
import random
import select
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.storage.store import open_store
from tests.support import workspace_files
from tests.support.command_line import Said, say

VERBS = (
    *(("cases", "list"), ("servers", "list"), ("runs", "list"), ("metrics",), ("draft", "list"), ("library", "list")),
    *(("cases", "list", "--suite", "Smoke"), ("cases", "export", "exported.json"), ("servers", "tools", "file")),
    *(("servers", "check", "program"), ("servers", "check", "site")),
)
VICTIMS = ("victim", "victim.lock", "victim.db", "victim.db-wal", "notes.txt")
MARKER = "started"


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
    paths = (f"{folder}/victim", "../victim", "/proc/self/environ", "/dev/zero")
    documents = ("{", "[]", "{}", "null", "[1]", '{"a": 1e999}', '{"name": []}', deep, '"\\ud800"', "9" * 5_000)
    dates = ("0000-00-00", "2026-02-30T00:00:00+00:00", "2026-01-01", "99999-01-01T00:00:00Z")
    return (None, *numbers, b"", b"\xff\xfe\x00", *texts, *paths, *documents, *dates)


@dataclass(frozen=True)
class Surroundings:
    """A folder whose files no verb may touch, with a workspace below it, and a listener that nobody may contact."""

    folder: Path
    listener: socket.socket

    @property
    def first(self) -> Path:
        """The workspace as the product wrote it."""
        return self.folder / "work" / "first.db"

    async def make(self) -> None:
        """Write the workspace with a program that would leave a marker, and an address that is listened at."""
        self.first.parent.mkdir()
        store = await open_store(self.first)
        try:
            drafts = [workspace_files.draft(suites=("Smoke",)), workspace_files.draft("two")]
            filled = await workspace_files.fill(store, drafts)
            await workspace_files.run_all(store, filled.runs)
            host, port = self.listener.getsockname()
            tools = str(workspace_files.tools_file(self.folder))
            marker = str(self.folder / MARKER)
            for spec in (
                ServerSpec(name="program", transport=Transport.STDIO, command="/bin/touch", args=(marker,)),
                workspace_files.http("site", url=f"http://{host}:{port}/mcp"),
                ServerSpec(name="file", transport=Transport.FILE, path=tools),
            ):
                await store.servers.add(spec)
        finally:
            await store.close()
        for name in VICTIMS:
            (self.folder / name).write_text("kept")

    def fault(self) -> str:
        """What happened to them that must not; empty where nothing did."""
        if (self.folder / MARKER).exists():
            return "a program was started"
        if select.select([self.listener], [], [], 0)[0]:
            return "an address was contacted"
        touched = [name for name in VICTIMS if not _is_kept(self.folder / name)]
        return f"touched: {touched}" if touched else ""


def _is_kept(file: Path) -> bool:
    return file.is_file() and file.read_text() == "kept"


@contextmanager
def surroundings(folder: Path) -> Iterator[Surroundings]:
    """Make them in an empty folder."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        around = Surroundings(folder, listener)
        asyncio.run(around.make())
        yield around


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
    dice = random.Random(seed)
    with surroundings(folder) as around:
        places = cells(around.first)
        for number in range(mutations):
            path = around.first.with_name(f"{number}.db")
            path.write_bytes(around.first.read_bytes())
            table, column = places[number % len(places)]
            value, verb = dice.choice(values(folder)), dice.choice(VERBS)
            if mutated(path, table, column, value):
                workspace_files.made_own(path)
                said = _said(verb, path, dice)
                fault = _fault(said) or around.fault()
                yield Tried(f"{table}.{column}", repr(value)[:60], " ".join(verb), said.code, fault)
            for left in around.first.parent.glob(f"{number}.db*"):
                left.unlink()


def _said(verb: tuple[str, ...], path: Path, dice: random.Random) -> Said:
    words = [str(path.with_name(word)) if word == "exported.json" else word for word in verb]
    return say(*words, "--workspace", path, *dice.choice([(), ("--json",)]))


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


def _fault(said: Said) -> str:
    if said.code not in (0, 1, 2, 3):
        return f"exit code {said.code}: {said.err[-200:] or said.out[-200:]}"
    if "usage:" in said.err or "Did you mean" in said.err or "Traceback" in said.err:
        return f"no answer of the verb: {said.err[-200:]}"
    return ""
