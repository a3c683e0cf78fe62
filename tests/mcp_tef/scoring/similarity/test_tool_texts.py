"""Parameters laid flat, and how many of them two tools share."""

from typing import Any

import pytest

from mcp_tef.model.similarity import MatrixKind, SharedParameter
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.tool_texts import MOST, parameters, side_by_side
from tests.support.similarity_factories import a_tool, compared


def with_schema(schema: dict[str, Any]) -> Tool:
    return Tool(server="desk", name="x", description="", input_schema=schema, raw={})


def shared(a: Tool, b: Tool) -> float:
    return float(compared(a, b).matrix(MatrixKind.PARAMETERS)[0, 1])


def test_nested_objects_and_lists_are_laid_flat_by_path() -> None:
    inside = {"type": "object", "properties": {"name": {"type": "string"}}}
    found = parameters(a_tool("x", filter=inside, rows={"type": "array", "items": inside}))
    assert {path: each.type for path, each in found.items()} == {
        "filter": "object",
        "filter.name": "string",
        "rows": "array",
        "rows[].name": "string",
    }


def test_references_are_followed_and_do_not_run_in_circles() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "id": {"type": "integer"}}}
    found = parameters(with_schema({"properties": {"first": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}))
    assert found["first.next.next.id"].type == "integer"
    assert max(path.count(".") for path in found) == 3


def test_a_flood_of_parameters_is_cut() -> None:
    assert len(parameters(a_tool("x", **{f"p{n}": "string" for n in range(2 * MOST)}))) == MOST


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({}, "any"),
        ({"type": ["string", "null"]}, "string"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "integer or string"),
        ({"enum": ["a", "b"]}, "string"),
        (True, "any"),
    ],
)
def test_a_type_is_told_however_the_schema_says_it(schema: Any, kind: str) -> None:
    assert parameters(with_schema({"properties": {"p": schema}}))["p"].type == kind


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"p": 3}}, {"properties": {"p": None}}])
def test_a_schema_that_is_no_schema_has_what_can_be_read_of_it(schema: dict[str, Any]) -> None:
    assert set(parameters(with_schema(schema))) <= {"p"}


def test_the_share_is_of_names_with_types_over_all_of_both() -> None:
    a = a_tool("a", query="string", path="string", limit="integer", glob="string")
    b = a_tool("b", query="string", path="string", limit="integer", language="string", context="integer")
    assert shared(a, b) == pytest.approx(3 / 6)


def test_the_same_name_with_another_type_is_not_the_same_parameter() -> None:
    assert shared(a_tool("a", limit="integer"), a_tool("b", limit="string")) == 0


def test_names_are_alike_however_they_are_joined() -> None:
    assert shared(a_tool("a", userId="string"), a_tool("b", user_id="string")) == 1


def test_tools_without_parameters_share_none_unless_they_are_the_same() -> None:
    assert shared(a_tool("a", "reads"), a_tool("b", "writes")) == 0
    assert shared(a_tool("a", "reads"), a_tool("a", "reads")) == 1


def test_side_by_side_those_in_both_come_first() -> None:
    a = parameters(a_tool("a", only="string", userId="string", n="integer"))
    b = parameters(a_tool("b", n="number", user_id="string", late="boolean"))
    aligned = side_by_side(a, b)
    assert aligned == (
        SharedParameter("userId", "string", "string"),
        SharedParameter("n", "integer", "number"),
        SharedParameter("only", "string", None),
        SharedParameter("late", None, "boolean"),
    )
    assert [(one.in_both, one.same_type) for one in aligned] == [
        (True, True),
        (True, False),
        (False, False),
        (False, False),
    ]
