"""What an answer of a model costs in memory: floods of every kind against an ordinary answer, each in a new process.

Each row is the peak of the resident memory (VmHWM) of a process that asks one model, or four at once; the server
is another process. Limit: 100 MB above the ordinary answer of the same number of calls.
Run as `python -m tests.benchmarks.answer_memory`.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mcp_tef import BatchRequest, CaseDraft, Engine, ModelSettings, RunFilter, ServerSpec, Transport
from tests.support import workspace_files

MB = 1024 * 1024
LIMIT_MB = 100
UNLIMITED = "4 × 15 MB at once"
"""Four whole answers just below the bound, which are all kept until they are judged: for information."""
ROWS = (
    ("ordinary answer", "ordinary", 0, 1),
    ("100 MB of text", "text", 100 * MB, 1),
    ("gzip of 500 MB", "gzip", 500 * MB, 1),
    ("endless body", "endless", 0, 1),
    ("endless gzip", "endless-gzip", 0, 1),
    ("error of 100 MB", "error", 100 * MB, 1),
    ("10 MB of text", "text", 10 * MB, 1),
    ("15 MB of text", "text", 15 * MB, 1),
    ("4 ordinary at once", "ordinary", 0, 4),
    ("4 × 100 MB at once", "text", 100 * MB, 4),
    ("4 × gzip of 500 MB", "gzip", 500 * MB, 4),
    (UNLIMITED, "text", 15 * MB, 4),
)


async def ask(url: str, calls: int) -> dict[str, object]:
    """Run so many cases at once, and say how they ended and what is in the workspace."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "work.db"
        engine = await Engine.open(workspace, environment={})
        tools = workspace_files.tools_file(Path(folder))
        await engine.servers.add(ServerSpec(name="city", transport=Transport.FILE, path=str(tools)))
        await engine.cases.add([CaseDraft(name=str(n), query=f"weather {n}", servers=("city",)) for n in range(calls)])
        model = ModelSettings(provider="openai", model="stub", base_url=url, max_retries=0, timeout=60)
        batch = await engine.runs.start(BatchRequest(models=(model,), concurrency=calls))
        await engine.runs.wait(batch.id)
        runs = await engine.runs.list(RunFilter(batch_id=batch.id))
        ends = {run.failure.code if run.failure else run.status.value for run in runs}
        await engine.close()
        size = workspace.stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"peak": peak, "ends": sorted(ends), "workspace": size / MB}


def measured(kind: str, size: int, calls: int) -> dict[str, object]:
    """The same in a new process, against a server in another one."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.support.hostile_http_servers", kind, str(size)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    url = json.loads(server.stdout.readline())["url"]
    start = time.perf_counter()
    child = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.answer_memory", url, str(calls)],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    server.communicate()
    found: dict[str, object] = json.loads(child.stdout)
    return found | {"seconds": time.perf_counter() - start}


def main() -> None:
    """Print a row for each kind of answer."""
    if len(sys.argv) > 2:
        print(json.dumps(asyncio.run(ask(sys.argv[1], int(sys.argv[2])))))
        return
    print(f"{'answer':22} {'peak MB':>8} {'above MB':>9} {'workspace MB':>13} {'s':>5}  ends")
    ordinary: dict[int, float] = {}
    above: dict[str, float] = {}
    for name, kind, size, calls in ROWS:
        row = measured(kind, size, calls)
        peak = float(str(row["peak"]))
        ordinary.setdefault(calls, peak)
        above[name] = peak - ordinary[calls]
        print(
            f"{name:22} {peak:8.0f} {above[name]:9.0f} {row['workspace']:13.1f} {row['seconds']:5.1f}  {row['ends']}",
            flush=True,
        )
    over = {name: mb for name, mb in above.items() if mb > LIMIT_MB and name != UNLIMITED}
    assert not over, f"more than {LIMIT_MB} MB above an ordinary answer: {over}"


if __name__ == "__main__":
    main()
