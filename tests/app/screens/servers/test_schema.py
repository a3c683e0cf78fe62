"""A schema reads as plain words."""

from dataclasses import replace
from typing import Any

import pytest

from app.arguments.parameters import parameters, token_count, type_text
from tests.support.fake_engine import made_tool


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "text"),
        ({"type": "integer"}, "whole number"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "yes or no"),
        ({"type": "string", "format": "date-time"}, "date and time"),
        ({"type": "array", "items": {"type": "string"}}, "list of texts"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, "list of list of whole numbers"),
        ({"type": "array"}, "list"),
        ({"type": "object"}, "object"),
        ({"enum": ["a", "b"]}, "one of 2 values"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text"),
        ({"type": ["string", "integer"]}, "text or whole number"),
        ({"oneOf": [{"type": "string"}, {"type": "number"}]}, "text or number"),
        ({"$ref": "#/$defs/Day"}, "date"),
        ({"$ref": "#/$defs/Loop"}, "anything"),
        ({"$ref": "https://example.com/x.json"}, "anything"),
        ({}, "anything"),
        ({"type": 3}, "anything"),
    ],
)
def test_types_have_plain_words(schema: dict[str, Any], words: str) -> None:
    root = {"$defs": {"Day": {"type": "string", "format": "date"}, "Loop": {"$ref": "#/$defs/Loop"}}}
    assert type_text(schema, root) == words


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "array", "items": {"$ref": "#/$defs/Node"}}
    assert type_text(node, {"$defs": {"Node": node}}).startswith("list of list of")


def test_limits_are_said_in_words() -> None:
    schema = {
        "type": "object",
        "required": ["limit"],
        "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20, "description": "Most paths"},
            "text": {"type": "string", "minLength": 1},
            "size": {"anyOf": [{"enum": ["S", "M"]}, {"type": "null"}], "default": None},
        },
    }
    limit, text, size = parameters(schema)
    assert (limit.type, limit.required, limit.description) == ("whole number", True, "Most paths")
    assert limit.limits == "1 to 200, default 20"
    assert text.limits == "at least 1 character"
    assert (size.type, size.limits, size.required) == ("one of 2 values", '"S" · "M"', False)


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"a": 3}, "required": "a"}])
def test_odd_schemas_are_no_reason_to_fail(schema: dict[str, Any]) -> None:
    assert all(one.type == "anything" for one in parameters(schema))


def test_the_weight_is_of_what_a_model_is_sent() -> None:
    tool = made_tool("a" * 400, "", "shop")
    assert token_count(tool) == pytest.approx(123, abs=5)
    assert token_count(replace(tool, raw={**tool.raw, "outputSchema": {"title": "b" * 400}})) == token_count(tool)
