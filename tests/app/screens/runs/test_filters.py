"""Filters are shown as chips, removed one by one, and saved per workspace."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.settings import Settings
from app.core_link.targets import ShowBatch, ShowRuns
from app.screens.kit import NO_FILTERS, FilterValues, ViewState, ViewStates
from app.screens.kit.menus import filter_actions
from app.screens.runs.filters import FIELDS, OUTCOME, run_filter
from app.screens.runs.labels import model_row, model_rows, search_models
from app.screens.runs.run_table import filter_predicate
from mcp_tef import (
    CUT_OFF_CODE,
    NOT_OFFERED_CODE,
    BatchRequest,
    FailureInfo,
    ModelInfo,
    RunFilter,
    RunMark,
    RunOrder,
    RunStatus,
    VerdictKind,
)
from mcp_tef.model.runs import INTERRUPTED
from tests.app.screens.runs.conftest import Desk, runs_page
from tests.support.fake_engine import FakeEngine
from tests.support.run_factories import failed_run, run

MISSED = NO_FILTERS.with_values(OUTCOME.name, "wrong_arguments")


def words(desk: Desk) -> list[str]:
    """What the chips over the table say."""
    row = desk.page.run_list.chips
    return [chip.accessibleName().removeprefix("Filter ") for chip in row.chips()] if row.isVisible() else []


def rows(desk: Desk) -> int:
    return desk.page.run_list.table.pages.rowCount()


async def test_what_is_ticked_and_searched_for_stands_as_chips_and_the_header_counts(ran: Desk) -> None:
    assert words(ran) == []
    actions = {action.text: action for action in ran.page.header._filter_actions()}
    actions["Correct tool, wrong arguments"].do()
    await ran.until(lambda: words(ran) == ["Correct tool, wrong arguments"] and rows(ran) == 1)
    assert ran.page.header._count.text() == "1 of 4 runs"
    search = ran.page.header.search
    assert search is not None
    search.setFocus()
    QTest.keyClicks(search, "zzz")
    await ran.until(lambda: words(ran) == ["“zzz”", "Correct tool, wrong arguments"])
    assert search.text() == "zzz"
    ran.page.run_list.chips.cleared.emit()
    await ran.until(lambda: words(ran) == [] and rows(ran) == 4)
    assert (search.text(), ran.page.header._count.text()) == ("", "")


async def test_a_chip_is_taken_away_by_key_and_the_rest_stays(ran: Desk) -> None:
    ran.page.filter_controls.show_runs(ViewState(text="bike", filters=MISSED))
    await ran.until(lambda: len(words(ran)) == 2)
    QTest.keyClick(ran.page.run_list.chips.chips()[0], Qt.Key.Key_Delete)
    await ran.until(lambda: words(ran) == ["Correct tool, wrong arguments"])
    search = ran.page.header.search
    assert search is not None
    await ran.until(lambda: search.text() == "")


async def test_runs_that_another_screen_asked_for_stand_as_a_chip_and_letting_go_leads_back(ran: Desk) -> None:
    ran.page.filter_controls.show_runs(ViewState(text="chain"))
    await ran.until(lambda: words(ran) == ["“chain”"])
    ran.page.open_target(ShowRuns(RunFilter(marks=(RunMark.WRONG,)), "Missed"))
    await ran.until(lambda: words(ran) == ["Missed"] and ran.rests())
    QTest.keyClick(ran.page.run_list.chips.chips()[0], Qt.Key.Key_Backspace)
    await ran.until(lambda: words(ran) == ["“chain”"] and ran.page.presenter.current)


async def test_a_run_that_a_filter_hides_is_shown_when_it_is_asked_for(ran: Desk) -> None:
    batch = ran.page.presenter.current
    right, *_ = await ran.session.call(lambda core: core.runs.list(RunFilter(marks=(RunMark.CORRECT_CALL,))))
    ran.page.filter_controls.show_runs(ViewState(filters=MISSED))
    await ran.until(lambda: rows(ran) == 1)
    assert batch is not None
    ran.page.open_target(ShowBatch(batch, right.id))
    await ran.until(lambda: words(ran) == [] and ran.page.run_list.table.current_id() == right.id)


async def test_search_and_filters_are_saved_and_shown_at_the_next_start(qapp: QApplication) -> None:
    kept = Settings(None)
    async with runs_page(FakeEngine(), kept) as desk:
        await desk.open()
        await desk.run_offline()
        filters = NO_FILTERS.with_values(OUTCOME.name, "wrong", "correct_call")
        desk.page.filter_controls.show_runs(ViewState(text="bike", filters=filters))
        await desk.until(lambda: len(words(desk)) == 3)
    async with runs_page(FakeEngine(), kept) as desk:
        await desk.session.call(lambda core: core.open_sample())
        batch = await desk.session.call(lambda core: core.runs.start(BatchRequest()))
        await desk.session.call(lambda core: core.runs.wait(batch.id))
        await desk.open(sample=False)
        assert words(desk) == ["“bike”", "Wrong", "Correct call"]
        assert desk.page.header.searched_for == "bike"
        assert desk.page.run_list.table.isVisible()


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
        ((), ["judged", "failed", "interrupted", "cancelled", "not offered", "cut off", "unreadable"]),
        (("Failed",), ["failed", "not offered", "cut off"]),
        (("Interrupted",), ["interrupted"]),
        (("Failed", "Interrupted"), ["failed", "interrupted", "not offered", "cut off"]),
        (("Interrupted", "Failed", "Failed"), ["interrupted"]),
        (("Interrupted", "Cancelled"), ["interrupted", "cancelled"]),
        (("Failed", "Cancelled"), ["failed", "cancelled", "not offered", "cut off"]),
        (("Failed", "Correct call"), ["judged"]),
        (("Correct call", "Extra call", "Cancelled"), ["cancelled"]),
        (("Failed", "Expected tool not offered"), ["not offered"]),
        (("Answer cut off", "Expected tool not offered"), ["not offered", "cut off"]),
        (("Expected tool not offered", "Unreadable answer"), ["unreadable"]),
        (("Unreadable answer", "Wrong"), ["unreadable"]),
        (("Unreadable answer", "Correct call"), []),
    ],
)
def test_filters_of_outcomes_and_states_replace_each_other(texts: tuple[str, ...], shown: list[str]) -> None:
    runs = {
        "judged": run(),
        "failed": failed_run(),
        "interrupted": failed_run(failure=INTERRUPTED),
        "cancelled": run(status=RunStatus.CANCELLED, classification=None),
        "not offered": failed_run(failure=FailureInfo(NOT_OFFERED_CODE, "It was not offered.")),
        "cut off": failed_run(failure=FailureInfo(CUT_OFF_CODE, "It was cut off.")),
        "unreadable": run(unreadable=True),
    }
    view = ViewState(filters=chosen(*texts))
    assert [name for name, one in runs.items() if filter_predicate(run_filter(RunFilter(), view))(one)] == shown


JUDGED = RunFilter(statuses=(RunStatus.COMPLETED,), marks=(RunMark.WRONG,), order=RunOrder.QUERY)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), JUDGED),
        (("Correct call",), replace(JUDGED, marks=(RunMark.CORRECT_CALL,))),
        (("Extra call",), replace(JUDGED, kinds=(VerdictKind.EXTRA_CALL,))),
        (("Failed",), RunFilter(statuses=(RunStatus.FAILED,), interrupted=False, order=RunOrder.QUERY)),
        (("Failed", "Failed"), JUDGED),
    ],
)
def test_a_filter_replaces_that_of_a_link_until_it_is_cleared(texts: tuple[str, ...], expected: RunFilter) -> None:
    assert run_filter(JUDGED, ViewState(filters=chosen(*texts))) == expected


def test_filters_of_earlier_versions_are_still_known() -> None:
    settings = Settings(None)
    old = {
        "batches": "night",
        "text": "a",
        "outcomes": ["FN", "wrong"],
        "kinds": [],
        "states": ["failed", "unheard of"],
    }
    settings.set("runs.narrowed", [["one.db", old], ["spoilt.db", 7], 1])
    settings.set("runs.batches", "best")
    views = ViewStates(settings, "one.db", "runs")
    view = views.load(FIELDS)
    assert (view.text, view.filters.of("outcomes"), view.filters.of("states")) == ("a", ("wrong",), ("failed",))
    assert (views.load(part="batches").text, views.load(part="batches").sort.name) == ("night", "best")
    assert ViewStates(settings, "spoilt.db", "runs").load(FIELDS) == ViewState()


def test_every_word_typed_must_be_found_and_names_that_start_with_it_come_first() -> None:
    rows = model_rows([ModelInfo(provider=p, model=m) for p, m in (("azure", "my-gpt"), ("openai", "gpt-4.1"))])
    assert [row.label for row in search_models(rows, "gpt")] == ["openai/gpt-4.1", "azure/my-gpt"]
    assert [row.label for row in search_models(rows, "azure gpt")] == ["azure/my-gpt"]
    assert search_models(rows, "") == rows


def test_models_that_ran_and_those_with_a_key_come_before_others() -> None:
    rows = [model_row(ModelInfo(provider=p, model="gpt-4.1")) for p in ("azure", "groq", "ollama", "openai")]
    azure, groq, ollama, openai = rows
    assert search_models(rows, "gpt-4.1")[0].label == "openai/gpt-4.1"
    known = [azure, replace(groq, ready=True), replace(ollama, recent=True), openai]
    labels = [row.label for row in search_models(known, "gpt-4.1")]
    assert labels == ["ollama/gpt-4.1", "groq/gpt-4.1", "openai/gpt-4.1", "azure/gpt-4.1"]
