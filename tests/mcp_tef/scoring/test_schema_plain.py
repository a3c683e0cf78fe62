"""The quick yes is never a wrong yes."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft202012Validator

from mcp_tef.scoring.tool_schema import surely_fit, surely_fits
from tests.support.judging_factories import TEXT, WHOLE, schema

KINDS = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5, "a", "b", ""])
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))
SCHEMAS = st.recursive(
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


@settings(max_examples=500, deadline=None)
@given(SCHEMAS, VALUES)
def test_a_value_that_surely_fits_fits_by_every_dialect(chosen: dict[str, Any], value: Any) -> None:
    if surely_fits(chosen, value):
        assert Draft202012Validator(chosen).is_valid(value)
        assert Draft4Validator(chosen).is_valid(value)


@settings(max_examples=500, deadline=None)
@given(st.dictionaries(NAMES, SCHEMAS, max_size=3), st.dictionaries(NAMES, VALUES, max_size=3))
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
