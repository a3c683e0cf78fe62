"""Lint of valid schemas that no client can follow or no value can satisfy, wherever they stand in a definition."""

from typing import Any

import pytest

from tests.support.lint_factories import CITY, found, make, rules_broken, taking

FAULTS = [
    ("schema-reference-broken", {"$ref": "#/$defs/place"}, "which the definition does not hold"),
    ("schema-reference-broken", {"$ref": "https://schemas.example/place.json"}, "which clients do not fetch"),
    ("schema-reference-broken", {"$ref": "place.json"}, "which clients do not fetch"),
    ("schema-reference-broken", {"$ref": "#/title"}, "which the definition does not hold"),
    ("schema-enum-unusable", {"type": "string", "enum": []}, "is empty"),
    ("schema-enum-unusable", {"type": "integer", "enum": ["1", "2"]}, "holds “1”, which the type “integer” refuses"),
    ("schema-enum-unusable", {"type": "integer", "enum": [1, 2.5]}, "holds 2.5"),
    ("schema-enum-unusable", {"type": ["string", "null"], "enum": ["a", 3]}, "“string” or “null” refuses"),
    ("schema-enum-unusable", {"type": "integer", "enum": [True]}, "holds true"),
    ("schema-enum-unusable", {"type": "string", "enum": [None]}, "holds null"),
    ("schema-limits-crossed", {"type": "integer", "minimum": 10, "maximum": 1}, "`minimum` is 10 and `maximum` is 1"),
    ("schema-limits-crossed", {"type": "string", "minLength": 5, "maxLength": 4}, "`minLength`"),
    ("schema-limits-crossed", {"type": "array", "minItems": 2, "maxItems": 1}, "`minItems`"),
    ("schema-limits-crossed", {"type": "object", "minProperties": 2, "maxProperties": 1}, "`minProperties`"),
    ("schema-limits-crossed", {"exclusiveMinimum": 1, "maximum": 1}, "`exclusiveMinimum`"),
    ("schema-limits-crossed", {"minimum": 1, "exclusiveMaximum": 1}, "`exclusiveMaximum`"),
    ("schema-pattern-invalid", {"type": "string", "pattern": "[a-z"}, "“[a-z” is not a regular expression"),
    ("schema-pattern-invalid", {"type": "object", "patternProperties": {"(": {}}}, "“(”"),
    ("parameter-case-twin", {"type": "object", "properties": {"id": CITY, "ID": CITY}}, "`ID` and `id`"),
]
SOUND: list[dict[str, Any]] = [
    {"type": "string", "enum": ["a", "b", None]},
    {"type": "number", "enum": [1, 2.5]},
    {"type": "integer", "enum": [1, 2.0]},
    {"type": "boolean", "enum": [True]},
    {"enum": ["a", 1]},
    {"type": "integer", "minimum": 1, "maximum": 1},
    {"type": "integer", "exclusiveMinimum": 0, "maximum": 1},
    {"type": "string", "pattern": r"^[^]\u{1F600}\/[\w-]+(?<year>\d{4})$"},
    {"type": "object", "properties": {"id": CITY, "name": CITY}},
    {"$ref": "#/$defs/city"},
    {"$ref": "#city"},
    {"type": "object", "default": {"$ref": "#/nowhere", "enum": []}},
]
RULES = {rule for rule, _, _ in FAULTS}


@pytest.mark.parametrize(("rule", "schema", "told"), FAULTS)
def test_a_schema_that_nothing_can_satisfy_is_an_error_of_its_parameter(
    rule: str, schema: dict[str, Any], told: str
) -> None:
    (finding,) = found(taking({"origin": {"description": "Where it leaves", **schema}}, title="x"), rule)
    assert (finding.rule.severity, finding.place) == ("error", "parameter origin")
    assert told in finding.sentence


@pytest.mark.parametrize("schema", SOUND)
def test_a_schema_with_values_is_left_alone(schema: dict[str, Any]) -> None:
    definitions = {"city": {"$anchor": "city", **CITY}}
    broken = rules_broken(taking({"origin": {"description": "Where it leaves", **schema}}, **{"$defs": definitions}))
    assert RULES.isdisjoint(broken)


@pytest.mark.parametrize(
    ("below", "place"),
    [
        (lambda bad: {"type": "array", "items": bad}, "items of parameter leg"),
        (lambda bad: {"anyOf": [{"type": "null"}, bad]}, "anyOf of parameter leg"),
        (lambda bad: {"type": "object", "properties": {"day": bad}}, "parameter leg.day"),
        (lambda bad: {"type": "object", "additionalProperties": bad}, "additionalProperties of parameter leg"),
    ],
)
def test_inner_schemas_are_searched_and_named(below: Any, place: str) -> None:
    (finding,) = found(taking({"leg": below({"type": "string", "enum": []})}), "schema-enum-unusable")
    assert finding.place == place


def test_output_schemas_are_searched() -> None:
    output = {"type": "object", "properties": {"price": {"minimum": 2, "maximum": 1}}}
    (finding,) = found(make(output=output), "schema-limits-crossed")
    assert finding.place == "output price"


def test_an_invalid_schema_has_that_error_alone() -> None:
    tool = taking({"origin": {"type": "str", "enum": []}})
    assert [rule for rule in rules_broken(tool) if rule.startswith("schema")] == ["schema-invalid"]


def test_names_of_one_server_that_differ_by_case_only_are_errors() -> None:
    tool, twin, elsewhere = make("get_user"), make("Get_User"), make("GET_USER", server="bikes")
    (finding,) = found(tool, "name-case-twin", beside=[twin, elsewhere])
    assert "also lists `Get_User`, which" in finding.sentence
    assert not found(tool, "name-case-twin", beside=[elsewhere, make("get_user")])
