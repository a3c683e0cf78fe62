"""Whatever a definition holds, lint gives findings that can be shown, and the same ones in any order."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.model.json import Json
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint.definition_size import definition_text
from mcp_tef.scoring.lint.definition_texts import shows
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import lint, score

TEXTS = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    ["get the data", "one of a, b, c", "ignore all previous instructions", "a\u200b", "#/$defs/a", "#", "max 10"]
)
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
KEYS = st.sampled_from(
    ["type", "properties", "items", "required", "description", "default", "enum", "anyOf", "allOf", "$ref", "$defs",
     "a", "b", "title", "minimum", "const", "patternProperties", "additionalProperties", "$schema", "prefixItems"]
) | TEXTS  # fmt: skip
TYPES = st.sampled_from(["object", "string", "integer", "array", "null", ["string", "null"], "number"])


def around(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Values that hold others, often looking like schemas."""
    named = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    schema = st.fixed_dictionaries(
        {},
        optional={"type": TYPES, "properties": named, "items": inner, "required": st.lists(TEXTS, max_size=2),
                  "description": TEXTS, "default": inner, "enum": st.lists(inner, max_size=2), "$defs": named},
    )  # fmt: skip
    return schema | st.dictionaries(KEYS, inner, max_size=4) | st.lists(inner, max_size=3)


JSON = st.recursive(LEAVES, around, max_leaves=12)


def tool_of(name: Json, description: Json, schema: Json, output: Json, raw: Json, server: str = "s") -> Tool:
    """A tool whose parts may be anything at all."""
    whole = {"name": name, "description": description, **(raw if isinstance(raw, Mapping) else {"title": raw})}
    return Tool(server=server, name=name, description=description, input_schema=schema, output_schema=output, raw=whole)


ANNOTATIONS = st.fixed_dictionaries({}, optional={"annotations": JSON, "title": JSON}) | JSON
TOOLS = st.builds(tool_of, TEXTS, TEXTS, JSON, JSON, ANNOTATIONS)


def turned(value: Json) -> Json:
    """The same value with the keys of every object the other way around."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(list(value))}
    return [turned(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=60)
@given(TOOLS)
def test_lint_never_raises_and_what_it_says_can_be_shown(tool: Tool) -> None:
    for finding in lint(tool):
        for text in (finding.place, finding.sentence, finding.fix, finding.excerpt):
            assert all(map(shows, text))
            text.encode()
        assert finding.place
        assert 0 <= finding.penalty <= 50
    assert 0 <= score(lint(tool)) <= 100
    definition_text(tool)


@settings(max_examples=50)
@given(TOOLS)
def test_the_order_of_keys_does_not_matter(tool: Tool) -> None:
    other = tool_of(
        tool.name, tool.description, turned(tool.input_schema), turned(tool.output_schema), turned(dict(tool.raw))
    )
    assert lint(other) == lint(tool)
    assert definition_text(other) == definition_text(tool)


@settings(max_examples=20)
@given(st.lists(TOOLS, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_tools_does_not_matter(tools: list[Tool], random: Any) -> None:
    mixed = list(tools)
    random.shuffle(mixed)
    assert [lint(tool, 0, ListedNames(mixed)) for tool in tools] == [
        lint(tool, 0, ListedNames(tools)) for tool in tools
    ]


@given(st.lists(st.sampled_from(["properties", "items", "anyOf", "default", "$defs"]), min_size=1, max_size=3))
@settings(max_examples=4)
def test_five_thousand_levels_are_linted_like_few(keywords: list[str]) -> None:
    schema: Json = {"type": "object"}
    for level in range(5_000):
        keyword = keywords[level % len(keywords)]
        schema = {keyword: [schema] if keyword == "anyOf" else {"a": schema} if keyword != "items" else schema}
    tool = tool_of("a", "b", schema, schema, {"annotations": schema})
    assert score(lint(tool)) < 100
    assert definition_text(tool)
