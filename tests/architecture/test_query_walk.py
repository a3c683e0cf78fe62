"""One query, followed from the command line and the window to its verdict: the modules that it passes, and how many."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import yaml
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.screens.cases.page import CasesPage
from app.screens.runs.page import RunsPage
from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from mcp_tef.cli.main import main
from tests.support.command_line import say
from tests.support.windows import until
from tests.support.workbench import window, workbench

ROOT = Path(__file__).parents[2]
JOB = (
    ("mcp_tef/workflows/batch_job.py", "BatchJob.work"),
    ("mcp_tef/workflows/evaluate.py", "SelectorExecutor.execute"),
    ("mcp_tef/llm/model_selector.py", "ModelSelectors.selector_for"),
    ("mcp_tef/scoring/judge.py", "judge"),
)
SPINE = (
    ("mcp_tef/cli/main.py", "main"),
    ("mcp_tef/cli/run.py", "run"),
    ("mcp_tef/engine.py", "Engine.open"),
    ("mcp_tef/workflows/runs.py", "Runs.start"),
    *JOB,
)
WINDOW_SPINE = (
    ("app/screens/cases/page.py", "CasesPage.save"),
    ("app/screens/runs/dialogs.py", "StartDialog._start"),
    ("app/screens/runs/start_presenter.py", "StartPresenter.start"),
    ("app/core_link/bridge.py", "Bridge.call"),
    *JOB,
)
MOST_FILES = 106
"""Lower it whenever fewer are reached; a reader who follows a query has to know these."""
MOST_FILES_OF_WINDOW = 148
"""Without `TOOLKIT`, which draws, and knows nothing of a query; up to 145 are reached, by what is read meanwhile."""
TOOLKIT = ("app/widgets/", "app/theme/")
NOT_LOADED = {"litellm", "openai", "mcp", "mcp_tef.reports", "mcp_tef.formats.cases"}


class CallRecorder:
    """Functions of the project in the order of their first calls, without what runs while a module is imported."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], None] = {}
        self._imports: Counter[int] = Counter()

    def take(self) -> list[tuple[str, str]]:
        """Return the functions called since the last time."""
        calls, self.calls = self.calls, {}
        return list(calls)

    def hear(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Take in one event of the profiler."""
        code, thread = frame.f_code, threading.get_ident()
        if code.co_name == "<module>" and event in ("call", "return"):
            self._imports[thread] += 1 if event == "call" else -1
        elif event == "call" and not self._imports[thread] and code.co_flags & CO_OPTIMIZED:
            file = code.co_filename
            if file.startswith(str(ROOT)) and "site-packages" not in file:
                self.calls.setdefault((Path(file).relative_to(ROOT).as_posix(), code.co_qualname))


@contextmanager
def recorded() -> Iterator[CallRecorder]:
    """Record the calls on this thread and on those that begin meanwhile."""
    recorder, before = CallRecorder(), sys.getprofile()
    threading.setprofile(recorder.hear)
    sys.setprofile(recorder.hear)
    try:
        yield recorder
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with one server, which is a tools file, and one case."""
    workspace, tools, cases = tmp_path / "work.db", tmp_path / "tools.json", tmp_path / "cases.yaml"
    tools.write_text(json.dumps([{"name": "list_repairs", "description": "List open repairs", "inputSchema": {}}]))
    case = {
        "name": "one",
        "query": "List the open repairs",
        "servers": ["desk"],
        "expected": [{"tool": "list_repairs"}],
    }
    cases.write_text(yaml.safe_dump({"cases": [case]}))
    assert say("servers", "add", "desk", "--tools-file", tools, "--workspace", workspace).code == 0
    assert say("cases", "import", cases, "--workspace", workspace).code == 0
    return workspace


def test_a_query_passes_the_spine_in_order_and_few_files(workspace: Path) -> None:
    with recorded() as recorder:
        assert main(["run", "--workspace", os.fspath(workspace)]) == 0
    steps = recorder.take()
    assert [step for step in steps if step in SPINE] == list(SPINE)
    files = sorted({file for file, _ in steps if file.startswith(("mcp_tef/", "app/"))})
    assert len(files) <= MOST_FILES, "\n".join(files)


async def test_a_query_of_the_window_passes_the_spine_in_order_and_few_files(
    qapp: QApplication, workspace: Path
) -> None:
    with recorded() as recorder:
        asked, answered = await run_in_window(workspace, recorder)
    assert WINDOW_SPINE[0] in asked
    assert [step for step in answered if step in WINDOW_SPINE[1:]] == list(WINDOW_SPINE[1:])
    files = sorted({file for file, _ in (*asked, *answered) if file.startswith(("mcp_tef/", "app/"))})
    own = [file for file in files if not file.startswith(TOOLKIT)]
    assert len(own) <= MOST_FILES_OF_WINDOW, "\n".join(own)


async def run_in_window(workspace: Path, recorder: CallRecorder) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Run the case from the editor; return the calls until the form is there, then those until the verdict is read."""
    async with workbench(workspace=workspace) as controller:
        cases, runs = await built_screens(window(controller))
        recorder.take()
        click(next(button for button in cases.header.buttons() if button.text() == "Run 1 case…"))
        await until(lambda: runs.batch_actions.start_dialog)
        form = runs.batch_actions.start_dialog
        assert form is not None
        await until(lambda: form.estimate.accessibleName())
        asked = recorder.take()
        click(form.run)
        sentence = runs.detail.verdict.head.sentence
        await until(lambda: sentence.isVisible() and "list_repairs" in sentence.accessibleName())
        return asked, recorder.take()


async def built_screens(window: MainWindow) -> tuple[CasesPage, RunsPage]:
    """Build every screen that is built ahead, and show the case in the editor; nothing is being read any more."""
    for screen in screens():
        if not screen.rare:
            window.page(screen.key)
    cases, runs = window.page("cases"), window.page("runs")
    assert isinstance(cases, CasesPage)
    assert isinstance(runs, RunsPage)
    for page in (runs, cases):
        window.show_screen(page.key)
        await page.settled()
    await until(lambda: cases.presenter.edited)
    return cases, runs


def click(button: QWidget) -> None:
    """Click as a user does."""
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_query_loads_no_file_reader_no_report_and_no_client_that_it_does_not_use(workspace: Path) -> None:
    program = f"""
import sys
from mcp_tef.cli.main import main
code = main(["run", "--workspace", {os.fspath(workspace)!r}])
sys.exit(code or ", ".join({NOT_LOADED!r} & set(sys.modules)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
