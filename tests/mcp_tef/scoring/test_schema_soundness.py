"""Whether a schema is sound, by the rules of its own dialect."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker

from mcp_tef.scoring.schema_soundness import _EVERYDAY, plainly_sound, why_unsound


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
