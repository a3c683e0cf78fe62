"""A disk that is full: one sentence and exit code 3, whatever is being done, and all that had finished is kept."""

from pathlib import Path

import pytest

from tests.support import workspace_files
from tests.support.command_line import Said, say
from tests.support.processes import run_on_full_disk

CASES = 600


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A workspace with a server, and a file of cases."""
    assert say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path)).code == 0
    return workspace_files.case_file(tmp_path, [workspace_files.weather(number) for number in range(CASES)])


def refused(said: Said) -> None:
    """The disk is named, without a traceback."""
    assert said.code == 3, said
    assert said.err.count("The disk refused to read or write the workspace workspace.db. Make room on it") == 1
    assert said.err.count("mcp-tef: ") == 1
    assert "Traceback" not in said.err


@pytest.mark.parametrize("room", [0, 8_192])
def test_a_workspace_that_cannot_be_made_is_told(room: int, tmp_path: Path) -> None:
    tools = workspace_files.tools_file(tmp_path)
    refused(run_on_full_disk(room, "servers", "add", "city", "--tools-file", tools))
    assert say("servers", "list", "--json").document["servers"] == []
    assert say("servers", "add", "city", "--tools-file", tools).code == 0


def test_an_import_is_whole_or_not_there(cases: Path) -> None:
    refused(run_on_full_disk(400_000, "cases", "import", cases))
    assert say("cases", "list", "--json").document["cases"] == []
    assert say("cases", "import", cases).code == 0
    assert len(say("cases", "list", "--json").document["cases"]) == CASES


@pytest.mark.parametrize("room", [600_000, 1_500_000, 2_000_000])
def test_a_batch_is_there_whole_or_not_at_all_and_what_is_left_of_it_can_be_resumed(cases: Path, room: int) -> None:
    say("cases", "import", cases)
    refused(run_on_full_disk(room, "run"))
    before = runs()
    assert len(before) in (0, CASES)
    assert {run["status"] for run in before} <= {"completed", "failed"}
    say("runs", "resume" if before else "list", "--json")
    assert {run["status"] for run in runs()} <= {"completed"}
    assert len(runs()) == len(before)


def runs() -> list[dict[str, object]]:
    """The runs that the workspace has."""
    found: list[dict[str, object]] = say("runs", "list", "--limit", "1000", "--json").document["runs"]
    return found
