"""Signals in the middle of work: what finished is stored and reported, nothing is left running, the rest can go on."""

import csv
import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mcp_tef.model.cancellation import REPEATED_AFTER_S
from tests.support import isolation, workspace_files
from tests.support.command_line import ROOT, Said, command, fresh_command, say
from tests.support.faults import stdio_faults
from tests.support.processes import alive
from tests.support.workspace_files import rows

FINISHED, STUCK = 4, 2
ALL = FINISHED + STUCK
REPORTS = {"junit": "xml", "html": "html", "csv": "csv"}
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
PATIENCE_S = 30
READ = ("0", "63")  # the number of the call on x86-64 and on ARM64
Command = Callable[..., list[str]]
COUNT_COMPLETED = "SELECT count(*) FROM test_runs WHERE status = 'completed'"


@pytest.fixture
def marker(tmp_path: Path) -> str:
    """An argument that every server of this test has, and no other process."""
    return f"marker-{os.getpid()}-{tmp_path.name}"


@pytest.fixture
def workspace(tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two programs with cases: one that lists tools, and one that neither lists any nor leaves when asked to."""
    monkeypatch.setenv("TOOL_INGESTION_TIMEOUT_SECONDS", "0.1")
    monkeypatch.setenv("MCP_TEF_MAX_LEAVE_SECONDS", "0.1")
    monkeypatch.setenv("MCP_TEF_MAX_TERMINATE_SECONDS", "0.1")
    file = tmp_path / "work.db"
    monkeypatch.setenv("DATABASE_URL", str(file))
    for name, fault in (("city", "none"), ("stuck", "stubborn-silent")):
        program, *arguments = stdio_faults.command(fault)
        options = [f"--arg={argument}" for argument in (*arguments, marker)]
        say("servers", "add", name, "--command", program, *options, "--yes")
    servers = ["stuck"] * STUCK + ["city"] * FINISHED
    cases = [
        workspace_files.case(f"first {number}", [{"tool": "first"}], server=name) for number, name in enumerate(servers)
    ]
    assert say("cases", "import", workspace_files.case_file(tmp_path, cases)).code == 0
    return file


def started(*arguments: str | Path, program: Command = command, **options: Any) -> "subprocess.Popen[str]":
    """Start a command that waits for a server as long as by default."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "TOOL_INGESTION_TIMEOUT_SECONDS": "30"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(program(*arguments), text=True, env=surroundings, **(streams | options))


def pause() -> None:
    threading.Event().wait(0.01)


def await_true(holds: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, holds
        pause()


def await_halfway(workspace: Path, marker: str) -> None:
    """Return once the runs that can finish are stored; a server is still running then."""
    await_true(lambda: rows(workspace, COUNT_COMPLETED) == [(FINISHED,)])
    assert marked(marker)


def marked(marker: str) -> set[int]:
    """Processes with the marker among their arguments."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if marker.encode() in (folder / "cmdline").read_bytes() and alive(int(folder.name)):
                found.add(int(folder.name))
    return found


def ended(process: "subprocess.Popen[str]") -> Said:
    out, err = process.communicate(timeout=PATIENCE_S)
    return Said(process.returncode, out, err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_a_batch_in_order_and_it_can_be_resumed(
    number: signal.Signals, workspace: Path, marker: str, tmp_path: Path
) -> None:
    reports = {name: tmp_path / f"report.{ending}" for name, ending in REPORTS.items()}
    options = [word for name, file in reports.items() for word in (f"--{name}", file)]
    with started("run", "--yes", "--json", *options) as process:
        await_halfway(workspace, marker)
        for _ in range(2):  # as `timeout` sends it: to the process, and to its group
            process.send_signal(number)
        said = ended(process)
    assert (said.code, marked(marker)) == (CODES[number], set())
    document = said.document
    statuses = Counter(run["status"] for run in document["runs"])
    assert statuses == {"completed": FINISHED, "cancelled": STUCK}
    assert (document["interrupted"], document["metrics"]["n"]) == (True, FINISHED)
    assert document["resume"] == f"mcp-tef runs resume {document['batch']}"
    assert document["error"]["message"] == f"Interrupted by {number.name}."
    assert f"{FINISHED} of {ALL} runs finished. Go on with: {document['resume']}" in said.err
    root = ElementTree.parse(reports["junit"]).getroot()
    assert (len(root.findall(".//skipped")), root.get("tests")) == (STUCK, str(ALL + 1))
    assert root.get("failures") != "0"  # that runs are left is a test case that fails, as the exit code does
    assert f"{STUCK} of {ALL} runs were not finished" in reports["html"].read_text("utf-8")
    table = csv.DictReader(reports["csv"].read_text("utf-8").splitlines())
    assert Counter(row["status"] for row in table) == statuses
    resumed = say("runs", "resume", document["batch"], "--yes", "--json").document["runs"]
    before = {run["id"] for run in document["runs"] if run["status"] == "completed"}
    assert before == {run["id"] for run in resumed if run["status"] == "completed"}
    assert {run["error"]["code"] for run in resumed if run["id"] not in before} == {"server_silent"}


@pytest.mark.parametrize("verb", ["servers tools stuck", "similarity --server stuck --yes"])
@pytest.mark.usefixtures("workspace")
def test_a_signal_ends_every_verb_that_has_started_a_program(verb: str, marker: str) -> None:
    with started(*verb.split(), "--json") as process:
        await_true(lambda: marked(marker))
        process.terminate()
        said = ended(process)
    assert (said.code, said.error["code"], marked(marker)) == (143, "interrupted", set())
    assert said.err == "mcp-tef: Interrupted by SIGTERM. What had finished is kept.\n"


@pytest.mark.parametrize("verb", ["servers import -", "run --key-stdin --model openai/stub"])
@pytest.mark.usefixtures("workspace")
def test_a_signal_ends_a_verb_that_waits_for_standard_input(verb: str) -> None:
    with started(*verb.split(), "--json", program=fresh_command, stdin=subprocess.PIPE) as process:
        await_true(lambda: waits_for_input(process))
        process.terminate()
        assert ended(process).code == 143


def test_what_a_signal_cuts_short_leaves_no_half_of_a_result(tmp_path: Path) -> None:
    line = '{"id": "1", "query": "", "tools": [], "expected": null, "calls": []}\n'
    (tmp_path / "in.jsonl").write_text(line * 500_000, "utf-8")
    before = {"in.jsonl", "out.jsonl"}
    (tmp_path / "out.jsonl").write_text("before", "utf-8")
    with started("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--json") as process:
        await_true(lambda: any(path.name not in before for path in tmp_path.iterdir()))
        process.terminate()
        said = ended(process)
    assert (said.code, said.error["code"]) == (143, "interrupted")
    assert {path.name for path in tmp_path.iterdir()} == before
    assert (tmp_path / "out.jsonl").read_text("utf-8") == "before"


def test_the_same_signal_again_ends_at_once_and_kills_what_was_started(
    workspace: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_TEF_MAX_LEAVE_SECONDS", "600")
    with started("run", "--yes", "--json") as process:
        await_halfway(workspace, marker)
        began = time.monotonic()
        while process.poll() is None:
            process.terminate()
            pause()
        said = ended(process)
    assert time.monotonic() - began > REPEATED_AFTER_S
    assert (said.code, said.out, marked(marker)) == (143, "", set())


def test_an_ignored_hangup_ends_nothing_and_people_are_told_how_to_go_on(workspace: Path, marker: str) -> None:
    with started("run", "--yes", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        await_halfway(workspace, marker)
        process.send_signal(signal.SIGHUP)
        process.terminate()
        said = ended(process)
    [(batch,)] = rows(workspace, "SELECT id FROM batches")
    assert (said.out.count("✓"), f"Batch {batch} was interrupted." in said.out) == (FINISHED, True)
    assert said.err.endswith(
        f"mcp-tef: Interrupted by SIGTERM. {FINISHED} of {ALL} runs finished. Go on with: mcp-tef runs resume {batch}\n"
    )


def test_a_terminal_that_is_closed_still_gets_its_report_written(workspace: Path, marker: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    report = tmp_path / "report.csv"
    with started(
        "run", "--yes", "--csv", report, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=own_terminal
    ) as process:
        os.close(theirs)
        await_halfway(workspace, marker)
        os.close(ours)
        assert process.wait(PATIENCE_S) == 129
    assert (marked(marker), len(report.read_text("utf-8").splitlines())) == (set(), ALL + 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, None], ids=["SIGTERM", "end of the loop"])
def test_the_window_is_closed_in_order_without_a_question(
    number: signal.Signals | None, workspace: Path, marker: str
) -> None:
    program = [sys.executable, "-m", "tests.support.window_programs", "run-all-cases", str(workspace)]
    surroundings = {**os.environ, "TOOL_INGESTION_TIMEOUT_SECONDS": "30"}
    with subprocess.Popen(program, cwd=ROOT, env=surroundings, stdin=subprocess.PIPE) as process:
        await_halfway(workspace, marker)
        if number is None:
            assert process.stdin is not None
            process.stdin.close()  # Qt leaves its loop, as some desktops have it
        else:
            process.send_signal(number)
        assert process.wait(PATIENCE_S) == (CODES[number] if number else 0)
    assert (marked(marker), rows(workspace, "SELECT status FROM batches")) == (set(), [("interrupted",)])
    assert rows(workspace, "SELECT status, count(*) FROM test_runs GROUP BY status ORDER BY status") == [
        ("cancelled", STUCK),
        ("completed", FINISHED),
    ]


def test_a_signal_ends_a_question_at_the_terminal(
    workspace: Path, marker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pty.openpty()
    stranger = {**os.environ, "PYTHONPATH": str(ROOT)} | dict.fromkeys(isolation.HOME_VARIABLES, str(tmp_path / "home"))
    with monkeypatch.context() as theirs_too:
        for name in isolation.HOME_VARIABLES:
            theirs_too.setenv(name, stranger[name])
        workspace_files.made_own(workspace)
    with subprocess.Popen(command("run"), env=stranger, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        asked = b""
        while b"[y/N]" not in asked:
            asked += os.read(ours, 1_000)
        process.terminate()
        assert process.wait(PATIENCE_S) == 143
    os.close(ours)
    assert (marked(marker), rows(workspace, "SELECT count(*) FROM test_runs")) == (set(), [(0,)])


def own_terminal() -> None:
    """Make standard input the terminal of the session, which is told when it is closed."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def waits_for_input(process: "subprocess.Popen[str]") -> bool:
    """Whether a process is blocked in a read from its standard input, or has ended."""
    with suppress(OSError):
        call = Path(f"/proc/{process.pid}/syscall").read_text().split()
        return call[0] in READ and call[1] == "0x0"
    return process.poll() is not None


@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
def test_a_signal_ends_the_library_over_stdio_after_a_tool_was_called(number: signal.Signals, tmp_path: Path) -> None:
    """Seen: it lived on, waiting for the next line."""
    at = ("--workspace", tmp_path / "work.db")
    tool = {"name": "weather", "description": "Tell the weather.", "input_schema": {"type": "object"}}
    (tmp_path / "tool.json").write_text(json.dumps(tool), "utf-8")
    assert say("library", "add", tmp_path / "tool.json", *at).code == 0
    assert say("library", "activate", "weather", *at).code == 0
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    calls = {"initialize": client, "tools/list": {}, "tools/call": {"name": "weather", "arguments": {}}}
    with started("library", "serve", *at, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for id_, (method, params) in enumerate(calls.items()):
            sent = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
            print(json.dumps(sent), file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
        assert answer["result"]["isError"] is False
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == CODES[number]
    assert [row[0] for row in rows(tmp_path / "work.db", "SELECT status FROM library_executions")] == ["success"]
