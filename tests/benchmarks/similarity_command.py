"""What `mcp-tef similarity --full --out` takes as a whole command: seconds, CPU and the largest memory.

`python -m tests.benchmarks.similarity_command [--local]` compares 10,000 tools by their words three times, then 100 and
1,000 of them. Limits: 15 s and 2 GB. With `--local` the model in the folder of `MCP_TEF_EMBEDDING_FOLDER` embeds them
once, with no vector in the cache. Limit: 1.5 GB.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mcp_tef.embedding.local_embedder import FOLDER_VARIABLE
from tests.benchmarks.similarity_cost import made
from tests.support import isolation

TOOLS, GROWTH, TRIES = 10_000, (100, 1_000), 3
MOST_SECONDS, MOST_MB, MOST_LOCAL_MB = 15.0, 2048, 1536
WATCHED = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
    "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
)


def tools_file(folder: Path, count: int) -> Path:
    """A file of so many tools with names of their own, as `tools/list` answers have them."""
    listed = [
        {"name": f"{tool.name}_{place}", "description": tool.description, "inputSchema": dict(tool.input_schema)}
        for place, tool in enumerate(each.tool for each in made(count).tools)
    ]
    path = folder / f"tools{count}.json"
    path.write_text(json.dumps(listed))
    return path


def measured(folder: Path, file: Path, embedder: str) -> tuple[float, float, float]:
    """Seconds, CPU seconds and peak MB of a command whose home is empty, so that nothing is in its caches."""
    home = Path(tempfile.mkdtemp(dir=folder))
    places = {name: str(home / part) for name, part in isolation.HOME_VARIABLES.items()}
    command = [sys.executable, "-m", "mcp_tef", "similarity", "--tools-file", str(file), "--embedder", embedder]
    command += ["--full", "--yes", "--out", str(home / "found.json"), "--workspace", str(home / "bench.db")]
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - started
    subprocess.run(["rm", "-r", str(home)], check=True)
    cpu, peak = map(float, done.stdout.split())
    return seconds, cpu, peak


def row(what: str, seconds: float, cpu: float, peak: float) -> None:
    """One line of the table."""
    print(f"{what:40} {seconds:7.2f} s   CPU {cpu:7.2f} s   peak {peak:5.0f} MB", flush=True)


def main() -> int:
    """Measure, print, and fail where a limit is not kept."""
    local = "--local" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if local:
            seconds, cpu, peak = measured(folder, tools_file(folder, TOOLS), f"folder:{os.environ[FOLDER_VARIABLE]}")
            row(f"{TOOLS:,} tools, the local model, cold", seconds, cpu, peak)
            print(f"  limit {MOST_LOCAL_MB} MB, {peak / MOST_LOCAL_MB:.2f} × the limit")
            return int(peak > MOST_LOCAL_MB)
        for count in GROWTH:
            row(f"{count:,} tools, by words", *measured(folder, tools_file(folder, count), "tfidf"))
        file = tools_file(folder, TOOLS)
        tries = [measured(folder, file, "tfidf") for _ in range(TRIES)]
    for name, which in (("minimum", min), ("median", statistics.median)):
        row(f"{TOOLS:,} tools, by words, {name}", *(which(values) for values in zip(*tries, strict=True)))
    best, peak = min(seconds for seconds, _, _ in tries), max(peak for _, _, peak in tries)
    print(f"  limits {MOST_SECONDS:g} s and {MOST_MB} MB: {best / MOST_SECONDS:.2f} × and {peak / MOST_MB:.2f} ×")
    return int(best > MOST_SECONDS or peak > MOST_MB)


if __name__ == "__main__":
    sys.exit(main())
