"""Names that people cannot tell apart are one name for every kind of thing: to find it, and to make no second one."""

import json
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.command_line import Said, say

FREE = ("Café Bike", "café BIKE", " Café  Bike ", unicodedata.normalize("NFD", "Café Bike"))
TOOL = ("cafe_bike", "Cafe_Bike", "cafe_bike ")
PLAIN = ("Cafe-Bike", "cafe-BIKE", "Cafe-Bike ")
TOOLS = [{"name": "ring", "description": "Ring.", "inputSchema": {"type": "object"}}]


@dataclass(frozen=True)
class Named:
    """One kind: how it is made, found and listed, and the spellings that its names can have."""

    make: Callable[[str, Path], Said]
    find: tuple[str, ...]
    listed: tuple[str, ...]
    ways: tuple[str, ...] = FREE


def server(name: str, tools: Path) -> Said:
    return say("servers", "add", name, "--tools-file", tools)


def draft(name: str, tools: Path) -> Said:
    return say("draft", "new", name, "--tools-file", tools)


def prompt(name: str, _: Path) -> Said:
    return say("prompts", "add", name, "--file", "-", stdin="Be polite.")


def group(name: str, _: Path) -> Said:
    return say("models", "groups", "add", name, "--deployment", "openai/gpt-4.1-mini")


def router(name: str, _: Path) -> Said:
    route = {"name": "openai/gpt-4.1-mini", "utterances": ["Hello there"]}
    made = {"name": name, "routes": [route], "default": "openai/gpt-4.1-nano", "embedder": "tfidf"}
    return say("routes", "add", "-", stdin=json.dumps(made))


def search(name: str, _: Path) -> Said:
    return say("search", "add", name, "searxng", "--base-url", "http://127.0.0.1:9")


def library_tool(name: str, _: Path) -> Said:
    return say("library", "add", "-", stdin=json.dumps({**TOOLS[0], "name": name}))


def client(name: str, _: Path) -> Said:
    profile = {"name": name, "title": "Mine", "version": 1, "checked": "2026-11-26"}
    return say("clients", "add", "-", stdin=json.dumps(profile))


KINDS = {
    "server": Named(server, ("servers", "tools"), ("servers", "list")),
    "draft": Named(draft, ("draft", "show"), ("draft", "list")),
    "prompt": Named(prompt, ("prompts", "show"), ("prompts", "list")),
    "group": Named(group, ("models", "groups", "show"), ("models", "groups", "list"), PLAIN),
    "router": Named(router, ("routes", "show"), ("routes", "list"), PLAIN),
    "search tool": Named(search, ("search", "list"), ("search", "list"), PLAIN),
    "library tool": Named(library_tool, ("library", "show"), ("library", "list"), TOOL),
    "client profile": Named(client, ("clients", "show"), ("clients", "list"), PLAIN),
}


def names(kind: Named) -> list[str]:
    """Return the names of a kind that look like the one that was made."""
    (rows,) = (one for one in say(*kind.listed, "--json").document.values() if isinstance(one, list))
    found = [one.get("name") or one.get("model_group") for one in rows]
    return [name for name in found if "bike" in name.casefold()]


@pytest.mark.parametrize("what", KINDS)
def test_a_name_is_one_name_however_it_is_written(what: str, tmp_path: Path) -> None:
    kind, tools = KINDS[what], tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS), "utf-8")
    first, *others = kind.ways
    assert kind.make(first, tools).code == 0
    assert names(kind) == [first]
    for way in others:
        if kind.find != kind.listed:
            assert say(*kind.find, way).code == 0, way
        assert kind.make(way, tools).code in (0, 2), way
        assert names(kind) == [first], f"{way!r} made a second one"
