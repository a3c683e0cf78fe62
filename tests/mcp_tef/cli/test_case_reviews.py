"""Rows of a recording: shown and asked about on a terminal, all taken with --accept, none taken unseen."""

import io
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import CaseFileFormat, CaseImportPreview
from mcp_tef.cli.case_edits import reviewed
from mcp_tef.cli.terminal import Terminal
from mcp_tef.formats.cases import recordings
from mcp_tef.formats.cases.entries import CaseSource
from mcp_tef.workflows.transfer import planned
from tests.mcp_tef.cli.test_terminal import at_screen
from tests.support.command_line import say

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
CALL = {"function": {"name": "get_weather", "arguments": '{"city": "Lima"}'}}


def chat(query: str, *calls: dict[str, Any]) -> dict[str, Any]:
    answer = {"role": "assistant", "content": "", "tool_calls": list(calls)}
    return {"messages": [{"role": "user", "content": query}, answer], "tools": [TOOL]}


LINES = "\n".join(map(json.dumps, (chat("Rain in Lima?", CALL), chat("Thanks"), chat("Snow in Oslo?", CALL))))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_text(LINES, "utf-8")
    return path


def asked(typed: str, tmp_path: Path) -> tuple[CaseImportPreview, Terminal]:
    plan = planned(recordings.read(CaseSource(LINES, "trace.jsonl")), [], [], tmp_path)
    preview = CaseImportPreview(source="trace", form=CaseFileFormat.RECORDING, cases=plan.cases, servers=plan.servers)
    terminal = at_screen(typed)
    return reviewed(preview, Namespace(accept=False, dry_run=False, prune=False), terminal), terminal


def test_each_row_is_shown_and_only_those_with_a_yes_are_kept(tmp_path: Path) -> None:
    kept, terminal = asked("y\nn\nyes\n", tmp_path)
    assert [case.label for case in kept.cases] == ["Rain in Lima?", "Snow in Oslo?"]
    assert isinstance(terminal.output, io.StringIO)
    shown = terminal.output.getvalue()
    for line in ("offered: get_weather", "call: get_weather", '  get_weather {"city": "Lima"}', "call: no tool"):
        assert f"  {line}\n" in shown
    assert [server.name for server in kept.servers] == ["Tools of Rain in Lima?"]


def test_nothing_is_kept_where_no_answer_comes(tmp_path: Path) -> None:
    kept, _ = asked("", tmp_path)
    assert (kept.cases, kept.servers) == ((), ())


def test_without_a_terminal_nothing_is_added_unseen(trace: Path) -> None:
    said = say("cases", "import", trace, "--json")
    assert (said.code, said.document["added"], len(said.document["dropped"])) == (0, [], 3)
    assert "3 rows would be new. Nothing was added" in said.err
    assert say("cases", "list", "--json").document["cases"] == []
    assert len(say("cases", "import", trace, "--dry-run", "--json").document["added"]) == 3


def test_accept_takes_all_as_generated_cases_that_run(trace: Path) -> None:
    assert len(say("cases", "import", trace, "--accept", "--json").document["added"]) == 3
    cases = say("cases", "list", "--json").document["cases"]
    assert {(case["origin"], *case["tags"]) for case in cases} == {("generated", "recorded")}
    metrics = say("run", "--json").document["metrics"]
    assert metrics["n"] == 3
    assert set(metrics["by_origin"].get("written", {"runs": 0}).values()) == {0}


def test_a_case_that_was_corrected_keeps_its_expectation(trace: Path) -> None:
    say("cases", "import", trace, "--accept")
    assert say("cases", "edit", "Thanks", "--tool", "get_weather").code == 0
    again = say("cases", "import", trace, "--accept", "--json").document
    assert (again["added"], again["updated"], len(again["unchanged"])) == ([], [], 3)
    assert say("cases", "show", "Thanks", "--json").document["expected"] == [{"tool": "get_weather"}]


@pytest.mark.parametrize(("option", "says"), [("--prune", "--prune does not go with a recording.")])
def test_what_does_not_go_with_a_recording_is_refused(trace: Path, option: str, says: str) -> None:
    said = say("cases", "import", trace, option)
    assert (said.code, said.err.partition(" Leave")[0]) == (2, says) or says in said.err


def test_accept_goes_with_recordings_only(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text("cases: [{query: x}]", "utf-8")
    said = say("cases", "import", file, "--accept")
    assert said.code == 2
    assert "--accept does not go with anything but a recording." in said.err


def test_a_recording_is_never_run_unseen(trace: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([TOOL["function"]]), "utf-8")
    said = say("run", "--tools-file", tools, "--cases", trace)
    assert said.code == 2
    assert "each row has to be reviewed" in said.err
