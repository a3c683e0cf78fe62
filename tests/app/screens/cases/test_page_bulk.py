"""What a user does to whole cases on the screen: new ones, copies, deletions, runs, files."""

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit

from app.core_link.targets import NewCases, StartRuns
from app.screens.cases.bulk_edit import LabelsDialog
from app.screens.cases.editor_state import SaveStatus
from app.screens.cases.page import CasesPage
from app.widgets import Dialog, FlowText, TokensEdit
from mcp_tef import CaseDraft, CaseFileFormat, Expectation, ExpectedCall, ToolLabel
from tests.support.cases_page import (
    BIKE,
    THANKS,
    Bench,
    a_bike_shop,
    button,
    command,
    state,
    stored,
    type_into,
)
from tests.support.fake_engine import FakeEngine

# ---------------------------------------------------------------- new, copy, delete, run


async def test_a_new_case_is_typed_picked_and_saved(page: CasesPage, bench: Bench) -> None:
    button(page, "New case").click()
    assert page.editor.query.hasFocus()
    type_into(page.editor.query, "I want a tandem")
    assert page.presenter.rows()[-1].query == "I want a tandem"
    assert state(page) is SaveStatus.NEW
    page.editor.calls.rows[0].picker.picked.emit("Bike shop\nsearch_bikes")
    await bench.until(lambda: state(page) is SaveStatus.SAVED and page.table.current_id() == page.presenter.current)
    assert (await stored(bench)).query == "I want a tandem"


async def test_a_case_is_begun_for_each_tool_that_another_screen_brings(page: CasesPage, bench: Bench) -> None:
    tools = [ToolLabel(tool=name, server="Bike shop") for name in ("search_parts", "book_repair")]
    page.open_target(NewCases(tuple(tools)))
    fresh = page.presenter.rows()[4:]
    assert [(row.query, row.expected) for row in fresh] == [("New case", "search_parts"), ("New case", "book_repair")]
    assert page.presenter.current == fresh[0].id == page.table.current_id()
    type_into(page.editor.query, "A chain, please")
    await bench.until(lambda: state(page) is SaveStatus.SAVED and page.presenter.current != fresh[0].id)
    saved = await stored(bench)
    assert saved.servers == ("Bike shop",)
    assert saved.expectation.label == "Bike shop / search_parts"


async def test_a_deleted_case_comes_back_with_the_keyboard_alone(page: CasesPage, bench: Bench) -> None:
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    await bench.until(lambda: bench.said)
    assert bench.said[-1] == "Deleted 1 case"
    assert page.table.rows.rowCount() == 3
    assert page.editor.query.toPlainText() == "I need a new chain for a mountain bike"
    bench.session.undo()
    await bench.until(lambda: page.editor.query.toPlainText() == BIKE)
    assert page.table.rows.rowCount() == 4


async def test_a_case_that_is_deleted_twice_in_one_breath_goes_once_and_comes_back(bench: Bench) -> None:
    page = bench.page
    for _ in range(2):
        page.many.delete()
    await bench.session.begun()
    assert bench.said == ["Deleted 1 case"]
    bench.session.undo()
    await bench.until(lambda: page.table.rows.rowCount() == 4)
    assert not bench.session.can_undo()


async def test_every_case_can_be_deleted(page: CasesPage, bench: Bench) -> None:
    page.table.selectAll()
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    await bench.until(lambda: page.view.blank.isVisible() and bench.said)
    bench.session.undo()
    await bench.until(lambda: page.table.isVisible())
    assert page.table.rows.rowCount() == 4


async def test_a_copy_is_shown_and_can_be_taken_back(page: CasesPage, bench: Bench) -> None:
    command(page, "cases.duplicate")()
    await bench.until(lambda: page.editor.about.name.text() == f"{BIKE} (copy)" and bench.said)
    bench.session.undo()
    await bench.until(lambda: page.table.rows.rowCount() == 4)


async def test_all_shown_cases_are_run_unless_several_are_selected(page: CasesPage, bench: Bench) -> None:
    assert button(page, "Run").text() == "Run 4 cases…"
    page.table.selectRow(0)
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert button(page, "Run").text() == "Run 2 cases…"
    button(page, "Run").click()
    await bench.until(lambda: bench.gone)
    ids = tuple(row.id for row in page.presenter.rows()[:2])
    assert bench.gone == [StartRuns(ids)]


async def test_running_saves_what_is_typed_first(page: CasesPage, bench: Bench) -> None:
    type_into(page.editor.query, "Well. ")
    command(page, "cases.run")()
    await bench.until(lambda: bench.gone)
    assert (await stored(bench)).query == f"Well. {BIKE}"


async def test_queries_go_to_the_clipboard(bench: Bench) -> None:
    command(bench.page, "cases.copy")()
    assert QGuiApplication.clipboard().text() == BIKE


# ---------------------------------------------------------------- files


def sheet_called(title: str) -> Dialog | None:
    """The open sheet of that title."""
    sheets = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, Dialog) and widget.isVisible()]
    return next((sheet for sheet in sheets if sheet.title.text() == title), None)


def shown_sheet(title: str) -> Dialog:
    """The same, where it is known to be open."""
    sheet = sheet_called(title)
    assert sheet
    return sheet


def press(sheet: Dialog, words: str) -> None:
    next(made for made in sheet.findChildren(QAbstractButton) if made.text() == words).click()


def words_in(sheet: Dialog) -> str:
    return "\n".join(text.text() for text in sheet.findChildren(FlowText))


async def test_one_case_is_exported_by_itself_from_its_menu(page: CasesPage, bench: Bench) -> None:
    page.table.select(page.presenter.rows()[1].id)
    export = next(action for action in page.case_commands.row_menu() if action.text == "Export…")
    export.do()
    await bench.until(lambda: page.findChildren(QFileDialog))
    [dialog] = page.findChildren(QFileDialog)
    assert dialog.windowTitle() == "Export 1 case"
    dialog.reject()


async def test_everything_for_ci_is_written_to_a_folder(page: CasesPage, bench: Bench, tmp_path: Path) -> None:
    command = next(action for action in page.case_commands.file_menu() if action.text == "Export for CI…")
    command.do()
    await bench.until(lambda: page.findChildren(QFileDialog))
    page.findChildren(QFileDialog)[0].reject()
    await page.transfer.export_for_ci(tmp_path / "ci")
    assert (tmp_path / "ci" / "cases.yaml").is_file()
    assert bench.said[-1].endswith("files for CI to ci")


async def test_an_import_is_shown_before_it_is_done(page: CasesPage, bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    await page.transfer.export_file(file, [row.id for row in page.presenter.rows()])
    assert bench.said[-1] == "Exported 4 cases to cases.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("Bike shop", "Bike shed", 1) + "- query: A new one\n  expected: null\n", encoding="utf-8"
    )
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
    assert bench.said[-1] == "1 added, 3 unchanged, 1 refused, from cases.yaml"


async def test_an_import_is_taken_back_whole_and_done_again(page: CasesPage, bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    await page.transfer.export_file(file, [row.id for row in page.presenter.rows()])
    text = file.read_text(encoding="utf-8").replace(THANKS, f"{THANKS} now")
    file.write_text(f"{text}- query: A new one\n  expected: null\n", encoding="utf-8")
    before, after = queries(page), {f"{THANKS} now", "A new one"}
    importing = asyncio.ensure_future(page.transfer.import_file(file))
    await bench.until(lambda: sheet_called("Import cases.yaml"))
    sheet = sheet_called("Import cases.yaml")
    assert sheet
    next(made for made in sheet.findChildren(QAbstractButton) if made.text().startswith("Import ")).click()
    await importing
    assert after <= queries(page)
    bench.session.undo()
    await bench.until(lambda: queries(page) == before)
    bench.session.redo()
    await bench.until(lambda: after <= queries(page))


def queries(page: CasesPage) -> set[str]:
    return {row.query for row in page.presenter.rows()}


async def a_gated_shop() -> FakeEngine:
    """The sample, whose imports wait half way."""
    fake = await a_bike_shop()
    fake.store.cases.gate = asyncio.Event()
    return fake


@pytest.mark.parametrize("engine", [a_gated_shop])
async def test_storing_an_import_shows_its_share_and_is_cancelled_without_a_trace(bench: Bench, tmp_path: Path) -> None:
    page = bench.page
    file = tmp_path / "cases.yaml"
    file.write_text("- query: A new one\n  expected: null\n- query: Another one\n  expected: null\n", encoding="utf-8")
    importing = asyncio.ensure_future(page.transfer.import_file(file))
    await bench.until(lambda: sheet_called("Import cases.yaml"))
    press(shown_sheet("Import cases.yaml"), "Import 2 cases")
    await bench.until(lambda: [bar.fraction for bar in bench.session.activity.shown()] == [0.5])
    bench.session.activity.shown()[0].cancel_button.click()
    gate = bench.fake.store.cases.gate
    assert gate is not None
    await bench.session.value(lambda _: gate.set())
    await importing
    assert bench.said[-1] == "Cancelled the import of cases.yaml; nothing was imported"
    assert (page.table.rows.rowCount(), bench.session.activity.shown(), bench.session.can_undo()) == (4, (), False)


async def test_an_import_that_is_not_wanted_changes_nothing(page: CasesPage, bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text("query,expected\nA new one,\n", encoding="utf-8")
    importing = asyncio.ensure_future(page.transfer.import_file(file))
    await bench.until(lambda: sheet_called("Import cases.csv"))
    sheet = sheet_called("Import cases.csv")
    assert sheet
    press(sheet, "Cancel")
    await importing
    assert len(page.presenter.rows()) == 4


async def test_an_export_says_what_its_form_cannot_hold(page: CasesPage, bench: Bench, tmp_path: Path) -> None:
    draft = CaseDraft(name="Either", query="Either", expectation=Expectation(((ExpectedCall(tool="a"),), ())))
    await bench.session.call(lambda core: core.cases.add([draft]))
    await bench.until(lambda: len(page.presenter.rows()) == 5)
    ids = [row.id for row in page.presenter.rows()]
    await page.transfer.export_file(tmp_path / "cases.yaml", ids, CaseFileFormat.PROMPTFOO)
    sheet = sheet_called("cases.yaml does not contain everything")
    assert sheet
    assert "It accepts several answers, and this form holds one." in words_in(sheet)
    sheet.accept()


# ---------------------------------------------------------------- tags and suites of several


async def chosen_labels(bench: Bench) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The tags and suites of the first two cases, as the workspace holds them."""
    cases = await bench.session.call(lambda core: core.cases.list())
    return {case.draft.query: (case.draft.tags, case.draft.suites) for case in cases[:2]}


async def ask_for_labels(bench: Bench) -> LabelsDialog:
    """The sheet over the first two cases."""
    bench.page.table.selectRow(0)
    bench.page.table.setFocus()
    QTest.keyClick(bench.page.table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    command(bench.page, "cases.label")()
    await bench.until(lambda: sheet_called("Tags, suites and servers of 2 cases"))
    sheet = sheet_called("Tags, suites and servers of 2 cases")
    assert isinstance(sheet, LabelsDialog)
    return sheet


def entry(sheet: LabelsDialog, name: str) -> QLineEdit:
    """What is typed into, below a label."""
    edit = next(one for one in sheet.findChildren(TokensEdit) if one.accessibleName() == name)
    return edit.entry


async def test_several_cases_get_a_tag_and_lose_a_suite_in_one_step_that_can_be_taken_back(bench: Bench) -> None:
    before = await chosen_labels(bench)
    assert all(suites for _, suites in before.values())
    gone = next(iter(before.values()))[1][0]
    sheet = await ask_for_labels(bench)
    assert entry(sheet, "Add tags").hasFocus()
    QTest.keyClicks(entry(sheet, "Add tags"), "spring")
    QTest.keyClick(entry(sheet, "Add tags"), Qt.Key.Key_Return)
    assert sheet.isVisible()
    type_into(entry(sheet, "Remove suites"), f"{gone},")
    press(sheet, "Change 2 cases")
    await bench.until(lambda: bench.said)
    assert bench.said[-1] == "Changed tags, suites and servers of 2 cases"
    after = {query: ((*tags, "spring"), ()) for query, (tags, _) in before.items()}
    assert await chosen_labels(bench) == after
    assert "spring" in bench.page.presenter.all_tags()
    bench.session.undo()
    await bench.until(lambda: "spring" not in bench.page.presenter.all_tags())
    assert await chosen_labels(bench) == before
    bench.session.redo()
    await bench.until(lambda: "spring" in bench.page.presenter.all_tags())
    assert await chosen_labels(bench) == after


async def test_what_would_change_nothing_cannot_be_pressed(bench: Bench) -> None:
    sheet = await ask_for_labels(bench)
    do = next(made for made in sheet.findChildren(QAbstractButton) if made.text() == "Change 2 cases")
    assert not do.isEnabled()
    type_into(entry(sheet, "Remove suites"), "unheard of,")
    assert not do.isEnabled()
    type_into(entry(sheet, "Add suites"), "Summer,")
    assert do.isEnabled()
    sheet.reject()
