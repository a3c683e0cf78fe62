"""Names that people cannot tell apart are one name, whichever way they are written."""

import json
import unicodedata
from pathlib import Path

import pytest

from tests.support.command_line import say

WAYS = ("Café Bike", "café bike", "Café Bike ", unicodedata.normalize("NFD", "Café Bike"), "  CAFÉ\u00a0 BIKE")


@pytest.fixture(autouse=True)
def cafe(tmp_path: Path) -> None:
    tools = [{"name": "ring", "description": "Ring.", "inputSchema": {"type": "object"}}]
    (tmp_path / "tools.json").write_text(json.dumps(tools), "utf-8")
    assert say("servers", "add", WAYS[0], "--tools-file", tmp_path / "tools.json").code == 0
    one = ("--tool", "ring", "--name", WAYS[0], "--server", WAYS[0], "--suite", WAYS[0], "--tag", WAYS[0])
    assert say("cases", "add", "Ring the bell", *one).code == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_name_is_found_however_it_is_written(way: str) -> None:
    assert say("cases", "show", way, "--json").document["name"] == WAYS[0]
    assert say("servers", "tools", way).code == 0
    for option in ("--suite", "--tag"):
        assert len(say("cases", "list", option, way, "--json").document["cases"]) == 1


@pytest.mark.parametrize("way", WAYS)
def test_no_second_server_has_the_same_name(way: str, tmp_path: Path) -> None:
    said = say("servers", "add", way, "--tools-file", tmp_path / "tools.json")
    assert (said.code, "already" in said.err) == (2, True)


@pytest.mark.parametrize("way", WAYS)
def test_a_case_names_the_server_that_is_there(way: str) -> None:
    assert say("cases", "add", "Ring it again", "--tool", "ring", "--name", "Again", "--server", way).code == 0
    assert say("cases", "show", "Again", "--json").document["servers"] == [WAYS[0]]


@pytest.mark.parametrize("way", WAYS)
def test_a_suite_is_the_one_that_is_there_and_a_server_is_replaced_not_doubled(way: str, tmp_path: Path) -> None:
    assert say("cases", "add", "Ring it again", "--tool", "ring", "--server", WAYS[0], "--suite", way).code == 0
    listed = say("cases", "list", "--json").document["cases"]
    assert [case["suites"] for case in listed] == [[WAYS[0]], [WAYS[0]]]
    for option in ("--if-missing", "--replace"):
        assert say("servers", "add", way, "--tools-file", tmp_path / "tools.json", option).code == 0
    assert [one["name"] for one in say("servers", "list", "--json").document["servers"]] == [WAYS[0]]


@pytest.mark.parametrize("way", ["Polite", "polite ", "  POLITE"])
def test_a_prompt_is_found_and_taken_however_it_is_written(way: str) -> None:
    assert say("prompts", "add", "Polite", "--file", "-", stdin="Be polite.").code == 0
    assert say("prompts", "show", way, "--json").document["name"] == "Polite"
    assert say("prompts", "add", way, "--file", "-", stdin="Be brief.").code == 2
    assert (
        say(
            "prompts",
            "edit",
            way,
            "--file",
            "-",
            stdin="Be brief.",
        ).code
        == 0
    )
    assert say("prompts", "show", "Polite", "--json").document["versions"] == [2, 1]


def test_a_key_twice_in_json_that_people_write_is_refused(tmp_path: Path) -> None:
    twice = '{"name": "ring", "name": "rang", "description": "Ring.", "inputSchema": {"type": "object"}}'
    (tmp_path / "twice.json").write_text(f'{{"tools": [{twice}]}}', "utf-8")
    for said in (
        say("quality", "--tools-file", tmp_path / "twice.json"),
        say("library", "add", "-", stdin=twice),
    ):
        assert (said.code in (2, 3), "name” twice" in said.err) == (True, True), said
