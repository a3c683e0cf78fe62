"""Every kind of thing that has a file, in each format: an import grows no twins and empties nothing."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.formats.cases.texts import parse_yaml, to_yaml
from tests.support.command_line import Said, say

Item = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind: its key in a file, an item with every field, the fields that it must have, and a changed one.

    `edited` is False for kinds whose last import left them as they came, which the next one may change unasked.
    """

    section: str
    whole: Item
    required: tuple[str, ...]
    changed: Item
    endings: tuple[str, ...]
    read: tuple[str, ...]
    written: tuple[str, ...] = ()
    edited: bool = True
    edit: tuple[str, ...] = ()

    def text(self, item: Item, ending: str) -> str:
        """Return a file with one item."""
        if ending == "csv":
            cells = [value if isinstance(value, str) else json.dumps(value) for value in item.values()]
            quoted = ('"' + cell.replace('"', '""') + '"' for cell in cells)
            return f"{','.join(item)}\n{','.join(quoted)}\n"
        document = {self.section: {item["name"]: {**item}} if self.section == "mcpServers" else [{**item}]}
        if self.section == "mcpServers":
            del document["mcpServers"][item["name"]]["name"]
        models = {"mcp_tef_models": 1} if self.read[0] == "models" else {}
        return json.dumps(document | models) if ending == "json" else to_yaml(document | models)

    def items(self, workspace: Path) -> list[Any]:
        """Return what a workspace holds of the kind."""
        if not self.written:
            listed = say("servers", "list", "--json", "--workspace", workspace).document["servers"]
            return [one for one in listed if one["name"] == self.whole["name"]]
        file = workspace.with_suffix(".yaml" if self.read[0] == "models" else ".json")
        file.unlink(missing_ok=True)
        assert say(*self.written, file, "--workspace", workspace).code == 0
        found = parse_yaml(file.read_text("utf-8"), file.name)[self.section]
        assert isinstance(found, list)
        return found


CASES_IN, CASES_OUT = ("cases", "import"), ("cases", "export")
_CASE = {
    "name": "Right",
    "query": "Book it",
    "servers": ["shop"],
    "expected": [{"tool": "book"}],
    "suites": ["Smoke"],
    "tags": ["easy"],
    "family": "bookings",
    "before": [{"role": "user", "content": "Hello"}],
    "origin": "generated",
    "held_back": True,
}
_TOOL = {
    "name": "rain",
    "description": "Tell whether it rains.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
    "_meta": {
        "mcp-tef/library": {"status": "active", "category": "sky/wet", "tags": ["sky"], "executor": "answer"}
        | {"config": {"answer": "Yes"}}
    },
}
_PROFILE = {"name": "narrow", "title": "Narrow", "version": 1, "checked": "2026-11-26", "most_tools": 1}
_MODEL = {"model": "openai/gpt-4.1-mini", "rpm": 3}
_GROUP = {"name": "small", "deployments": [_MODEL]}
_SERVER = {"name": "clock", "command": "uvx", "args": ["clock"], "env": {"ZONE": "UTC"}, "disabledTools": ["pay"]}
_ROUTE = {"name": "openai/gpt-4.1-mini", "utterances": ["Hello there"], "description": "Greetings"}
_ROUTER = {"name": "auto", "routes": [_ROUTE], "default": "openai/gpt-4.1-nano", "embedder": "tfidf"}
_SEARCH = {"name": "web", "provider": "searxng", "base_url": "http://127.0.0.1:9", "description": "Finds pages."}


def _definition(section: str, whole: Item, required: tuple[str, ...], changed: Item) -> Kind:
    read, written = ("models", "import"), ("models", "export")
    return Kind(section, whole, required, changed, ("yaml", "json"), read, written, edited=False)


KINDS = {
    "case": Kind(
        "cases",
        _CASE,
        ("name", "query", "expected"),
        {"family": "repairs"},
        ("json", "yaml", "csv"),
        CASES_IN,
        CASES_OUT,
        edit=("cases", "edit", "Right", "--tag", "mine"),
    ),
    "library tool": Kind(
        "tools",
        _TOOL,
        ("name", "description", "inputSchema"),
        {"description": "Another text."},
        ("json",),
        ("library", "import", "--tools-file"),
        ("library", "export", "--out"),
    ),
    "group": _definition("groups", _GROUP, ("name", "deployments"), {"deployments": [_MODEL | {"rpm": 4}]}),
    "router": _definition("routers", _ROUTER, ("name", "routes"), {"threshold": 0.7}),
    "search tool": _definition("searches", _SEARCH, ("name", "provider"), {"description": "Other"}),
    "client profile": replace(
        _definition("clients", _PROFILE, ("name", "title", "version", "checked"), {"title": "Wide"}), edited=True
    ),
    "server": Kind(
        section="mcpServers",
        whole=_SERVER,
        required=("name", "command", "args"),
        changed={"args": ["watch"]},
        endings=("json",),
        read=("servers", "import"),
        edit=("servers", "include", "clock", "pay"),
    ),
}
ROWS = [(name, ending) for name, kind in KINDS.items() for ending in kind.endings]


def bring(kind: Kind, item: Item, ending: str, workspace: Path, *options: str) -> Said:
    """Import a file with one item."""
    file = workspace.parent / f"file.{ending}"
    file.write_text(kind.text(item, ending), "utf-8")
    return say(*kind.read, file, *options, "--workspace", workspace)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """Two workspaces with the server that the case asks."""
    tools = [{"name": "book", "description": "Book.", "inputSchema": {"type": "object"}}]
    (tmp_path / "tools.json").write_text(json.dumps(tools), "utf-8")
    found = tmp_path / "one.db", tmp_path / "two.db"
    for place in found:
        add = ("servers", "add", "shop", "--tools-file", tmp_path / "tools.json", "--workspace", place)
        assert say(*add).code == 0
    return found


@pytest.mark.parametrize(("name", "ending"), ROWS)
def test_an_import_again_makes_no_twin_and_empties_nothing(name: str, ending: str, places: tuple[Path, Path]) -> None:
    kind, here = KINDS[name], places[0]
    assert bring(kind, kind.whole, ending, here).code == 0
    before = kind.items(here)
    assert len(before) == 1
    for item in (kind.whole, {key: kind.whole[key] for key in kind.required}):
        assert bring(kind, item, ending, here, "--replace").code == 0
        assert kind.items(here) == before, "the same file, and one that does not name the other fields"


@pytest.mark.parametrize(("name", "ending"), ROWS)
def test_a_changed_item_is_said_with_both_values_and_asked_about(
    name: str, ending: str, places: tuple[Path, Path]
) -> None:
    kind, here = KINDS[name], places[0]
    assert bring(kind, kind.whole, ending, here).code == 0
    if kind.edit:
        for item in (kind.whole | kind.changed, kind.whole):
            assert bring(kind, item, ending, here).code == 0, "nobody edited what the import left"
        say(*kind.edit, "--workspace", here)  # nothing answers there
    before = kind.items(here)
    if kind.edited:
        refused = bring(kind, kind.whole | kind.changed, ending, here)
        assert (refused.code, "--replace" in refused.err) == (2, True), refused.err
        assert kind.items(here) == before
    said = bring(kind, kind.whole | kind.changed, ending, here, "--replace")
    assert (said.code, "→" in said.out) == (0, True), said
    (after,) = kind.items(here)
    assert after != before[0]
    assert len({*after} ^ {*before[0]}) == 0


@pytest.mark.parametrize(("name", "ending"), [row for row in ROWS if KINDS[row[0]].written])
def test_what_comes_back_from_a_second_workspace_is_the_same(name: str, ending: str, places: tuple[Path, Path]) -> None:
    kind, (here, there) = KINDS[name], places
    file = here.parent / f"shared.{ending}"
    assert bring(kind, kind.whole, ending, here).code == 0
    before = kind.items(here)
    for out, into in ((here, there), (there, here)):
        file.unlink(missing_ok=True)
        assert say(*kind.written, file, "--workspace", out).code == 0
        assert say(*kind.read, file, "--workspace", into).code == 0
        assert kind.items(into) == before
