"""Parameters of a JSON Schema: for fields, and as texts."""

from typing import Any

import pytest

from app.arguments.parameters import Choice, Kind, parameters, parameters_of, required_names, type_text


def test_required_parameters_come_first_and_say_so() -> None:
    parameters = parameters_of(
        {"properties": {"path": {"type": "string"}, "query": {"type": "string"}}, "required": ["query"]}
    )
    assert [parameter.name for parameter in parameters] == ["query", "path"]
    assert required_names(parameters) == ("query",)


@pytest.mark.parametrize(
    ("node", "kind", "word"),
    [
        ({"type": "string"}, Kind.TEXT, "text"),
        ({"type": "string", "format": "date"}, Kind.TEXT, "date"),
        ({"type": "integer"}, Kind.WHOLE, "whole number"),
        ({"type": "number"}, Kind.NUMBER, "number"),
        ({"type": "boolean"}, Kind.FLAG, "yes or no"),
        ({"type": "array", "items": {"type": "string"}}, Kind.LIST, "list of texts"),
        ({"type": "array"}, Kind.LIST, "list"),
        ({"type": "object"}, Kind.OBJECT, "object"),
        ({"type": ["string", "null"]}, Kind.TEXT, "text"),
        ({"type": ["string", "integer"]}, Kind.ANY, "any type"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, Kind.WHOLE, "whole number"),
        ({"$ref": "#/$defs/Limit"}, Kind.WHOLE, "whole number"),
        ({"$ref": "#/$defs/Loop"}, Kind.ANY, "any type"),
        ({"$ref": "https://elsewhere.example/schema"}, Kind.ANY, "any type"),
        ({"enum": ["asc", "desc"]}, Kind.TEXT, "one of 2"),
        (True, Kind.ANY, "any type"),
        ("nonsense", Kind.ANY, "any type"),
    ],
)
def test_each_kind_of_schema_has_a_plain_word(node: object, kind: Kind, word: str) -> None:
    schema = {
        "$defs": {"Limit": {"type": "integer"}, "Loop": {"$ref": "#/$defs/Loop"}},
        "properties": {"it": node},
    }
    (parameter,) = parameters_of(schema)
    assert (parameter.kind, parameter.type_word) == (kind, word)


def test_the_values_that_a_schema_allows_become_choices() -> None:
    (parameter,) = parameters_of({"properties": {"size": {"type": "integer", "enum": [1, 2]}}})
    assert parameter.choices == (Choice("1", 1), Choice("2", 2))


def test_words_of_the_reference_itself_win_over_those_of_its_target() -> None:
    schema = {
        "$defs": {"Day": {"type": "string", "description": "a day"}},
        "properties": {"from": {"$ref": "#/$defs/Day", "description": "the first day"}},
    }
    assert parameters_of(schema)[0].description == "the first day"


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"a": {}}, "required": "a"}])
def test_a_schema_that_is_no_schema_breaks_nothing(schema: dict[str, object]) -> None:
    assert all(not parameter.required for parameter in parameters_of(schema))


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
