"""Runs the command line in this process or in one of its own, and gives back what it said.

Where `MCP_TEF_BUILT` names the folder of a built app, its executables are run instead of the source.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_tef.cli.main import main

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


def command(*arguments: str | Path) -> list[str]:
    """The command line of a process that does these arguments."""
    program = [str(BUILT / "mcp-tef")] if BUILT else [sys.executable, "-m", "mcp_tef"]
    return [*program, *map(str, arguments)]


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
