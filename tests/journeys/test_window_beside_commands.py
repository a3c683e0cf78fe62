"""The window browses the folder of its workspace while two commands write to it: nothing is lost."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.support.command_line import ROOT, run
from tests.support.workspace_files import rows, written

ROUNDS, IMPORTS = 20, 6
HELD = {"": ["POSIX"], "-shm": ["POSIX"]}
READ_IT = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT * FROM test_cases').fetchall()"


@contextmanager
def browsing(workspace: Path) -> Iterator["subprocess.Popen[str]"]:
    """The window in a process of its own, closed at the end."""
    program = [sys.executable, "-m", "tests.support.browsing_window", str(workspace)]
    surroundings = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    pipe = subprocess.PIPE
    with subprocess.Popen(program, cwd=ROOT, env=surroundings, text=True, stdin=pipe, stdout=pipe) as window:
        try:
            assert locks(window) == HELD
            yield window
        finally:
            assert window.stdin is not None
            window.stdin.close()
            window.wait(60)


def locks(window: "subprocess.Popen[str]") -> dict[str, list[str]]:
    assert window.stdout is not None
    found: dict[str, list[str]] = json.loads(window.stdout.readline())
    return found


def told(window: "subprocess.Popen[str]", line: str) -> dict[str, list[str]]:
    """Tell the window what to do; the locks that it has afterwards."""
    assert window.stdin is not None
    window.stdin.write(f"{line}\n")
    window.stdin.flush()
    return locks(window)


def import_cases(workspace: Path, name: str, imports: int) -> None:
    """Import one case after another, each by a command of its own."""
    for number in range(imports):
        query = f"{name} {number}"
        cases = [{"name": query, "query": query, "expected": None}]
        file = written(workspace.parent / "files" / f"{query}.json", {"cases": cases})
        done = run("cases", "import", file, "--workspace", workspace, "--yes")
        assert done.code == 0, done


def prepare(workspace: Path) -> None:
    """Make a workspace with one case, and a folder for files beside it."""
    (workspace.parent / "files").mkdir()
    import_cases(workspace, "first", 1)


def play(workspace: Path, rounds: int, imports: int) -> None:
    """Have two writers and the window work on one workspace, and check that nothing was lost."""
    prepare(workspace)
    with browsing(workspace) as window, ThreadPoolExecutor(2) as writers:
        writing = [writers.submit(import_cases, workspace, name, imports) for name in ("left", "right")]
        for number in range(rounds):
            assert told(window, f"browse {number}") == HELD
            assert told(window, f"edit window {number}") == HELD
        for one in writing:
            one.result()
    kept = {query for (query,) in rows(workspace, "SELECT query FROM test_cases")}
    imported = {f"{name} {number}" for name in ("left", "right") for number in range(imports)}
    assert kept == imported | {f"window {rounds - 1}"}
    assert rows(workspace, "PRAGMA integrity_check") == [("ok",)]


def test_nothing_is_lost_while_the_window_browses_the_folder(tmp_path: Path) -> None:
    play(tmp_path / "work.db", ROUNDS, IMPORTS)


def test_where_the_locks_of_sqlite_are_lost_all_the_same_another_process_leaves_the_journal(tmp_path: Path) -> None:
    workspace = tmp_path / "work.db"
    prepare(workspace)
    holder = subprocess.run([sys.executable, "-c", LOSE_LOCKS, workspace], cwd=ROOT, check=False)
    assert holder.returncode == 0


LOSE_LOCKS = f"""
import asyncio, os, subprocess, sys
from pathlib import Path
from mcp_tef.storage.store import open_store

async def main():
    path = Path(sys.argv[1])
    store = await open_store(path)
    before = await store.cases.all()
    for ending in ("", "-shm"):
        os.close(os.open(f"{{path}}{{ending}}", os.O_RDONLY))
    subprocess.run([sys.executable, "-I", "-c", {READ_IT!r}, path], check=True)
    assert Path(f"{{path}}-wal").exists()
    await store.close()
    assert not Path(f"{{path}}-wal").exists()

asyncio.run(main())
"""
