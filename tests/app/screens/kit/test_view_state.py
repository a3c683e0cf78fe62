"""View states: saved per workspace, read from settings of earlier versions, never spoilt by a bad file."""

from pathlib import Path
from typing import Any

import pytest

from app.core_link.settings import Recent, Settings
from app.screens.kit import FilterField, FilterFields, FilterValues, SortState, ViewState, ViewStates

FIELDS: FilterFields[str] = FilterFields((FilterField(name="suite"), FilterField(name="called", saved=False)))
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
    states.save(ViewState(filters=FilterValues({"suite": ("Smoke",), "called": ("x",)})), FIELDS)
    assert states.load(FIELDS).filters == states.load().filters == FilterValues({"suite": ("Smoke",)})


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
