"""Results into files from the runs screen."""

import json
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app.screens.runs.batch_actions import EXPORT
from mcp_tef import BatchRequest, Classification, RunFilter
from tests.app.screens.runs.conftest import Desk


def dialog(desk: Desk) -> QFileDialog:
    """The file dialog that is open."""
    (found,) = (one for one in desk.page.findChildren(QFileDialog) if one.isVisible())
    return found


def text_of(file: Path) -> str:
    """What was written."""
    return file.read_text("utf-8")


async def saved(desk: Desk, file: Path) -> str:
    """Answer the dialog with a file, wait until it is said to be there, and read it."""
    desk.said.clear()
    asked = dialog(desk)
    asked.fileSelected.emit(str(file))
    asked.reject()
    await desk.until(lambda: f"The results are in {file}" in desk.said)
    return text_of(file)


def test_nothing_can_be_exported_before_something_ran(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        assert not desk.page.export.isEnabled()
        assert desk.page.steering.exportable() is None
        await desk.run_offline()
        await desk.until(desk.page.export.isEnabled)

    use(story)


def test_the_button_exports_the_whole_batch_whatever_is_filtered(use: Any, tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        await desk.until(desk.page.export.isEnabled)
        desk.page.narrowing.find("chain")
        await desk.until(lambda: desk.page.presenter.table.total == 1)
        desk.bot.mouseClick(desk.page.export, Qt.MouseButton.LeftButton)
        assert dialog(desk).windowTitle() == "Export the results of All cases"
        assert Path(dialog(desk).selectedFiles()[0]).name == "all-cases.html"
        page = await saved(desk, tmp_path / "r.html")
        assert "<h1>All cases</h1>" in page
        assert "Thanks, that is all" in page

    use(story)


def test_the_form_that_is_chosen_becomes_the_ending(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        await desk.until(desk.page.export.isEnabled)
        desk.page.steering.export()
        asked = dialog(desk)
        asked.selectNameFilter("JUnit XML, for build servers (*.xml)")
        asked.filterSelected.emit(asked.selectedNameFilter())
        assert Path(asked.selectedFiles()[0]).name == "all-cases.xml"
        assert asked.defaultSuffix() == "xml"
        asked.reject()

    use(story)


def test_a_batch_of_the_rail_is_exported_from_its_menu(use: Any, tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        older = desk.page.presenter.current
        batch = await desk.session.call(lambda core: core.runs.start(BatchRequest(name="Second")))
        await desk.until(lambda: len(desk.said) == 2)
        entries = {item.text: item for item in desk.page.steering.menu([batch.id], lambda _: None)}
        entries[EXPORT].do()
        document = json.loads(await saved(desk, tmp_path / "r.json"))
        assert document["batch"] is None or document["batch"] == batch.id
        assert {run["batch"] for run in document["runs"]} == {batch.id} != {older}

    use(story)


def test_found_runs_of_all_batches_are_exported_under_their_title(use: Any, tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        desk.page.arrive(("filter", RunFilter(classifications=(Classification.FN,)), "Missed"))
        await desk.until(lambda: desk.page.list.strip.note.text() == "Missed" and desk.rests())
        command = next(one for one in desk.page.commands() if one.id == "runs.export")
        assert command.needs()
        command.do()
        text = await saved(desk, tmp_path / "r.csv")
        assert len(text.splitlines()) == 1 + desk.page.presenter.table.total

    use(story)


def test_a_place_that_cannot_be_written_is_told_in_words(use: Any, tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        desk.page.steering.export()
        asked = dialog(desk)
        asked.fileSelected.emit(str(tmp_path / "nowhere" / "r.csv"))
        asked.reject()
        await desk.until_failed("could not be written")

    use(story)
