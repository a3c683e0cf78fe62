"""Filters are shown as chips, removed one by one, and saved per workspace."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core_link.settings import Settings
from app.core_link.targets import ShowBatch, ShowRuns
from app.screens.runs.filters import (
    FILTERS_KEY,
    SavedFilters,
    filter_chips,
    filter_choices,
    load_filters,
    save_filters,
    without_chip,
)
from app.screens.runs.run_table import filter_predicate
from mcp_tef import BatchRequest, Classification, RunFilter, RunOrder, RunStatus, VerdictKind
from mcp_tef.model.runs import INTERRUPTED
from tests.app.screens.runs.conftest import Desk
from tests.support.made_runs import failed_run, run

MISSED = RunFilter(classifications=(Classification.FN,))


def words(desk: Desk) -> list[str]:
    """What the chips over the table say."""
    row = desk.page.run_list.chips
    return [chip.accessibleName().removeprefix("Filter ") for chip in row.chips()] if row.isVisible() else []


def rows(desk: Desk) -> int:
    return desk.page.run_list.table.pages.rowCount()


def test_what_is_ticked_and_searched_for_stands_as_chips_and_the_header_counts(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        assert words(desk) == []
        actions = {action.text: action for action in desk.page.header._filter_actions()}
        actions["Missed the expected tool"].do()
        await desk.until(lambda: words(desk) == ["Missed the expected tool"] and rows(desk) == 1)
        assert desk.page.header._count.text() == "1 of 4 runs"
        search = desk.page.header.search
        assert search is not None
        search.setFocus()
        QTest.keyClicks(search, "zzz")
        await desk.until(lambda: words(desk) == ["“zzz”", "Missed the expected tool"])
        assert search.text() == "zzz"
        desk.page.run_list.chips.cleared.emit()
        await desk.until(lambda: words(desk) == [] and rows(desk) == 4)
        assert (search.text(), desk.page.header._count.text()) == ("", "")

    use(story)


def test_a_chip_is_taken_away_by_key_and_the_rest_stays(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        desk.page._change_where(RunFilter(text="bike", classifications=(Classification.FN,)))
        await desk.until(lambda: len(words(desk)) == 2)
        QTest.keyClick(desk.page.run_list.chips.chips()[0], Qt.Key.Key_Delete)
        await desk.until(lambda: words(desk) == ["Missed the expected tool"])
        search = desk.page.header.search
        assert search is not None
        await desk.until(lambda: search.text() == "")

    use(story)


def test_runs_that_another_screen_asked_for_stand_as_a_chip_and_letting_go_leads_back(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        desk.page._change_where(RunFilter(text="chain"))
        await desk.until(lambda: words(desk) == ["“chain”"])
        desk.page.open_target(ShowRuns(MISSED, "Missed"))
        await desk.until(lambda: words(desk) == ["Missed"] and desk.rests())
        QTest.keyClick(desk.page.run_list.chips.chips()[0], Qt.Key.Key_Backspace)
        await desk.until(lambda: words(desk) == ["“chain”"] and desk.page.presenter.current)

    use(story)


def test_a_run_that_a_filter_hides_is_shown_when_it_is_asked_for(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        batch = desk.page.presenter.current
        right, *_ = await desk.session.call(
            lambda core: core.runs.list(RunFilter(classifications=(Classification.TP,)))
        )
        desk.page._change_where(MISSED)
        await desk.until(lambda: rows(desk) == 1)
        assert batch is not None
        desk.page.open_target(ShowBatch(batch, right.id))
        await desk.until(lambda: words(desk) == [] and desk.page.run_list.table.current_id() == right.id)

    use(story)


def test_the_next_start_shows_what_was_narrowed_and_says_so(use: Any) -> None:
    kept = Settings(None)

    async def before(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        desk.page._change_where(RunFilter(text="bike", classifications=(Classification.FN, Classification.TP)))
        await desk.until(lambda: len(words(desk)) == 3)
        kept.set(FILTERS_KEY, desk.session.settings.get(FILTERS_KEY, []))

    async def after(desk: Desk) -> None:
        desk.session.settings.set(FILTERS_KEY, kept.get(FILTERS_KEY, []))
        await desk.session.call(lambda core: core.open_sample())
        batch = await desk.session.call(lambda core: core.runs.start(BatchRequest()))
        await desk.session.call(lambda core: core.runs.wait(batch.id))
        await desk.open(sample=False)
        assert words(desk) == ["“bike”", "Missed the expected tool", "Right tool"]
        search = desk.page.header.search
        assert search is not None
        assert search.text() == "bike"
        assert desk.page.run_list.table.isVisible()

    use(before)
    use(after)


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("text", RunFilter(kinds=(VerdictKind.NO_TOOL, VerdictKind.WRONG_TOOL), order=RunOrder.QUERY)),
        ("wrong_tool", RunFilter(text="a", kinds=(VerdictKind.NO_TOOL,), order=RunOrder.QUERY)),
    ],
)
def test_letting_go_of_a_chip_leaves_order_and_the_other_chips(key: str, left: RunFilter) -> None:
    where = RunFilter(text="a", kinds=(VerdictKind.NO_TOOL, VerdictKind.WRONG_TOOL), order=RunOrder.QUERY)
    assert without_chip(where, RunFilter(order=RunOrder.QUERY), key) == left


def test_what_was_asked_for_anyway_is_no_chip() -> None:
    asked = RunFilter(statuses=(RunStatus.COMPLETED,), classifications=(Classification.FN,))
    assert filter_chips(asked, asked) == ()


def ticked(where: RunFilter, *texts: str) -> RunFilter:
    """A filter once these lines of the menu were chosen, one after the other."""
    for text in texts:
        where = next(one.result for one in filter_choices(where, RunFilter()) if one.text == text)
    return where


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ((), ["judged", "failed", "interrupted", "cancelled"]),
        (("Failed",), ["failed"]),
        (("Interrupted",), ["interrupted"]),
        (("Failed", "Interrupted"), ["failed", "interrupted"]),
        (("Interrupted", "Failed", "Failed"), ["interrupted"]),
        (("Interrupted", "Cancelled"), ["interrupted", "cancelled"]),
        (("Failed", "Cancelled"), ["failed", "cancelled"]),
        (("Interrupted", "Interrupted"), ["judged", "failed", "interrupted", "cancelled"]),
    ],
)
def test_interrupted_runs_are_ticked_apart_from_failed_ones(texts: tuple[str, ...], shown: list[str]) -> None:
    runs = {
        "judged": run(),
        "failed": failed_run(),
        "interrupted": failed_run(failure=INTERRUPTED),
        "cancelled": run(status=RunStatus.CANCELLED),
    }
    where = ticked(RunFilter(), *texts)
    assert [name for name, one in runs.items() if filter_predicate(where)(one)] == shown
    told = [chip.text.lower() for chip in filter_chips(where, RunFilter())]
    assert told == ([] if where == RunFilter() else shown)
    settings = Settings(None)
    save_filters(settings, "one.db", SavedFilters(runs=where))
    assert load_filters(settings, "one.db").runs == where


def test_a_filter_that_was_kept_before_they_were_told_apart_shows_what_failed() -> None:
    settings = Settings(None)
    settings.set(FILTERS_KEY, [["one.db", {"states": ["failed"]}]])
    assert [chip.text for chip in filter_chips(load_filters(settings, "one.db").runs, RunFilter())] == ["Failed"]


JUDGED = RunFilter(statuses=(RunStatus.COMPLETED,))


@pytest.mark.parametrize("text", ["Missed the expected tool", "Failed"])
def test_a_tick_taken_back_leaves_what_another_screen_asked_for(text: str) -> None:
    def turned(where: RunFilter) -> RunFilter:
        return next(one.result for one in filter_choices(where, JUDGED) if one.text == text)

    ticked = turned(JUDGED)
    assert len(filter_chips(ticked, JUDGED)) == 1
    assert turned(ticked) == JUDGED
    assert without_chip(ticked, JUDGED, filter_chips(ticked, JUDGED)[0].key) == JUDGED


def test_each_workspace_keeps_its_own_and_order_is_no_part_of_it(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "s.json")
    one = SavedFilters(batches="night", runs=RunFilter(text="a", statuses=(RunStatus.FAILED,)))
    save_filters(settings, "one.db", one)
    save_filters(
        settings, "two.db", SavedFilters(runs=RunFilter(kinds=(VerdictKind.EXTRA_CALL,), order=RunOrder.QUERY))
    )
    settings.save()
    again = Settings(tmp_path / "s.json")
    assert load_filters(again, "one.db") == one
    assert load_filters(again, "two.db") == SavedFilters(runs=RunFilter(kinds=(VerdictKind.EXTRA_CALL,)))
    assert load_filters(again, "three.db") == SavedFilters()


def test_what_is_not_narrowed_takes_no_place_and_only_ten_workspaces_do() -> None:
    settings = Settings(None)
    for number in range(12):
        save_filters(settings, f"{number}.db", SavedFilters(batches="x"))
    assert [place for place, _ in settings.get(FILTERS_KEY, [])] == [f"{number}.db" for number in range(2, 12)]
    save_filters(settings, "11.db", SavedFilters())
    assert "11.db" not in [place for place, _ in settings.get(FILTERS_KEY, [])]


@pytest.mark.parametrize("spoilt", [[1, "two"], [["one.db", 7]], [["one.db", {"outcomes": "FN", "text": 4}]]])
def test_spoilt_settings_narrow_nothing(spoilt: Sequence[Any]) -> None:
    settings = Settings(None)
    settings.set(FILTERS_KEY, list(spoilt))
    assert load_filters(settings, "one.db") == SavedFilters()
