"""The form and the JSON of a schema, which always show the same."""

import json
from typing import Any

import pytest

from app.arguments.values import UnreadableError
from app.screens.library.schema_text import OTHER, SchemaText

PART = {"type": "string", "description": "Such as CH-012.", "pattern": "^[A-Z]{2}"}
BIKE = {"type": "string", "enum": ["road", "city"], "default": "city"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "part": PART,
        "bike": BIKE,
        "speeds": {"type": "integer", "maximum": 13},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "required": ["bike"],
}


def test_a_form_shows_what_the_json_says() -> None:
    part, bike, speeds, either = SchemaText.of(SCHEMA).rows()
    assert (part.type_text, part.description, part.required) == ("text", "Such as CH-012.", False)
    assert (bike.values, bike.default, bike.required) == ("road, city", "city", True)
    assert (speeds.type, either.type) == ("integer", OTHER)
    assert part.limits == {"minLength": "", "maxLength": "", "pattern": "^[A-Z]{2}"}
    assert (speeds.limits["maximum"], either.limits) == ("13", {})


@pytest.mark.parametrize(
    ("name", "field", "value", "path", "expected"),
    [
        ("part", "description", "A number.", "part", PART | {"description": "A number."}),
        ("bike", "values", "road, cargo", "bike", BIKE | {"enum": ["road", "cargo"]}),
        ("bike", "values", "", "bike", {"type": "string", "default": "city"}),
        ("bike", "type", "integer", "bike", {"type": "integer"}),
        ("speeds", "default", "7", "speeds", {"type": "integer", "maximum": 13, "default": 7}),
        ("part", "name", "number", "number", PART),
        ("part", "pattern", "", "part", {"type": "string", "description": "Such as CH-012."}),
        ("part", "minLength", "6", "part", PART | {"minLength": 6}),
        ("speeds", "maximum", "11", "speeds", {"type": "integer", "maximum": 11}),
        ("speeds", "type", "string", "speeds", {"type": "string"}),
        ("speeds", "type", "number", "speeds", {"type": "number", "maximum": 13}),
    ],
)
def test_a_field_changes_the_json_and_nothing_else(
    name: str, field: str, value: str, path: str, expected: object
) -> None:
    changed = json.loads(SchemaText.of(SCHEMA).with_value(name, field, value).text)
    assert changed["properties"].pop(path) == expected
    rest = {key: one for key, one in SCHEMA["properties"].items() if key != name}
    assert changed == {**SCHEMA, "properties": rest}


def test_a_required_parameter_is_renamed_and_removed_with_its_mark() -> None:
    renamed = SchemaText.of(SCHEMA).with_value("bike", "name", "kind")
    assert json.loads(renamed.text)["required"] == ["kind"]
    assert "required" not in json.loads(renamed.without_row("kind").text)
    assert json.loads(renamed.with_value("part", "required", "yes").text)["required"] == ["part", "kind"]


@pytest.mark.parametrize(
    ("name", "field", "value"), [("speeds", "default", "many"), ("speeds", "minimum", "few"), ("part", "name", "bike")]
)
def test_a_value_that_does_not_fit_is_refused(name: str, field: str, value: str) -> None:
    with pytest.raises(UnreadableError):
        SchemaText.of(SCHEMA).with_value(name, field, value)


def test_json_that_cannot_be_read_is_kept_as_typed() -> None:
    typed = SchemaText.of(SCHEMA).typed('{"type": ')
    assert (typed.text, typed.schema) == ('{"type": ', SCHEMA)
    assert typed.fault
    assert typed.typed("[1]").fault
    assert not typed.typed('{"type": "object"}').fault
