"""Depth of nested JSON values."""

from typing import Any

import pytest

from mcp_tef.model.json import deeper_than, loads_noting_duplicates


def nested(levels: int) -> Any:
    """Objects and lists by turns, so many levels in all."""
    value: Any = "x"
    for level in range(levels - 1):
        value = [1, value] if level % 2 else {"a": None, "b": value}
    return value


@pytest.mark.parametrize("levels", [1, 2, 3, 60, 5_000])
def test_depth_is_counted_through_lists_and_objects(levels: int) -> None:
    assert not deeper_than(nested(levels), levels)
    assert deeper_than(nested(levels), levels - 1)


@pytest.mark.parametrize("empty", [{}, [], "text", None, 0])
def test_what_holds_nothing_is_one_level(empty: Any) -> None:
    assert not deeper_than(empty, 1)
    assert deeper_than([empty], 1)


@pytest.mark.parametrize(
    ("text", "value", "repeated"),
    [
        ('{"a": 1, "b": 2}', {"a": 1, "b": 2}, ()),
        ('{"a": 1, "a": 2, "a": 3}', {"a": 3}, ("a",)),
        ('{"b": 0, "a": {"x": 1, "x": 2}, "b": 5}', {"b": 5, "a": {"x": 2}}, ("x", "b")),
        ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}], ()),
        ("7", 7, ()),
    ],
)
def test_keys_that_an_object_repeats_are_named_and_the_last_value_counts(
    text: str, value: object, repeated: tuple[str, ...]
) -> None:
    assert loads_noting_duplicates(text) == (value, repeated)
