"""Lint of schemas: their parameters, and schemas that no client can follow or no value can satisfy."""

from typing import Any

import pytest

from tests.support.scoring_factories import CITY, found, make, rules_broken, taking


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


def text(description: str, **rest: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **rest}


def test_every_parameter_without_a_description_is_named_with_its_path() -> None:
    row = {"type": "object", "description": "One row", "properties": {"note": {"type": "string"}}}
    tool = taking({"b": {"type": "string"}, "a": {"type": "string"}, "rows": {"type": "array", "items": row}})
    places = [finding.place for finding in found(tool, "parameter-undocumented")]
    assert places == ["parameter a", "parameter b", "parameter rows", "parameter rows[].note"]


def test_a_description_counts_wherever_the_schema_keeps_it() -> None:
    tool = make(
        schema={
            "type": "object",
            "$defs": {"code": text("An IATA code")},
            "properties": {"a": {"$ref": "#/$defs/code"}, "b": {"anyOf": [text("A code"), {"type": "null"}]}},
        }
    )
    assert not found(tool, "parameter-undocumented")


def test_a_parameter_that_only_the_tools_description_explains_is_a_note() -> None:
    description = (
        "Find flights by their airports.\n\nArgs:\n    origin: where it leaves\n  - `to` (string): where it lands"
    )
    tool = make(
        description=description,
        schema={"type": "object", "properties": {name: {"type": "string"} for name in ("origin", "to", "day")}},
    )
    assert [item.place for item in found(tool, "parameter-described-elsewhere")] == [
        "parameter origin",
        "parameter to",
    ]
    assert [item.place for item in found(tool, "parameter-undocumented")] == ["parameter day"]


@pytest.mark.parametrize("description", ["The page id", "ID of the page.", "pageId"])
def test_a_description_that_repeats_the_parameters_name_is_found(description: str) -> None:
    assert found(taking({"page_id": text(description)}), "parameter-repeats-name")


def test_a_description_with_one_word_more_than_the_name_does_not_repeat_it() -> None:
    assert not found(taking({"page_id": text("The page's ID, from list_pages")}), "parameter-repeats-name")


@pytest.mark.parametrize("description", ["The data", "Optional settings object", "Filters, sorting, etc.", "various"])
def test_vague_parameter_descriptions_are_found(description: str) -> None:
    assert found(taking({"x": text(description)}), "parameter-vague")


@pytest.mark.parametrize(
    "description", ["Etc/UTC where it is left out", "The text to type", "Data of birth, YYYY-MM-DD"]
)
def test_telling_parameter_descriptions_are_not_vague(description: str) -> None:
    assert not found(taking({"x": text(description)}), "parameter-vague")


@pytest.mark.parametrize("schema", [{}, {"description": "Where to go, as a code"}, {"default": 1}])
def test_a_parameter_without_a_type_is_found(schema: dict[str, Any]) -> None:
    assert found(taking({"x": schema}), "parameter-untyped")


@pytest.mark.parametrize(
    "schema", [{"enum": ["a"]}, {"const": 1}, {"anyOf": [{"type": "string"}]}, {"$ref": "#/$defs/x"}, True]
)
def test_a_type_may_be_said_in_other_ways(schema: Any) -> None:
    assert not found(taking({"x": schema}, **{"$defs": {"x": {"type": "string"}}}), "parameter-untyped")


@pytest.mark.parametrize(
    "description",
    [
        "Sort order, one of asc, desc or none",
        "Either 'asc' or 'desc'",
        'Options: "asc", "desc".',
        "Allowed values: `asc` | `desc`",
        "Must be “asc” or “desc”",
    ],
)
def test_values_that_are_listed_in_words_ask_for_an_enum(description: str) -> None:
    (finding,) = found(taking({"order": text(description)}), "parameter-values-not-listed")
    assert '"asc", "desc"' in finding.fix


@pytest.mark.parametrize(
    ("description", "schema"),
    [
        ("One of asc, desc or none", {"enum": ["asc", "desc", "none"]}),
        ("One of the airports of the list", {}),
        ("Either this or `origin`, but not both", {}),
        ("Either `origin` or `x`", {}),
        ("Must be lower case or empty", {}),
        ("Example values: 'ZRH', 'GVA'", {}),
        ("True or false: one of a, b, c", {"type": "boolean"}),
    ],
)
def test_what_is_no_list_of_values_asks_for_none(description: str, schema: dict[str, Any]) -> None:
    tool = taking({"x": {**text(description), **schema}, "origin": CITY})
    assert not found(tool, "parameter-values-not-listed")


def test_a_list_whose_items_have_an_enum_needs_none_of_its_own() -> None:
    items = {"type": "string", "enum": ["a", "b", "c"]}
    tool = taking({"x": {"type": "array", "description": "One of a, b, c", "items": items}})
    assert not found(tool, "parameter-values-not-listed")


@pytest.mark.parametrize(
    ("kind", "description"),
    [
        ("integer", "A number between 1 and 100"),
        ("number", "How many (1-50)"),
        ("integer", "How many, max: 10,000"),
        ("integer", "How many, at least 3"),
        ("string", "A name with up to 80 characters"),
        ("array", "At most 5 items"),
    ],
)
def test_limits_in_words_ask_for_limits_in_the_schema(kind: str, description: str) -> None:
    assert found(taking({"x": {"type": kind, "description": description}}), "parameter-limits-missing")


@pytest.mark.parametrize(
    ("schema", "description"),
    [
        ({"type": "integer", "minimum": 1}, "A number between 1 and 100"),
        ({"type": "string"}, "A flight between 1 and 100 miles"),
        ({"type": "string", "maxLength": 80}, "A name with up to 80 characters"),
        ({"type": "integer"}, "The number of the room"),
    ],
)
def test_limits_that_are_there_or_are_none_ask_for_nothing(schema: dict[str, Any], description: str) -> None:
    assert not found(taking({"x": {**schema, "description": description}}), "parameter-limits-missing")


def test_a_schema_that_refers_to_itself_is_walked_once() -> None:
    tool = taking({"kids": {"type": "array", "items": {"$ref": "#"}}})
    assert [item.place for item in found(tool, "parameter-undocumented")] == ["parameter kids"]


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
