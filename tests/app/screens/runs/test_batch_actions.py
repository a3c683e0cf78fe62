"""Delete, rename and compare batches, and raise a cost cap that is used up."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core_link.targets import CompareBatches, Target
from app.screens.runs.dialogs import RenameBatchDialog
from mcp_tef import BatchId
from tests.app.screens.runs.conftest import Desk, on_page


@on_page()
async def test_a_deleted_batch_comes_back_by_undo_and_goes_again_by_redo(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    empty = desk.page.view.empty
    menu = {action.text: action for action in desk.page.run_commands.batch_menu()}
    assert "Resume" not in menu
    menu["Delete batch"].do()
    await desk.until(lambda: empty.isVisible() and desk.session.can_undo())
    desk.session.undo()
    await desk.until(lambda: not empty.isVisible() and has_batches(desk, 1))
    desk.session.redo()
    await desk.until(empty.isVisible)


@on_page()
async def test_a_batch_is_renamed_from_the_keyboard_and_called_as_before_by_undo(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    page = desk.page
    await desk.until(lambda: page.presenter.batches.newest_active() is None and page.batch_list.selected_ids())
    before = name(desk)
    page.batch_list.setFocus()
    QTest.keyClick(page.batch_list, Qt.Key.Key_F2)
    await desk.until(lambda: page.findChild(RenameBatchDialog))
    sheet = page.findChild(RenameBatchDialog)
    assert isinstance(sheet, RenameBatchDialog)
    assert sheet.edit.selectedText() == before
    QTest.keyClicks(sheet.edit, "Before the new texts")
    QTest.keyClick(sheet.edit, Qt.Key.Key_Return)
    await desk.until(lambda: name(desk) == "Before the new texts" and desk.session.can_undo())
    desk.session.undo()
    await desk.until(lambda: name(desk) == before)
    desk.session.redo()
    await desk.until(lambda: name(desk) == "Before the new texts")


def name(desk: Desk) -> str:
    """What the first card of the rail is called."""
    row = desk.page.batch_list.rows.row(0)
    return row.title


@on_page()
async def test_two_chosen_batches_are_compared_the_older_one_first(desk: Desk) -> None:
    await desk.open()
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
