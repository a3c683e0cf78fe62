"""A finished run is never lost: a killed command leaves it in the workspace, and resuming adds the others."""

import subprocess
import threading
from pathlib import Path

from tests.support import workspace_files
from tests.support.command_line import command, kill, say
from tests.support.model_replies import Received, Reply, hang, pick
from tests.support.model_stub import ModelStub

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


def finished() -> dict[str, object]:
    """Every run with a verdict, by id."""
    runs = say("runs", "list", "--status", "completed", "--json").document["runs"]
    return {item["id"]: item for item in runs}


def test_after_a_kill_what_finished_is_there_and_the_rest_can_be_resumed(tmp_path: Path) -> None:
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    cases = [workspace_files.weather(number) for number in range(CASES)]
    assert say("cases", "import", workspace_files.case_file(tmp_path, cases)).code == 0
    with ModelStub(half_way := HalfWay()) as stub:
        arguments = command("run", "--model", "openai/stub", "--base-url", stub.url, "--json")
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            assert half_way.reached.wait(60)
            kill(process)
        half_way.may_go_on.set()
        listed = say("runs", "list", "--json")
        assert "interrupted" in listed.err
        assert listed.document["batches"][0]["status"] == "interrupted"
        assert listed.document["batches"][0]["interrupted"] == listed.document["batches"][0]["counts"]["failed"] > 0
        assert {item["status"] for item in listed.document["runs"]} == {"completed", "failed"}
        before = finished()
        resumed = say("runs", "resume", "--json")
        assert resumed.code == 0, resumed.err
        assert len(finished()) == CASES
        assert before.items() <= finished().items()
