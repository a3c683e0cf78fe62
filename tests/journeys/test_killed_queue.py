"""Killed with one batch under way and two in the queue: the next start tells all three, and goes on with them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QPushButton

from app.screens.runs.page import RunsPage
from mcp_tef import Batch, BatchStatus
from tests.support import workspace_files
from tests.support.command_line import ROOT, say
from tests.support.keyboard_user import Keyboard, at_the_window, the
from tests.support.killed_commands import finished
from tests.support.model_replies import Received, Reply, pick
from tests.support.model_stub import ModelStub
from tests.support.windows import until
from tests.support.workspace_files import rows

CASES = 5
ANSWERED = 2
LONGEST_S = 90.0
LOOK_EVERY_S = 0.02


class Model:
    """Answers two questions and leaves the third without an answer, until it is let go."""

    def __init__(self) -> None:
        self.asked = 0
        self.held = True

    def __call__(self, request: Received) -> Reply:
        """What comes back."""
        self.asked += 1
        return Reply(body="", hang=True) if self.held and self.asked > ANSWERED else pick(request)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A server out of a file, and five cases."""
    path = tmp_path / "work.db"
    cases = workspace_files.case_file(tmp_path, [workspace_files.weather(number) for number in range(CASES)])
    tools = workspace_files.tools_file(tmp_path)
    for arguments in (("servers", "add", "city", "--tools-file", tools), ("cases", "import", cases)):
        assert say(*arguments, "--workspace", path).code == 0
    return path


@contextmanager
def at_work(path: Path, address: str) -> "Iterator[subprocess.Popen[bytes]]":
    """The process with the three batches; it is killed at the end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "sk-test"}
    arguments = [sys.executable, "-m", "tests.support.killed_programs", str(path), address]
    with subprocess.Popen(arguments, env=environment, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def await_state(process: "subprocess.Popen[bytes]", path: Path, model: Model) -> None:
    """Return once three batches and two runs of the first are on disk, and the model has been asked for the third."""
    until_then = time.monotonic() + LONGEST_S
    while (
        model.asked <= ANSWERED
        or len(finished(path)) < ANSWERED
        or rows(path, "SELECT count(*) FROM batches") != [(3,)]
    ):
        assert time.monotonic() < until_then, "the batches never got there"
        assert process.poll() is None, "the process ended by itself"
        try:
            process.wait(LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            continue


def batches(user: Keyboard) -> dict[str, Batch]:
    """The batches on the screen, by name."""
    page = user.window.page("runs")
    assert isinstance(page, RunsPage)
    return {batch.name: batch for batch in page.presenter.batches.all()}


async def test_all_three_are_told_truthfully_and_go_on_in_their_order(qapp: QApplication, workspace: Path) -> None:
    model = Model()

    with ModelStub(model) as stub:
        with at_work(workspace, stub.url) as process:
            await_state(process, workspace, model)
            process.kill()
        assert process.returncode == -9
        before = finished(workspace)
        assert len(before) == ANSWERED
        async with at_the_window(workspace) as user:
            await user.see(
                "3 batches were interrupted, with runs left: First (3 of 5 runs), Second (all 5 runs) "
                "and Third (all 5 runs)."
            )
            assert finished(workspace) == before
            model.held = False
            await user.come_to("servers")
            the(QPushButton, user.window, lambda one: one.text() == "Resume").click()
            await user.come_to("runs")
            await until(lambda: [one.status for one in batches(user).values()] == [BatchStatus.COMPLETED] * 3)
            judged = {name: one.count("TP") for name, one in batches(user).items()}
            assert judged == {"First": CASES, "Second": CASES, "Third": CASES}
        assert model.asked == 3 * CASES + 1
    assert before <= finished(workspace)
    began = [name for (name,) in rows(workspace, "SELECT b.name FROM test_runs r JOIN batches b ON b.id = r.batch_id "
                                            "ORDER BY r.completed_at")]  # fmt: skip
    assert began == ["First"] * CASES + ["Second"] * CASES + ["Third"] * CASES
