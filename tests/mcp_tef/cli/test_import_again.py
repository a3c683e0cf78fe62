"""Case files that come in again: no field is emptied by silence, and no case gets a twin."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import say

WHOLE: dict[str, Any] = {
    "name": "Right",
    "query": "Book it",
    "servers": ["shop"],
    "expected": [{"tool": "book_repair"}],
    "suites": ["Smoke"],
    "tags": ["easy"],
    "family": "bookings",
    "before": [{"role": "user", "content": "Hello"}],
    "origin": "generated",
    "held_back": True,
}
CLEARED: dict[str, Any] = {
    "expected": None,
    "servers": [],
    "suites": [],
    "tags": [],
    "family": None,
    "before": [],
    "origin": "written",
    "held_back": False,
}


@pytest.fixture(autouse=True)
def shop(tmp_path: Path) -> None:
    tools = [{"name": "book_repair", "description": "Book a repair.", "inputSchema": {"type": "object"}}]
    (tmp_path / "tools.json").write_text(json.dumps(tools), "utf-8")
    assert say("servers", "add", "shop", "--tools-file", tmp_path / "tools.json").code == 0


def imported(tmp_path: Path, *cases: dict[str, Any], workspace: Path | None = None) -> Any:
    """Import these cases, and return what was said of it."""
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": cases}), "utf-8")
    said = say("cases", "import", file, "--json", *(("--workspace", workspace) if workspace else ()))
    assert said.code == 0, said.err
    return said.document


def stored() -> dict[str, Any]:
    """The one case of the workspace."""
    (case,) = say("cases", "list", "--json").document["cases"]
    return {key: case.get(key) for key in WHOLE}


@pytest.mark.parametrize("field", CLEARED)
def test_a_field_that_a_file_does_not_name_stays_and_an_empty_one_is_cleared(tmp_path: Path, field: str) -> None:
    imported(tmp_path, WHOLE)
    before = stored()
    assert imported(tmp_path, {key: value for key, value in WHOLE.items() if key != field})["unchanged"] == ["Right"]
    assert stored() == before
    assert imported(tmp_path, WHOLE | {field: CLEARED[field]})["updated"] == ["Right"]
    after = stored()
    assert after.pop(field) != before.pop(field)
    assert after == before


def test_a_table_without_a_column_leaves_it_as_it_is(tmp_path: Path) -> None:
    imported(tmp_path, WHOLE)
    before = stored()
    (tmp_path / "cases.csv").write_text("name,query,expected_tool\nRight,Book it,book_repair\n", "utf-8")
    assert say("cases", "import", tmp_path / "cases.csv", "--json").document["unchanged"] == ["Right"]
    assert stored() == before
    (tmp_path / "cases.csv").write_text("name,query,expected_tool,tags\nRight,Book it,book_repair,\n", "utf-8")
    assert say("cases", "import", tmp_path / "cases.csv", "--json").document["updated"] == ["Right"]
    assert stored() == before | {"tags": []}


@pytest.mark.parametrize("ending", ["yaml", "json", "csv"])
def test_a_file_that_two_workspaces_share_grows_no_twins(tmp_path: Path, ending: str) -> None:
    other, file = tmp_path / "other.db", tmp_path / f"shared.{ending}"
    imported(tmp_path, WHOLE)
    assert say("cases", "export", file).code == 0
    at = ("--workspace", other)
    assert say("servers", "add", "shop", "--tools-file", tmp_path / "tools.json", *at).code == 0
    assert say("cases", "import", file, *at).code == 0
    listed = [say("cases", "list", "--json", *which).document["cases"] for which in ((), at)]
    assert listed[0] == listed[1], "ids are kept, and so is every field"
    assert say("cases", "edit", "Right", "--name", "Renamed", "--query", "Book it now", *at).code == 0
    file.unlink()
    assert say("cases", "export", file, *at).code == 0
    said = say("cases", "import", file, "--json").document
    assert (said["added"], said["updated"]) == ([], ["Renamed"])
    assert len(say("cases", "list", "--json").document["cases"]) == 1


@pytest.mark.parametrize("way", ["right", " Right ", "RIGHT"])
def test_a_case_is_matched_by_its_name_however_it_is_written(tmp_path: Path, way: str) -> None:
    imported(tmp_path, WHOLE)
    said = imported(
        tmp_path, {"name": way, "query": "Book it now", "servers": ["SHOP "], "expected": WHOLE["expected"]}
    )
    assert (said["added"], len(said["updated"])) == ([], 1)
    assert stored()["servers"] == ["shop"]


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text('{"cases": [{"query": "One", "query": "Two", "expected": null}]}', "utf-8")
    said = say("cases", "import", file)
    assert (said.code, "query" in said.err) == (2, True)
