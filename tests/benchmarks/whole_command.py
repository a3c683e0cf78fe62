"""How long `mcp-tef run` takes from start to exit: 200 cases, a model that answers in 500 ms, 64 runs at a time.

Limits: 1.4 × the time of a bare loop over aiohttp that sends the same requests and exits; 150 MB for 1,000 runs; the
time of promptfoo, where it is on the PATH. The roles take turns; the minimum and the median of three are printed with
the CPU, and the time of ten times and a hundred times the cases. Modules are compiled once before, as an installation
has them.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import workspace_files

CASES, DELAY_S, CONCURRENCY = 200, 0.5, 64
LIMIT, LIMIT_MB, TRIES = 1.4, 150, 3
GROWTH = (20, 200, 2000)
BARE = """
import asyncio, json, sys, aiohttp
url, count, at_once, body = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].encode()
async def main():
    numbers = iter(range(count))
    headers = {"Authorization": "Bearer sk-bench", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async def worker():
            for _ in numbers:
                async with session.post(url + "/chat/completions", data=body, headers=headers) as answer:
                    json.loads(await answer.read())["choices"]
        await asyncio.gather(*(worker() for _ in range(at_once)))
asyncio.run(main())
"""


@contextmanager
def model(delay: float = DELAY_S) -> Iterator[str]:
    """The url of a model server in a process of its own."""
    command = [sys.executable, "-m", "tests.support.model_stub", "--delay", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


def mcp_tef(folder: Path, *arguments: str | Path) -> None:
    """Run one command on a workspace of its own; a failure ends the benchmark."""
    command = [sys.executable, "-m", "mcp_tef", *map(str, arguments), "--workspace", str(folder / "bench.db")]
    subprocess.run(command, env=surroundings(folder), stdout=subprocess.DEVNULL, check=True)


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a command: a key, and a place for compiled modules."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder.parent / "compiled")}
    return {**os.environ, **compiled, "OPENAI_API_KEY": "sk-bench"}


def used_cpu() -> float:
    """The CPU seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(folder: Path, url: str, *more: str) -> float:
    """The time of one whole command."""
    started = time.perf_counter()
    mcp_tef(folder, *("run", "--model", "openai/stub", "--base-url", url, "--concurrency", str(CONCURRENCY)), *more)
    return time.perf_counter() - started


def bare_seconds(url: str) -> float:
    """The time of a program that does nothing but send the same number of requests."""
    tools = [{"type": "function", "function": tool} for tool in workspace_files.TOOLS]
    body = json.dumps({"model": "stub", "messages": [{"role": "user", "content": "What?"}], "tools": tools})
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", BARE, url, str(CASES), str(CONCURRENCY), body], check=True)
    return time.perf_counter() - started


def workspace(folder: Path, count: int) -> Path:
    """A folder with a workspace of so many cases."""
    folder.mkdir()
    mcp_tef(folder, "servers", "add", "city", "--tools-file", workspace_files.tools_file(folder))
    cases = [workspace_files.weather(number) for number in range(count)]
    mcp_tef(folder, "cases", "import", workspace_files.case_file(folder, cases))
    return folder


def peak_mb(folder: Path, url: str, *more: str) -> float:
    """The largest memory of a command with 1,000 runs, measured by a process that has no other children."""
    command = ["run", "--model", "openai/stub", "--base-url", url, "--concurrency", str(CONCURRENCY), "--repeats", "5"]
    command = [sys.executable, "-m", "mcp_tef", *command, *more, "--workspace", str(folder / "bench.db")]
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], env=surroundings(folder), stdout=subprocess.PIPE, text=True, check=True
    )
    return float(done.stdout)


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
    """Measure, print, and fail where a limit is not kept."""
    taken: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as place, model() as url:
        folder, peer = workspace(Path(place) / "bench", CASES), shutil.which("promptfoo")
        roles = {
            "a bare loop over aiohttp": lambda: bare_seconds(url),
            "mcp-tef run": lambda: seconds(folder, url),
            "mcp-tef run --through litellm": lambda: seconds(folder, url, "--through", "litellm"),
            **({"promptfoo": lambda: promptfoo_seconds(peer, folder, url)} if peer else {}),
        }
        for name in [*roles]:
            roles[name]()
        for name in [name for _ in range(TRIES) for name in roles]:
            before = used_cpu()
            taken.setdefault(name, []).append(roles[name]())
            cpu.setdefault(name, []).append(used_cpu() - before)
        memory = {name: peak_mb(folder, url, *name.split()[2:]) for name in list(roles)[1:3]}
        growth = [seconds(workspace(Path(place) / str(count), count), url) for count in GROWTH]
    limit, ours = min(taken["a bare loop over aiohttp"]), min(taken["mcp-tef run"])
    for name, values in taken.items():
        print(
            f"{name:32} {min(values):6.2f} s, median {statistics.median(values):.2f}   {min(values) / limit:.2f} × bare"
            f"   CPU {min(cpu[name]):.2f} s, median {statistics.median(cpu[name]):.2f}"
        )
    for name, peak in memory.items():
        print(f"{name:32} {peak:6.0f} MB with 1,000 runs")
    for count, value in zip(GROWTH, growth, strict=True):
        print(f"{f'mcp-tef run, {count} cases':32} {value:6.2f} s")
    print(f"Limits: {LIMIT} × bare, {LIMIT_MB} MB.")
    return 0 if ours <= LIMIT * limit and memory["mcp-tef run"] <= LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
