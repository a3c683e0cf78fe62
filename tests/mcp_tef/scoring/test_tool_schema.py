"""Calls checked against a tool's JSON Schema."""

from typing import Any

import pytest

from mcp_tef.scoring.tool_schema import SchemaCache, ToolSchema
from tests.support.processes import computing_at_most
from tests.support.scoring_factories import TEXT, WHOLE, schema

TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "required": ["root"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"name": TEXT, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["name"],
        }
    },
}


def wrong(tool_schema: Any, **arguments: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """Path and rule of each fault."""
    return [(fault.path, fault.keyword) for fault in ToolSchema(tool_schema).check(arguments).faults]


def conforms(tool_schema: Any, **arguments: Any) -> bool | None:
    return ToolSchema(tool_schema).check(arguments).conforms


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ({"type": "integer"}, 3.0, 3.5),
        ({"type": ["string", "null"]}, None, 1),
        ({"enum": ["a", 1]}, 1, "b"),
        ({"const": {"a": 1}}, {"a": 1.0}, {"a": 2}),
        ({"minimum": 1, "maximum": 9}, 9, 10),
        ({"pattern": "^a"}, "ab", "ba"),
        ({"anyOf": [TEXT, WHOLE]}, 5, 5.5),
        ({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, 4, 6),
        ({"allOf": [{"minLength": 2}, {"maxLength": 3}]}, "abc", "abcd"),
        ({"not": TEXT}, 1, "a"),
        ({"if": TEXT, "then": {"minLength": 2}, "else": WHOLE}, "ab", "a"),
        ({"uniqueItems": True}, [1, True, "1"], [{"a": 1}, {"a": 1.0}]),
        ({"prefixItems": [TEXT], "items": WHOLE}, ["a", 1], ["a", "b"]),
        ({"additionalProperties": WHOLE}, {"x": 1}, {"x": "1"}),
        ({"patternProperties": {"^x": WHOLE}}, {"x": 1, "y": "z"}, {"x1": "1"}),
        ({"format": "date"}, "2024-02-29", "2023-02-29"),
        ({"format": "date-time"}, "2024-05-01T10:00:00Z", "tomorrow"),
        ({"format": "time"}, "10:00:00Z", "noon"),
        ({"format": "email"}, "a@b.example", "a.b.example"),
        ({"format": "uri"}, "https://a.example/b", "a b"),
        ({"format": "uuid"}, "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
        ({"format": "ipv4"}, "127.0.0.1", "127.0.0.256"),
        ({"format": "ipv6"}, "::1", "1::2::3"),
        ({"format": "x-unknown"}, "anything", None),
    ],
)
def test_each_rule_of_json_schema_tells_good_values_from_bad(rule: Any, good: Any, bad: Any) -> None:
    assert conforms(schema({"p": rule}), p=good) is True
    assert conforms(schema({"p": rule}), p=bad) is (bad is None)


def test_boolean_schemas_allow_everything_or_nothing() -> None:
    assert conforms(schema({"p": True}), p=object) is True
    assert wrong(schema({"p": False}), p=1) == [(("p",), "false")]
    assert conforms(True, p=1) is True


def test_references_are_followed_as_deep_as_they_recur() -> None:
    assert conforms(TREE, root={"name": "a", "children": [{"name": "b", "children": []}]}) is True
    deep = {"name": "a", "children": [{"name": "b", "children": [{"name": 3}]}]}
    assert wrong(TREE, root=deep) == [(("root", "children", 0, "children", 0, "name"), "type")]
    assert wrong(TREE, root={"children": []}) == [(("root", "name"), "required")]


@pytest.mark.parametrize(
    ("dialect", "given", "fits"),
    [
        ("http://json-schema.org/draft-04/schema#", 5, False),
        ("http://json-schema.org/draft-06/schema#", 5, True),
        ("http://json-schema.org/draft-07/schema", 5, True),
        ("https://json-schema.org/draft/2020-12/schema", 5, True),
        ("https://example.com/own-dialect", 5, True),
    ],
)
def test_the_dialect_that_a_schema_names_is_the_one_that_judges_it(dialect: str, given: int, fits: bool) -> None:
    """`exclusiveMinimum: true` belongs to draft 4; a later draft reads a number there."""
    rule = {"minimum": 5, "exclusiveMinimum": True} if "draft-04" in dialect else {"exclusiveMinimum": 4}
    assert conforms({"$schema": dialect, **schema({"p": rule})}, p=given) is fits


def test_draft_4_keeps_its_definitions_and_tuple_items() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"p": {"type": "array", "items": [{"$ref": "#/definitions/n"}], "additionalItems": False}},
        "definitions": {"n": WHOLE},
    }
    assert conforms(old, p=[1]) is True
    assert conforms(old, p=[1, 2]) is False
    assert wrong(old, p=["a"]) == [(("p", 0), "type")]


def test_remote_references_are_never_fetched_and_what_they_would_say_stays_unknown() -> None:
    remote = schema({"p": {"$ref": "https://example.com/never.json"}, "q": WHOLE})
    assert conforms(remote, p=1) is None
    assert wrong(remote, p=1, q="x") == [(("q",), "type")]
    assert ToolSchema({"$ref": "https://example.com/never.json"}).allows("anything")


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "float"},
        {"type": 5},
        {"type": {"a": 1}},
        {"enum": 5},
        {"pattern": "("},
        {"pattern": 5},
        {"minimum": "x"},
        {"$ref": 5},
        {"$ref": "#/nowhere"},
        {"anyOf": 5},
        {"properties": []},
        {"required": 5},
        {"items": 5},
        "text",
        None,
        5,
    ],
)
def test_a_broken_schema_judges_what_it_can_and_never_raises(broken: Any) -> None:
    for root in (broken, schema({"p": broken, "q": WHOLE}, "q"), {"allOf": [broken, schema({"q": WHOLE})]}):
        described = ToolSchema(root)
        described.check({"p": {"a": [1]}, "q": 1, "r": "x"})
        assert isinstance(described.required, frozenset)
        assert isinstance(described.allows("p"), bool)
        described.place("p").types()
    assert wrong(schema({"p": broken, "q": WHOLE}), p={"a": [1]}, q="x")[-1] == (("q",), "type")


def test_a_schema_that_refers_to_itself_without_end_is_given_up() -> None:
    assert conforms({"$ref": "#"}, p=1) is None
    assert conforms({"properties": {"p": {"$ref": "#/properties/p"}}}, p=1) is None


def test_a_schema_that_doubles_at_every_level_is_given_up_in_time() -> None:
    levels = {f"l{level}": {"allOf": [{"$ref": f"#/$defs/l{level + 1}"}] * 2} for level in range(40)}
    bomb = {"properties": {"p": {"$ref": "#/$defs/l0"}}, "$defs": {**levels, "l40": TEXT}}
    with computing_at_most(3):
        assert conforms(bomb, p="a") is None
        assert ToolSchema(bomb).place("p").types() == {"string"}


def test_a_pattern_that_would_take_for_ever_is_given_up_in_time() -> None:
    endless, closed = "a" * 5_000 + "!", {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False}
    with computing_at_most(2):
        assert conforms(schema({"p": {"pattern": "^(a+)+$"}}), p=endless) is None
        assert conforms({"patternProperties": {"^(a+)+$": TEXT}}, **{endless: "x"}) is None
        assert conforms(closed, **{endless: "x"}) is None


def test_a_part_that_names_another_dialect_is_judged_by_the_same_safe_rules() -> None:
    inner = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}
    assert conforms(schema({"p": inner}), p="aaa") is True
    assert conforms(schema({"p": {"items": [inner]}}), p="aaa") is True
    with computing_at_most(2):
        assert conforms(schema({"p": inner}), p="a" * 5_000 + "!") is None


def test_ten_thousand_objects_are_checked_for_doubles_in_time() -> None:
    with computing_at_most(2):
        assert conforms(schema({"p": {"uniqueItems": True}}), p=[{"n": n} for n in range(10_000)]) is True


def test_required_names_come_from_the_schema_its_references_and_all_of() -> None:
    combined = {
        "$ref": "#/$defs/base",
        "required": ["a"],
        "allOf": [{"required": ["b"]}],
        "anyOf": [{"required": ["c"]}, {"required": ["d"]}],
        "$defs": {"base": {"required": ["e"]}},
    }
    assert ToolSchema(combined).required == {"a", "b", "e"}


def test_names_that_become_required_by_what_is_given_are_missing_too() -> None:
    either = schema({"id": TEXT, "name": TEXT}, anyOf=[{"required": ["id"]}, {"required": ["name", "kind"]}])
    assert ToolSchema(either).check({}).missing == {"id"}
    assert ToolSchema(either).check({"name": "a", "kind": "b"}).missing == frozenset()
    linked = schema({"card": TEXT, "cvc": TEXT}, dependentRequired={"card": ["cvc"]})
    assert ToolSchema(linked).check({"card": "1"}).missing == {"cvc"}
    assert ToolSchema(linked).check({"card": "1"}).conforms is True
    switched = schema(
        {"kind": TEXT}, **{"if": {"properties": {"kind": {"const": "x"}}}, "then": {"required": ["size"]}}
    )
    assert ToolSchema(switched).check({"kind": "x"}).missing == {"size"}


def test_a_choice_between_forms_blames_the_value_that_fits_none_of_them() -> None:
    forms = {
        "oneOf": [
            schema({"kind": {"const": "circle"}, "radius": {"type": "number"}}, "kind", "radius"),
            schema({"kind": {"const": "square"}, "side": {"type": "number"}}, "kind", "side"),
        ]
    }
    assert conforms(forms, kind="circle", radius=2) is True
    assert wrong(forms, kind="circle", radius="2") == [(("radius",), "type")]
    assert ToolSchema(forms).allows("side")
    assert not ToolSchema(forms).allows("depth")


def test_rules_about_all_arguments_together_are_told_of_none_in_particular() -> None:
    assert wrong(schema({"a": TEXT, "b": TEXT}, maxProperties=1), a="1", b="2") == [((), "maxProperties")]
    assert wrong(schema({}, propertyNames={"maxLength": 2}), abc=1) == [(("abc",), "propertyNames")]


@pytest.mark.parametrize(
    ("more", "allowed"),
    [
        ({}, False),
        ({"additionalProperties": False}, False),
        ({"additionalProperties": True}, True),
        ({"additionalProperties": {}}, True),
        ({"additionalProperties": TEXT}, True),
        ({"patternProperties": {"^x": {}}}, True),
        ({"patternProperties": {"^y": {}}}, False),
        ({"patternProperties": {"^y": {}}, "additionalProperties": False}, False),
        ({"unevaluatedProperties": False}, False),
        ({"unevaluatedProperties": True}, True),
        ({"allOf": [{"properties": {"xtra": {}}}]}, True),
        ({"anyOf": [{"properties": {"xtra": {}}}, {}]}, True),
        ({"oneOf": [{"$ref": "#/$defs/more"}], "$defs": {"more": {"properties": {"xtra": {}}}}}, True),
        ({"if": {}, "then": {"properties": {"xtra": {}}}}, True),
        ({"dependentSchemas": {"a": {"properties": {"xtra": {}}}}}, True),
    ],
)
def test_a_name_is_allowed_where_the_schema_names_it_or_says_outright_that_more_are(more: Any, allowed: bool) -> None:
    described = ToolSchema(schema({"a": TEXT}, **more))
    assert described.allows("a")
    assert described.allows("xtra") is allowed


def test_the_same_schema_object_is_read_once_and_old_ones_are_let_go() -> None:
    shelf = SchemaCache(most=2)
    first, second, third = ({"n": number} for number in range(3))
    kept = shelf.get(first)
    assert shelf.get(first) is kept
    shelf.get(second)
    shelf.get(third)
    assert shelf.get(first) is not kept
    assert shelf.get({"n": 0}) is not shelf.get(first)
