"""What a user does to whole cases on the screen: new ones, copies, deletions, runs, files."""

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.screens.cases.desk import State
from app.widgets import FlowText, Sheet
from mcp_tef import CaseDraft, CaseFileForm, Expectation, ExpectedCall
from tests.support.cases_page import (
    BIKE,
    Bench,
    button,
    command,
    state,
    stored,
    type_into,
    with_cases,
)

# ---------------------------------------------------------------- new, copy, delete, run


@with_cases
async def test_a_new_case_is_typed_picked_and_saved(bench: Bench) -> None:
    page = bench.page
    button(page, "New case").click()
    assert page.editor.query.hasFocus()
    type_into(page.editor.query, "I want a tandem")
    assert page.presenter.rows()[-1].query == "I want a tandem"
    assert state(page) is State.NEW
    page.editor.calls.rows[0].picker.picked.emit("Bike shop\nsearch_bikes")
    await bench.until(lambda: state(page) is State.SAVED and page.table.current_id() == page.presenter.current)
    assert (await stored(bench)).query == "I want a tandem"


@with_cases
async def test_a_deleted_case_comes_back_with_the_keyboard_alone(bench: Bench) -> None:
    page = bench.page
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    await bench.until(lambda: bench.toasts)
    assert bench.toasts[-1][0] == "Deleted 1 case"
    assert page.table.rows.rowCount() == 3
    assert page.editor.query.toPlainText() == "I need a new chain for a mountain bike"
    bench.session.undo()
    await bench.until(lambda: page.editor.query.toPlainText() == BIKE)
    assert page.table.rows.rowCount() == 4


@with_cases
async def test_every_case_can_be_deleted(bench: Bench) -> None:
    page = bench.page
    page.table.selectAll()
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    await bench.until(lambda: page.view.blank.isVisible() and bench.toasts)
    bench.session.undo()
    await bench.until(lambda: page.table.isVisible())
    assert page.table.rows.rowCount() == 4


@with_cases
async def test_a_copy_is_shown_and_can_be_taken_back(bench: Bench) -> None:
    page = bench.page
    command(page, "cases.duplicate")()
    await bench.until(lambda: page.editor.about.name.text() == f"{BIKE} (copy)" and bench.toasts)
    bench.session.undo()
    await bench.until(lambda: page.table.rows.rowCount() == 4)


@with_cases
async def test_all_shown_cases_are_run_unless_several_are_selected(bench: Bench) -> None:
    page = bench.page
    assert button(page, "Run").text() == "Run 4 cases"
    page.table.selectRow(0)
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert button(page, "Run").text() == "Run 2 cases"
    button(page, "Run").click()
    await bench.until(lambda: bench.went)
    ids = tuple(row.id for row in page.presenter.rows()[:2])
    assert bench.went == [("runs", ("start", ids))]


@with_cases
async def test_running_saves_what_is_typed_first(bench: Bench) -> None:
    page = bench.page
    type_into(page.editor.query, "Well. ")
    command(page, "cases.run")()
    await bench.until(lambda: bench.went)
    assert (await stored(bench)).query == f"Well. {BIKE}"


@with_cases
async def test_queries_go_to_the_clipboard(bench: Bench) -> None:
    command(bench.page, "cases.copy")()
    assert QGuiApplication.clipboard().text() == BIKE


# ---------------------------------------------------------------- files


def sheet_called(title: str) -> Sheet | None:
    """The open sheet of that title."""
    sheets = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, Sheet) and widget.isVisible()]
    return next((sheet for sheet in sheets if sheet.title.text() == title), None)


def press(sheet: Sheet, words: str) -> None:
    next(made for made in sheet.findChildren(QAbstractButton) if made.text() == words).click()


def words_in(sheet: Sheet) -> str:
    return "\n".join(text.text() for text in sheet.findChildren(FlowText))


@with_cases
async def test_an_import_is_shown_before_it_is_done(bench: Bench, tmp_path: Path) -> None:
    page = bench.page
    file = tmp_path / "cases.yaml"
    await page.transfer.export_file(file, [row.id for row in page.presenter.rows()])
    assert bench.toasts[-1][0] == "Exported 4 cases to cases.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("Bike shop", "Bike shed", 1) + "- query: A new one\n", encoding="utf-8")
    importing = asyncio.ensure_future(page.transfer.import_file(file))
    await bench.until(lambda: sheet_called("Import cases.yaml"))
    sheet = sheet_called("Import cases.yaml")
    assert sheet
    assert "1 added, 3 unchanged, 1 refused. Nothing is changed yet." in words_in(sheet)
    assert "There is no server named Bike shed. Did you mean Bike shop?" in words_in(sheet)
    assert len(page.presenter.rows()) == 4
    press(sheet, "Import 1 case")
    await importing
    assert len(page.presenter.rows()) == 5
    assert bench.toasts[-1][0] == "1 added, 3 unchanged, 1 refused, from cases.yaml"


@with_cases
async def test_an_import_that_is_not_wanted_changes_nothing(bench: Bench, tmp_path: Path) -> None:
    page = bench.page
    file = tmp_path / "cases.csv"
    file.write_text("query\nA new one\n", encoding="utf-8")
    importing = asyncio.ensure_future(page.transfer.import_file(file))
    await bench.until(lambda: sheet_called("Import cases.csv"))
    sheet = sheet_called("Import cases.csv")
    assert sheet
    press(sheet, "Cancel")
    await importing
    assert len(page.presenter.rows()) == 4


@with_cases
async def test_an_export_says_what_its_form_cannot_hold(bench: Bench, tmp_path: Path) -> None:
    page = bench.page
    draft = CaseDraft(name="Either", query="Either", expectation=Expectation(((ExpectedCall(tool="a"),), ())))
    await bench.session.call(lambda core: core.cases.add([draft]))
    await bench.until(lambda: len(page.presenter.rows()) == 5)
    ids = [row.id for row in page.presenter.rows()]
    await page.transfer.export_file(tmp_path / "cases.yaml", ids, CaseFileForm.PROMPTFOO)
    sheet = sheet_called("cases.yaml does not hold everything")
    assert sheet
    assert "It accepts several answers, and this form holds one." in words_in(sheet)
    sheet.accept()
