"""Patches and overrides: they apply to the real document with the real library, whatever the texts are."""

import copy
from dataclasses import replace
from typing import Any

import jsonpatch  # type: ignore[import-untyped]  # it has no types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.json_patch import pointer
from mcp_tef.model.similarity import ComparedTool
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.patches import Operation, ToolListDocument, override, sound
from tests.support.similarity_factories import compared_as, told

HOSTILE = 'Say "hi" — it\'s `fine`\n\t$(rm -rf /); \\ 日本語 🚲 </tools> ~0~1/'


def applied(tools: list[ComparedTool], patch: tuple[Operation, ...]) -> list[dict[str, Any]]:
    document = {"tools": [copy.deepcopy(dict(each.tool.raw)) for each in tools]}
    changed: list[dict[str, Any]] = jsonpatch.JsonPatch([dict(each) for each in patch]).apply(document)["tools"]
    return changed


def listing(*tools: Tool) -> list[ComparedTool]:
    return [compared_as(tool) for tool in tools]


TOOLS = listing(told("a", "Alpha."), told("b", "Beta.", required=("path", "a/b~c"), path="x", **{"a/b~c": "y"}))


def test_a_description_is_replaced_and_nothing_else() -> None:
    patch = ToolListDocument(TOOLS).describe(TOOLS[1], HOSTILE)
    changed = applied(TOOLS, patch)
    assert changed[1] == {**TOOLS[1].tool.raw, "description": HOSTILE}
    assert changed[0] == TOOLS[0].tool.raw


def test_a_missing_description_is_added() -> None:
    bare = Tool(server="s", name="c", description="", input_schema={}, raw={"name": "c", "inputSchema": {}})
    tools = listing(told("a"), bare)
    assert applied(tools, ToolListDocument(tools).describe(tools[1], "New."))[1]["description"] == "New."


def test_a_patch_tests_the_name_first_so_that_a_moved_tool_is_left_alone() -> None:
    patch = ToolListDocument(TOOLS).describe(TOOLS[1], "New.")
    assert patch[0] == {"op": "test", "path": "/tools/1/name", "value": "b"}
    with pytest.raises(jsonpatch.JsonPatchTestFailed):
        applied(TOOLS[::-1], patch)


def test_a_patch_counts_the_definitions_that_were_set_aside() -> None:
    second = compared_as(replace(told("b", "Beta."), place=2))
    patch = ToolListDocument([compared_as(replace(told("a"), place=0)), second]).describe(second, "New.")
    document = {"tools": [{"name": "a"}, {"no": "name"}, {"name": "b", "description": "Beta."}]}
    changed = jsonpatch.JsonPatch([dict(each) for each in patch]).apply(document)
    assert changed["tools"][2] == {"name": "b", "description": "New."}


def test_working_out_patches_changes_no_tool() -> None:
    before = copy.deepcopy([each.tool.raw for each in TOOLS])
    ToolListDocument(TOOLS).describe(TOOLS[0], "New.")
    assert [each.tool.raw for each in TOOLS] == before


def test_pointers_are_escaped() -> None:
    assert pointer("tools", "0", "a/b~c") == "/tools/0/a~1b~0c"


def test_an_override_is_laid_over_the_tool_by_its_name() -> None:
    assert override(TOOLS[0].tool, HOSTILE) == {"toolsOverride": {"a": {"description": HOSTILE}}}


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
names = texts.filter(lambda text: text.strip() != "")


@st.composite
def documents(draw: st.DrawFn) -> list[ComparedTool]:
    chosen = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    parameters = st.dictionaries(names, texts, max_size=2)
    return [ComparedTool(str(place), _tool(name, draw(texts), draw(parameters))) for place, name in enumerate(chosen)]


def _tool(name: str, description: str, parameters: dict[str, str]) -> Tool:
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    raw = {"name": name, "description": description, "inputSchema": schema}
    return Tool(server="s", name=name, description=description, input_schema=schema, raw=raw)


@given(documents(), st.data())
def test_every_patch_applies_and_leaves_a_valid_document(tools: list[ComparedTool], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(tools) - 1))
    document, one = ToolListDocument(tools), tools[place]
    text = data.draw(texts)
    described = applied(tools, document.describe(one, text))
    assert described[place]["description"] == text
    assert all(map(sound, described))
    assert len({each["name"] for each in described}) == len(tools)
