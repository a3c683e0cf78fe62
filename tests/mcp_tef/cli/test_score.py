"""`score`: judges recorded calls by the shapes that scripts rely on."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.command_line import say
from tests.support.workspace_files import TOOLS as CITY_TOOLS
from tests.support.workspace_files import case_file, tools_file, weather

TOOLS = [{"name": "book", "description": "", "inputSchema": {"type": "object", "properties": {"day": {}}}}]
RIGHT = {
    "id": "right",
    "query": "Book Monday",
    "tools": TOOLS,
    "expected": [{"tool": "book", "parameters": {"day": "Monday"}}],
    "calls": [{"tool": "book", "arguments": {"day": " monday"}}],
}
KEYS = {
    "id",
    "classification",
    "kind",
    "matches",
    "completeness",
    "correctness",
    "type_conformance",
    "hallucinated",
    "parameters_ok",
    "confidence_category",
    "explanation",
}


def scored(folder: Path, *lines: Any) -> tuple[int, list[dict[str, Any]]]:
    source, target = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    said = say("score", source, "--out", target)
    return said.code, [json.loads(line) for line in target.read_text("utf-8").splitlines()]


def test_each_line_gets_a_verdict_with_the_promised_keys(tmp_path: Path) -> None:
    code, verdicts = scored(tmp_path, RIGHT, RIGHT | {"id": "unreadable", "calls": None})
    assert code == 0
    assert all(set(verdict) == KEYS for verdict in verdicts)
    assert (verdicts[0]["classification"], verdicts[0]["parameters_ok"]) == ("TP", True)
    assert (verdicts[1]["classification"], verdicts[1]["kind"]) == ("FN", "no_tool")


def test_a_bad_line_gets_an_error_in_its_place_and_the_rest_is_judged(tmp_path: Path) -> None:
    code, verdicts = scored(tmp_path, "{half", RIGHT)
    assert code == 1
    assert set(verdicts[0]) == {"id", "error"}
    assert verdicts[1]["classification"] == "TP"


def test_without_json_the_counts_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(RIGHT), "utf-8")
    said = say("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl")
    assert said.out.strip() == "1 TP, 0 FP, 0 TN, 0 FN, 0 bad of 1 line."


WRONG = RIGHT | {"id": "wrong", "calls": [{"tool": "book", "arguments": {"day": "Tuesday"}}]}
NONE = RIGHT | {"id": "none", "calls": []}


def test_with_json_the_metrics_are_the_document(tmp_path: Path) -> None:
    scored(tmp_path, RIGHT, WRONG, NONE, "{half")
    said = say("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--json")
    found = said.document
    assert (said.code, found["lines"], found["bad"], found["n"], found["failed"]) == (1, 4, 1, 3, 1)
    assert (found["tp"], found["fn"]) == (2, 1)
    assert (found["correct_call"]["value"], found["correct_tool"]["value"]) == (1 / 3, 2 / 3)
    assert found["parameter_accuracy"] == 0.5
    assert [(group["name"], group["n"]) for group in found["by_tool"]] == [("book", 3)]


@pytest.mark.parametrize(
    ("thresholds", "code"),
    [
        (("--fail-under", "0.5"), 0),
        (("--fail-under", "correct_tool=0.9"), 0),
        (("--fail-under", "correct_call=0.9"), 1),
        (("--fail-if-surely-under", "correct_call=0.9"), 0),
        (("--fail-if-surely-under", "correct_call=0.5", "--fail-under", "recall=1"), 0),
        (("--fail-under", "beauty=1"), 2),
    ],
)
def test_thresholds_are_those_of_run(thresholds: tuple[str, ...], code: int, tmp_path: Path) -> None:
    scored(tmp_path, RIGHT, WRONG)
    said = say("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", *thresholds)
    assert (said.code, "Not passed: correct_call is 0.5" in said.err) == (code, code == 1)


def test_a_line_that_cannot_be_read_keeps_no_threshold(tmp_path: Path) -> None:
    scored(tmp_path, RIGHT, "{half")
    said = say("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--fail-under", "0.5")
    assert (said.code, "1 of 2 runs has no verdict" in said.err) == (1, True)


@pytest.mark.parametrize(("threshold", "code"), [((), 0), (("--fail-under", "0.4"), 0), (("--fail-under", "0.9"), 1)])
def test_junit_fails_where_the_command_does(threshold: tuple[str, ...], code: int, tmp_path: Path) -> None:
    scored(tmp_path, RIGHT, WRONG)
    paths = ("--out", tmp_path / "out.jsonl", "--junit", tmp_path / "out.xml")
    said = say("score", tmp_path / "in.jsonl", *paths, *threshold)
    root = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert (said.code, root.get("failures"), root.get("errors")) == (code, str(code), "0")
    assert [one.get("name") for one in root.iter("testcase")][:2] == ["right", "wrong"]
    assert "expected “Monday”" in (root.findtext(".//skipped") or "")


def test_junit_names_a_line_that_cannot_be_read(tmp_path: Path) -> None:
    scored(tmp_path, "{half")
    said = say("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--junit", tmp_path / "out.xml")
    root = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert (said.code, root.get("errors"), root.get("failures")) == (1, "1", "1")


def test_metrics_of_recorded_calls_are_those_of_the_same_runs_in_a_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "work.db"
    tools = tools_file(tmp_path)
    assert say("servers", "add", "city", "--tools-file", tools, "--workspace", workspace).code == 0
    cases = [weather(number) for number in range(6)]
    cases[0]["expected"] = [{"tool": "train_times"}]
    cases[1]["expected"] = None
    assert say("cases", "import", case_file(tmp_path, cases), "--workspace", workspace).code == 0
    runs = say("run", "--workspace", workspace, "--json").document
    lines = [_recorded(run["id"], workspace) for run in runs["runs"]]
    scored(tmp_path, *lines)
    found = say("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--json").document
    same = ("n", "tp", "fp", "tn", "fn", "correct_call", "precision", "recall", "f1", "parameter_accuracy", "by_server")
    assert {name: found[name] for name in same} == {name: runs["metrics"][name] for name in same}


def _recorded(run: str, workspace: Path) -> dict[str, Any]:
    kept = say("runs", "show", run, "--workspace", workspace, "--json").document
    tools = [{**tool, "server": "city"} for tool in CITY_TOOLS]
    parts = {"query": kept["query"], "expected": kept["expectation"], "calls": kept["calls"]}
    return {"id": kept["case"], "tools": tools, "confidence": kept["confidence"], **parts}


def test_half_a_character_from_a_model_goes_out_as_it_came_in(tmp_path: Path) -> None:
    code, [verdict] = scored(tmp_path, RIGHT | {"id": "half \ud800", "calls": [{"tool": "\udfff"}]})
    assert (code, verdict["id"], verdict["kind"]) == (0, "half \ud800", "invented_tool")


def test_verdicts_never_replace_the_calls_that_they_are_about(tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    calls.write_text(json.dumps(RIGHT), "utf-8")
    said = say("score", calls, "--out", tmp_path / ".." / tmp_path.name / "calls.jsonl", "--json")
    assert said.code == 2
    assert said.error["message"] == f"The result would replace {calls}, which it is made from."
    assert calls.read_text("utf-8") == json.dumps(RIGHT)
