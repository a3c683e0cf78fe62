"""`cases …`: in and out of files, and what is refused on the way."""

import json
from pathlib import Path
from typing import Any

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
    ("case", "line", "said"),
    [
        ("  - query: Fix it\n    expectd: null\n", 13, "Did you mean expected?"),
        ("  - query: Fix it\n    servers: [shop]\n", 12, "It has no expected"),
        ("  - query: Fix it\n    expected:\n      - {tool: book_repair, paramters: {}}\n", 14, "parameters?"),
        ("  - query: Fix it\n    expected:\n      anyof: []\n", 14, "any_of?"),
        ("  - query: Fix it\n    expected: null\n    before:\n      - {rol: user}\n", 15, "role?"),
    ],
)
def test_a_mistyped_key_is_refused_with_its_line_and_the_nearest_name(
    tmp_path: Path, case: str, line: int, said: str
) -> None:
    answer = say("cases", "import", written(tmp_path, CASES + case), "--json")
    assert (answer.code, len(answer.document["added"])) == (1, 2)
    [refused] = answer.document["refused"]
    assert refused["place"] == f"case 3, line {line}"
    assert said in refused["reason"]


@pytest.mark.parametrize(
    ("text", "said"), [("cases: []", "holds no case"), ("version: 1\ncase: []\ncases: []", "line 2: The key “case”")]
)
def test_a_file_without_cases_or_with_an_unknown_key_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    answer = say("cases", "import", written(tmp_path, text))
    assert (answer.code, said in answer.err) == (2, True)


def test_a_parameter_that_the_tool_does_not_have_is_warned_about(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(
        json.dumps([TOOLS[0] | {"inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}}}]), "utf-8"
    )
    assert say("servers", "check", "shop").code == 0
    answer = say("cases", "import", written(tmp_path, CASES.replace("{day:", "{dya:")))
    assert answer.code == 0
    assert "has no parameter dya. Did you mean day?" in answer.err


def test_a_named_case_with_another_query_is_changed_and_not_added(tmp_path: Path) -> None:
    say("cases", "import", written(tmp_path, CASES))
    answer = say("cases", "import", written(tmp_path, CASES.replace("Book it", "Book a repair")), "--json")
    assert (answer.document["updated"], answer.document["added"]) == (["Right"], [])
    assert say("cases", "show", "Right", "--json").document["query"] == "Book a repair"


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


def test_a_case_is_shown_by_id_or_by_name_and_removed(tmp_path: Path) -> None:
    say("cases", "import", written(tmp_path, CASES))
    by_name = say("cases", "show", "Right", "--json").document
    assert say("cases", "show", by_name["id"], "--json").document == by_name
    assert say("cases", "remove", "Right").code == 0
    assert say("cases", "show", "Right").code == 2


def test_exporting_nothing_is_said(tmp_path: Path) -> None:
    assert say("cases", "export", tmp_path / "none.yaml").code == 2
    assert not (tmp_path / "none.yaml").exists()


PARAPHRASES = """
cases:
  - {name: Brakes, query: book a repair of the brakes of my bike, servers: [shop], expected: [{tool: book_repair}]}
  - {name: Brakes again, query: book a repair of my bike brakes, servers: [shop], expected: [{tool: book_repair}]}
  - {name: Wheel, query: the front wheel wobbles a lot, servers: [shop], expected: [{tool: book_repair}]}
  - {name: Only talk, query: book a repair of the brakes of my bike, servers: [shop], expected: null}
"""


def families_of(document: Any) -> dict[str, list[str]]:
    return {one["family"]: [case["name"] for case in one["cases"]] for one in document["families"]}


def test_families_are_proposed_for_paraphrases_and_stored_only_when_confirmed(tmp_path: Path) -> None:
    say("cases", "import", written(tmp_path, PARAPHRASES))
    proposed = say("cases", "families", "--json")
    assert (proposed.code, proposed.document["applied"]) == (0, False)
    assert families_of(proposed.document) == {"Brakes": ["Brakes", "Brakes again"]}
    assert "Nothing was changed." in say("cases", "families").out
    assert {case["family"] for case in say("cases", "list", "--json").document["cases"]} == {""}
    wrong = say("cases", "families", "--apply", "Breaks", "--json")
    assert wrong.code == 2
    assert "Brakes" in wrong.error["hint"]
    assert say("cases", "families", "--apply", "Brakes").code == 0
    stored = {case["name"]: case["family"] for case in say("cases", "list", "--json").document["cases"]}
    assert stored == {"Brakes": "Brakes", "Brakes again": "Brakes", "Wheel": "", "Only talk": ""}
    assert say("cases", "families", "--json").document["families"] == []


def test_a_new_paraphrase_joins_the_family_that_its_likes_have(tmp_path: Path) -> None:
    say("cases", "import", written(tmp_path, PARAPHRASES.replace("name: Brakes,", "name: Brakes, family: Stops,")))
    assert families_of(say("cases", "families", "--json").document) == {"Stops": ["Brakes again"]}


PAGES = [
    {"name": "get_page", "description": "Get a page by its ID.", "inputSchema": {
        "type": "object", "properties": {"page_id": {"type": "string"}}, "required": ["page_id"]}},
    {"name": "list_pages", "description": "Lists all pages.", "inputSchema": {"type": "object"}},
]  # fmt: skip


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    """A registered server with tools that requests can be drafted for."""
    file = tmp_path / "wiki.json"
    file.write_text(json.dumps(PAGES), "utf-8")
    assert say("servers", "add", "wiki", "--tools-file", file).code == 0
    return file


def test_drafts_are_written_as_generated_cases_that_can_be_imported(tmp_path: Path, wiki: Path) -> None:
    out = tmp_path / "drafts.yaml"
    drafted = say("cases", "draft", "--server", "wiki", "--tool", "get_page", "--out", out, "--json")
    assert (drafted.code, drafted.document["added"], drafted.document["file"]) == (0, 0, str(out))
    assert {one["tool"] for one in drafted.document["drafts"]} == {"get_page", None}
    assert say("cases", "list", "--json").document["cases"] == []
    assert say("cases", "import", out).code == 0
    cases = say("cases", "list", "--json").document["cases"]
    assert len(cases) == len(drafted.document["drafts"])
    assert {case["origin"] for case in cases} == {"generated"}


def test_drafts_are_added_only_with_yes(wiki: Path) -> None:
    unseen = say("cases", "draft", "--tools-file", wiki)
    assert unseen.code == 0
    assert "Nothing was added" in unseen.out
    assert say("cases", "list", "--json").document["cases"] == []
    added = say("cases", "draft", "--server", "wiki", "--yes", "--json").document
    assert added["added"] == len(added["drafts"]) == len(say("cases", "list", "--json").document["cases"])
    assert say("cases", "draft", "--server", "wiki", "--yes").code == 0
    findings = say("cases", "check", "--json").document["findings"]
    assert {finding["doubt"] for finding in findings} == {"duplicate"}


@pytest.mark.parametrize(
    "words", [("--offline", "--model", "openai/gpt-4.1"), ("--tool", "get_pages"), ("--model", "offline/words")]
)
def test_drafting_refuses_what_it_cannot_do(wiki: Path, words: tuple[str, ...]) -> None:
    said = say("cases", "draft", "--tools-file", wiki, *words)
    assert said.code == 2
    assert said.out == ""
