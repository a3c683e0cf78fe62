"""Filters, sort orders and view states that screens declare; view states of earlier versions are read."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.core_link.settings import Recent, Settings
from app.screens.kit import (
    NO_FILTERS,
    FilterField,
    FilterFields,
    FilterValues,
    SortOrder,
    SortState,
    ViewState,
    ViewStates,
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


SAVED_FIELDS: FilterFields[str] = FilterFields((FilterField(name="suite"), FilterField(name="called", saved=False)))
FULL = ViewState(
    text="bike",
    filters=FilterValues({"suite": ("Smoke",)}),
    sort=SortState("name", descending=True),
    selected="case 3",
    modes={"view": "pairs"},
)


def test_a_view_comes_back_in_its_workspace_only(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "settings.json")
    ViewStates(settings, "a.db", "cases").save(FULL)
    ViewStates(settings, "a.db", "cases").save(ViewState(text="pump"), part="tools")
    settings.save()
    again = Settings(tmp_path / "settings.json")
    assert ViewStates(again, "a.db", "cases").load() == FULL
    assert ViewStates(again, "a.db", "cases").load(part="tools").text == "pump"
    assert ViewStates(again, "b.db", "cases").load() == ViewState()
    assert ViewStates(again, "a.db", "runs").load() == ViewState()


def test_filters_that_only_a_link_sets_are_not_saved() -> None:
    settings = Settings(None)
    states = ViewStates(settings, "a.db", "cases")
    states.save(ViewState(filters=FilterValues({"suite": ("Smoke",), "called": ("x",)})), SAVED_FIELDS)
    assert states.load(SAVED_FIELDS).filters == states.load().filters == FilterValues({"suite": ("Smoke",)})


def test_only_the_workspaces_used_last_are_kept() -> None:
    settings = Settings(None)
    for number in range(30):
        ViewStates(settings, f"{number}.db", "cases").save(FULL)
    assert ViewStates(settings, "29.db", "cases").load() == FULL
    assert ViewStates(settings, "0.db", "cases").load() == ViewState()


def test_a_view_moves_with_a_workspace_that_is_renamed() -> None:
    settings = Settings(None)
    old, new = Path("old.db"), Path("new.db")
    ViewStates(settings, str(old), "cases").save(FULL)
    Recent(settings).replace(old, new)
    assert ViewStates(settings, str(new), "cases").load() == FULL
    assert ViewStates(settings, str(old), "cases").load() == ViewState()


@pytest.mark.parametrize(
    "spoilt",
    [
        3,
        [["a.db"], 4],
        [["a.db", {"list": 3}]],
        [["a.db", {"list": {"text": 3, "filters": [1], "sort": {}, "descending": "x", "selected": None, "modes": 3}}]],
        [["a.db", {"list": {"filters": {"suite": 4, "tag": [1, ""]}, "modes": {"view": 1}}}]],
    ],
)
def test_spoilt_values_give_the_default_view(spoilt: Any) -> None:
    settings = Settings(None)
    settings.set("cases.view_state", spoilt)
    assert ViewStates(settings, "a.db", "cases").load() == ViewState()


@pytest.mark.parametrize(
    ("screen", "part", "old", "view"),
    [
        (
            "cases",
            "list",
            {"cases.search": "bike", "cases.filters": {"suite": "Smoke", "tag": "", "server": "", "last": "FN"}},
            ViewState(text="bike", filters=FilterValues({"suite": ("Smoke",), "last": ("FN",)})),
        ),
        (
            "servers",
            "list",
            {
                "servers.search": "desk",
                "servers.shown": {"state": "failed", "kind": "", "order": "tools", "changed": True},
                "servers.chosen": "server-1",
            },
            ViewState(
                text="desk",
                filters=FilterValues({"state": ("failed",), "changed": ("yes",)}),
                sort=SortState("tools"),
                selected="server-1",
            ),
        ),
        (
            "servers",
            "calls",
            {"servers.calls_shown": {"outcome": "failed", "every_tool": True, "order": "oldest"}},
            ViewState(
                filters=FilterValues({"outcome": ("failed",), "every_tool": ("yes",)}),
                sort=SortState("oldest"),
            ),
        ),
        (
            "metrics",
            "list",
            {"metrics.filters": {"suite": ["A", "B"]}, "metrics.view": "confusion"},
            ViewState(filters=FilterValues({"suite": ("A", "B")}), modes={"view": "confusion"}),
        ),
        (
            "quality",
            "list",
            {"quality.filters": ["desk", "error"], "quality.chosen": "desk/read", "quality.search": ""},
            ViewState(filters=FilterValues({"server": ("desk",), "level": ("error",)}), selected="desk/read"),
        ),
        (
            "similarity",
            "list",
            {"similarity.view": "pairs", "similarity.pair": False, "similarity.servers": ["desk"]},
            ViewState(filters=FilterValues({"servers": ("desk",)}), modes={"view": "pairs", "pair": "no"}),
        ),
    ],
)
def test_settings_of_earlier_versions_open_in_the_first_workspace(
    screen: str, part: str, old: dict[str, Any], view: ViewState
) -> None:
    settings = Settings(None)
    for key, value in old.items():
        settings.set(key, value)
    assert ViewStates(settings, "a.db", screen).load(part=part) == view
    assert ViewStates(settings, "b.db", screen).load(part=part) == ViewState()
    assert ViewStates(settings, "a.db", screen).load(part=part) == view


def test_run_filters_of_earlier_versions_stay_with_their_workspaces() -> None:
    values = {"batches": "night", "text": "bike", "outcomes": ["FN", "FP"], "kinds": [], "states": ["failed"]}
    settings = Settings(None)
    settings.set("runs.narrowed", [["b.db", values]])
    settings.set("runs.batches", "worst")
    here, there = ViewStates(settings, "a.db", "runs"), ViewStates(settings, "b.db", "runs")
    assert here.load() == ViewState()
    assert here.load(part="batches") == ViewState(sort=SortState("worst"))
    assert there.load() == ViewState(
        text="bike", filters=FilterValues({"outcomes": ("FN", "FP"), "states": ("failed",)})
    )
    assert there.load(part="batches").text == "night"


@pytest.mark.parametrize("key", ["cases.filters", "quality.filters", "runs.narrowed", "metrics.filters"])
@pytest.mark.parametrize("spoilt", [3, "x", [], [[1]], {"suite": 3}])
def test_spoilt_settings_of_earlier_versions_are_dropped(key: str, spoilt: Any) -> None:
    settings = Settings(None)
    settings.set(key, spoilt)
    screen = key.partition(".")[0]
    assert ViewStates(settings, "a.db", screen).load() == ViewState()
