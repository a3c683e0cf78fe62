"""Tools as clients show them: names, cuts and searches, each checked by a second method."""

import hashlib
import json
import math
from typing import Any

import numpy as np
import pytest

from mcp_tef.formats.definition_files import bundled_profiles
from mcp_tef.model.clients import ChangeKind, ClientProfile, ClientView, SearchMethod, SearchRule
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.scoring.client_view import WordSearch, best, presented
from mcp_tef.scoring.tfidf_weights import stems

PROFILES = {profile.name: profile for profile in bundled_profiles()}
LONG = "x" * 60


def tool(name: str, server: str = "desk", description: str = "Does it.", **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties}
    return Tool(server=server, name=name, description=description, input_schema=schema, raw={})


def view(client: str | ClientProfile, *tools: Tool, model: str = "") -> ClientView:
    profile = PROFILES[client] if isinstance(client, str) else client
    return presented(profile, [OfferedTool(one.name, one) for one in tools], model)


def names(client: str, *tools: Tool) -> list[str]:
    return [one.offered_name for one in view(client, *tools).shown]


def left_out(found: ClientView) -> list[str]:
    return [one.tool.name for one in found.changes if one.kind is ChangeKind.LEFT_OUT]


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("plain-api", "get-user"),
        ("claude-code", "mcp__My_Desk__get-user"),
        ("vscode", "mcp_my_desk_get-user"),
        ("cursor", "get-user"),
        ("codex-cli", "mcp__My_Desk__get_user"),
        ("gemini-cli", "mcp_My_Desk_get-user"),
        ("goose", "My Desk__get-user"),
        ("zed", "get-user"),
    ],
)
def test_each_client_has_its_own_names(client: str, expected: str) -> None:
    assert names(client, tool("get-user", "My Desk")) == [expected]


def test_a_long_name_is_cut_or_left_out_as_each_client_does_it() -> None:
    one = tool(LONG, "desk")
    assert names("gemini-cli", one) == [f"mcp_desk_{'x' * 21}...{'x' * 30}"]
    digits = hashlib.sha1(f"desk__{LONG}".encode(), usedforsecurity=False).hexdigest()[:8]
    assert names("cline", one) == [f"{f'desk__{LONG}'[:55]}_{digits}"]
    assert names("vscode", tool(LONG, "A very long label of a server")) == [f"mcp_a_very_long_l_{LONG}"[:64]]
    assert names("cursor", one) == []
    assert left_out(view("cursor", one)) == [LONG]
    assert "60" in view("cursor", one).reason("desk", LONG)
    assert names("cursor", tool(LONG[:-4], "desk")) == [LONG[:-4]]


def test_of_two_tools_with_one_name_the_rule_of_the_client_decides() -> None:
    two = tool("find", "a b"), tool("find", "a_b")
    assert left_out(view("gemini-cli", *two)) == ["find"]
    assert [one.tool.server for one in view("gemini-cli", *two).shown] == ["a_b"]
    assert len(set(names("codex-cli", *two))) == 2
    assert names("zed", *two) == ["a b_find", "a_b_find"]


def test_a_description_is_cut_where_the_model_would_not_see_the_rest() -> None:
    text = "A" * 2048 + "Only for admins."
    found = view("claude-code", tool("find", description=text))
    assert found.shown[0].tool.description == "A" * 2048 + "… [truncated]"
    (cut,) = [one for one in found.changes if one.kind is ChangeKind.DESCRIPTION_CUT]
    assert cut.lost == "Only for admins."
    assert view("claude-code", tool("find", description=text[:2048])).shown[0].tool.description == text[:2048]
    assert view("goose", tool("find", description=text)).shown[0].tool.description == text


def test_descriptions_of_parameters_are_cut_for_some_models_and_dropped_from_large_schemas() -> None:
    deep = {"type": "object", "properties": {"description": {"type": "string", "description": "y" * 1030}}}
    one = tool("find", filter=deep)

    def told(client: str, model: str = "") -> str:
        (shown,) = view(client, one, model=model).shown
        return json.dumps(shown.tool.input_schema)

    assert told("vscode", "openai/gpt-4o").count("y" * 1024) == 1
    assert "y" * 1025 not in told("vscode", "openai/gpt-4o")
    assert told("vscode", "gpt-5") == json.dumps(one.input_schema)
    assert told("codex-cli") == json.dumps(one.input_schema)
    (large,) = view("codex-cli", tool("find", filter=deep, other={"type": "string", "description": "z" * 5000})).shown
    kept = large.tool.input_schema["properties"]
    assert kept == {
        "filter": {"type": "object", "properties": {"description": {"type": "string"}}},
        "other": {"type": "string"},
    }


def test_too_many_tools_are_refused_as_a_whole() -> None:
    tools = [tool(f"tool_{number}") for number in range(129)]
    assert view("vscode-all", *tools).shown == ()
    assert len(left_out(view("vscode-all", *tools))) == 129
    assert len(view("vscode-all", *tools[:128]).shown) == 128


TEXTS = ["Find a book by title", "Find a bike, a bike and a bike", "Send a letter to a friend", "Books and letters"]
TOOLS = [OfferedTool(f"t{number}", tool(f"t{number}", description=text)) for number, text in enumerate(TEXTS)]


def test_bm25_scores_are_those_of_the_formula() -> None:
    search = WordSearch(SearchRule(method=SearchMethod.BM25, results=2, reads=("description",)), TOOLS)
    query, texts = "find my bike and the bike", [stems(text) for text in TEXTS]
    mean = sum(map(len, texts)) / len(texts)
    expected = []
    for text in texts:
        score = 0.0
        for word in set(stems(query)):
            holding = sum(word in other for other in texts)
            rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            length = 1.2 * (0.25 + 0.75 * len(text) / mean)
            score += rarity * text.count(word) * 2.2 / (text.count(word) + length)
        expected.append(score)
    assert search.scores(query) == pytest.approx(expected)
    assert best(search.scores(query), 2) == (1, 0)


def test_keywords_count_the_words_that_a_tool_has() -> None:
    search = WordSearch(SearchRule(method=SearchMethod.KEYWORDS, results=5, reads=("description",)), TOOLS)
    assert best(search.scores("a letter to my friend about a book"), 5) == (2, 3, 0)
    assert best(search.scores("nothing of the kind"), 5) == ()


def test_equal_scores_keep_their_order_and_no_tool_is_no_fault() -> None:
    assert best(np.array([1.0, 2.0, 1.0]), 3) == (1, 0, 2)
    rule = SearchRule(method=SearchMethod.BM25, results=3)
    assert best(WordSearch(rule, []).scores("anything"), 3) == ()
