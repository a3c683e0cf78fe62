"""Bounds of JSON: depth, digits, repeated keys."""

from typing import Any

import pytest

from mcp_tef.model.json import deeper_than, loads_bounded, loads_noting_duplicates


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


@pytest.mark.parametrize("number", ["9" * 401, "-" + "9" * 400, "1." + "0" * 400, "9" * 5000, "1e" + "0" * 400])
@pytest.mark.parametrize("before", [0, 1, 132, 133, 300])
def test_a_number_of_more_than_400_characters_is_no_json(number: str, before: int) -> None:
    with pytest.raises(ValueError, match="400 digits"):
        loads_bounded(f'["{"1" * before}", {number}]')


def test_numbers_up_to_400_characters_and_longer_texts_of_digits_are_read() -> None:
    assert loads_bounded(f'["{"9" * 5000}", {"9" * 400}, 1.5]') == ["9" * 5000, int("9" * 400), 1.5]


def test_json_that_nests_too_deeply_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="nests"):
        loads_bounded("[" * 100_000)
