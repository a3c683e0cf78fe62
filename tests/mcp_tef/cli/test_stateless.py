"""Runs without a workspace: sources, case files, the project file, and comparison with an earlier result."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import ROOT, Said, say
from tests.support.workspace_files import case, case_file, tools_file

SAMPLE = f"{sys.executable} -P -m mcp_tef sample-server"
RIGHT = [case(f"weather report {number}", [{"tool": "weather_report"}]) for number in range(1, 4)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a tools file and a case file."""
    place = tmp_path / "project"
    place.mkdir()
    tools_file(place)
    case_file(place, RIGHT)
    monkeypatch.chdir(place)
    return place


def run(*arguments: str | Path) -> Said:
    return say("run", "--tools-file", "tools.json", "--cases", "cases.json", *arguments)


def written(name: str, text: str) -> Path:
    Path(name).write_text(text, "utf-8")
    return Path(name)


@pytest.mark.skipif(sys.platform == "win32", reason="the section is written for a POSIX shell")
def test_the_ci_section_of_the_readme_runs_in_an_empty_folder(tmp_path: Path) -> None:
    [block] = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    folder = tmp_path / "empty"
    folder.mkdir()
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}
    done = subprocess.run(
        ["sh", "-ec", block], cwd=folder, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "results.json").read_text("utf-8"))
    assert [run["mark"] for run in found["runs"]] == ["wrong_arguments", "correct_call"]
    assert {file.name for file in folder.iterdir()} == {"cases.yaml", "results.xml", "results.json"}


def test_nothing_is_kept_and_two_runs_are_alike(folder: Path, home: Path) -> None:
    before = set(folder.rglob("*"))
    first, second = (run("--json").document for _ in range(2))
    for one in (first, second):
        del one["batch"], one["conditions"]
        for each in one["runs"]:
            del each["id"], each["execution_time_ms"]
        del one["metrics"]["latency_ms"], one["metrics"]["by_model"]
    assert first == second
    assert set(folder.rglob("*")) == before
    assert list(home.rglob("*.db")) == []


def test_one_source_stands_for_every_server_of_the_file_with_one_note() -> None:
    said = run("--fail-under", "correct_tool=1")
    assert said.code == 0
    assert said.err.count("whatever server cases.json names: city") == 1


def test_several_sources_are_bound_by_name(folder: Path) -> None:
    written(
        "other.json",
        json.dumps({"tools": [{"name": "pay", "description": "Pay a bill.", "inputSchema": {"type": "object"}}]}),
    )
    case_file(folder, [RIGHT[0], case("pay the bill", [{"tool": "pay"}], server="bank")])
    sources = ("--tools-file", "city=tools.json", "--tools-file", "bank=other.json")
    said = say("run", *sources, "--cases", "cases.json", "--json")
    assert [one["selected"] for one in said.document["runs"]] == ["city / weather_report", "bank / pay"]
    unnamed = say("run", "--tools-file", "tools.json", "--tools-file", "other.json", "--cases", "cases.json")
    assert (unnamed.code, "NAME=SOURCE" in unnamed.err) == (2, True)
    mistyped = say("run", *sources[:3], "bnk=other.json", "--cases", "cases.json")
    assert (mistyped.code, "Did you mean bnk?" in mistyped.err) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--cases", "cases.json"),
        ("--tools-file", "tools.json"),
        ("--tools-file", "tools.json", "--cases", "cases.json", "--workspace", "w.db"),
        ("--server-command", "'half", "--cases", "cases.json"),
        ("--tools-file", "tools.json", "--cases", "missing.json"),
    ],
)
def test_incomplete_options_are_bad_usage(arguments: tuple[str, ...]) -> None:
    assert say("run", *arguments).code == 2


def test_a_refused_case_stops_the_run(folder: Path) -> None:
    case_file(folder, [RIGHT[0], {"query": "x", "expectd": None}])
    said = run()
    assert (said.code, "Did you mean expected?" in said.err) == (2, True)


def test_a_program_needs_consent_which_only_the_command_line_gives() -> None:
    arguments = ("run", "--server-command", f"{sys.executable} -c pass", "--cases", "cases.json")
    assert say(*arguments).code == 2
    assert say(*arguments, "--yes").code == 3
    assert say(*arguments).code == 2, "the consent was for one command"


def result(*marks: str) -> dict[str, Any]:
    return {
        "batch": "earlier",
        "runs": [
            {"case": f"weather report {number}", "query": f"weather report {number}", "model": "offline/words"}
            | {"mark": mark, "expected": "weather_report"}
            for number, mark in enumerate(marks, 1)
        ],
    }


def test_the_baseline_fails_a_run_that_is_proven_worse_and_no_other(folder: Path) -> None:
    many = [case(f"weather report {number}", [{"tool": "train_times"}]) for number in range(1, 31)]
    case_file(folder, many)
    written("good.json", json.dumps(result(*["correct_call"] * 30)))
    written("bad.json", json.dumps(result(*["wrong"] * 30)))
    worse = run("--baseline", "good.json", "--json")
    assert (worse.code, worse.document["comparison"]["for_queries_like_these"]) == (1, "worse")
    assert worse.document["comparison"]["counts"]["regressed"] == 30
    assert run("--baseline", "bad.json").code == 0
    assert run().code == 1, "without a baseline, single misses fail"


def test_a_result_of_this_very_run_is_a_baseline() -> None:
    written("main.json", run("--json").out)
    again = run("--baseline", "main.json", "--json")
    assert (again.code, again.document["comparison"]["counts"]["unchanged_right"]) == (0, 3)


@pytest.mark.parametrize("text", [None, "[]", "{half", '{"batch": "x", "runs": [{}]}'])
def test_a_baseline_that_is_no_result_is_bad_input(text: str | None) -> None:
    if text is not None:
        written("main.json", text)
    assert run("--baseline", "main.json").code == 2


PROJECT = """
tools-file = "tools.json"
cases = "cases.json"
suite = ["Journey"]
repeats = 2
"""


def test_the_project_file_holds_the_same_options(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written("mcp-tef.toml", PROJECT)
    assert len(say("run", "--json").document["runs"]) == 6
    assert len(say("run", "--json", "--repeats", "1").document["runs"]) == 3
    assert say("run", "--suite", "Other").code == 2
    written("pyproject.toml", "[tool.mcp-tef]\nrepeats = 1\n")
    assert len(say("run", "--json").document["runs"]) == 6, "the own file comes first"
    below = folder / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert "no test case" in say("run").err, "outside of a repository, folders above do not count"
    (folder / ".git").mkdir()
    assert len(say("run", "--json").document["runs"]) == 6


def test_the_environment_comes_before_the_project_file(monkeypatch: pytest.MonkeyPatch) -> None:
    written("mcp-tef.toml", PROJECT + 'model = "openai/gpt-4.1-mini"\n')
    assert "openai" in say("run").err
    monkeypatch.setenv("DEFAULT_LLM_MODEL", "offline/words")
    assert {one["model"] for one in say("run", "--json").document["runs"]} == {"offline/words"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("yes = true", "never allows anything for itself"),
        ('allow-program = ["python"]', "never allows anything for itself"),
        ("repeat = 2", "Did you mean repeats?"),
        ("repeats = 'many'", "mcp-tef.toml"),
        ("= 3", "cannot be read"),
        ("suite = [{a = 1}, true]", "not one that --suite takes"),
    ],
)
def test_a_project_file_with_an_option_that_it_cannot_hold_is_refused(line: str, said: str) -> None:
    written("mcp-tef.toml", line)
    answer = say("run", "--json")
    assert (answer.code, said in answer.err) == (2, True), answer.err


def test_a_program_of_the_project_file_needs_consent_and_names_the_file(folder: Path) -> None:
    command = json.dumps(f"{sys.executable} -c pass")
    written("mcp-tef.toml", f'server-command = {command}\ncases = "cases.json"\n')
    assert say("run").code == 2
    assert str(folder / "mcp-tef.toml") in say("run", "--yes").err


def test_a_model_address_of_the_project_file_gets_no_key_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-sent")
    written("mcp-tef.toml", PROJECT + 'model = "openai/x"\nbase-url = "https://models.test/v1"\n')
    said = say("run")
    assert (said.code, "models.test" in said.err) == (2, True)


def test_thresholds_ask_the_estimate_the_interval_or_each_case() -> None:
    under = run("--fail-under", "correct_call=0.5")
    assert (under.code, "correct_call is 0.0000 (0.00 to " in under.err) == (1, True)
    assert run("--fail-if-surely-under", "correct_call=0.2").code == 0, "three runs do not prove it"
    surely = run("--fail-if-surely-under", "correct_call=0.95")
    assert (surely.code, "was to be at least 0.95" in surely.err) == (1, True)
    each = run("--case-pass-rate", "0.5", "--repeats", "2")
    assert (each.code, "3 cases pass in less than 0.5 of the runs: weather report 1 (0 of 2)" in each.err) == (1, True)
    assert run("--case-pass-rate", "0").code == 0
    for option in ("--fail-under", "--fail-if-surely-under"):
        said = run(option, "recal=0.9")
        assert (said.code, "Did you mean recall?" in said.err) == (2, True)
        assert run(option, "recall=2").code == 2
    assert run("--case-pass-rate", "many").code == 2
