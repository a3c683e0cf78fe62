"""From wrong runs to a better text and to advice, at the real window with the sample, and no mouse."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.screens.runs.page import RunsPage
from app.screens.similarity.page import SimilarityPage
from app.screens.workshop.page import WorkshopPage
from app.widgets.matrix import MatrixChart
from mcp_tef import Classification, RunFilter
from tests.support.keyboard_user import CTRL, SHIFT, Keyboard, at_the_window, the
from tests.support.windows import until

Key = Qt.Key
BETTER = (
    "Change a booking that exists, by its number such as R-2041: add or remove a loan bike, a note, the phone number "
    "or the day. Use it when the customer wants something after all. To book a new repair, use book_repair."
)


async def test_a_wrong_run_leads_to_a_tried_text(qapp: QApplication, tmp_path: Path) -> None:
    async with at_the_window(tmp_path / "first.db") as user:
        await run_the_sample(user)
        page = await to_the_wrong_run(user)
        await change_and_try(user, page)
        user.press(Key.Key_C, CTRL | SHIFT)
        assert QApplication.clipboard().text() == BETTER


async def test_a_confusion_leads_to_advice_and_a_report(qapp: QApplication, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    async with at_the_window(tmp_path / "first.db") as user:
        await run_the_sample(user)
        await follow_a_confusion(user, report)
    assert "What to work on" in report.read_text("utf-8")


async def run_the_sample(user: Keyboard) -> None:
    """Open the sample at the first start, and run its cases offline."""
    await user.see("Open the sample")
    user.press(Key.Key_Return)
    await user.come_to("runs")
    await user.push("cases offline")
    await user.see("Selected ")
    await until(lambda: user.screen("runs", RunsPage).presenter.batches.newest_active() is None)


async def follow_a_confusion(user: Keyboard, report: Path) -> None:
    """Follow a confusion to what to write instead, copy that and export a report."""
    await user.go(4, "metrics")
    await user.tab_to("Confusion matrix")
    await walk_to_a_confusion(user, the(MatrixChart, user.window))
    user.press(Key.Key_Return)
    await user.come_to("runs")
    await until(lambda: "advice" in user.screen("runs", RunsPage).detail.links())
    user.press(Key.Key_I, CTRL)
    await user.come_to("similarity")
    pair = user.screen("similarity", SimilarityPage).view.pair
    await until(lambda: pair.advice.copy.hasFocus())
    user.press(Key.Key_Space)
    assert QApplication.clipboard().text() != BETTER
    await user.push("Export")
    await user.choose("Similarity report")
    await user.save_as(report)


async def walk_to_a_confusion(user: Keyboard, chart: MatrixChart) -> None:
    """Walk with the arrows to the most frequent confusion; of equals, to tools that share a word and so have advice."""
    matrix = chart.matrix()
    names = list(zip(matrix.rows, matrix.row_keys, strict=True))
    wrong = {
        cell: number
        for cell, number in matrix.cells.items()
        if matrix.keys[cell[1]] not in ("–", "?", names[cell[0]][1]) and names[cell[0]][1] != "–"
    }
    named = {key: name for name, key in names}

    def shared_words(cell: tuple[int, int]) -> int:
        words_of = (set(name.split("_")) for name in (names[cell[0]][0], named.get(matrix.keys[cell[1]], "")))
        return len(set.intersection(*words_of))

    row, column = max(wrong, key=lambda cell: (wrong[cell], shared_words(cell)))
    user.press(Key.Key_Home)
    user.press(Key.Key_Down, times=row + 1)
    user.press(Key.Key_Right, times=column)
    assert chart.current() == (row, column)


async def to_the_wrong_run(user: Keyboard) -> WorkshopPage:
    """Go to the run that wanted an update of a booking, and from there to the Workshop."""
    runs = user.screen("runs", RunsPage)
    wrong = RunFilter(classifications=(Classification.FN,))
    found = await user.window.session.call(lambda core: core.runs.list(wrong))
    runs.run_list.table.select(next(one.id for one in found if one.case_name == "A loan bike after all"))
    await user.see("Change the description")
    await user.push("Change the description")
    await user.come_to("workshop")
    page = user.screen("workshop", WorkshopPage)
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
