"""While a batch waits for its model: nothing that it needs is deleted, and its end says what can go on."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.command_line import ROOT, Said, command, say
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case_file, tools_file, weather, written

PATIENCE_S = 60
MODEL = ("--model", "openai/stub", "--no-key")
REMOVALS = (
    ("cases", "remove", "weather report 1", "--yes"),
    ("cases", "import", "other.json", "--prune", "--yes"),
    ("servers", "remove", "city", "--yes"),
)
LISTS = (("cases", "list"), ("servers", "list"), ("draft", "list"))


@contextmanager
def asking(*arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a command until its model, which answers nobody, was asked; end it where the test has not."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    with ModelStub(delay=PATIENCE_S) as stub:
        given = command(*arguments, *MODEL, "--base-url", stub.url)
        pipe = subprocess.PIPE
        with subprocess.Popen(given, text=True, env=surroundings, stdout=pipe, stderr=pipe) as process:
            try:
                await_true(lambda: stub.requests)
                yield process
            finally:
                process.kill()


def await_true(holds: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, holds
        threading.Event().wait(0.02)


def interrupted(process: "subprocess.Popen[str]") -> Said:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    return Said(process.returncode, out, err)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A server with two cases, and a file with another case."""
    workspace = tmp_path / "work.db"
    cases = case_file(tmp_path, [weather(1), weather(2)])
    written(tmp_path / "other.json", {"cases": [weather(3)]})
    for line in (
        ("servers", "add", "city", "--tools-file", tools_file(tmp_path)),
        ("cases", "import", cases),
        ("draft", "new", "Shorter", "--server", "city"),
        ("draft", "set", "Shorter", "weather_report", "--title", "Weather"),
    ):
        assert say(*line, "--workspace", workspace).code == 0
    return workspace


def test_nothing_is_deleted_under_a_running_batch(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.parent)
    before = listed(workspace)
    with asking("run", "--workspace", workspace) as process:
        for line in REMOVALS:
            said = say(*line, "--workspace", workspace, "--json")
            assert (said.code, said.error["code"]) == (2, "conflict"), line
        assert interrupted(process).code == 130
    assert listed(workspace) == before


def test_a_draft_is_not_deleted_under_its_trial(workspace: Path) -> None:
    before = listed(workspace)
    with asking("try", "Shorter", "--workspace", workspace) as process:
        said = say("draft", "remove", "Shorter", "--workspace", workspace, "--json")
        assert interrupted(process).code == 130
    assert (said.code, said.error["code"]) == (2, "conflict")
    assert listed(workspace) == before


def listed(workspace: Path) -> list[str]:
    return [say(*line, "--workspace", workspace).out for line in LISTS]


def test_a_batch_without_a_workspace_has_nothing_to_resume(tmp_path: Path) -> None:
    sources = ("--tools-file", tools_file(tmp_path), "--cases", case_file(tmp_path, [weather(1)]))
    with asking("run", *sources, "--json") as process:
        said = interrupted(process)
    assert (said.code, said.document["interrupted"], said.document["resume"]) == (130, True, None)
    assert "Nothing is kept without a workspace; run it again." in said.err


@pytest.mark.parametrize("verb", ["run", "crowd --sizes 10 --silence 0"])
def test_a_batch_in_a_workspace_says_how_to_resume_it(workspace: Path, verb: str) -> None:
    with asking(*verb.split(), "--workspace", workspace, "--json") as process:
        document = interrupted(process).document
    assert document["resume"] == f"mcp-tef runs resume {document['batch']} --workspace {workspace}"
