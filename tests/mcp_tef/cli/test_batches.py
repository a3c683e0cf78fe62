"""Report files and thresholds: what a build server does with a batch."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.command_line import Said, say
from tests.support.workspace_files import case, case_file, tools_file

RIGHT = case("What is the weather like in a city?", [{"tool": "weather_report"}])
WRONG = case("What is the weather like in the city today?", [{"tool": "train_times"}])


@pytest.fixture(autouse=True)
def book(tmp_path: Path) -> None:
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path)).code == 0
    assert say("cases", "import", case_file(tmp_path, [RIGHT, WRONG])).code == 0


def run(*arguments: str | Path) -> Said:
    return say("run", *arguments)


def test_every_report_is_written_and_tells_of_every_run(tmp_path: Path) -> None:
    said = run("--junit", tmp_path / "j.xml", "--html", tmp_path / "r.html", "--csv", tmp_path / "r.csv", "--json")
    assert said.code == 1
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("tests") == "2"
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "<h1>Test runs</h1>" in page
    rows = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text("utf-8"))))
    assert [row["id"] for row in rows] == [one["id"] for one in said.document["runs"]]


def test_a_batch_that_was_run_before_can_be_reported_later(tmp_path: Path) -> None:
    batch = run("--json").document["batch"]
    assert say("runs", "show", batch, "--junit", tmp_path / "j.xml").code == 0
    assert say("runs", "show", batch, "--fail-under", "recall=0.9").code == 1
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("tests") == "2"


@pytest.mark.parametrize(
    ("thresholds", "code", "says"),
    [
        (["accuracy=0.5"], 0, ""),
        (["accuracy=0.51"], 1, "accuracy is 0.5000 (0.04 to 0.96), and was to be at least 0.51."),
        (["recall=0.5", "f1=0.99", "precision=0"], 1, "f1 is"),
        (["parameter_accuracy=0.1"], 1, "parameter_accuracy is not defined"),
    ],
)
def test_a_threshold_decides_instead_of_single_runs(thresholds: list[str], code: int, says: str) -> None:
    said = run(*(part for text in thresholds for part in ("--fail-under", text)))
    assert said.code == code, said.err
    assert says in said.err


@pytest.mark.parametrize("text", ["speed=1", "accuracy", "accuracy=2", "accuracy=x", "accuracy=nan"])
def test_a_threshold_that_means_nothing_is_refused_before_anything_runs(text: str) -> None:
    assert run("--fail-under", text).code == 2
    assert say("runs", "list", "--json").document["batches"] == []


def test_a_run_that_failed_does_not_pass_whatever_the_threshold(tmp_path: Path) -> None:
    (tmp_path / "tools.json").unlink()
    said = run("--fail-under", "accuracy=0")
    assert said.code == 3
    assert "2 of 2 runs have no verdict" in said.err


def test_an_expected_tool_that_is_not_offered_is_a_failed_expectation_that_is_warned_of_before(tmp_path: Path) -> None:
    say("cases", "remove", RIGHT["name"], WRONG["name"])
    imported = say("cases", "import", case_file(tmp_path, [case("Rain?", [{"tool": "wether_report"}])]))
    assert "No server of the case has a tool named wether_report. Did you mean weather_report?" in imported.err
    said = run("--json", "--junit", tmp_path / "j.xml")
    assert (said.code, said.document["metrics"]["not_offered"], said.document["metrics"]["n"]) == (1, 1, 0)
    (run_,) = said.document["runs"]
    assert run_["error"]["code"] == "expected_tool_not_offered"
    assert "The nearest offered tool is weather_report." in run_["error"]["message"]
    assert [one.get("type") for one in ElementTree.parse(tmp_path / "j.xml").iter("error")] == [run_["error"]["code"]]
    assert run("--fail-under", "correct_call=0").code == 1


def test_a_place_that_is_not_there_is_refused_before_anything_runs(tmp_path: Path) -> None:
    assert run("--html", tmp_path / "nowhere" / "r.html").code == 2
    assert say("runs", "list", "--json").document["batches"] == []


def test_an_import_can_be_tried_first(tmp_path: Path) -> None:
    file = case_file(tmp_path, [{**RIGHT, "tags": ["new"]}, case("Third?", None)])
    said = say("cases", "import", file, "--dry-run", "--json")
    assert (said.code, said.document["added"], said.document["updated"]) == (0, ["Third?"], [RIGHT["name"]])
    assert said.document["changes"] == [{"case": RIGHT["name"], "field": "tags", "before": "none", "after": "new"}]
    assert len(say("cases", "list", "--json").document["cases"]) == 2


@pytest.mark.parametrize("form", ["tef", "csv", "bfcl", "promptfoo", "mcp-eval"])
def test_every_form_goes_out_and_comes_in_unchanged(tmp_path: Path, form: str) -> None:
    file = tmp_path / "cases.out"
    assert say("cases", "export", file, "--format", form).code == 0
    said = say("cases", "import", file, "--format", form, "--json")
    assert (said.document["format"], len(said.document["unchanged"])) == (form, 2), json.dumps(said.document)


def test_what_a_form_cannot_hold_is_told_and_is_not_a_success(tmp_path: Path) -> None:
    several = case("Either", {"any_of": [[{"tool": "weather_report"}], []]})
    say("cases", "import", case_file(tmp_path, [several]))
    said = say("cases", "export", tmp_path / "p.yaml", "--format", "promptfoo", "--json")
    assert (said.code, said.document["cases"]) == (1, 2)
    assert said.document["left_out"][0]["case"] == "Either"
