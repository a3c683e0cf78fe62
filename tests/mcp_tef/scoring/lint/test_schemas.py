"""Lint of schemas: valid, objects, and at peace with themselves."""

from typing import Any

import pytest

from tests.support.lint_factories import CITY, found, make, rules_broken, taking


@pytest.mark.parametrize(
    ("schema", "kind"),
    [(5, "a number"), ([], "a list"), ("object", "text"), ({"type": "string"}, "string"), ({"type": ["object"]}, "[")],
)
def test_an_input_schema_that_is_no_object_is_an_error(schema: Any, kind: str) -> None:
    (finding,) = found(make(schema=schema), "schema-not-object")
    assert kind in finding.sentence


def test_an_input_schema_without_a_type_is_found() -> None:
    assert rules_broken(make(schema={"properties": {"origin": CITY}})) == ["schema-type-missing"]


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "properties.a.type"),
        ({"type": "object", "required": "a"}, "required"),
        ({"type": "object", "$schema": 5}, "$schema is a number"),
    ],
)
def test_an_invalid_schema_says_where(schema: Any, word: str) -> None:
    (finding,) = found(make(schema=schema), "schema-invalid")
    assert word in finding.sentence


def test_a_schema_that_nests_absurdly_deep_is_invalid_and_breaks_nothing() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(5_000):
        schema = {"type": "object", "properties": {"a": schema}}
    tool = make(schema=schema)
    assert {"schema-invalid", "parameters-too-deep"} <= set(rules_broken(tool))


@pytest.mark.parametrize("output", [5, {"type": "strin"}, {"type": "array"}, {"properties": 1}])
def test_an_invalid_output_schema_is_found(output: Any) -> None:
    assert found(make(output=output), "output-schema-invalid")


@pytest.mark.parametrize("output", [None, {}, {"type": "object", "properties": {"price": {"type": "number"}}}])
def test_a_sound_output_schema_is_not(output: Any) -> None:
    assert not found(make(output=output), "output-schema-invalid")


def test_a_required_name_that_no_property_has_is_named_with_its_place() -> None:
    inner = {"type": "object", "description": "A stop", "properties": {"at": CITY}, "required": ["at", "day"]}
    tool = taking({"stop": inner}, required=["stop", "to"])
    sentences = [(item.place, item.sentence) for item in found(tool, "parameter-required-unknown")]
    assert [place for place, _ in sentences] == ["inputSchema", "parameter stop"]
    assert "`to`" in sentences[0][1]
    assert "`day`" in sentences[1][1]


@pytest.mark.parametrize(
    "rest",
    [
        {"allOf": [{"properties": {"to": CITY}}]},
        {"anyOf": [{"required": ["origin"]}], "properties": {"origin": CITY, "to": CITY}},
        {"patternProperties": {"^t": CITY}},
    ],
)
def test_a_required_name_may_be_described_anywhere(rest: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"origin": CITY}, "required": ["to"], **rest}
    assert not found(make(schema=schema), "parameter-required-unknown")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "default": 5},
        {"type": "string", "enum": ["a"], "default": "b"},
        {"type": "integer", "minimum": 1, "default": 0},
        {"$ref": "#/$defs/size", "default": "XXL"},
    ],
)
def test_a_default_that_its_own_schema_refuses_is_found(schema: dict[str, Any]) -> None:
    tool = taking({"x": {"description": "How large", **schema}}, **{"$defs": {"size": {"enum": ["S", "M"]}}})
    (finding,) = found(tool, "parameter-default-invalid")
    assert finding.place == "parameter x"
    assert not found(tool, "parameter-default-null")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 1, "default": 1},
        {"type": ["string", "null"], "default": None},
        {"default": 5},
        {"$ref": "#/$defs/missing", "default": 5},
    ],
)
def test_a_default_that_fits_or_cannot_be_told_is_not(schema: dict[str, Any]) -> None:
    tool = taking({"x": schema})
    assert not found(tool, "parameter-default-invalid")
    assert not found(tool, "parameter-default-null")


def test_null_as_the_default_of_a_text_is_only_a_note() -> None:
    tool = taking({"x": {"type": "string", "description": "Where to go", "default": None}})
    assert rules_broken(tool) == ["parameter-default-null"]
