"""Soundness of schemas by their own dialect, its fast path, and hostile patterns."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator, FormatChecker

from mcp_tef.scoring.schema_soundness import _EVERYDAY, plainly_sound, why_unsound
from mcp_tef.scoring.tool_schema import surely_fit, surely_fits
from mcp_tef.trust.patterns import PatternError, found, why_broken
from tests.support.scoring_factories import TEXT, WHOLE, schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": ["string", "null"]}}},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"a": {"minimum": 0, "exclusiveMinimum": True}},
        },
        {"$schema": "https://nobody.example/dialect", "type": "object"},
        {"properties": {"a": {"pattern": "(?<name>x)"}}},
    ],
)
def test_a_sound_schema_has_nothing_said_of_it(schema: dict[str, object]) -> None:
    assert why_unsound(schema) is None


def test_a_fault_is_told_with_its_place() -> None:
    assert why_unsound({"properties": {"a": {"type": "strin"}}}) == (
        'properties.a.type is "strin", which is not allowed there.'
    )
    assert why_unsound({"minProperties": -1}) == "minProperties: -1 is less than the minimum of 0."


def test_each_dialect_keeps_its_own_rules() -> None:
    assert why_unsound({"properties": {"a": {"exclusiveMinimum": True}}}) is not None


VALUES = st.sampled_from(
    [None, True, -1, 0, 2, 1.5, "a", "string", [], ["a", "a"], ["string", "null"], {}, {"type": 1}]
)
KEYWORDS = st.sampled_from([*_EVERYDAY, "x-vendor", "if", "prefixItems"])


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas that hold schemas, alone, in lists and by name."""
    several = st.lists(inner, max_size=2) | st.dictionaries(st.just("a"), inner)
    return st.dictionaries(KEYWORDS, VALUES | inner | several, max_size=3)


SCHEMAS = st.recursive(st.dictionaries(KEYWORDS, VALUES, max_size=3), around, max_leaves=4)


@given(SCHEMAS)
def test_what_is_plainly_sound_is_sound_by_the_metaschema_too(schema: dict[str, object]) -> None:
    schema.pop("$schema", None)
    if plainly_sound(schema):
        for dialect in (Draft202012Validator, Draft7Validator):
            dialect.check_schema(schema, format_checker=FormatChecker(formats=()))
    else:
        why_unsound(schema)


def test_an_everyday_schema_is_told_without_its_metaschema() -> None:
    schema = {
        "type": "object",
        "properties": {f"p{n}": {"type": ["string", "null"], "minLength": n} for n in range(20)},
    }
    assert plainly_sound(schema)


KINDS = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5, "a", "b", ""])
SIMPLE_VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
)
SIMPLE_SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional={"type": KINDS, "enum": st.lists(SCALARS, min_size=1), "title": st.just("t")}),
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(["array", "object"])},
        optional={
            "items": inner,
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
        },
    ),
    max_leaves=6,
)


@settings(max_examples=70, deadline=None)
@given(SIMPLE_SCHEMAS, SIMPLE_VALUES)
def test_a_value_that_surely_fits_fits_by_every_dialect(chosen: dict[str, Any], value: Any) -> None:
    if surely_fits(chosen, value):
        assert Draft202012Validator(chosen).is_valid(value)
        assert Draft4Validator(chosen).is_valid(value)


@settings(max_examples=70, deadline=None)
@given(
    st.dictionaries(NAMES, SIMPLE_SCHEMAS, max_size=3),
    st.dictionaries(NAMES, SIMPLE_VALUES, max_size=3),
)
def test_arguments_that_surely_fit_break_no_rule_about_given_values(
    properties: dict[str, Any], arguments: dict[str, Any]
) -> None:
    if surely_fit({"type": "object", "properties": properties, "required": ["z"]}, arguments):
        assert Draft202012Validator({"properties": properties}).is_valid(arguments)


def test_everyday_calls_are_told_at_once() -> None:
    everyday = schema(
        {
            "query": {**TEXT, "description": "What to look for", "default": ""},
            "limit": WHOLE,
            "tags": {"type": "array", "items": TEXT},
            "sort": {"type": "string", "enum": ["new", "old"]},
            "where": schema({"city": TEXT}, "city"),
        },
        "query",
        additionalProperties=False,
    )
    assert surely_fit(everyday, {"query": "x", "limit": 3, "tags": ["a"], "sort": "new", "where": {"city": "Rome"}})
    assert not surely_fit(everyday, {"where": {}})
    assert not surely_fit(everyday, {"limit": True})
    assert not surely_fit(everyday, {"sort": "best"})
    assert not surely_fit({**everyday, "minProperties": 1}, {})


def test_a_pattern_is_looked_for_anywhere_in_the_text() -> None:
    assert found("b+", "abbc")
    assert not found("^b", "abbc")


@pytest.mark.parametrize(
    "pattern", [r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", r"^\d{4}-\d{2}-\d{2}$", r"^.{1,4096}$"]
)
def test_everyday_patterns_are_small_enough(pattern: str) -> None:
    assert why_broken(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "is not a regular expression"),
        ("a{100000}", "is too large"),
        ("(ab{100}){1000}", "is too large"),
        ("(a{200})(?#pause){20000}", "has comments in it"),
        ("(?ix)(a{200}) {20000}", "has comments in it"),
        ("a" * 3_000, "is too large"),
    ],
)
def test_other_patterns_are_refused_with_the_reason(pattern: str, why: str) -> None:
    assert why_broken(pattern) == why
    with pytest.raises(PatternError, match=why):
        found(pattern, "a")
