"""`search …` and search tools in the library, over stand-ins of search services on loopback."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import Said, say, say_allowed
from tests.support.search_services import FORMS, PAGE, SearchService

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def on(folder: Path, *words: str | Path, stdin: str = "") -> Said:
    return say(*words, "--workspace", folder / "work.db", stdin=stdin)


def test_a_search_tool_is_kept_tried_served_by_the_library_and_exported(tmp_path: Path) -> None:
    with SearchService(FORMS["searxng"]) as service:
        assert on(tmp_path, "search", "add", "web", "searxng", "--base-url", service.url).code == 0
        found = on(tmp_path, "search", "run", "web", "pumps", "--count", "2", "--country", "at", "--json")
        assert found.document["results"][0]["url"] == PAGE
        shown = on(tmp_path, "search", "run", "web", "pumps", "--language", "de", "--freshness", "day")
        assert PAGE in shown.out
        assert service.asked[-1].params["time_range"] == ["day"]
        noted = on(tmp_path, "search", "run", "web", "pumps", "--country", "at", "--domain", "example.com")
        assert "no country" in noted.err
        tool = {"name": "search_web", "description": "Searches.", "inputSchema": SCHEMA}
        (tmp_path / "tool.json").write_text(json.dumps(tool), "utf-8")
        (tmp_path / "config.json").write_text(json.dumps({"search": "web", "count": 3}), "utf-8")
        kept = ("library", "add", tmp_path / "tool.json", "--executor", "search", "--config", tmp_path / "config.json")
        assert on(tmp_path, *kept).code == 0
        call = ("library", "run", "search_web", '{"query": "pumps"}', "--json", "--workspace", tmp_path / "work.db")
        ran = say_allowed(*call)
        assert ran.document["output"] == found.document
    gone = on(tmp_path, "search", "run", "web", "pumps", "--json")
    assert (gone.code, gone.error["code"]) == (3, "search_unreachable")
    on(tmp_path, "models", "export", tmp_path / "all.yaml")
    other = tmp_path / "other"
    other.mkdir()
    assert on(other, "models", "import", tmp_path / "all.yaml").code == 0
    listed = [on(folder, "search", "list", "--json").document for folder in (tmp_path, other)]
    assert listed[0] == listed[1] != {"searches": []}
    assert on(other, "search", "remove", "web").code == 0
    assert on(other, "search", "list", "--json").document == {"searches": []}


def test_a_key_goes_to_an_address_of_another_only_once_that_was_allowed(tmp_path: Path) -> None:
    with SearchService(FORMS["brave"]) as service:
        on(tmp_path, "search", "add", "web", "brave", "--base-url", service.url)
        asked = ("search", "run", "web", "pumps", "--key-stdin", "--json")
        refused = on(tmp_path, *asked, stdin="brave-key\n")
        assert (refused.code, service.asked) == (2, [])
        allowed = on(tmp_path, *asked, "--allow-origin", f"the key that you typed={service.url}", stdin="brave-key\n")
        assert allowed.code == 0
        assert service.asked[0].headers["x-subscription-token"] == "brave-key"
    assert "brave-key" not in f"{refused.out}{refused.err}{allowed.out}"
    assert b"brave-key" not in (tmp_path / "work.db").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "web", "bravo"), "brave"),
        (("add", "web", "searxng"), "base URL"),
        (("add", "web", "google_pse"), "engine"),
        (("add", "my web", "brave"), "name"),
        (("run", "none", "pumps"), "none"),
        (("run", "keyed", "pumps"), "TAVILY_API_KEY"),
        (("run", "keyed", "pumps", "--count", "21"), "1 to 20"),
        (("run", "keyed", " "), "query"),
        (("run", "keyed", "pumps", "--country", "Austria"), "two letters"),
        (("run", "keyed", "pumps", "--domain", "a b"), "domains"),
    ],
)
def test_what_cannot_be_searched_is_told_in_one_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    assert on(tmp_path, "search", "add", "keyed", "tavily", "--engine", "", "--description", "News").code == 0
    refused = on(tmp_path, "search", *words)
    assert refused.code == 2
    assert said in refused.err
    assert refused.err.count("\n") == 1
