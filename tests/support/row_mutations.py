"""Mutations of the rows of a workspace, as a stranger could write them, and what the verbs that read it do then."""

import asyncio
import random
import select
import socket
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_tef.model.health import ContactKind, ServerContact
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.storage.store import open_store
from tests.support import routers, workspace_files
from tests.support.command_line import Said, say
from tests.support.reading_verbs import READING

CITY = '{"city": "Linz"}'
VERBS = (
    *([*verb.split(), *words] for verb, words in READING.items()),
    *(["cases", "show", "find it"], ["cases", "list", "--suite", "Smoke"], ["servers", "tools", "city"]),
    *(["servers", verb, name] for verb in ("show", "check", "tools") for name in ("program", "site")),
    *(["library", "run", name, CITY] for name in ("weather_report", "started", "sent")),
    *(["run", "--model", name, "--case", "weather report 1"] for name in ("group/fast", "router/auto", "openai/gpt-x")),
    *(
        ["search", "run", "web", "pumps"],
        ["servers", "health"],
        ["quality", "--server", "city"],
        ["library", "history"],
    ),
    *(["runs", "retry", "--batch", "BATCH"], ["runs", "resume", "--batch", "BATCH"], ["runs", "rejudge"]),
    *(["similarity"], ["servers", "call", "program", "search", "{}"], ["library", "show", "started"]),
)
"""Verbs that read rows: all that only read, and those that would start or contact what a row names."""
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
            drafts = [workspace_files.draft(suites=("Smoke",), tags=("fast",)), workspace_files.draft("two")]
            filled = await workspace_files.fill(store, drafts)
            await workspace_files.run_all(store, filled.runs)
            await store.runs.rejudge([workspace_files.judged_again(filled.runs[0])])
            marker = str(self.folder / MARKER)
            for spec in (
                ServerSpec(name="program", transport=Transport.STDIO, command="/bin/touch", args=(marker,)),
                workspace_files.http("site", url=f"{self.address}/mcp"),
                ServerSpec(name="city", transport=Transport.FILE, path=str(workspace_files.tools_file(self.folder))),
            ):
                await store.servers.add(spec)
            await store.calls.begin(workspace_files.tool_call((await store.servers.find("docs")).id))
            contact = ServerContact(server="docs", kind=ContactKind.CALL, at=workspace_files.NOON, duration_ms=9)
            await store.contacts.record_contacts([contact])
        finally:
            await store.close()

    @property
    def address(self) -> str:
        """Where nobody may connect."""
        host, port = self.listener.getsockname()
        return f"http://{host}:{port}"

    def fill(self) -> None:
        """Write what has no store of its own, as a user does; every table has a row then."""
        at = ("--workspace", self.first)
        files = {
            name: workspace_files.written(self.folder / f"{name}.json", value)
            for name, value in {
                "router": routers.WORDS_ONLY,
                "tool": {"name": "started", "description": "Starts.", "inputSchema": {"type": "object"}},
                "site": {"name": "sent", "description": "Sends.", "inputSchema": {"type": "object"}},
                "shell": {"argv": ["/bin/touch", str(self.folder / MARKER)]},
                "http": {"url": f"{self.address}/sent"},
            }.items()
        }
        for words in (
            ("servers", "check", "city"),
            ("draft", "new", "Shorter", "--server", "city"),
            ("draft", "set", "Shorter", "weather_report", "--title", "Weather"),
            ("library", "import", "--server", "city", "--tool", "weather_report"),
            ("library", "run", "weather_report", CITY),
            ("library", "add", files["tool"], "--executor", "shell", "--config", files["shell"], "--category", "a/b"),
            ("library", "add", files["site"], "--executor", "http", "--config", files["http"]),
            ("library", "activate", "started", "sent"),
            ("routes", "add", files["router"]),
            ("models", "groups", "add", "fast", "--deployment", f"openai/gpt-x,url={self.address}"),
            ("search", "add", "web", "searxng", "--base-url", self.address),
            ("prompts", "add", "mine", "--from", "built-in"),
            ("cases", "add", "weather report 1", "--server", "city", "--tool", "weather_report"),
            ("run", "--model", "offline/words", "--case", "weather report 1"),
        ):
            said = say(*words, *at)
            assert said.code in (0, 1), (words, said)
        for name in VICTIMS:
            (self.folder / name).write_text("kept")

    def fault(self) -> str:
        """What happened to them that must not; empty where nothing did."""
        if (self.folder / MARKER).exists():
            return "a program was started"
        if select.select([self.listener], [], [], 0)[0]:
            with self.listener.accept()[0] as caller:  # else each later verb would seem to have done it
                caller.settimeout(1)
                with suppress(OSError):
                    return f"an address was contacted: {caller.recv(200)!r}"
            return "an address was contacted, and nothing was sent"
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
        around.fill()
        yield around


def cells(path: Path) -> list[tuple[str, str]]:
    """Every column of every table; each table has a row."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return [
            (table, row[1])
            for table in tables
            if table != "workspace_identity"
            for row in connection.execute(f"PRAGMA table_info({table})")
        ]


def tried(folder: Path, mutations: int, seed: int) -> Iterator[Tried]:
    """Yield what a verb did with a workspace of one's own, each time with another cell mutated."""
    dice = random.Random(seed)
    with surroundings(folder) as around:
        places = cells(around.first)
        listed = say("runs", "list", "--workspace", around.first, "--json").document["batches"]
        batches = {name: str(one["id"]) for name, one in zip(("BATCH", "EARLIER"), listed, strict=True)}
        for number in range(mutations):
            path = around.first.with_name(f"{number}.db")
            path.write_bytes(around.first.read_bytes())
            table, column = places[number % len(places)]
            value, verb = dice.choice(values(folder)), dice.choice(VERBS)
            if mutated(path, table, column, value):
                workspace_files.made_own(path)
                said = _said(verb, batches, path, dice)
                fault = _fault(said) or around.fault()
                yield Tried(f"{table}.{column}", repr(value)[:60], " ".join(verb), said.code, fault)
            for left in around.first.parent.glob(f"{number}.db*"):
                left.unlink()


def damaged(folder: Path, files: int, seed: int, flips: int = 40) -> Iterator[Tried]:
    """Yield what every verb did with workspaces of which some bytes have another bit, as they are and to be recovered.

    A file that was recovered stays so for the verbs that follow.
    """
    dice = random.Random(seed)
    with surroundings(folder) as around:
        whole = around.first.read_bytes()
        for number in range(files):
            spoilt = bytearray(whole)
            for _ in range(flips):
                spoilt[dice.randrange(len(spoilt))] ^= 1 << dice.randrange(8)
            for recover in ((), ("--recover",)):
                path = around.first.with_name(f"{number}.db")
                path.write_bytes(spoilt)
                for verb in VERBS:
                    said = say(*(word.replace("OUT", str(path.parent)) for word in verb), "--workspace", path, *recover)
                    fault = _fault(said) or around.fault()
                    yield Tried(f"file {number}", " ".join(recover), " ".join(verb), said.code, fault)
                for left in around.first.parent.glob(f"{number}.db*"):
                    left.unlink()


def _said(verb: list[str], batches: Mapping[str, str], path: Path, dice: random.Random) -> Said:
    words = [batches.get(word, word.replace("OUT", str(path.parent))) for word in verb]
    return say(*words, "--workspace", path, *dice.choice([(), ("--json",)]))


def mutated(path: Path, table: str, column: str, value: Any) -> bool:
    """Write a value into a column of each row, without any check; False where SQLite itself refuses it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA synchronous = OFF")
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
