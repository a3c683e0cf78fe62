"""Commands killed at random moments or with a full disk, and what the next open finds in their workspace."""

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

from mcp_tef.engine import Engine
from mcp_tef.storage.process_locks import locks_folder
from tests.support import workspace_files
from tests.support.command_line import command, kill, say
from tests.support.processes import run_on_full_disk
from tests.support.workspace_files import VERSION_8, loaded, made_own, rows, spoil_page_of

CASES_RUN = 200
CASES_IMPORTED = 1_000
SERVERS_IMPORTED = 200
GROUPS_IMPORTED = 100
TOOLS_IMPORTED = 60
RUNS_UPGRADED = 3_000
LOOK_EVERY_S = 0.005
LONGEST_S = 90.0

_FINISHED = "SELECT id, classification FROM test_runs WHERE status = 'completed'"

Finished = frozenset[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Work:
    """A command to be killed: how its workspace is made ready, and how many rows of a table may be there afterwards.

    What it writes `beside` the workspace holds as many rows as that may, or is not there. A damaged workspace is to
    `recover` at the next open. One that `holds` its workspace, with a lock, is killed while it does.
    """

    name: str
    arguments: Sequence[str]
    prepare: Callable[[Path], Path]
    table: str
    whole: frozenset[int]
    beside: str = ""
    recover: bool = False
    holds: bool = True


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
    """A batch, imports, an upgrade from version 8, and what makes one workspace of others."""
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
            name="models import",
            arguments=("models", "import", "{folder}/groups.json"),
            prepare=_with_groups,
            table="definitions",
            whole=frozenset({0, GROUPS_IMPORTED}),
        ),
        Work(
            name="library import",
            arguments=("library", "import", "--tools-file", "{folder}/many.json"),
            prepare=_with_tools,
            table="library_tools",
            whole=frozenset({0, TOOLS_IMPORTED}),
        ),
        Work(
            name="upgrade",
            arguments=("runs", "list", "--json"),
            prepare=_of_version_8,
            table="test_cases",
            whole=frozenset({6}),
        ),
        *_of_others(),
    )


def _of_others() -> tuple[Work, ...]:
    """A merge, a backup, a restored backup and a recovery."""
    return (
        Work(
            name="runs merge",
            arguments=("runs", "merge", "{folder}/part-1.db", "{folder}/part-2.db", "--json"),
            prepare=_with_parts,
            table="test_runs",
            whole=frozenset({0, CASES_RUN}),
        ),
        Work(
            name="backup",
            arguments=("workspace", "backup", "{folder}/backup.db"),
            prepare=_with_runs,
            table="test_runs",
            whole=frozenset({CASES_RUN}),
            beside="backup.db",
            holds=False,
        ),
        Work(
            name="restore",
            arguments=("workspace", "restore", "{folder}/empty.db"),
            prepare=_with_backup,
            table="test_runs",
            whole=frozenset({0, CASES_RUN}),
            beside="workspace-before-restore-*.db",
            holds=False,
        ),
        Work(
            name="recover",
            arguments=("runs", "list", "--recover", "--json"),
            prepare=_damaged,
            table="test_cases",
            whole=frozenset({CASES_RUN}),
            recover=True,
        ),
    )


def _with_cases(folder: Path) -> Path:
    """A workspace with a server and cases that the baseline runs offline."""
    path = _with_server(folder)
    cases = [workspace_files.weather(number) for number in range(CASES_RUN)]
    _done("cases", "import", str(workspace_files.case_file(folder, cases)), "--workspace", str(path))
    return path


def _with_runs(folder: Path) -> Path:
    """A workspace with a finished batch, the latest of which stands in its log."""
    path = _with_cases(folder)
    _done("run", "--workspace", str(path))
    return path


def _with_backup(folder: Path) -> Path:
    """A workspace with a finished batch whose process was killed, so that a log is beside it, and an empty backup."""
    (folder / "before").mkdir()
    before = _with_server(folder / "before")
    _done("workspace", "backup", str(folder / "empty.db"), "--workspace", str(before))
    path, aside = _with_runs(folder), folder / "aside"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE batches SET name = 'In the log'")
        connection.commit()
        shutil.copytree(folder, aside)
    for file in aside.glob(f"{path.name}*"):
        file.replace(folder / file.name)
    shutil.rmtree(aside)
    return path


def _with_parts(folder: Path) -> Path:
    """A workspace without cases, and beside it two with a half of the runs each."""
    for part in (1, 2):
        path = folder / f"part-{part}.db"
        shutil.copy(_with_cases(folder) if part == 1 else folder / "workspace.db", path)
        made_own(path)
        _done("run", "--shard", f"{part}/2", "--workspace", str(path))
    for file in folder.glob("workspace.db*"):
        file.unlink()
    return _with_server(folder)


def _damaged(folder: Path) -> Path:
    """A workspace with a finished batch, one page of whose runs is spoilt."""
    path = _with_runs(folder)
    spoil_page_of(path, "test_runs")
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


def _with_groups(folder: Path) -> Path:
    """A workspace with a server, and beside it a file of model groups."""
    asked = [{"model": "offline/words"}]
    groups = [{"name": f"group-{number}", "deployments": asked} for number in range(GROUPS_IMPORTED)]
    workspace_files.written(folder / "groups.json", {"mcp_tef_models": 1, "groups": groups})
    return _with_server(folder)


def _with_tools(folder: Path) -> Path:
    """A workspace with a server, and beside it a tools file."""
    tools = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(TOOLS_IMPORTED)]
    workspace_files.written(folder / "many.json", {"tools": tools})
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
    assert said.code in (0, 1), said.err


def copied(ready: Path, folder: Path) -> Path:
    """The workspace that is ready, with all that lies beside it, in a folder of its own."""
    shutil.copytree(ready.parent, folder)
    for other in folder.glob("*.db"):
        made_own(other)
    return folder / ready.name


def finished(path: Path) -> Finished:
    """The finished runs with their verdicts, as anybody sees them who looks into the file now."""
    return frozenset((str(run_id), str(verdict)) for run_id, verdict in rows(path, _FINISHED))


def kill_once(work: Work, path: Path, seconds: float) -> After:
    """Start the work, kill it so many seconds after it took hold of the workspace, and open what it left."""
    before = _seen(path)
    process = subprocess.Popen(
        command(*_arguments(work, path)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            _await_hold(work, process, path)
            known = before | _watched(process, path, time.monotonic() + seconds)
        finally:
            kill(process)
    return _opened(work, path, known, was_killed=process.returncode < 0)  # its starter may end first


def fill_once(work: Work, path: Path, room: int) -> After:
    """Do the work where no file may grow beyond so many bytes, and open what it left; it must end with 3, or well."""
    before = _seen(path)
    said = run_on_full_disk(room, *_arguments(work, path))
    assert said.code in (0, 1, 3), said.err
    assert "Traceback" not in said.err
    return _opened(work, path, before, was_killed=said.code == 3)


def _arguments(work: Work, path: Path) -> list[str]:
    return [*(argument.format(folder=path.parent) for argument in work.arguments), "--workspace", str(path)]


def _await_hold(work: Work, process: "subprocess.Popen[bytes]", path: Path) -> None:
    """Return once the process holds its lock on the workspace, where it takes one, or has ended."""
    owners = locks_folder(path)
    assert owners is not None
    until = time.monotonic() + LONGEST_S
    while work.holds and not _has_ended(process) and not any(owners.glob("*.lock")):
        assert time.monotonic() < until, "the command never opened its workspace"


def _watched(process: "subprocess.Popen[bytes]", path: Path, until: float) -> Finished:
    """Every run that could be seen as finished until the moment came, or the process had ended."""
    seen: Finished = frozenset()
    while time.monotonic() < until and not _has_ended(process):
        if path.with_name(f"{path.name}-wal").exists():
            seen |= _seen(path)
    return seen


def _seen(path: Path) -> Finished:
    """The finished runs, or none where the file is locked at this moment, or damaged."""
    try:
        return finished(path)
    except sqlite3.DatabaseError:
        return frozenset()


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(LOOK_EVERY_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _opened(work: Work, path: Path, known: Finished, *, was_killed: bool) -> After:
    notices = asyncio.run(_open_and_close(path, recover=work.recover))
    beside = list(path.parent.glob(work.beside)) if work.beside else []
    [(unfinished,)] = rows(path, "SELECT count(*) FROM test_runs WHERE status IN ('running', 'pending')")
    return After(
        was_killed=was_killed,
        known=len(known),
        lost=0 if work.name in ("restore", "recover") else len(known - finished(path)),
        unfinished=unfinished,
        sound=all(map(_is_sound, (path, *beside))) and (work.recover or not any("damaged" in one for one in notices)),
        whole=all(rows(file, f"SELECT count(*) FROM {work.table}")[0][0] in work.whole for file in (path, *beside)),
        notices=notices,
    )


def _is_sound(file: Path) -> bool:
    """Return whether a file is whole, no row in it refers to nothing, and each run is among the facts."""
    factless = "SELECT count(*) FROM test_runs WHERE id NOT IN (SELECT run_id FROM run_facts)"
    checks = rows(file, "PRAGMA integrity_check"), rows(file, "PRAGMA foreign_key_check"), rows(file, factless)
    return checks == ([("ok",)], [], [(0,)])


async def _open_and_close(path: Path, *, recover: bool) -> tuple[str, ...]:
    engine = await Engine.open(path, recover=recover)
    try:
        return engine.opened
    finally:
        await engine.close()


def span(work: Work, path: Path) -> float:
    """Seconds that the work holds its workspace when nobody disturbs it."""
    with subprocess.Popen(
        command(*_arguments(work, path)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _await_hold(work, process, path)
        start = time.monotonic()
        assert process.wait(LONGEST_S) in (0, 1), work.name
    return time.monotonic() - start


def moments(count: int, seconds: float, seed: int) -> list[float]:
    """Random moments, one in each of as many equal parts of a time."""
    chance = random.Random(seed)
    return [seconds * (number + chance.random()) / count for number in range(count)]
