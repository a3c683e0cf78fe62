"""From a wrong run to a better text, at the real window with the sample, and no mouse."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.screens.runs.page import RunsPage
from app.screens.workshop.page import WorkshopPage
from mcp_tef import Classification, RunFilter
from tests.support.keyboard_user import CTRL, SHIFT, Keyboard, at_the_window
from tests.support.windows import until

Key = Qt.Key
BETTER = (
    "Change a booking that exists, by its number such as R-2041: add or remove a loan bike, a note, the phone number "
    "or the day. Use it when the customer wants something after all. To book a new repair, use book_repair."
)


async def test_a_wrong_run_becomes_a_tried_text_by_keyboard(qapp: QApplication, tmp_path: Path) -> None:
    async with at_the_window(tmp_path / "first.db") as user:
        await user.see("Open the sample")
        user.press(Key.Key_Return)
        await user.come_to("runs")
        await user.push("cases offline")
        await user.see("Selected ")
        page = await to_the_wrong_run(user)
        await change_and_try(user, page)
        user.press(Key.Key_C, CTRL | SHIFT)
        assert QApplication.clipboard().text() == BETTER


async def to_the_wrong_run(user: Keyboard) -> WorkshopPage:
    """Go to the run that wanted an update of a booking, and from there to the Workshop."""
    runs = user.window.page("runs")
    assert isinstance(runs, RunsPage)
    await until(lambda: runs.presenter.batches.newest_active() is None)
    wrong = RunFilter(classifications=(Classification.FN,))
    found = await user.window.session.call(lambda core: core.runs.list(wrong))
    runs.run_list.table.select(next(one.id for one in found if one.case_name == "A loan bike after all"))
    await user.see("Change the description")
    await user.push("Change the description")
    await user.come_to("workshop")
    page = user.window.page("workshop")
    assert isinstance(page, WorkshopPage)
    await until(lambda: page.presenter.revision().name == "update_booking")
    return page


async def change_and_try(user: Keyboard, page: WorkshopPage) -> None:
    """Type another description, wait for what is predicted, and try it."""
    row = page.view.editor.row("description")
    assert row is not None
    await until(row.draft.hasFocus)
    user.type(BETTER)
    await until(lambda: page.presenter.prediction is not None and page.trial.can_try())
    user.press(Key.Key_Return, CTRL)
    await until(page.view.banner.isVisible)
    assert page.view.banner.claims[0].text().startswith("Better on these cases")
    assert "None of" in page.view.banner.note.text()
