"""What a user does with the runs that are chosen in the table: exports, copies and asks them again."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from mcp_tef import BatchRequest
from tests.app.screens.runs.conftest import Desk
from tests.app.screens.runs.test_export import dialog, saved


def choose(desk: Desk, first: int, last: int) -> None:
    """Choose rows by their places."""
    table = desk.page.list.table
    pages, flag = table.pages, QItemSelectionModel.SelectionFlag
    stretch = QItemSelection(pages.index(first, 0), pages.index(last, pages.columnCount() - 1))
    table.selectionModel().select(stretch, flag.ClearAndSelect)


def entry(desk: Desk, start: str) -> Any:
    """The entry of the context menu whose text starts so."""
    return next(one for one in desk.page.chosen.menu() if one.text.startswith(start))


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def test_only_the_chosen_runs_are_exported_in_the_shape_of_all(use: Any, tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        ids = [row.id for row in await desk.page.presenter.rows_at((1, 2))]
        desk.page.steering.export()
        everything = await saved(desk, tmp_path / "all.csv")
        choose(desk, 1, 2)
        entry(desk, "Export 2 runs…").do()
        await desk.until(lambda: asked(desk))
        assert dialog(desk).windowTitle() == "Export the results of 2 runs of All cases"
        some = await saved(desk, tmp_path / "some.csv")
        assert some.splitlines()[0] == everything.splitlines()[0]
        assert set(some.splitlines()) < set(everything.splitlines())
        assert len(list(csv.reader(io.StringIO(some)))) == 1 + 2
        desk.page.chosen.export()
        await desk.until(lambda: asked(desk))
        document = json.loads(await saved(desk, tmp_path / "some.json"))
        assert sorted(run["id"] for run in document["runs"]) == sorted(ids)

    use(story)


def asked(desk: Desk) -> bool:
    """Whether a file is being asked for."""
    try:
        return dialog(desk).isVisible()
    except ValueError:
        return False


def test_the_key_exports_what_is_chosen_and_needs_a_choice(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        command = next(one for one in desk.page.commands() if one.id == "runs.export_chosen")
        assert not command.needs()
        await desk.run_offline()
        await desk.until(command.needs)
        command.do()
        await desk.until(lambda: asked(desk))
        assert dialog(desk).windowTitle() == "Export the results of 1 run of All cases"
        dialog(desk).reject()

    use(story)


def test_of_a_long_table_rows_that_were_never_looked_at_are_chosen_too(use: Any, tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.session.call(lambda core: core.runs.start(BatchRequest(repeats=150)))
        await desk.until(lambda: desk.said and desk.page.presenter.table.total == 600)
        desk.page.request_refresh()
        await desk.page.settled()
        table = desk.page.list.table
        table.setFocus()
        table.selectAll()
        assert desk.page.presenter.table.row(599) is None
        entry(desk, "Export 600 runs…").do()
        await desk.until(lambda: asked(desk))
        assert len(json.loads(await saved(desk, tmp_path / "r.json"))["runs"]) == 600

    use(story)


def test_one_run_is_copied_in_full_and_several_as_results(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        choose(desk, 0, 0)
        entry(desk, "Copy the run as Markdown").do()
        await desk.until(lambda: "Copied the run as Markdown" in desk.said)
        assert "search\\_bikes" in clipboard() or "search_bikes" in clipboard()
        choose(desk, 0, 1)
        entry(desk, "Copy the results of 2 runs").do()
        await desk.until(lambda: "Copied 2 runs as Markdown" in desk.said)
        assert "2 runs of All cases" in clipboard()

    use(story)


def test_the_cases_of_the_chosen_runs_are_asked_again(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        choose(desk, 1, 2)
        entry(desk, "Run their cases again…").do()
        await desk.until(lambda: desk.page.steering.sheet)
        sheet = desk.page.steering.sheet
        assert sheet is not None
        assert len(sheet.panel.form().chosen) == 2
        QTest.keyClick(sheet, Qt.Key.Key_Escape)
        await desk.until(lambda: desk.page.steering.sheet is None)

    use(story)
