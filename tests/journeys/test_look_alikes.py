"""From tools that are confused to words that tell them apart, at the command line: nothing but processes and files."""

import json
from pathlib import Path
from typing import Any

import jsonpatch  # type: ignore[import-untyped]
import pytest
from jsonschema import Draft202012Validator

from tests.support import workspace_files
from tests.support.command_line import OFFLINE_EMBEDDER, command, say

WORDS = ("--embedder", "tfidf")
TEXT = {"type": "string", "description": "Which one."}
SEARCH = {
    "name": "search_notes",
    "description": 'Search the open notes for words.\nReturns the "matching" notes – best first.',
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "notebook": {"type": "string", "description": "Only this notebook."},
        },
        "required": ["query"],
    },
}
FIND = {
    "name": "find_notes",
    "title": "Find",
    "description": 'Search the archived notes for words.\nReturns the "matching" notes – best first.',
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
}
DELETE = {
    "name": "delete_file",
    "description": "Delete a file for good.",
    "inputSchema": {"type": "object", "properties": {"path": TEXT}},
}
DOCUMENT = {"tools": [SEARCH, DELETE, FIND], "_meta": {"kept": True}}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A server that is a tools file, one over stdio, and cases that were run."""
    tools = workspace_files.written(tmp_path / "notes.json", DOCUMENT)
    program, *rest = command("sample-server")
    stdio = ("--command", program, *(f"--arg={one}" for one in rest))
    assert say("servers", "add", "notes", "--tools-file", tools).code == 0
    assert say("servers", "add", "shop", *stdio, "--yes").code == 0
    cases = [
        workspace_files.case("search the notes for bread, limit 3", [{"tool": "find_notes"}], server="notes"),
        workspace_files.case("search the notes in the notebook work", [{"tool": "search_notes"}], server="notes"),
        workspace_files.case("notes: search for all the matching words", [{"tool": "search_notes"}], server="notes"),
    ]
    assert say("cases", "import", workspace_files.case_file(tmp_path, cases)).code == 0
    assert say("run", "--suite", "Journey", "--json").code in (0, 1)
    return tools


def applied(patch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tools of the real document after a patch; it must still be one that a server may answer with."""
    changed = jsonpatch.apply_patch(DOCUMENT, patch)
    assert changed.keys() == DOCUMENT.keys()
    assert len({tool["name"] for tool in changed["tools"]}) == len(DOCUMENT["tools"])
    for tool in changed["tools"]:
        assert isinstance(tool["name"], str)
        assert isinstance(tool.get("description", ""), str)
        Draft202012Validator.check_schema(tool["inputSchema"])
    found = changed["tools"]
    assert isinstance(found, list)
    return found


def test_a_pair_is_found_and_each_tool_then_says_when_to_use_the_other(notes: Path, tmp_path: Path) -> None:
    servers = ("--server", "notes", "shop", *WORDS)
    likeness = say("similarity", *servers, "--threshold", "0.3", "--full", "--out", tmp_path / "likeness.json")
    assert likeness.code == 0, likeness.err
    document = json.loads((tmp_path / "likeness.json").read_text("utf-8"))
    first = document["flagged"][0]
    assert {first["a"], first["b"]} == {"notes/search_notes", "notes/find_notes"}
    assert len(document["tools"]) == len(document["matrix"]) > 10

    fixes = tmp_path / "fixes"
    advised = say("recommend", *servers, "--threshold", "0.3", "--patch-dir", fixes, "--json")
    assert advised.code == 0, advised.err
    (pair,) = [one for one in advised.document["pairs"] if {one["a"], one["b"]} == {first["a"], first["b"]}]
    patches = [one["patch"] for one in pair["recommendations"] if one["patch"]]
    assert patches
    for patch in patches:
        assert applied(patch) != DOCUMENT["tools"]
    written = [json.loads(file.read_text("utf-8")) for file in sorted(fixes.glob("*.patch.json"))]
    assert all(patch in written for patch in patches)

    together = json.loads((fixes / "all-notes.patch.json").read_text("utf-8"))
    assert together == advised.document["patches"]["notes"]
    texts = {tool["name"]: tool["description"] for tool in applied(together)}
    for tool, other in ((SEARCH, FIND), (FIND, SEARCH)):
        assert texts[tool["name"]].startswith(tool["description"])
        assert f"use `{other['name']}`" in texts[tool["name"]]
    assert all(one["cases"]["cases"] == 3 for one in pair["recommendations"])
    revised = workspace_files.written(tmp_path / "revised.json", {"tools": applied(together)})
    assert say("quality", "--tools-file", revised, "--fail-on", "error").code == 0


def test_what_runs_say_stands_beside_what_looks_alike(notes: Path, tmp_path: Path) -> None:
    page = tmp_path / "likeness.html"
    assert say("similarity", "--server", "notes", *WORDS, "--threshold", "0.3", "--out", page).code == 0
    text = page.read_text("utf-8")
    assert "What to work on" in text
    assert " runs</td>" in text
    assert str(notes) not in text


def test_every_verb_works_at_once_without_a_network(notes: Path, tmp_path: Path) -> None:
    for verb in ("similarity", "overlap", "recommend"):
        said = say(verb, "--server", "notes", "--json")
        assert (said.code, said.document["embedder"]) == (0, OFFLINE_EMBEDDER), said.err
    assert say("quality", "--server", "shop", "--out", tmp_path / "quality.html").code == 0
    assert (tmp_path / "quality.html").read_text("utf-8").startswith("<!doctype html>")
