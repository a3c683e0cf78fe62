"""Cost of a further run of a batch: CPU, disk and memory, beside bare calls to the same stub.

Limits: CPU of a further run ≤ 2 ms and ≤ 0.35 × a bare `litellm.acompletion`; eight waves of a 500 ms model reach
≥ 95 % of the ideal rate at 64 at once, and ≥ 80 % at 256; ≤ 4 KB stored a run; memory after 1,000 runs within 100 MB
of that after 100. CPU is the least of three repetitions, the median beside it.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

FEW, MANY = 200, 1200
GROWTH = (20, 200, 2000)
TRIES = 3
ROLES = {
    "bare": "bare litellm",
    "direct": "bare aiohttp",
    "batch": "batch, asked directly",
    "batch-litellm": "batch, through litellm",
}
SLOW_S = 0.5
SLOW_CASES = {64: 512, 256: 2048}
LEAST_RATE = {64: "95 %", 256: "80 %"}


@contextmanager
def stub(delay: float = 0.0) -> Iterator[str]:
    """The url of a model server in a process of its own."""
    command = [sys.executable, "-m", "tests.support.model_stub", "--port", "0", "--delay", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        port = "".join(filter(str.isdigit, server.stdout.readline().split(":")[-1].split("/")[0]))
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def measure(role: str, url: str, count: int, concurrency: int = 4) -> dict[str, float]:
    """The figures of one role in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.batch_roles", role, url, str(count), str(concurrency)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def cost() -> None:
    """CPU, bytes and memory of a further run."""
    with stub() as url:
        measure("bare", url, 20)
        spent = {role: [further_cpu(role, url) for _ in range(TRIES)] for role in ROLES}
        ours = [measure("batch", url, count) for count in (FEW, MANY)]
        peaks = [measure("batch", url, count)["peak_mb"] for count in (100, 1000)]
        grown = [measure("batch", url, count) for count in GROWTH]
    limit = min(spent["bare"])
    for role, values in spent.items():
        beside = f"median {statistics.median(values):.2f} ms, {min(values) / limit:.2f} × bare litellm"
        row(f"CPU of a further call, {ROLES[role]}", f"{min(values):.2f} ms", beside)
    row("stored for a further run", f"{further(ours, 'bytes'):.0f} B", "(limit 4096)")
    for count, figures in zip(GROWTH, grown, strict=True):
        row(
            f"a batch of {count} runs",
            f"{figures['cpu']:.2f} s",
            f"CPU of the whole, {figures['seconds']:.2f} s of time",
        )
    row("peak memory after 1,000 runs", f"{peaks[1]:.0f} MB", f"{peaks[1] - peaks[0]:+.0f} MB against 100 (limit 100)")


def further_cpu(role: str, url: str) -> float:
    """The milliseconds of CPU that one more call takes."""
    return further([measure(role, url, count) for count in (FEW, MANY)], "cpu") * 1000


def further(figures: Sequence[Mapping[str, float]], key: str) -> float:
    """How much of `key` one more run takes, from the figures of few and of many."""
    return (figures[1][key] - figures[0][key]) / (MANY - FEW)


def row(what: str, value: str, beside: str) -> None:
    """One line of the table."""
    print(f"{what:<40} {value:>10}   {beside}")


def rate() -> None:
    """How near a slow model's ideal rate a wide batch comes, and how near bare calls come on the same machine."""
    for at_once, cases in SLOW_CASES.items():
        ideal = cases / at_once * SLOW_S
        with stub(SLOW_S) as url:
            taken = [(slow_seconds("direct", url, at_once), slow_seconds("batch", url, at_once)) for _ in range(TRIES)]
        bare, ours = (min(values) for values in zip(*taken, strict=True))
        what = f"{cases} further {{}}, {SLOW_S:g} s each, {at_once} at once"
        row(what.format("bare calls"), f"{bare:.2f} s", f"{ideal / bare:.0%} of the ideal rate")
        beside = f"{ideal / ours:.0%} (limit {LEAST_RATE[at_once]}), {bare / ours:.0%} of the bare rate"
        row(what.format("runs"), f"{ours:.2f} s", beside)


def slow_seconds(role: str, url: str, at_once: int) -> float:
    """What the further calls take, after a first wave that loads everything."""
    counts = (at_once, at_once + SLOW_CASES[at_once])
    first, whole = (measure(role, url, count, at_once)["seconds"] for count in counts)
    return whole - first


if __name__ == "__main__":
    cost()
    rate()
