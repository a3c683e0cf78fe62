"""Commands killed at random moments, and the state of their workspace before and after the next open.

As a program this holds three batches, one running and two queued, until it is killed.
"""

import argparse
import asyncio
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from mcp_tef import BatchRequest, ModelSettings
from mcp_tef.engine import Engine
from mcp_tef.storage.process_locks import locks_folder
from tests.support import workspace_files
from tests.support.command_line import command, kill, say
from tests.support.workspace_files import VERSION_8, loaded, rows

CASES_RUN = 300
CASES_IMPORTED = 1_000
SERVERS_IMPORTED = 200
RUNS_UPGRADED = 3_000
LOOK_EVERY_S = 0.005
LONGEST_S = 90.0

_FINISHED = "SELECT id, classification FROM test_runs WHERE status = 'completed'"

Finished = frozenset[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Work:
    """A command to be killed: how its workspace is made ready, and how many rows of a table may be there afterwards."""

    name: str
    arguments: Sequence[str]
    prepare: Callable[[Path], Path]
    table: str
    whole: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class After:
    """What came of one kill. `known` were finished before it, `lost` of them are not there after the next open."""

    was_killed: bool
    known: int
    lost: int
    unfinished: int
    sound: bool
    whole: bool
    notices: tuple[str, ...] = field(default=())


def works() -> tuple[Work, ...]:
    """A batch, imports of cases and of servers, and an upgrade from version 8."""
    return (
        Work(
            name="run",
            arguments=("run", "--json"),
            prepare=_with_cases,
            table="test_runs",
            whole=frozenset({0, CASES_RUN}),
        ),
        Work(
            name="cases import",
            arguments=("cases", "import", "{folder}/more.json", "--json"),
            prepare=_with_case_file,
            table="test_cases",
            whole=frozenset({0, CASES_IMPORTED}),
        ),
        Work(
            name="servers import",
            arguments=("servers", "import", "{folder}/mcp.json", "--json"),
            prepare=_with_config,
            table="mcp_servers",
            whole=frozenset({1, 1 + SERVERS_IMPORTED}),
        ),
        Work(
            name="upgrade",
            arguments=("runs", "list", "--json"),
            prepare=_of_version_8,
            table="test_cases",
            whole=frozenset({6}),
        ),
    )


def _with_cases(folder: Path) -> Path:
    """A workspace with a server and cases that the baseline runs offline."""
    path = _with_server(folder)
    cases = [workspace_files.weather(number) for number in range(CASES_RUN)]
    _done("cases", "import", str(workspace_files.case_file(folder, cases)), "--workspace", str(path))
    return path


def _with_case_file(folder: Path) -> Path:
    """A workspace with a server, and beside it a file of cases."""
    path = _with_server(folder)
    cases = [workspace_files.weather(number) for number in range(CASES_IMPORTED)]
    workspace_files.written(folder / "more.json", {"version": 1, "cases": cases})
    return path


def _with_config(folder: Path) -> Path:
    """A workspace with a server, and beside it another program's config."""
    servers = {f"server-{number}": {"command": "uvx", "args": [f"tool-{number}"]} for number in range(SERVERS_IMPORTED)}
    workspace_files.written(folder / "mcp.json", {"mcpServers": servers})
    return _with_server(folder)


def _with_server(folder: Path) -> Path:
    path = folder / "workspace.db"
    _done("servers", "add", "city", "--tools-file", str(workspace_files.tools_file(folder)), "--workspace", str(path))
    return path


def _of_version_8(folder: Path) -> Path:
    """A workspace of version 8 with many finished runs."""
    path = folder / "workspace.db"
    loaded(VERSION_8, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        names = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('test_runs')")]
        others = ", ".join(name for name in names if name != "id")
        connection.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {RUNS_UPGRADED}) "
            f"INSERT INTO test_runs (id, {others}) SELECT 'more-' || n.i, {others} FROM n, "
            "(SELECT * FROM test_runs WHERE status = 'completed' LIMIT 1)"
        )
    return path


def _done(*arguments: str) -> None:
    said = say(*arguments)
    assert said.code == 0, said.err


def copied(ready: Path, folder: Path) -> Path:
    """The workspace that is ready, with all that lies beside it, in a folder of its own."""
    shutil.copytree(ready.parent, folder)
    return workspace_files.made_own(folder / ready.name)


def finished(path: Path) -> Finished:
    """The finished runs with their verdicts, as anybody sees them who looks into the file now."""
    return frozenset((str(run_id), str(verdict)) for run_id, verdict in rows(path, _FINISHED))


def kill_once(work: Work, path: Path, seconds: float) -> After:
    """Start the work, kill it so many seconds after it took hold of the workspace, and open what it left."""
    before = finished(path)
    process = subprocess.Popen(
        command(*(argument.format(folder=path.parent) for argument in work.arguments), "--workspace", str(path)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            _await_hold(process, path)
            known = before | _watched(process, path, time.monotonic() + seconds)
        finally:
            kill(process)
    return _opened(work, path, known, was_killed=process.returncode == -9)


def _await_hold(process: "subprocess.Popen[bytes]", path: Path) -> None:
    """Return once the process holds its lock on the workspace, or has ended."""
    owners = locks_folder(path)
    assert owners is not None
    until = time.monotonic() + LONGEST_S
    while not _has_ended(process) and not any(owners.glob("*.lock")):
        assert time.monotonic() < until, "the command never opened its workspace"


def _watched(process: "subprocess.Popen[bytes]", path: Path, until: float) -> Finished:
    """Every run that could be seen as finished until the moment came, or the process had ended."""
    seen: Finished = frozenset()
    while time.monotonic() < until and not _has_ended(process):
        if path.with_name(f"{path.name}-wal").exists():
            seen |= _seen(path)
    return seen


def _seen(path: Path) -> Finished:
    """The finished runs, or none where the file is locked at this moment."""
    try:
        return finished(path)
    except sqlite3.OperationalError:
        return frozenset()


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(LOOK_EVERY_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _opened(work: Work, path: Path, known: Finished, *, was_killed: bool) -> After:
    notices = asyncio.run(_open_and_close(path))
    sound = rows(path, "PRAGMA integrity_check") == [("ok",)] and rows(path, "PRAGMA foreign_key_check") == []
    [(unfinished,)] = rows(path, "SELECT count(*) FROM test_runs WHERE status IN ('running', 'pending')")
    [(there,)] = rows(path, f"SELECT count(*) FROM {work.table}")
    return After(
        was_killed=was_killed,
        known=len(known),
        lost=len(known - finished(path)),
        unfinished=unfinished,
        sound=sound and not any("damaged" in notice for notice in notices),
        whole=there in work.whole,
        notices=notices,
    )


async def _open_and_close(path: Path) -> tuple[str, ...]:
    engine = await Engine.open(path)
    try:
        return engine.opened
    finally:
        await engine.close()


def span(work: Work, path: Path) -> float:
    """Seconds that the work holds its workspace when nobody disturbs it."""
    arguments = (argument.format(folder=path.parent) for argument in work.arguments)
    with subprocess.Popen(
        command(*arguments, "--workspace", str(path)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _await_hold(process, path)
        start = time.monotonic()
        process.wait(LONGEST_S)
    return time.monotonic() - start


def moments(count: int, seconds: float, seed: int) -> list[float]:
    """Random moments, one in each of as many equal parts of a time."""
    chance = random.Random(seed)
    return [seconds * (number + chance.random()) / count for number in range(count)]


NAMES = ("First", "Second", "Third")


async def hold(workspace: Path, address: str) -> None:
    """Start the batches, and stay."""
    engine = await Engine.open(workspace)
    engine.consents.add_typed_address("openai", address)  # as commands do
    model = ModelSettings(provider="openai", model="gpt-4", base_url=address, timeout=300, max_retries=0)
    for name in NAMES:
        await engine.runs.start(BatchRequest(models=(model,), concurrency=1, name=name))
    assert len(engine.runs.waiting()) == len(NAMES) - 1
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("address")
    given = parser.parse_args()
    asyncio.run(hold(given.workspace, given.address))
