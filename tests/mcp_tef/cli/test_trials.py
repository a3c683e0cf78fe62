"""`try`: patches and drafts, against the baseline and a word-sensitive stand-in model over HTTP."""

import itertools
import json
import shlex
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Said, command, kill, say
from tests.support.model_replies import Received, Reply, broken
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import WordSensitiveModel
from tests.support.workspace_files import case, case_file, written_tools

VAGUE = "Does things."
CLEAR = "Forecast rain, wind and temperature of a town."
TRAINS = "List departures of trains between two stations."
TOOLS = {"forecast": VAGUE, "departures": TRAINS, "bikes": "Rent a bicycle.", "notes": "Keep a note."}
WEATHER = [f"Will there be rain and wind in town {number}?" for number in range(10)]
QUERIES = {**dict.fromkeys(WEATHER, "forecast"), "Departures of trains to Oslo": "departures"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with cases about two tools."""
    case_file(tmp_path, [case(query, [{"tool": tool}]) for query, tool in QUERIES.items()])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tried(old: str, new: str, *arguments: str | Path) -> Said:
    """The trial of another description of the forecast, without a workspace."""
    tools = written_tools(Path(), {**TOOLS, "forecast": old})
    patch = [{"op": "replace", "path": "/tools/0/description", "value": new}]
    Path("fix.json").write_text(json.dumps(patch), "utf-8")
    return say("try", "--patch", "fix.json", "--tools-file", tools, "--cases", "cases.json", *arguments)


def asked(old: str, new: str, seed: int, *arguments: str) -> tuple[int, Mapping[str, Any]]:
    """The exit code and the document of a trial with the word-sensitive model."""
    with ModelStub(WordSensitiveModel(seed)) as stub:
        said = tried(old, new, "--model", "openai/x", "--base-url", stub.url, "--seed", str(seed), "--json", *arguments)
    assert said.code in (0, 1, 4), said.err
    return said.code, said.document


def test_a_patch_is_tried_offline_without_a_workspace() -> None:
    said = tried(VAGUE, CLEAR)
    assert said.code == 0
    assert "Better on these cases: 10 fixed, none broken of 10 cases." in said.out
    assert "for queries like these" in said.out
    found = tried(VAGUE, CLEAR, "--json", "--strict").document
    assert (found["on_these_cases"], found["wins"], found["guards"]) == ("better", 10, {"n": 1, "broken": []})
    assert len(found["runs"]) == found["calls"] == 22
    assert tried(CLEAR, VAGUE).code == 1


def test_a_helpful_patch_is_better_and_a_harmful_one_worse_with_a_model_that_reads_words() -> None:
    code, found = asked(VAGUE, CLEAR, 1)
    assert (code, found["on_these_cases"], found["stopped"]) == (0, "better", "decided")
    assert found["calls"] < found["planned_calls"]
    code, found = asked(CLEAR, VAGUE, 2)
    assert (code, found["on_these_cases"]) == (1, "worse")


def test_a_patch_of_white_space_is_no_better() -> None:
    code, found = asked(VAGUE, f"{VAGUE}  ", 0, "--repeats", "3", "--strict")
    assert (code, found["on_these_cases"] == "better") != (0, True)


def test_errors_of_the_provider_are_no_losses() -> None:
    model, number = WordSensitiveModel(3, noise=0.4), 0

    def flaky(request: Received) -> Reply:
        nonlocal number
        number += "Forecast rain" in str(request.body)
        return broken() if number % 4 == 1 and "Forecast rain" in str(request.body) else model(request)

    with ModelStub(flaky) as stub:
        options = ("--model", "openai/x", "--base-url", stub.url, "--retries", "0", "--repeats", "3", "--json")
        found = tried(VAGUE, CLEAR, *options).document
    assert found["losses"] == 0
    assert found["on_these_cases"] == "better"
    assert [run["error"] for run in found["runs"] if run["error"]]


@pytest.mark.parametrize(("also", "code"), [((), 0), (("--strict",), 4)])
def test_a_tool_that_is_not_offered_is_named_with_its_case_and_is_no_fault_of_the_model(
    folder: Path, also: tuple[str, ...], code: int
) -> None:
    both = [{"tool": "forecast"}, {"tool": "sea_weather"}]
    case_file(folder, [case(query, both) for query in WEATHER[:2]])
    with ModelStub(WordSensitiveModel(1)) as stub:
        said = tried(VAGUE, CLEAR, "--model", "openai/x", "--base-url", stub.url, *also)
        assert stub.requests == []
    assert said.code == code, said.out
    assert "`sea_weather` is not offered" in said.out
    assert "`forecast`" not in said.out
    assert all(f"“{query}”" in said.out for query in WEATHER[:2])
    assert "Check the model" not in said.out


def test_the_name_of_a_case_that_is_held_back_is_told_neither_by_a_trial_nor_by_a_prediction(folder: Path) -> None:
    hidden = WEATHER[:2]
    expected = {query: [{"tool": tool}] for query, tool in QUERIES.items()}
    expected[hidden[1]].append({"tool": "sea_weather"})
    case_file(folder, [case(query, calls) for query, calls in expected.items()])
    draft_in_workspace(folder)
    for name in hidden:
        assert say("cases", "edit", name, "--held-back", "yes").code == 0
    for also in ((), ("--json",)):
        said = say("draft", "predict", "Clear", *also)
        assert (said.code, "a held-back case" in said.out, WEATHER[2] in said.out) == (0, True, True)
        assert [name for name in hidden if name in said.out] == []
    with ModelStub(WordSensitiveModel(1)) as stub:
        said = say("try", "Clear", "--model", "openai/x", "--base-url", stub.url)
    assert "`sea_weather` is not offered" in said.out
    assert [name for name in hidden if name in said.out] == []


def test_several_models_get_a_verdict_each_and_a_joint_line() -> None:
    with ModelStub(WordSensitiveModel(4)) as stub:
        options = ("--model", "openai/x", "--model", "openai/y", "--base-url", stub.url, "--json")
        found = tried(VAGUE, CLEAR, *options).document
    assert [one["model"] for one in found["trials"]] == ["openai/x", "openai/y"]
    assert found["sentence"].startswith("Better on 2 of 2 models, worse on none")


def draft_in_workspace(folder: Path) -> None:
    """A draft that describes the forecast, over a server with the cases."""
    tools = written_tools(folder, TOOLS)
    assert say("servers", "add", "city", "--tools-file", tools).code == 0
    assert say("servers", "check", "city").code == 0
    assert say("cases", "import", "cases.json", "--attach", "city").code == 0
    assert say("draft", "new", "Clear", "--server", "city").code == 0
    assert say("draft", "set", "Clear", "forecast", "--description", "-", stdin=CLEAR).code == 0


def test_a_draft_of_the_workspace_is_tried_and_its_runs_tell_arm_round_and_place(folder: Path) -> None:
    draft_in_workspace(folder)
    found = say("try", "Clear", "--json", "--html", "page.html").document
    assert found["on_these_cases"] == "better"
    shown = say("runs", "show", found["runs"][0]["id"], "--json").document
    assert (shown["arm"] in ("original", "draft"), shown["round"], shown["place"]) == (True, 1, 1)
    assert "Better on these cases" in (folder / "page.html").read_text("utf-8")
    assert say("runs", "resume", "latest").code == 2


def test_a_killed_trial_goes_on_with_nothing_asked_twice_that_was_stored(folder: Path) -> None:
    draft_in_workspace(folder)
    model, enough, number = WordSensitiveModel(5), threading.Event(), itertools.count(1)

    def answer(request: Received) -> Reply:
        if next(number) == 40:
            enough.set()
        return model(request)

    with ModelStub(answer, delay=0.05) as stub:
        options = ("--model", "openai/x", "--base-url", stub.url, "--repeats", "3", "--no-early-stop", "--quiet")
        process = subprocess.Popen(command("try", "Clear", *options))
        assert enough.wait(60)
        kill(process)
        process.wait()
        before = say("runs", "list", "--batch", "latest", "--json").document["runs"]
        stored = {run["id"]: run for run in before if run["mark"]}
        asked_before = len(stub.requests)
        found = say("runs", "resume", "latest", "--yes", "--json").document
    runs = {run["id"]: run for run in found["runs"]}
    assert 0 < len(stored) < len(runs)
    assert {run_id: runs[run_id]["mark"] for run_id in stored} == {
        run_id: run["mark"] for run_id, run in stored.items()
    }
    assert len(stub.requests) - asked_before == len(runs) - len(stored)
    assert (found["pairs"], found["stopped"]) == (30, "complete")


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ([{"op": "replace", "path": "/tools/9/description", "value": "x"}], "/tools/9"),
        ([{"op": "test", "path": "/tools/0/name", "value": "rain"}], "does not apply: there is not"),
        ([{"op": "remove", "path": "/tools"}], "no list of tools"),
        ([{"op": "replace", "path": "/tools", "value": []}], "no tool would be left"),
        ([{"op": "replace", "path": "/tools/0/name", "value": "notes"}], "named “notes”"),
        ([{"op": "replace", "path": "/tools/0/inputSchema", "value": 3}], "invalid"),
        ([{"op": "replace", "path": "/tools/0/inputSchema/type", "value": "array"}], "must have the type"),
        ({"op": "remove", "path": "/tools/0"}, "not a list of operations"),
        ([], "changes nothing"),
        ([{"op": "replace", "path": "/tools/2/description", "value": "x"}], "nothing to try"),
    ],
)
def test_a_patch_that_cannot_be_tried_is_one_sentence(patch: Any, reason: str) -> None:
    tools = written_tools(Path(), TOOLS)
    Path("fix.json").write_text(json.dumps(patch), "utf-8")
    said = say("try", "--patch", "fix.json", "--tools-file", tools, "--cases", "cases.json", "--json")
    assert said.code == 2
    assert reason in said.error["message"]
    assert said.error["hint"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1, "cases": []}'])
def test_a_case_list_without_cases_is_refused(text: str, folder: Path) -> None:
    (folder / "cases.json").write_text(text, "utf-8")
    said = tried(VAGUE, CLEAR, "--json")
    assert (said.code, "cases.json" in said.error["message"], bool(said.error["hint"])) == (2, True, True)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("Draft", "--patch", "fix.json"),
        ("--patch", "fix.json"),
        ("Draft", "--server", "s"),
        ("Draft", "--guards", "-1"),
        ("Draft", "--cases", "cases.json"),
        ("nobody",),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: tuple[str, ...]) -> None:
    assert say("try", *arguments).code == 2


def test_a_budget_of_nothing_is_refused() -> None:
    assert tried(VAGUE, CLEAR, "--max-cost", "0").code == 2
    assert tried(VAGUE, CLEAR, "--repeats", "0").code == 2


def test_a_draft_leaves_with_what_its_last_trial_showed(tmp_path: Path) -> None:
    at, new = ("--workspace", tmp_path / "own.db"), tmp_path / "new.txt"
    new.write_text(CLEAR, "utf-8")
    tools = written_tools(tmp_path, TOOLS)
    for words in (
        ("servers", "add", "city", "--tools-file", tools),
        ("cases", "import", "cases.json"),
        ("draft", "new", "Clear", "--server", "city"),
        ("draft", "set", "Clear", "forecast", "--description", new),
    ):
        assert say(*words, *at).code == 0
    assert "Evidence" not in say("draft", "export", "Clear", "--format", "markdown", *at).out
    assert say("try", "Clear", *at).code == 0
    for name in ("clear.md", "clear.html"):
        assert say("draft", "export", "Clear", "--out", name, *at).code == 0
        assert "Better on these cases" in Path(name).read_text("utf-8")


def test_the_draft_of_the_sample_is_ready_after_the_demo_and_better_offline(tmp_path: Path) -> None:
    at = ("--workspace", tmp_path / "sample.db")
    told = say("demo", *at)
    (line,) = [line for line in told.out.splitlines() if "mcp-tef try" in line]
    words = shlex.split(line.partition("mcp-tef ")[2])
    tried_draft = say(*words)
    assert tried_draft.code == 0
    assert "Better on these cases" in tried_draft.out
    assert "must not change broke" in tried_draft.out
