"""The speed of REST: pages of cases asked by many at once, and what a run costs beside the command line.

1,000 `GET /test-cases?limit=100` at 32 at once have a p95 of at most 50 ms on two quiet cores. A run of a batch costs
the service at most 1.2 times the CPU that it costs `mcp-tef run`, where both ask one stand-in model 900 times and
the start is left out. On a machine that does other work, the CPU of the service for each page tells more than the
p95; both are printed.

    python -m tests.benchmarks.rest_speed
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[2]
PAGES, AT_ONCE, LIMIT_MS = 1_000, 32, 50.0
RUNS, LIMIT_RATIO, TRIES = 900, 1.2, 3
CASES = 1_000
TOKEN = "0123456789abcdef0123456789abcdef"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
TOOLS = [
    {"name": name, "description": text, "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}
    for name, text in (("weather_report", "Weather in a city."), ("train_times", "Trains from a city."))
]


@contextmanager
def service(workspace: Path, environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The address and the process of a service."""
    words = [sys.executable, "-m", "mcp_tef", "serve", "--port", "0", "--workspace", os.fspath(workspace)]
    with subprocess.Popen(
        words, cwd=ROOT, env={**environment, "MCP_TEF_TOKEN": TOKEN}, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            yield next(line.strip() for line in process.stderr if line.startswith("http")), process.pid
        finally:
            process.terminate()
            process.communicate()


def filled(folder: Path, environment: dict[str, str], cases: int = CASES) -> Path:
    """A workspace with a tools file and cases."""
    workspace, case_file, tools = folder / "work.db", folder / "cases.json", folder / "tools.json"
    tools.write_text(json.dumps({"tools": TOOLS}))
    expected = [{"tool": "weather_report"}]
    made = [
        {
            "name": f"case {number}",
            "query": f"Will it rain in town {number}?",
            "servers": ["city"],
            "expected": expected,
        }
        for number in range(cases)
    ]
    case_file.write_text(json.dumps({"cases": made}))
    for words in (
        ["servers", "add", "city", "--tools-file", os.fspath(tools)],
        ["cases", "import", os.fspath(case_file)],
    ):
        command = [sys.executable, "-m", "mcp_tef", *words, "--workspace", os.fspath(workspace)]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return workspace


def cpu(pid: int) -> float:
    """CPU seconds of a process so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def asked(host: str, port: int, request: bytes, number: int) -> list[float]:
    """Milliseconds of each of some requests over one connection, one after the other."""
    reader, writer = await asyncio.open_connection(host, port)
    times = []
    for _ in range(number):
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        await reader.readexactly(length)
        times.append((time.perf_counter() - began) * 1000)
    writer.close()
    return times


async def pages(address: str, path: str) -> list[float]:
    """Milliseconds of all requests for pages."""
    host, port = address.removeprefix("http://").split(":")
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    shares = [PAGES // AT_ONCE + (number < PAGES % AT_ONCE) for number in range(AT_ONCE)]
    found = await asyncio.gather(*(asked(host, int(port), request, share) for share in shares))
    return [one for times in found for one in times]


def send(address: str, path: str, body: Any) -> Any:
    """The JSON of the answer to a POST."""
    headers = {"Content-Type": "application/json", "X-Model-API-Key": "sk-of-a-benchmark", **BEARER}
    return json.load(urlopen(Request(f"{address}{path}", json.dumps(body).encode(), headers)))


def batch(address: str, model: str, case: str, repeats: int) -> None:
    """A batch, followed to its end."""
    fields = {"provider": "openai", "model": "stand-in", "base_url": model}
    started = send(
        address, "/batches", {"test_case_ids": [case], "models": [fields], "repeats": repeats, "concurrency": 8}
    )
    events = urlopen(Request(f"{address}/batches/{started['id']}/events", headers=BEARER)).read().decode()
    counts = json.loads(events.rpartition("data: ")[2])
    assert (counts["status"], counts["total"], counts["counts"].get("failed", 0)) == ("completed", repeats, 0), counts


def command_cpu(workspace: Path, model: str, repeats: int, environment: dict[str, str]) -> float:
    """CPU seconds of `mcp-tef run` with all that it starts."""
    words = ["run", "--case", "case 1", "--model", "openai/stand-in", "--base-url", model, "--concurrency", "8"]
    words += ["--repeats", str(repeats), "--json", "--workspace", os.fspath(workspace)]
    keyed = {**environment, "OPENAI_API_KEY": "sk-of-a-benchmark"}
    process = subprocess.Popen(
        [sys.executable, "-m", "mcp_tef", *words],
        cwd=ROOT,
        env=keyed,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1)  # 1: the stand-in picks another tool
    return usage.ru_utime + usage.ru_stime


def page_figures(workspace: Path, environment: dict[str, str]) -> tuple[float, float, float]:
    """The least p95 and median of some tries, and the CPU of the service for each page, in milliseconds."""
    with service(workspace, environment) as (address, pid):
        asyncio.run(pages(address, "/health"))
        before = cpu(pid)
        tries = [asyncio.run(pages(address, "/test-cases?limit=100")) for _ in range(TRIES)]
        spent = (cpu(pid) - before) * 1000 / (PAGES * TRIES)
    p95s = [statistics.quantiles(times, n=20)[-1] for times in tries]
    return min(p95s), min(map(statistics.median, tries)), spent


def run_costs(workspace: Path, model: str, environment: dict[str, str]) -> tuple[float, float]:
    """Milliseconds of CPU for each run: over REST, and by the command line without its start."""
    with service(workspace, environment) as (address, pid):
        case = json.load(urlopen(Request(f"{address}/test-cases?limit=2", headers=BEARER)))["items"][1]["id"]
        batch(address, model, case, 20)
        over_rest = []
        for _ in range(TRIES):
            before = cpu(pid)
            batch(address, model, case, RUNS)
            over_rest.append((cpu(pid) - before) * 1000 / RUNS)
    starts = [command_cpu(workspace, model, 1, environment) for _ in range(TRIES)]
    whole = [command_cpu(workspace, model, RUNS + 1, environment) for _ in range(TRIES)]
    return min(over_rest), (min(whole) - min(starts)) * 1000 / RUNS


def told(p95: float, median: float, spent: float, costs: Sequence[float]) -> int:
    """Print the figures; 1 where a limit is missed."""
    ratio = costs[0] / costs[1]
    print(
        f"{PAGES:,} pages of 100 cases, {AT_ONCE} at once: p95 {p95:.1f} ms (limit {LIMIT_MS:.0f}), median {median:.1f}"
    )
    print(f"CPU of the service for each page: {spent:.2f} ms; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"a run: {costs[0]:.2f} ms of CPU over REST, {costs[1]:.2f} by commands: {ratio:.2f} (limit {LIMIT_RATIO})")
    return int(p95 > LIMIT_MS or ratio > LIMIT_RATIO)


def main() -> int:
    """Measure, print, and fail where a limit is not kept."""
    from tests.support.model_stub import ModelStub

    with tempfile.TemporaryDirectory() as name, ModelStub() as stub:
        stub.keep_requests = False
        environment = {**os.environ, "HOME": name, "XDG_DATA_HOME": name, "HF_HUB_OFFLINE": "1"}
        workspace = filled(Path(name), environment)
        figures = page_figures(workspace, environment)
        return told(*figures, run_costs(workspace, stub.url, environment))


if __name__ == "__main__":
    sys.path.insert(0, os.fspath(ROOT))
    sys.exit(main())
