"""Batches are searched, sorted, renamed, compared and deleted in their list."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core_link.targets import CompareBatches, Target
from app.screens.kit import ViewStates, in_order
from app.screens.runs.batch_summaries import batch_card
from app.screens.runs.dialogs import RenameBatchDialog
from app.screens.runs.filters import BATCH_ORDERS, matches_batch
from mcp_tef import Batch, BatchId, BatchRequest, BatchStatus
from tests.app.screens.runs.conftest import Desk
from tests.support.windows import opened_dialog

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def batch(name: str, right: int, wrong: int, model: str = "openai/gpt-4.1-mini") -> Batch:
    """A batch with so many right and wrong runs."""
    return Batch(
        id=BatchId(name),
        name=name,
        status=BatchStatus.COMPLETED,
        created_at=NOW,
        models=(model,),
        total=right + wrong,
        counts={"TP": right, "FN": wrong},
        tally={"correct_call": right, "wrong": wrong},
    )


NEWEST = (batch("b", 1, 1), batch("C", 0, 0), batch("a", 2, 0))


@pytest.mark.parametrize(
    ("order", "names"),
    [("newest", "bCa"), ("oldest", "aCb"), ("name", "abC"), ("worst", "baC"), ("best", "abC"), ("unknown", "bCa")],
)
def test_batches_are_sorted_those_without_a_verdict_last(order: str, names: str) -> None:
    assert "".join(one.name for one in in_order(NEWEST, BATCH_ORDERS, order)) == names


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("NIGHT", True),
        ("night gpt", True),
        ("openai", True),
        ("67 %", True),
        ("night claude", False),
    ],
)
def test_a_batch_is_found_by_all_words_of_its_card_and_models(text: str, fits: bool) -> None:
    one = batch("Nightly", 2, 1)
    assert matches_batch(batch_card(one, NOW), one, text) is fits


async def with_batches(desk: Desk, *names: str) -> None:
    """Run a batch under each name, the last one newest."""
    await desk.session.call(lambda core: core.open_sample())
    for name in names:
        one = await desk.session.call(partial(start, name))
        await desk.session.call(partial(wait, one.id))
    await desk.open(sample=False)
    await desk.until(lambda: len(shown(desk)) == len(names) and desk.rests())


async def start(name: str, core: Any) -> Batch:
    made: Batch = await core.runs.start(BatchRequest(name=name))
    return made


async def wait(batch_id: BatchId, core: Any) -> None:
    await core.runs.wait(batch_id)


def shown(desk: Desk) -> list[str]:
    """The names on the rail."""
    rail = desk.page.batch_list
    return [rail.rows.row(place).title for place in range(rail.rows.rowCount())]


async def test_a_single_batch_needs_no_field_to_find_it(new_desk: Desk) -> None:
    await with_batches(new_desk, "Only")
    command = next(one for one in new_desk.page.commands() if one.id == "runs.find_batch")
    assert not new_desk.page.view.batch_pane.search.isVisible()
    assert not command.needs()


async def test_batches_are_found_and_chosen_by_keys_alone(new_desk: Desk) -> None:
    await with_batches(new_desk, "Before", "After", "Afterwards")
    pane = new_desk.page.view.batch_pane
    command = next(one for one in new_desk.page.commands() if one.id == "runs.find_batch")
    assert command.needs()
    command.do()
    QTest.keyClicks(pane.search, "bef")
    await new_desk.until(lambda: shown(new_desk) == ["Before"] and pane.count.text() == "1 of 3")
    QTest.keyClick(pane.search, Qt.Key.Key_Down)
    assert pane.list.selected_ids()
    await new_desk.until(lambda: new_desk.page.presenter.current == pane.list.current_id())
    QTest.keyClick(pane.list, Qt.Key.Key_Return)
    assert new_desk.page.focusWidget() is new_desk.page.run_list.table
    command.do()
    QTest.keyClicks(pane.search, "zzz")
    await new_desk.until(pane.no_match.isVisible)
    QTest.keyClick(pane.search, Qt.Key.Key_Escape)
    await new_desk.until(lambda: len(shown(new_desk)) == 3)
    assert pane.list.current_id() == new_desk.page.presenter.current


async def test_the_order_is_chosen_in_a_menu_and_remembered(new_desk: Desk) -> None:
    await with_batches(new_desk, "B", "a", "C")
    pane = new_desk.page.view.batch_pane
    next(one for one in pane.sort_actions() if one.text == "By name").do()
    assert shown(new_desk) == ["a", "B", "C"]
    assert [one.text for one in pane.sort_actions() if one.checked] == ["By name"]
    assert pane.sort.accessibleName() == "Sort batches, now: by name"
    states = ViewStates(new_desk.session.settings, new_desk.session.workspace, "runs")
    assert states.load(part="batches").sort.name == "name"


async def test_what_is_typed_counts_at_once_for_enter_and_for_another_order(new_desk: Desk) -> None:
    await with_batches(new_desk, "Before", "After", "Afterwards")
    pane = new_desk.page.view.batch_pane
    pane.focus_search()
    QTest.keyClicks(pane.search, "aft")
    next(one for one in pane.sort_actions() if one.text == "By name").do()
    assert (pane.search.text(), shown(new_desk)) == ("aft", ["After", "Afterwards"])
    QTest.keyClicks(pane.search, "erw")
    QTest.keyClick(pane.search, Qt.Key.Key_Return)
    assert shown(new_desk) == ["Afterwards"]
    assert pane.list.selected_ids()


async def test_the_field_stays_as_long_as_its_words_hide_the_only_batch(new_desk: Desk) -> None:
    await with_batches(new_desk, "Before", "After")
    pane, oldest = new_desk.page.view.batch_pane, new_desk.page.presenter.batches.all()[-1]
    pane.search.setText("before")
    await new_desk.until(lambda: shown(new_desk) == ["Before"])
    await new_desk.page.batch_actions.delete([oldest.id])
    await new_desk.until(pane.no_match.isVisible)
    assert pane.search.isVisible()
    QTest.keyClick(pane.search, Qt.Key.Key_Escape)
    await new_desk.until(lambda: shown(new_desk) == ["After"] and not pane.search.isVisible())


async def test_a_batch_that_begins_is_shown_whatever_is_being_looked_for(new_desk: Desk) -> None:
    await with_batches(new_desk, "Before", "After")
    pane = new_desk.page.view.batch_pane
    pane.search.setText("before")
    await new_desk.until(lambda: shown(new_desk) == ["Before"])
    await new_desk.page.batch_actions.run_offline()
    await new_desk.until(lambda: "All cases" in shown(new_desk) and pane.search.text() == "")
    await new_desk.until_ended(1)


async def test_a_deleted_batch_comes_back_by_undo_and_goes_again_by_redo(ran: Desk) -> None:
    empty = ran.page.view.empty
    menu = {action.text: action for action in ran.page.run_commands.batch_menu()}
    assert "Resume" not in menu
    menu["Delete batch"].do()
    await ran.until(lambda: empty.isVisible() and ran.session.can_undo())
    ran.session.undo()
    await ran.until(lambda: not empty.isVisible() and has_batches(ran, 1))
    ran.session.redo()
    await ran.until(empty.isVisible)


async def test_a_batch_is_renamed_from_the_keyboard_and_called_as_before_by_undo(ran: Desk) -> None:
    page = ran.page
    await ran.until(lambda: page.presenter.batches.newest_active() is None and page.batch_list.selected_ids())
    before = name(ran)
    page.batch_list.setFocus()
    QTest.keyClick(page.batch_list, Qt.Key.Key_F2)
    sheet = await opened_dialog(page, RenameBatchDialog)
    assert sheet.edit.selectedText() == before
    QTest.keyClicks(sheet.edit, "Before the new texts")
    QTest.keyClick(sheet.edit, Qt.Key.Key_Return)
    await ran.until(lambda: name(ran) == "Before the new texts" and ran.session.can_undo())
    ran.session.undo()
    await ran.until(lambda: name(ran) == before)
    ran.session.redo()
    await ran.until(lambda: name(ran) == "Before the new texts")


def name(desk: Desk) -> str:
    """What the first card of the rail is called."""
    row = desk.page.batch_list.rows.row(0)
    return row.title


async def test_two_chosen_batches_are_compared_the_older_one_first(desk: Desk) -> None:
    for number in (1, 2):
        await desk.run_offline()
        await desk.until(partial(has_batches, desk, number))
    page = desk.page
    newer, older = page.batch_list.rows.ids()
    went: list[Target] = []
    desk.session.navigated.connect(went.append)
    page.batch_list.selectAll()
    page.run_commands.batch_menu()[0].do()
    assert went == [CompareBatches(BatchId(older), BatchId(newer))]


def has_batches(desk: Desk, number: int) -> bool:
    return desk.page.batch_list.rows.rowCount() == number
