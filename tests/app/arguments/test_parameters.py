"""A tool's schema becomes rows that people can read."""

import pytest

from app.arguments.parameters import Choice, Kind, parameters_of, required_names


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
