"""How long `mcp-tef run` takes from start to exit: 200 cases, a model that answers in 500 ms, 64 runs at a time.

Limit: what promptfoo takes for the same work (4.8 s where that was first measured; the answers alone take 2.1 s).
Where `promptfoo` is on the PATH the two take turns. The best of three is taken.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support import workspace_files

CASES, DELAY_S, CONCURRENCY = 200, 0.5, 64
LIMIT_S = 4.8
TRIES = 3


@contextmanager
def model() -> Iterator[str]:
    """The url of a model server in a process of its own."""
    command = [sys.executable, "-m", "tests.support.model_stub", "--delay", str(DELAY_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


def mcp_tef(folder: Path, *arguments: str | Path) -> None:
    """Run one command on a workspace of its own; a failure ends the benchmark."""
    command = [sys.executable, "-m", "mcp_tef", *map(str, arguments), "--workspace", str(folder / "bench.db")]
    surroundings = {**os.environ, "OPENAI_API_KEY": "sk-bench"}
    subprocess.run(command, env=surroundings, stdout=subprocess.DEVNULL, check=True)


def seconds(folder: Path, url: str) -> float:
    """The time of one whole command."""
    started = time.perf_counter()
    mcp_tef(folder, "run", "--model", "openai/stub", "--base-url", url, "--concurrency", str(CONCURRENCY))
    return time.perf_counter() - started


def promptfoo_seconds(program: str, folder: Path, url: str) -> float:
    """The time of promptfoo for the same queries, tools and model."""
    tools = [
        {"type": "function", "function": {**tool, "parameters": tool["inputSchema"]}} for tool in workspace_files.TOOLS
    ]
    settings = {"apiBaseUrl": url, "apiKey": "sk-bench", "tools": tools}
    tests = [{"vars": {"query": workspace_files.weather(number)["query"]}} for number in range(CASES)]
    whole = {"prompts": ["{{query}}"], "providers": [{"id": "openai:chat:stub", "config": settings}], "tests": tests}
    file = folder / "promptfooconfig.json"
    file.write_text(json.dumps(whole))
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": str(folder)}
    command = [
        program,
        "eval",
        "-c",
        str(file),
        "-j",
        str(CONCURRENCY),
        "--no-cache",
        "--no-progress-bar",
        "--no-table",
    ]
    started = time.perf_counter()
    subprocess.run(command, env={**os.environ, **quiet}, capture_output=True, check=True)
    return time.perf_counter() - started


def main() -> int:
    """Measure, print, and fail where the limit is not kept."""
    with tempfile.TemporaryDirectory() as place, model() as url:
        folder = Path(place)
        mcp_tef(folder, "servers", "add", "city", "--tools-file", workspace_files.tools_file(folder))
        cases = [workspace_files.weather(number) for number in range(CASES)]
        mcp_tef(folder, "cases", "import", workspace_files.case_file(folder, cases))
        peer, taken, beside = shutil.which("promptfoo"), [], []
        for _ in range(TRIES):
            taken.append(seconds(folder, url))
            beside += [promptfoo_seconds(peer, folder, url)] if peer else []
    limit = min(beside, default=LIMIT_S)
    print(f"mcp-tef run, {CASES} cases: {min(taken):.2f} s (each {listed(taken)})")
    print(f"promptfoo, the same cases: {listed(beside) or 'not on the PATH'}; {min(taken) / limit:.2f} × {limit:.2f} s")
    return 0 if min(taken) <= limit else 1


def listed(values: Sequence[float]) -> str:
    """Seconds beside one another."""
    return ", ".join(f"{value:.2f}" for value in values)


if __name__ == "__main__":
    sys.exit(main())
