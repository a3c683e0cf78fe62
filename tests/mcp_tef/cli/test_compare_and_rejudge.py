"""`compare` and `runs rejudge`, as a script uses them."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support import isolation
from tests.support.command_line import Said, say
from tests.support.workspace_files import made_own

TOOLS = {
    "tools": [
        {"name": "find_book", "description": "Find a book by its title.", "inputSchema": {"type": "object"}},
        {"name": "lend_book", "description": "Lend a book to a reader.", "inputSchema": {"type": "object"}},
    ]
}
QUERY = "find the book with the title {number}"
CHANGES = {"fixed", "regressed", "unchanged_right", "unchanged_wrong", "new", "gone", "not_comparable"}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server from a file, eight cases that the baseline gets right, and a batch of them."""
    folder = tmp_path_factory.mktemp("begun")
    tools, path = folder / "tools.json", folder / "workspace.db"
    with isolation.at_home(folder / "home"):
        tools.write_text(json.dumps(TOOLS), "utf-8")
        assert say("servers", "add", "library", "--tools-file", tools, "--workspace", path).code == 0
        cases(path, "find_book")
        ran(path)
    return path


@pytest.fixture
def workspace(begun: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return made_own(Path(shutil.copy(begun, tmp_path)))


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
    assert (found["on_these_cases"], found["for_queries_like_these"]) == ("no_worthwhile_change", "cannot_tell_yet")
    assert (found["p"], found["n"], found["wins"], found["criterion"]) == (1.0, 8, 0, "correct_tool")
    assert found["difference"]["value"] == 0
    assert found["rates"]["before"]["n"] == found["correct_call"]["before"]["n"] == 8


def test_a_regression_is_told_and_exits_with_one(workspace: Path) -> None:
    cases(workspace, "lend_book")
    ran(workspace)
    said = say("compare", *batches(workspace), "--workspace", workspace)
    assert said.code == 1
    assert "Worse on these cases: none fixed, 8 broken of 8 cases." in said.out
    assert "Worse for queries like these: −100 points" in said.out
    assert "regressed  case 0" in said.out
    turned = say("compare", *reversed(batches(workspace)), "--workspace", workspace)
    assert turned.code == 0
    assert "Better on these cases: 8 fixed, none broken" in turned.out


def test_strict_asks_for_a_decision_and_leaves_others_as_they_are(workspace: Path) -> None:
    ran(workspace)
    strict: list[str | Path] = ["--strict", "--workspace", workspace]
    said = say("compare", *batches(workspace), *strict, "--json")
    assert (said.document["for_queries_like_these"], said.code) == ("cannot_tell_yet", 4)
    assert say("compare", *batches(workspace), "--must-hold", "case 1", *strict).code == 4
    cases(workspace, "lend_book")
    ran(workspace)
    first, _, last = batches(workspace)
    assert say("compare", first, last, *strict).code == 1
    assert say("compare", last, first, *strict).code == 0


def test_one_case_that_must_hold_decides_where_all_cases_cannot_tell(workspace: Path) -> None:
    listed = say("cases", "list", "--workspace", workspace, "--json").document["cases"]
    case = next(case["id"] for case in listed if case["name"] == "case 3")
    edited = workspace.with_name("one.json")
    draft = {
        "name": "case 3",
        "query": QUERY.format(number=3),
        "servers": ["library"],
        "expected": [{"tool": "lend_book"}],
    }
    edited.write_text(json.dumps({"cases": [draft]}), "utf-8")
    assert say("cases", "import", edited, "--workspace", workspace).code == 0
    ran(workspace)
    compare: list[str | Path] = ["compare", *batches(workspace), "--workspace", workspace]
    assert say(*compare).code == 0
    said = say(*compare, "--must-hold", "case 3", "--must-hold", "case 4")
    assert said.code == 1
    assert "broken               case 3: passed 1 of 1 before, 0 of 1 now" in said.out
    assert "holds                case 4: passed 1 of 1 before, 1 of 1 now" in said.out
    (held,) = say(*compare, "--must-hold", case, "--json").document["must_hold"]
    assert (held["case"], held["holds"]) == (case, False)
    assert say(*compare, "--must-hold", "case 99").code == 2


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
    assert "Judged again: 1 run, 1 otherwise than before (1 now no correct call)." in told.out
    shown = say("runs", "show", run_id, "--workspace", workspace)
    assert "earlier verdict      Was TP until " in shown.out
    assert "its case expects something else now. Selected `find_book` on library, as expected." in shown.out
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
    assert pairs.read_text("utf-8").count("unchanged_right,1,1,1,1") == 8


def checked(report: Path) -> dict[str, bool]:
    """The checks of a JUnit report by name, and whether each is kept."""
    suite = ElementTree.parse(report).getroot().find("testsuite[@name='mcp-tef checks']")
    assert suite is not None
    return {str(case.get("name")): case.find("failure") is None for case in suite.iter("testcase")}


def test_junit_of_a_comparison_fails_where_the_command_does(workspace: Path, tmp_path: Path) -> None:
    junit = tmp_path / "compared.xml"
    options: list[str | Path] = ["--junit", junit, "--workspace", workspace]
    ran(workspace)
    first, second = batches(workspace)
    assert say("compare", first, second, *options).code == 0
    assert checked(junit) == {"Not worse for queries like these": True}
    assert say("compare", first, second, "--strict", *options).code == 4
    assert checked(junit)["Decided for queries like these"] is False
    cases(workspace, "lend_book")
    ran(workspace)
    third = batches(workspace)[-1]
    assert say("compare", first, third, "--must-hold", "case 1", *options).code == 1
    assert checked(junit) == {"Not worse for queries like these": False, "case 1 holds": False}
    told = ElementTree.parse(junit).getroot().findall("testsuite[@name='Compared cases']/testcase/skipped")
    assert [one.get("type") for one in told] == ["regressed"] * 8


def test_thresholds_of_a_comparison_are_those_of_the_later_batch(workspace: Path, tmp_path: Path) -> None:
    cases(workspace, "lend_book")
    ran(workspace)
    before, after = batches(workspace)
    junit = tmp_path / "compared.xml"
    options: list[str | Path] = ["--fail-under", "recall=0.5", "--junit", junit, "--workspace", workspace]
    said = say("compare", after, before, *options)
    assert (said.code, checked(junit)["recall is at least 0.5"]) == (0, True)
    said = say("compare", before, after, *options)
    assert (said.code, "Not passed: recall is 0.0000" in said.err) == (1, True)
    assert checked(junit)["recall is at least 0.5"] is False


def test_a_comparison_can_be_the_summary_of_a_job(workspace: Path, tmp_path: Path) -> None:
    ran(workspace)
    said = say("compare", *batches(workspace), "--markdown", tmp_path / "summary.md", "--workspace", workspace)
    assert (said.code, (tmp_path / "summary.md").read_text("utf-8").startswith("## ")) == (0, True)
