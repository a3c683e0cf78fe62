"""`compare` and `runs rejudge`, as a script uses them."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import Said, say

TOOLS = {
    "tools": [
        {"name": "find_book", "description": "Find a book by its title.", "inputSchema": {"type": "object"}},
        {"name": "lend_book", "description": "Lend a book to a reader.", "inputSchema": {"type": "object"}},
    ]
}
QUERY = "find the book with the title {number}"
CHANGES = {"fixed", "regressed", "unchanged_right", "unchanged_wrong", "new", "gone", "not_comparable"}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A server from a file, eight cases that the baseline gets right, and a batch of them."""
    tools, path = tmp_path / "tools.json", tmp_path / "workspace.db"
    tools.write_text(json.dumps(TOOLS), "utf-8")
    assert say("servers", "add", "library", "--tools-file", tools, "--workspace", path).code == 0
    cases(path, "find_book")
    ran(path)
    return path


def cases(workspace: Path, expected: str) -> None:
    file = workspace.with_name("cases.json")
    drafts = [
        {
            "name": f"case {number}",
            "query": QUERY.format(number=number),
            "servers": ["library"],
            "expected": [{"tool": expected}],
        }
        for number in range(8)
    ]
    file.write_text(json.dumps({"cases": drafts}), "utf-8")
    assert say("cases", "import", file, "--workspace", workspace).code == 0


def ran(workspace: Path) -> Said:
    return say("run", "--workspace", workspace, "--json")


def batches(workspace: Path) -> list[str]:
    """Their ids, oldest first."""
    listed = say("runs", "list", "--workspace", workspace, "--json").document["batches"]
    return [batch["id"] for batch in reversed(listed)]


def test_two_equal_batches_are_not_worse(workspace: Path) -> None:
    ran(workspace)
    said = say("compare", *batches(workspace), "--workspace", workspace, "--json")
    found = said.document
    assert said.code == 0
    assert set(found["counts"]) == set(found["cases"]) == CHANGES
    assert (found["counts"]["unchanged_right"], len(found["cases"]["unchanged_right"]), len(found["pairs"])) == (
        8,
        8,
        8,
    )
    assert (found["reading"], found["mcnemar_p"], found["more_runs"], found["n"]) == ("undecided", 1.0, None, 8)
    assert found["difference"]["value"] == 0
    assert found["accuracy"]["before"]["n"] == 8
    assert found["parameters"]["reading"] == "undecided"


def test_a_regression_is_told_and_exits_with_one(workspace: Path) -> None:
    cases(workspace, "lend_book")
    ran(workspace)
    said = say("compare", *batches(workspace), "--workspace", workspace)
    assert said.code == 1
    assert "Worse: 0 fixed and 8 regressed of 8 pairs (p = 0.008)." in said.out
    assert "regressed  case 0" in said.out
    turned = say("compare", *reversed(batches(workspace)), "--workspace", workspace)
    assert turned.code == 0
    assert "Better: 8 fixed and 0 regressed" in turned.out


def test_a_batch_that_is_not_there_is_bad_input(workspace: Path) -> None:
    (batch,) = batches(workspace)
    for other in (batch, "nowhere"):
        said = say("compare", batch, other, "--workspace", workspace, "--json")
        assert said.code == 2
        assert said.error["message"]


def test_a_batch_is_judged_again_by_what_its_cases_expect_now(workspace: Path) -> None:
    cases(workspace, "lend_book")
    (batch,) = batches(workspace)
    said = say("runs", "rejudge", "--batch", batch, "--workspace", workspace, "--json")
    found = said.document
    assert said.code == 0
    assert (found["judged"], found["unchanged"], found["without_answer"], found["gone"]) == (8, 0, 0, 0)
    assert {change["run"]["classification"] for change in found["changes"]} == {"FN"}
    assert {change["past"]["verdict"]["classification"] for change in found["changes"]} == {"TP"}
    assert {change["past"]["reason"] for change in found["changes"]} == {"expectation_changed"}


def test_the_earlier_verdict_of_a_run_can_be_read(workspace: Path) -> None:
    run_id = say("runs", "list", "--workspace", workspace, "--json").document["runs"][0]["id"]
    cases(workspace, "lend_book")
    told = say("runs", "rejudge", run_id, "--workspace", workspace)
    assert "Judged again: 1 run, 1 otherwise than before (1 now wrong)." in told.out
    shown = say("runs", "show", run_id, "--workspace", workspace)
    assert "earlier verdict      Was TP until " in shown.out
    assert "its case expects something else now. Picked `find_book` on library, as expected." in shown.out
    (past,) = say("runs", "show", run_id, "--workspace", workspace, "--json").document["past_verdicts"]
    assert (past["expectation"], past["verdict"]["classification"]) == ([{"tool": "find_book"}], "TP")


def test_what_to_judge_again_must_be_named_once(workspace: Path) -> None:
    (batch,) = batches(workspace)
    for arguments in ((), ("some-run", "--batch", batch), ("nowhere",), ("--batch", "nowhere")):
        assert say("runs", "rejudge", *arguments, "--workspace", workspace).code == 2


def test_a_comparison_can_be_written_as_a_page_and_as_a_table(workspace: Path, tmp_path: Path) -> None:
    ran(workspace)
    page, pairs = tmp_path / "page.html", tmp_path / "pairs.csv"
    said = say("compare", *batches(workspace), "--html", page, "--csv", pairs, "--workspace", workspace)
    assert said.code == 0, said.err
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert pairs.read_text("utf-8").count("unchanged_right") == 16
