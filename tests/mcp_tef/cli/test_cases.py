"""`cases …`: in and out of files, and what is refused on the way."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import say

TOOLS = [{"name": "book_repair", "description": "Book a repair.", "inputSchema": {"type": "object"}}]
CASES = """
cases:
  - name: Right
    query: Book it
    servers: [shop]
    expected: [{tool: book_repair, parameters: {day: {$datetime: 2026-12-04}}}]
    suites: [Smoke]
    tags: [easy]
  - query: Sing a song
    servers: [shop]
    expected: null
"""


@pytest.fixture(autouse=True)
def shop(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS), "utf-8")
    assert say("servers", "add", "shop", "--tools-file", file).code == 0


def written(tmp_path: Path, text: str, name: str = "cases.yaml") -> Path:
    file = tmp_path / name
    file.write_text(text, "utf-8")
    return file


def test_cases_come_in_and_go_out_as_they_came(tmp_path: Path) -> None:
    said = say("cases", "import", written(tmp_path, CASES), "--json")
    assert said.code == 0
    assert said.document["added"] == ["Right", "Sing a song"]
    before = say("cases", "list", "--json").document
    assert say("cases", "export", tmp_path / "out.json").code == 0
    assert say("cases", "import", tmp_path / "out.json", "--json").document["unchanged"] == ["Right", "Sing a song"]
    assert say("cases", "list", "--json").document == before


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    file = written(tmp_path, CASES)
    say("cases", "import", file)
    assert say("cases", "import", file, "--json").document["added"] == []
    assert len(say("cases", "list", "--json").document["cases"]) == 2


def test_a_case_with_a_mistyped_tool_comes_in_with_a_warning_that_names_the_nearest(tmp_path: Path) -> None:
    said = say("cases", "import", written(tmp_path, CASES.replace("book_repair", "book_repar")), "--json")
    assert said.code == 0
    assert len(said.document["added"]) == 2
    assert "book_repair" in said.document["warnings"][0]["message"]
    assert "book_repair" in said.err


def test_a_bad_case_is_refused_with_its_reason_and_the_rest_comes_in(tmp_path: Path) -> None:
    said = say("cases", "import", written(tmp_path, CASES + "  - {name: Mute}\n"), "--json")
    assert said.code == 1
    assert len(said.document["added"]) == 2
    assert said.document["refused"][0]["case"] == "Mute"


@pytest.mark.parametrize(
    ("name", "text"),
    [("broken.json", '{"cases": ['), ("broken.yaml", "cases: [}"), ("list.json", "42"), ("latin.yaml", "")],
)
def test_a_file_that_cannot_be_read_is_bad_input(tmp_path: Path, name: str, text: str) -> None:
    said = say("cases", "import", written(tmp_path, text, name))
    assert said.code == 2
    assert name in said.err
    assert said.err.count("\n") == 1


def test_a_file_that_is_not_there_could_not_be_reached(tmp_path: Path) -> None:
    assert say("cases", "import", tmp_path / "nowhere.yaml").code == 3


def test_cases_are_chosen_by_suite_or_tag(tmp_path: Path) -> None:
    say("cases", "import", written(tmp_path, CASES))
    assert [case["name"] for case in say("cases", "list", "--suite", "Smoke", "--json").document["cases"]] == ["Right"]
    assert [case["name"] for case in say("cases", "list", "--tag", "easy", "--json").document["cases"]] == ["Right"]
    assert say("cases", "list", "--tag", "hard", "--json").document["cases"] == []


def test_a_case_is_shown_by_id_or_by_name_and_removed(tmp_path: Path) -> None:
    say("cases", "import", written(tmp_path, CASES))
    by_name = say("cases", "show", "Right", "--json").document
    assert say("cases", "show", by_name["id"], "--json").document == by_name
    assert say("cases", "remove", "Right").code == 0
    assert say("cases", "show", "Right").code == 2


def test_exporting_nothing_is_said(tmp_path: Path) -> None:
    assert say("cases", "export", tmp_path / "none.yaml").code == 2
    assert not (tmp_path / "none.yaml").exists()
