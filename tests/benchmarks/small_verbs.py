"""The time and the memory of small commands beside what they cannot do without, measured in turn.

`cases list` of 30 cases takes at most 1.5 times what `import sqlmodel` takes, which opens every workspace; `--version`
at most 1.5 times a bare Python. All run from compiled modules, as installed ones do.

    python -m tests.benchmarks.small_verbs
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LIMIT = 1.5
TRIES = 10
CASES = 30
BARE, IMPORT, VERSION, LIST = "bare python", "import sqlmodel", "mcp-tef --version", "mcp-tef cases list"


class Cost(NamedTuple):
    """Seconds and peak megabytes of one process."""

    seconds: float
    megabytes: float


def measured(command: list[str], environment: dict[str, str]) -> Cost:
    """Run a command to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return Cost(time.perf_counter() - began, usage.ru_maxrss / 1024)


def filled(folder: Path, environment: dict[str, str]) -> Path:
    """Return a workspace with 30 cases."""
    workspace, cases = folder / "work.db", folder / "cases.json"
    made = [{"name": f"case {number}", "query": f"Do it {number} times", "expected": None} for number in range(CASES)]
    cases.write_text(json.dumps({"cases": made}))
    importing = ["cases", "import", os.fspath(cases), "--workspace", os.fspath(workspace)]
    subprocess.run([sys.executable, "-m", "mcp_tef", *importing], cwd=ROOT, env=environment, check=True)
    return workspace


def best(commands: dict[str, list[str]], environment: dict[str, str]) -> dict[str, Cost]:
    """Return the least of each, which other work on this machine disturbed least; the first round compiles."""
    rounds = [{name: measured(command, environment) for name, command in commands.items()} for _ in range(TRIES + 1)]
    return {name: Cost(*map(min, zip(*(one[name] for one in rounds[1:]), strict=True))) for name in commands}


def main() -> int:
    """Measure, print, and fail where a limit is not kept."""
    with tempfile.TemporaryDirectory() as name:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": name}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        workspace = filled(Path(name), environment)
        listing = [sys.executable, "-m", "mcp_tef", "cases", "list", "--workspace", os.fspath(workspace)]
        found = best(
            {
                BARE: [sys.executable, "-c", "pass"],
                VERSION: [sys.executable, "-m", "mcp_tef", "--version"],
                IMPORT: [sys.executable, "-c", "import sqlmodel"],
                LIST: listing,
            },
            environment,
        )
    for command, cost in found.items():
        print(f"{command:20} {cost.seconds:.3f} s  {cost.megabytes:.0f} MB")
    ratios = {
        f"{LIST}, time": found[LIST].seconds / found[IMPORT].seconds,
        f"{LIST}, memory": found[LIST].megabytes / found[IMPORT].megabytes,
        f"{VERSION}, time": found[VERSION].seconds / found[BARE].seconds,
    }
    for what, ratio in ratios.items():
        print(f"{what:28} {ratio:.2f} × (limit {LIMIT})")
    return 0 if max(ratios.values()) <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
