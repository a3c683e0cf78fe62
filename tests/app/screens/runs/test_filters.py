"""Filters are shown as chips, removed one by one, and saved per workspace."""

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core_link.settings import Settings
from app.core_link.targets import ShowBatch, ShowRuns
from app.screens.kit import NO_FILTERS, FilterValues, ViewState, ViewStates
from app.screens.kit.menus import filter_actions
from app.screens.runs.filters import FIELDS, OUTCOME, run_filter
from app.screens.runs.run_table import filter_predicate
from mcp_tef import BatchRequest, Classification, RunFilter, RunOrder, RunStatus, VerdictKind
from mcp_tef.model.runs import INTERRUPTED
from tests.app.screens.runs.conftest import Desk, on_page
from tests.support.run_factories import failed_run, run

MISSED = NO_FILTERS.with_values(OUTCOME.name, "FN")


def words(desk: Desk) -> list[str]:
    """What the chips over the table say."""
    row = desk.page.run_list.chips
    return [chip.accessibleName().removeprefix("Filter ") for chip in row.chips()] if row.isVisible() else []


def rows(desk: Desk) -> int:
    return desk.page.run_list.table.pages.rowCount()


@on_page()
async def test_what_is_ticked_and_searched_for_stands_as_chips_and_the_header_counts(desk: Desk) -> None:
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


@on_page()
async def test_a_chip_is_taken_away_by_key_and_the_rest_stays(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    desk.page.filter_controls.show_runs(ViewState(text="bike", filters=MISSED))
    await desk.until(lambda: len(words(desk)) == 2)
    QTest.keyClick(desk.page.run_list.chips.chips()[0], Qt.Key.Key_Delete)
    await desk.until(lambda: words(desk) == ["Missed the expected tool"])
    search = desk.page.header.search
    assert search is not None
    await desk.until(lambda: search.text() == "")


@on_page()
async def test_runs_that_another_screen_asked_for_stand_as_a_chip_and_letting_go_leads_back(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    desk.page.filter_controls.show_runs(ViewState(text="chain"))
    await desk.until(lambda: words(desk) == ["“chain”"])
    desk.page.open_target(ShowRuns(RunFilter(classifications=(Classification.FN,)), "Missed"))
    await desk.until(lambda: words(desk) == ["Missed"] and desk.rests())
    QTest.keyClick(desk.page.run_list.chips.chips()[0], Qt.Key.Key_Backspace)
    await desk.until(lambda: words(desk) == ["“chain”"] and desk.page.presenter.current)


@on_page()
async def test_a_run_that_a_filter_hides_is_shown_when_it_is_asked_for(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    batch = desk.page.presenter.current
    right, *_ = await desk.session.call(lambda core: core.runs.list(RunFilter(classifications=(Classification.TP,))))
    desk.page.filter_controls.show_runs(ViewState(filters=MISSED))
    await desk.until(lambda: rows(desk) == 1)
    assert batch is not None
    desk.page.open_target(ShowBatch(batch, right.id))
    await desk.until(lambda: words(desk) == [] and desk.page.run_list.table.current_id() == right.id)


def test_search_and_filters_are_saved_and_shown_at_the_next_start(use: Any) -> None:
    kept = Settings(None)

    async def before(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        filters = NO_FILTERS.with_values(OUTCOME.name, "FN", "TP")
        desk.page.filter_controls.show_runs(ViewState(text="bike", filters=filters))
        await desk.until(lambda: len(words(desk)) == 3)

    async def after(desk: Desk) -> None:
        await desk.session.call(lambda core: core.open_sample())
        batch = await desk.session.call(lambda core: core.runs.start(BatchRequest()))
        await desk.session.call(lambda core: core.runs.wait(batch.id))
        await desk.open(sample=False)
        assert words(desk) == ["“bike”", "Missed the expected tool", "Correct tool"]
        assert desk.page.header.searched_for == "bike"
        assert desk.page.run_list.table.isVisible()

    use(before, settings=kept)
    use(after, settings=kept)


def chosen(*texts: str) -> FilterValues:
    """Return the filters after choosing these lines of the menu, one after the other."""
    values = [NO_FILTERS]
    for text in texts:
        actions = filter_actions(FIELDS, values[-1], values.append)
        next(action for action in actions if action.text == text).do()
    return values[-1]


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
        (("Failed", "Correct tool"), ["judged"]),
        (("Correct tool", "Extra call", "Cancelled"), ["cancelled"]),
    ],
)
def test_filters_of_outcomes_and_states_replace_each_other(texts: tuple[str, ...], shown: list[str]) -> None:
    runs = {
        "judged": run(),
        "failed": failed_run(),
        "interrupted": failed_run(failure=INTERRUPTED),
        "cancelled": run(status=RunStatus.CANCELLED, classification=None),
    }
    view = ViewState(filters=chosen(*texts))
    assert [name for name, one in runs.items() if filter_predicate(run_filter(RunFilter(), view))(one)] == shown


JUDGED = RunFilter(statuses=(RunStatus.COMPLETED,), classifications=(Classification.FN,), order=RunOrder.QUERY)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), JUDGED),
        (("Correct tool",), replace(JUDGED, classifications=(Classification.TP,))),
        (("Extra call",), replace(JUDGED, kinds=(VerdictKind.EXTRA_CALL,))),
        (("Failed",), RunFilter(statuses=(RunStatus.FAILED,), interrupted=False, order=RunOrder.QUERY)),
        (("Failed", "Failed"), JUDGED),
    ],
)
def test_a_filter_replaces_that_of_a_link_until_it_is_cleared(texts: tuple[str, ...], expected: RunFilter) -> None:
    assert run_filter(JUDGED, ViewState(filters=chosen(*texts))) == expected


def test_filters_of_earlier_versions_are_still_known() -> None:
    settings = Settings(None)
    old = {"batches": "night", "text": "a", "outcomes": ["FN"], "kinds": [], "states": ["failed", "unheard of"]}
    settings.set("runs.narrowed", [["one.db", old], ["spoilt.db", 7], 1])
    settings.set("runs.batches", "best")
    views = ViewStates(settings, "one.db", "runs")
    view = views.load(FIELDS)
    assert (view.text, view.filters.of("outcomes"), view.filters.of("states")) == ("a", ("FN",), ("failed",))
    assert (views.load(part="batches").text, views.load(part="batches").sort.name) == ("night", "best")
    assert ViewStates(settings, "spoilt.db", "runs").load(FIELDS) == ViewState()
