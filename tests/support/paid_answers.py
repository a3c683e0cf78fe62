"""A command that asks a stub of a model, killed and resumed: what it lost, and what it asked twice."""

import subprocess
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support import workspace_files
from tests.support.command_line import command, kill, run
from tests.support.killed_commands import copied, finished
from tests.support.model_replies import Received, Reply, pick
from tests.support.model_stub import ModelStub

CASES, CONCURRENCY, ANSWER_S, LONGEST_S = 60, 6, 0.1, 90.0


@dataclass(frozen=True)
class Paid:
    """Finished runs before the kill, those `lost` of them, cases asked `twice`, and runs `missing` in the end."""

    known: int
    lost: int
    twice: int
    missing: int


def ready(folder: Path) -> Path:
    """Return a workspace with a server and cases, in a folder of its own."""
    path = folder / "ready" / "workspace.db"
    path.parent.mkdir()
    cases = [workspace_files.weather(number) for number in range(CASES)]
    tools, file = workspace_files.tools_file(path.parent), workspace_files.case_file(path.parent, cases)
    for arguments in (("servers", "add", "city", "--tools-file", tools), ("cases", "import", file)):
        said = run(*arguments, "--workspace", path)
        assert said.code == 0, said.err
    return path


def kill_and_resume(workspace: Path, folder: Path, seconds: float) -> Paid:
    """Run on a copy of a workspace, kill it so long after the model was first asked, and resume."""
    path = copied(workspace, folder)
    asked: Counter[str] = Counter()

    def answer(request: Received) -> Reply:
        asked[str(request.body["messages"][-1]["content"])] += 1
        return pick(request).after(ANSWER_S)

    with ModelStub(answer) as stub:
        options = ("--model", "openai/stub", "--base-url", stub.url, "--concurrency", str(CONCURRENCY))
        arguments = command("run", *options, "--workspace", path, "--json")
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            until = time.monotonic() + LONGEST_S
            while not asked and process.poll() is None:
                assert time.monotonic() < until, "no model was asked"
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            kill(process)
        known = finished(path)
        said = run("runs", "resume", "--workspace", path, "--json")
        after = finished(path)
    assert said.code in (0, 1) or len(known) == CASES, said.err
    return Paid(len(known), len(known - after), sum(asked.values()) - len(asked), CASES - len(after))
