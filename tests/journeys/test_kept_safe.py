"""What may never happen: a finished run is lost, or a key is found where it has no business."""

import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef.model.addresses import origin_of
from tests.support import workspace_files
from tests.support.command_line import Said, command, run, say
from tests.support.model_replies import Received, Reply, hang, pick, unauthorized
from tests.support.model_stub import ModelStub

KEY = "sk-never-to-be-found-6f1d2c"
CASES = 40


class HalfWay:
    """A script for the stub: answers half of the cases, slowly, then tells so, and answers no more until it may."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.may_go_on = threading.Event()
        self._asked = 0

    def __call__(self, request: Received) -> Reply:
        self._asked += 1
        if self._asked <= CASES // 2 or self.may_go_on.is_set():
            return pick(request).after(0.1)
        self.reached.set()
        return hang()


@pytest.fixture
def half_way() -> HalfWay:
    return HalfWay()


@pytest.fixture
def stub(half_way: HalfWay, tmp_path: Path) -> Iterator[ModelStub]:
    """A model, and a workspace with a tools file and forty cases."""
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    cases = [workspace_files.weather(number) for number in range(CASES)]
    assert say("cases", "import", workspace_files.case_file(tmp_path, cases)).code == 0
    with ModelStub(half_way) as model:
        yield model


def stopped_in_the_middle(stub: ModelStub, half_way: HalfWay, stop: signal.Signals) -> Said:
    """Start a batch, stop its process half way, and give what it said."""
    arguments = command("run", "--model", "openai/stub", "--base-url", stub.url, "--json")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert half_way.reached.wait(60)
        process.send_signal(stop)
        out, err = process.communicate(timeout=60)
    half_way.may_go_on.set()
    return Said(process.returncode, out, err)


def finished() -> dict[str, object]:
    """Every run with a verdict, by id."""
    runs = say("runs", "list", "--status", "completed", "--json").document["runs"]
    return {item["id"]: item for item in runs}


def test_after_a_kill_what_finished_is_there_and_the_rest_can_be_resumed(stub: ModelStub, half_way: HalfWay) -> None:
    assert stopped_in_the_middle(stub, half_way, signal.SIGKILL).code == -signal.SIGKILL
    listed = say("runs", "list", "--json")
    assert "interrupted" in listed.err
    assert listed.document["batches"][0]["status"] == "interrupted"
    assert listed.document["batches"][0]["interrupted"] == listed.document["batches"][0]["counts"]["failed"] > 0
    assert {item["status"] for item in listed.document["runs"]} == {"completed", "failed"}
    before = finished()
    resumed = run("runs", "resume", "--json")
    assert resumed.code == 0, resumed.err
    assert len(finished()) == CASES
    assert before.items() <= finished().items()


def test_after_control_c_the_same_with_exit_code_130(stub: ModelStub, half_way: HalfWay) -> None:
    said = stopped_in_the_middle(stub, half_way, signal.SIGINT)
    assert said.code == 130
    assert said.error["code"] == "interrupted"
    assert {"batch", "runs", "metrics", "interrupted", "resume", "error"} == said.document.keys()
    batch = say("runs", "list", "--json").document["batches"][0]
    assert f"runs resume {batch['id']}" in said.err
    before = finished()
    assert 0 < len(before) < CASES
    assert run("runs", "resume", batch["id"]).code == 0
    assert before.items() <= finished().items()
    assert len(finished()) == CASES


def test_a_key_is_found_nowhere_after_a_run_that_the_provider_refused(home: Path, tmp_path: Path) -> None:
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    cases = [workspace_files.weather(number) for number in range(4)]
    say("cases", "import", workspace_files.case_file(tmp_path, cases))
    with ModelStub([pick, unauthorized, unauthorized]) as model:
        arguments = ("run", "--model", "openai/stub", "--base-url", model.url, "--debug")
        allowed = ("--allow-origin", f"OPENAI_API_KEY={origin_of(model.url)}")
        said = run(*arguments, *allowed, environment={"OPENAI_API_KEY": KEY})
        piped = run(*arguments, "--key-stdin", stdin=KEY)
        assert {request.key for request in model.requests} == {KEY}
    shown = say("runs", "list", "--json")
    assert "key_wrong" in shown.out
    for words in (said, piped, shown):
        assert KEY not in words.out + words.err
    assert [str(file) for folder in (home, tmp_path) for file in holding(folder, KEY)] == []


def holding(folder: Path, text: str) -> Iterator[Path]:
    """Files below a folder that hold a text."""
    return (file for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes())
