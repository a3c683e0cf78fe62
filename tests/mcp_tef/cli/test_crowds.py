"""`crowd` and `steal`: on the command line with the baseline and a stand-in model, their documents and reports."""

import itertools
import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Said, command, kill, say
from tests.support.model_replies import Received, Reply
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import TOOL, CrowdedModel
from tests.support.workspace_files import case, case_file, written_tools

TOOLS = {TOOL: "Book a repair of a bicycle in the workshop.", "rent": "Rent a bicycle for some days."}
THIEF = {"fix_bicycle": "Book a repair of my bicycle, brake or gears, please."}


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two servers and cases about the first one."""
    monkeypatch.chdir(tmp_path)
    for name, tools in (("bikes", TOOLS), ("garage", THIEF)):
        file = written_tools(tmp_path, tools).rename(tmp_path / f"{name}.json")
        assert said("servers", "add", name, "--tools-file", file).code == 0
    queries = [f"Please book a repair of my bicycle, brake {number}" for number in range(12)]
    case_file(tmp_path, [case(one, [{"tool": TOOL}], server="bikes") | {"suites": ["Repairs"]} for one in queries])
    assert said("cases", "import", "cases.json").code == 0
    return tmp_path


def said(*arguments: str | Path) -> Said:
    """The answer of a command on the workspace of the test."""
    return say(*arguments, "--workspace", "work.db")


def test_a_crowd_test_offline_has_its_document_and_a_report(workspace: Path) -> None:
    done = said("crowd", "--suite", "Repairs", "--sizes", "0,10,60", "--search", "5", "--json", "--html", "crowd.html")
    assert done.code == 0, done.err
    found: dict[str, Any] = done.document
    assert [(one["strangers"], one["search"], one["kind"]) for one in found["points"]] == [
        (size, search, "near") for search in (None, 5) for size in (0, 10, 60)
    ]
    assert found["points"][0]["rate"]["value"] == 1.0
    assert [one["value"] for one in found["lost_at"]] == [None, None]
    assert len(found["order"]) == 1
    assert [one["strangers"] for one in found["silence"]] == 2 * [0, 10, 60]
    assert [one["strangers"] for one in found["retrieval"]] == [0, 10, 60]
    page = (workspace / "crowd.html").read_text("utf-8")
    assert found["lost_at"][0]["sentence"].split("`")[1] in page
    assert "<svg" in page


def test_a_crowd_test_with_a_model_says_where_it_is_lost_and_what_it_costs() -> None:
    with ModelStub(CrowdedModel(lost_from=20)) as stub:
        options = ("--sizes", "10,30", "--silence", "0", "--model", "openai/x", "--base-url", stub.url)
        done = said("crowd", "--suite", "Repairs", *options, "--price", "1,1", "--yes")
    assert done.code == 0, done.err
    assert f"`{TOOL}` is lost with at most 30 other tools." in done.out
    assert "runs, about" in done.err


def test_a_server_that_takes_from_a_tool_exits_with_1_and_one_that_does_not_with_0(workspace: Path) -> None:
    done = said("steal", "--server", "garage", "--among", "bikes", "--json", "--html", "steal.html")
    assert done.code == 1, done.err
    assert done.document["worse"] == [f"bikes / {TOOL}"]
    assert done.document["matrix"] == {f"bikes / {TOOL}": {"fix_bicycle": 12}}
    assert done.document["unknown"] == ["bikes / rent"]
    assert "fix_bicycle (12)" in (workspace / "steal.html").read_text("utf-8")
    other = {"tools": [{"name": "sonnet", "description": "Rhymes.", "inputSchema": {"type": "object"}}]}
    (workspace / "poems.json").write_text(json.dumps(other))
    assert said("servers", "add", "poems", "--tools-file", "poems.json").code == 0
    calm = said("steal", "--server", "poems", "--among", "bikes")
    assert calm.code == 0
    assert "Cannot tell yet if poems takes" in calm.out


def test_a_tool_that_does_the_same_can_be_accepted(workspace: Path) -> None:
    twin = {TOOL: f"{TOOLS[TOOL]} Please book my brake repair."}
    file = written_tools(workspace, twin).rename(workspace / "cycles.json")
    options = ("crowd", "--suite", "Repairs", "--crowd-file", str(file), "--sizes", "1", "--margin", "20", "--json")
    refused = said(*options).document["points"][1]
    accepted = said(*options, "--accept-equivalents").document["points"][1]
    assert (refused["equivalents"], refused["rate"]["value"], accepted["rate"]["value"]) == (12, 0.0, 1.0)


def test_a_cancelled_crowd_test_is_resumed_by_its_batch() -> None:
    done = said("crowd", "--suite", "Repairs", "--sizes", "10", "--silence", "0", "--json")
    again = said("runs", "resume", done.document["batch"])
    assert again.code == 2
    assert "no run left" in again.err


def test_a_killed_crowd_test_goes_on_when_it_is_started_again_and_asks_nothing_twice() -> None:
    model, enough, number = CrowdedModel(lost_from=20), threading.Event(), itertools.count(1)

    def answer(request: Received) -> Reply:
        if next(number) == 25:
            enough.set()
        return model(request)

    arguments = ("crowd", "--suite", "Repairs", "--sizes", "10,30", "--silence", "0", "--model", "openai/x")
    with ModelStub(answer, delay=0.08) as stub:
        options = (*arguments, "--base-url", stub.url, "--yes", "--workspace", "work.db")
        process = subprocess.Popen(command(*options, "--quiet"))
        assert enough.wait(60)
        kill(process)
        process.wait()
        before = said("runs", "list", "--batch", "latest", "--json").document["runs"]
        stored = {run["id"]: run["mark"] for run in before if run["mark"]}
        asked = len(stub.requests)
        found = say(*options, "--json").document
        runs = said("runs", "list", "--batch", "latest", "--json").document["runs"]
        again = said(*arguments, "--base-url", stub.url, "--yes", "--json").document
    marks = {run["id"]: run["mark"] for run in runs}
    assert 0 < len(stored) < len(marks) == found["calls"]
    assert {run_id: marks[run_id] for run_id in stored} == stored
    assert len(stub.requests) - asked == len(marks) - len(stored) + again["calls"]
    assert f"`{TOOL}` is lost with at most 30" in found["sentence"]
    assert found["batch"] != again["batch"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("crowd", "--sizes", "many"),
        ("crowd", "--sizes", "5000"),
        ("crowd", "--suite", "Repairs", "--seed", "-1"),
        ("crowd", "--suite", "Repairs", "--search", "0"),
        ("steal", "--server", "garage", "--among", "garage"),
        ("steal", "--server", "nobody", "--among", "bikes"),
    ],
)
def test_bad_usage_is_refused(arguments: tuple[str, ...]) -> None:
    assert said(*arguments).code == 2
