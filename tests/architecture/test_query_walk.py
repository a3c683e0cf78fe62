"""One query, followed from the command line to its verdict: the modules that it passes, and the number of files."""

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

import yaml

from mcp_tef.cli.main import main
from tests.support.command_line import say

ROOT = Path(__file__).parents[2]
SPINE = (
    ("mcp_tef/cli/main.py", "main"),
    ("mcp_tef/cli/run.py", "run"),
    ("mcp_tef/engine.py", "Engine.open"),
    ("mcp_tef/workflows/runs.py", "Runs.start"),
    ("mcp_tef/workflows/batch_job.py", "BatchJob.work"),
    ("mcp_tef/workflows/evaluate.py", "SelectorExecutor.execute"),
    ("mcp_tef/llm/model_selector.py", "ModelSelectors.selector_for"),
    ("mcp_tef/scoring/judge.py", "judge"),
)
MOST_FILES = 91
"""Lower it whenever fewer are reached; a reader who follows a query has to know these."""
NOT_LOADED = {"litellm", "openai", "mcp", "mcp_tef.reports", "mcp_tef.formats.cases"}


class CallRecorder:
    """Functions of the project in the order of their first calls, without what runs while a module is imported."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], None] = {}
        self._imports: Counter[int] = Counter()

    @property
    def files(self) -> list[str]:
        """The files of these functions."""
        return sorted({file for file, _ in self.calls})

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


def workspace_with_one_case(folder: Path) -> Path:
    """Make a workspace with one server, which is a tools file, and one case."""
    workspace, tools, cases = folder / "work.db", folder / "tools.json", folder / "cases.yaml"
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


def test_a_query_passes_the_spine_in_order_and_few_files(tmp_path: Path) -> None:
    workspace = workspace_with_one_case(tmp_path)
    with recorded() as recorder:
        assert main(["run", "--workspace", os.fspath(workspace)]) == 0
    steps = list(recorder.calls)
    assert [step for step in SPINE if step in recorder.calls] == list(SPINE)
    assert sorted(SPINE, key=steps.index) == list(SPINE)
    files = [file for file in recorder.files if file.startswith(("mcp_tef/", "app/"))]
    assert len(files) <= MOST_FILES, "\n".join(files)


def test_a_query_loads_no_file_reader_no_report_and_no_client_that_it_does_not_use(tmp_path: Path) -> None:
    workspace = workspace_with_one_case(tmp_path)
    program = f"""
import sys
from mcp_tef.cli.main import main
code = main(["run", "--workspace", {os.fspath(workspace)!r}])
sys.exit(code or ", ".join({NOT_LOADED!r} & set(sys.modules)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
