"""`run --cluster`: the rows of one machine, also when a worker is killed half way, and no key but in memory."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import ROOT, Said, command, say
from tests.support.model_replies import Received, Reply, tool_calls
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

KEY = "sk-planted-for-the-cluster-0123456789"
CASES = [case(f"Weather in city {number}?", [{"tool": "weather_report"}]) for number in range(6)]
RUNS = 3 * len(CASES)
OF_ONE_BATCH = {"id", "batch_id", "case_id", "execution_time_ms", "created_at", "completed_at", "attempts"}


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A workspace with a server and six cases."""
    at = ("--workspace", tmp_path / "work.db")
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), *at).code == 0
    assert say("cases", "import", case_file(tmp_path, CASES), *at).code == 0
    return tmp_path / "work.db"


def right(_: Received) -> Reply:
    """The call that every case expects."""
    return tool_calls(("weather_report", {"city": "Lisbon"}))


def started(workspace: Path, stub: ModelStub, *options: str) -> "subprocess.Popen[str]":
    """Start a batch with a key, in a process of its own."""
    words = ["run", "--model", "openai/gpt-x", "--base-url", stub.url, "--repeats", "3", "--key-stdin", "--json"]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command(*words, *options, "--workspace", workspace), env=surroundings, text=True, **pipes)


def ended(process: "subprocess.Popen[str]") -> Said:
    """Wait for its end."""
    out, err = process.communicate(KEY + "\n", timeout=110)
    return Said(process.returncode, out, err)


def rows(said: Said) -> list[dict[str, Any]]:
    """The runs without what differs between any two batches."""
    return [{key: value for key, value in row.items() if key not in OF_ONE_BATCH} for row in said.document["runs"]]


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    """The process ids of the workers that a command has started."""
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    children = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_a_killed_worker_loses_nothing_and_the_rows_are_those_of_one_machine(city: Path) -> None:
    running: list[subprocess.Popen[str]] = []
    killed: list[int] = []

    def kills_one_half_way(received: Received) -> Reply:
        if len(stub.requests) >= RUNS // 2 and not killed:
            killed.append(workers_of(running[0])[0])
            os.kill(killed[0], signal.SIGKILL)
        return right(received)

    with ModelStub(right) as plain:
        alone = ended(started(city, plain))
    with ModelStub(kills_one_half_way) as stub:
        running.append(started(city, stub, "--cluster", "local:3"))
        said = ended(running[0])
        asked = len(stub.requests)
    assert (alone.code, said.code, len(killed)) == (0, 0, 1), said.err
    assert rows(said) == rows(alone)
    assert RUNS <= asked <= 2 * RUNS
    assert {request.headers["authorization"] for request in stub.requests} == {f"Bearer {KEY}"}
    assert KEY not in said.out + said.err
    assert [file for file in city.parent.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()] == []


@pytest.mark.parametrize(
    ("address", "says", "code"),
    [
        ("tcp://192.0.2.7:8786", "no TLS", 2),
        ("local:0", "local:1", 2),
        ("local:many", "local:1", 2),
        ("192.0.2.7:8786", "tls://", 2),
        ("tcp://127.0.0.1:9", "No Dask scheduler", 3),
    ],
)
def test_a_cluster_that_cannot_be_used_is_one_sentence_and_asks_nothing(
    address: str, says: str, code: int, city: Path
) -> None:
    said = say("run", "--cluster", address, "--workspace", city)
    assert (said.code, says in said.err.splitlines()[-1]) == (code, True)
    assert say("runs", "list", "--workspace", city, "--json").document["batches"] == []
