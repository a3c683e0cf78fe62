"""The rate of three workers against one, with a model that takes half a second.

`--at-once` runs are under way per worker; 64 bound one to 128 runs a second. Where the processors are too few for three
times that, their time per run says what a run costs, and fewer at once show the ratio all the same.
"""

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import datetime
from pathlib import Path

from tests.support.command_line import ROOT, command, say
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

LEAST_RATIO = 2.5
MOST_RUNS = 1000


def rate(workspace: Path, workers: int, runs: int, asked: argparse.Namespace) -> tuple[float, float]:
    """Return runs a second while runs were answered, and seconds of processors per run, of all processes."""
    with ModelStub(delay=asked.delay) as stub:
        stub.keep_requests = False
        options = ("--model", "openai/x", "--base-url", stub.url, "--repeats", str(runs), "--no-key", "--json")
        words = command("run", *options, "--concurrency", str(workers * asked.at_once), "--cluster", f"local:{workers}")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run(
            [*words, "--workspace", str(workspace)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ids = {run["id"] for run in json.loads(said.stdout)["runs"]}
    with closing(sqlite3.connect(workspace)) as stored:
        rows = stored.execute("SELECT id, completed_at FROM test_runs").fetchall()
    done = sorted(datetime.fromisoformat(completed) for run, completed in rows if run in ids)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (len(done) - 1) / (done[-1] - done[0]).total_seconds(), busy / len(done)


def main() -> int:
    """Print both rates, their ratio, and what a run costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.5, metavar="SECONDS", help="time of the model (0.5)")
    parser.add_argument("--at-once", type=int, default=16, metavar="N", help="runs under way per worker (16)")
    parser.add_argument("--seconds", type=int, default=10, metavar="S", help="about how long it is asked (10)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace, at = Path(folder, "work.db"), ("--workspace", str(Path(folder, "work.db")))
        say("servers", "add", "city", "--tools-file", tools_file(Path(folder)), *at)
        say("cases", "import", case_file(Path(folder), [case("Weather?", [{"tool": "weather_report"}])]), *at)
        rates = {}
        for workers in (1, 3):
            runs = min(MOST_RUNS, int(asked.seconds * workers * asked.at_once / asked.delay))
            rates[workers], busy = rate(workspace, workers, runs, asked)
            told = f"{runs:,} runs, {rates[workers]:.1f} a second, processors {busy * 1000:.1f} ms a run"
            print(f"{workers} workers: {told}")
    ratio = rates[3] / rates[1]
    print(f"3 workers reach {ratio:.2f} × the rate of one (limit {LEAST_RATIO} ×, {os.cpu_count()} processors)")
    return 0 if ratio >= LEAST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
