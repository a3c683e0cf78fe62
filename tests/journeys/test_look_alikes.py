"""From tools that are confused to words that tell them apart, at the command line: nothing but processes and files."""

import json
from pathlib import Path
from typing import Any

import jsonpatch  # type: ignore[import-untyped]
import pytest
from jsonschema import Draft202012Validator

from tests.support import workspace_files
from tests.support.command_line import OFFLINE_EMBEDDER, command, run, say

WORDS = ("--embedder", "tfidf")
TEXT = {"type": "string", "description": "Which one."}
SEARCH = {
    "name": "search_notes",
    "description": 'Search the notes for "words"\nand return the matching notes – best first.',
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
    "description": 'Search the notes for "words"\nand return all the matching notes – best first.',
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


def test_a_pair_is_found_mended_and_then_less_alike(notes: Path, tmp_path: Path) -> None:
    servers = ("--server", "notes", "shop", *WORDS)
    likeness = run("similarity", *servers, "--threshold", "0.5", "--full", "--out", tmp_path / "likeness.json")
    assert likeness.code == 0, likeness.err
    document = json.loads((tmp_path / "likeness.json").read_text("utf-8"))
    first = document["flagged"][0]
    assert {first["a"], first["b"]} == {"notes/search_notes", "notes/find_notes"}
    assert len(document["tools"]) == len(document["matrix"]) > 10

    fixes = tmp_path / "fixes"
    advised = run("recommend", *servers, "--threshold", "0.5", "--patch-dir", fixes, "--json")
    assert advised.code == 0, advised.err
    (pair,) = [one for one in advised.document["pairs"] if {one["a"], one["b"]} == {first["a"], first["b"]}]
    patches = [one["patch"] for one in pair["recommendations"] if one["patch"]]
    assert patches
    for patch in patches:
        assert applied(patch) != DOCUMENT["tools"]
    written = [json.loads(file.read_text("utf-8")) for file in sorted(fixes.glob("*.patch.json"))]
    assert all(patch in written for patch in patches)

    revised = workspace_files.written(tmp_path / "revised.json", {"tools": applied(patches[0])})
    again = run("similarity", "--tools-file", revised, *WORDS, "--json")
    before = run("similarity", "--tools-file", notes, *WORDS, "--json")
    assert again.document["matrix"][0][2] < before.document["matrix"][0][2]
    assert run("quality", "--tools-file", revised, "--fail-on", "error").code == 0


def test_what_runs_say_stands_beside_what_looks_alike(notes: Path, tmp_path: Path) -> None:
    page = tmp_path / "likeness.html"
    assert run("similarity", "--server", "notes", *WORDS, "--threshold", "0.5", "--out", page).code == 0
    text = page.read_text("utf-8")
    assert "What to work on" in text
    assert " runs</td>" in text
    assert str(notes) not in text


def test_every_verb_works_at_once_without_a_network(notes: Path, tmp_path: Path) -> None:
    for verb in ("similarity", "overlap", "recommend"):
        said = run(verb, "--server", "notes", "--json")
        assert (said.code, said.document["embedder"]) == (0, OFFLINE_EMBEDDER), said.err
    assert run("quality", "--server", "shop", "--out", tmp_path / "quality.html").code == 0
    assert (tmp_path / "quality.html").read_text("utf-8").startswith("<!doctype html>")
