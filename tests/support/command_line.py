"""Runs the command line in this process or in one of its own, and gives back what it said.

Where `MCP_TEF_BUILT` names the folder of a built app, its executables are run instead of the source.
"""

import atexit
import functools
import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_tef.cli.main import main
from tests.support import forked_commands

FORKING: set[int] = set()
"""The process that copies commands."""
ROOT = Path(__file__).parents[2]
BUILT = Path(os.environ["MCP_TEF_BUILT"]) if "MCP_TEF_BUILT" in os.environ else None
OFFLINE_EMBEDDER = "fastembed:sentence-transformers/all-MiniLM-L6-v2" if BUILT else "tfidf"


@dataclass(frozen=True)
class Said:
    """The exit code of a command, and both of its streams."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """The error in the JSON document."""
        found = self.document["error"]
        assert isinstance(found, dict)
        return found


def say(*arguments: str | Path, stdin: str = "") -> Said:
    """Run a command in this process, unless an app is built; standard input is not a terminal."""
    if BUILT:
        return run(*arguments, stdin=stdin)
    out, err, before = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main([str(argument) for argument in arguments])
    finally:
        sys.stdin = before
    return Said(code, out.getvalue(), err.getvalue())


def say_allowed(*arguments: str | Path, stdin: str = "") -> Said:
    """Run a command once to learn which options allow what it would start or contact, then with these."""
    return say(*arguments, *allowing(*arguments, stdin=stdin), stdin=stdin)


def allowing(*arguments: str | Path, stdin: str = "") -> list[str]:
    """Run a command, and return the options that would allow what it asked for."""
    hint = say(*arguments, stdin=stdin).err.rpartition("name it: ")[2].rpartition("Read all of it, then add: ")[2]
    return shlex.split(hint.partition(", or add")[0].strip().removesuffix("."))


def command(*arguments: str | Path) -> list[str]:
    """The command line of a process that does these arguments."""
    return [*_program(), *map(str, arguments)]


def fresh_command(*arguments: str | Path) -> list[str]:
    """The command line of a process that loads what it needs itself."""
    return [*([str(BUILT / "mcp-tef")] if BUILT else [sys.executable, "-m", "mcp_tef"]), *map(str, arguments)]


@functools.cache
def _program() -> list[str]:
    """The program of ours, which on Linux is copied from a process that has loaded it."""
    if BUILT or sys.platform != "linux":
        return fresh_command()
    copies = Path(tempfile.mkdtemp(prefix="mcp-tef-")) / "copies"
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.support.forked_commands", "--serve", copies],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    FORKING.add(program.pid)
    assert program.stdin is not None
    assert program.stdout is not None
    atexit.register(shutil.rmtree, copies.parent)
    atexit.register(program.communicate)
    assert program.stdout.readline() == b"ready\n"
    return [sys.executable, "-S", str(ROOT / "tests" / "support" / "forked_commands.py"), str(copies)]


def kill(process: "subprocess.Popen[Any]") -> None:
    """Kill a process of ours, whatever it is doing."""
    process.send_signal(forked_commands.KILL if FORKING else signal.SIGKILL)


def window(*arguments: str | Path) -> list[str]:
    """The command line of a process that opens the window."""
    program = [str(BUILT / "mcp-tef-desktop")] if BUILT else [sys.executable, "-m", "app"]
    return [*program, *map(str, arguments)]


def run(
    *arguments: str | Path, stdin: str = "", environment: Mapping[str, str] | None = None, timeout: float = 90
) -> Said:
    """Run a command in a process of its own."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    done = subprocess.run(
        command(*arguments), input=stdin, env=surroundings, capture_output=True, text=True, timeout=timeout, check=False
    )
    return Said(done.returncode, done.stdout, done.stderr)
