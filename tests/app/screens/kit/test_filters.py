"""Declared filters and sort orders: items that pass, chips, menus."""

from typing import NamedTuple

import pytest

from app.screens.kit import (
    NO_FILTERS,
    FilterField,
    FilterFields,
    FilterValues,
    SortOrder,
    in_order,
    matches_all_words,
)
from app.screens.kit.menus import filter_actions, sort_actions


class Fruit(NamedTuple):
    """Item of the lists under test."""

    name: str
    color: str
    tags: tuple[str, ...] = ()


APPLE, PEAR, PLUM = Fruit("apple", "red", ("sweet", "hard")), Fruit("Pear", "green", ("sweet",)), Fruit("plum", "blue")
FRUITS = (PLUM, APPLE, PEAR)
COLOR: FilterField[Fruit] = FilterField(
    name="color",
    texts={"red": "Red", "green": "Green", "blue": "Blue"},
    fits=lambda fruit, value: fruit.color == value,
    many=True,
)
TAG: FilterField[Fruit] = FilterField(name="tag", label="Tag", fits=lambda fruit, value: value in fruit.tags)
LINKED: FilterField[Fruit] = FilterField(name="linked", label="From", saved=False)
FIELDS = FilterFields((COLOR, TAG, LINKED))
ORDERS: tuple[SortOrder[Fruit], ...] = (
    SortOrder(name="given", text="As given"),
    SortOrder(name="name", text="Sort by name", key=lambda fruit: fruit.name.casefold()),
    SortOrder(name="tags", text="Sort by tags", key=lambda fruit: len(fruit.tags), descending=True),
    SortOrder(name="last", text="Last first", descending=True),
)


@pytest.mark.parametrize(
    ("query", "matches"),
    [("", True), ("  ", True), ("pump bike", True), ("BIKE", True), ("straße", True), ("bike tandem", False)],
)
def test_a_text_matches_if_it_has_every_word(query: str, matches: bool) -> None:
    assert matches_all_words("Bike pump in the STRASSE", query) is matches


@pytest.mark.parametrize(
    ("values", "passing"),
    [
        ({}, [PLUM, APPLE, PEAR]),
        ({"color": ("red", "blue")}, [PLUM, APPLE]),
        ({"tag": ("sweet",)}, [APPLE, PEAR]),
        ({"tag": ("sweet",), "color": ("red", "blue")}, [APPLE]),
        ({"linked": ("elsewhere",), "gone": ("x",)}, [PLUM, APPLE, PEAR]),
    ],
)
def test_an_item_passes_every_field_with_any_of_its_values(
    values: dict[str, tuple[str, ...]], passing: list[Fruit]
) -> None:
    assert [fruit for fruit in FRUITS if FIELDS.fits(fruit, FilterValues(values))] == passing


def test_a_field_toggles_its_values_and_keeps_one_unless_it_may_have_many() -> None:
    both = COLOR.toggled(COLOR.toggled(NO_FILTERS, "red"), "blue")
    assert both.of("color") == ("red", "blue")
    assert len(both) == 2
    assert COLOR.toggled(both, "red").of("color") == ("blue",)
    other = TAG.toggled(TAG.toggled(NO_FILTERS, "sweet"), "hard")
    assert other.first("tag") == "hard"
    assert TAG.toggled(other, "hard") == NO_FILTERS


def test_each_value_in_force_is_a_chip_that_removes_it() -> None:
    values = FilterValues({"tag": ("sweet",), "color": ("red", "blue")})
    chips = FIELDS.chips(values)
    assert [chip.text for chip in chips] == ["Red", "Blue", "Tag: sweet"]
    left = FIELDS.without_chip(values, chips[1].key)
    assert left == FilterValues({"tag": ("sweet",), "color": ("red",)})


def test_values_that_cannot_be_set_any_more_are_dropped() -> None:
    saved = FilterValues({"color": ("red", "pink"), "tag": ("sweet", "hard"), "linked": ("x",), "gone": ("y",)})
    assert FIELDS.known(saved) == FilterValues({"color": ("red",), "tag": ("sweet",)})


@pytest.mark.parametrize(
    ("name", "ordered"),
    [
        ("given", [PLUM, APPLE, PEAR]),
        ("unknown", [PLUM, APPLE, PEAR]),
        ("name", [APPLE, PEAR, PLUM]),
        ("tags", [APPLE, PEAR, PLUM]),
        ("last", [PEAR, APPLE, PLUM]),
    ],
)
def test_items_are_sorted_by_the_named_order_or_the_first(name: str, ordered: list[Fruit]) -> None:
    assert in_order(FRUITS, ORDERS, name) == ordered


def test_the_menu_checks_values_in_force_and_sets_or_clears_them() -> None:
    shown: list[FilterValues] = []
    values = FilterValues({"color": ("red",), "tag": ("gone",)})
    actions = filter_actions(FIELDS, values, shown.append, {"tag": ["sweet"]}, "Show all fruits")
    assert [(action.text, bool(action.checked), action.apart) for action in actions] == [
        ("Show all fruits", False, False),
        ("Red", True, True),
        ("Green", False, False),
        ("Blue", False, False),
        ("Tag: gone", True, True),
        ("Tag: sweet", False, False),
    ]
    for action in (actions[0], actions[1], actions[-1]):
        action.do()
    assert shown == [
        NO_FILTERS,
        FilterValues({"tag": ("gone",)}),
        FilterValues({"color": ("red",), "tag": ("sweet",)}),
    ]
    assert not filter_actions(FIELDS, NO_FILTERS, shown.append)[0].enabled


def test_the_sort_menu_checks_the_order_in_force() -> None:
    shown: list[str] = []
    actions = sort_actions(ORDERS, "name", shown.append)
    assert [action.text for action in actions if action.checked] == ["Sort by name"]
    actions[2].do()
    assert shown == ["tags"]
    assert sort_actions(ORDERS, "unknown", shown.append)[0].checked
