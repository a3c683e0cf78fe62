"""Another name for a suite of cases, from the keyboard and from the menus."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.screens.cases.rows import KEPT
from app.screens.cases.suites import SuiteSheet
from mcp_tef import CaseId
from tests.support.cases_page import BIKE, Bench, command, select, type_into, with_cases


async def asked(bench: Bench) -> SuiteSheet:
    """The sheet that asks for the name."""
    await bench.until(lambda: bench.page.findChild(SuiteSheet))
    sheet = bench.page.findChild(SuiteSheet)
    assert isinstance(sheet, SuiteSheet)
    return sheet


async def put_in(bench: Bench, query: str, *suites: str) -> CaseId:
    """A case is in these suites."""
    select(bench.page, query)
    case_id = bench.page.presenter.current
    assert case_id is not None
    (draft,) = bench.page.presenter.drafts([case_id]).values()
    await bench.page.presenter.edit_all({case_id: replace(draft, suites=suites)})
    bench.page._show_all()
    return case_id


def suites(bench: Bench) -> list[tuple[str, ...]]:
    """What the rows of the table say, in their order."""
    return [row.suites for row in bench.page.presenter.rows()]


@with_cases
async def test_a_suite_is_renamed_by_keyboard_and_called_as_before_by_undo(bench: Bench) -> None:
    before, ids = suites(bench), bench.page.table.rows.ids()
    command(bench.page, "cases.rename_suite")()
    sheet = await asked(bench)
    assert (sheet.picker.current(), sheet.edit.selectedText()) == ("Sample", "Sample")
    QTest.keyClicks(sheet.edit, "Bikes")
    QTest.keyClick(sheet.edit, Qt.Key.Key_Return)
    await bench.until(lambda: bench.session.can_undo())
    assert suites(bench) == [("Bikes",)] * len(before)
    assert bench.page.table.rows.ids() == ids
    assert await bench.session.call(lambda core: core.cases.suites()) == ("Bikes",)
    bench.session.undo()
    await bench.until(lambda: suites(bench) == before)
    bench.session.redo()
    await bench.until(lambda: suites(bench) == [("Bikes",)] * len(before))


@with_cases
async def test_a_name_that_another_suite_has_is_told_at_its_field_and_not_taken(bench: Bench) -> None:
    await put_in(bench, BIKE, "Sample", "Smoke")
    bench.page.suites.ask("Smoke")
    sheet = await asked(bench)
    for typed, says in (("sample", "“Sample” is here already"), ("", "no name")):
        sheet.edit.setText(typed)
        QTest.keyClick(sheet.edit, Qt.Key.Key_Return)
        assert says in sheet.edit.accessibleDescription()
        assert sheet.isVisible()
    sheet.reject()
    assert bench.page.presenter.all_suites() == ("Sample", "Smoke")


@with_cases
async def test_cases_that_are_narrowed_to_a_suite_stay_so_under_its_new_name(bench: Bench) -> None:
    case_id = await put_in(bench, BIKE, "Smoke")
    page = bench.page
    page._narrow(replace(page.presenter.wanted, suite="Smoke"))
    rename = next(one for one in page.header._filter_actions() if one.text.startswith("Rename suite “Smoke”"))
    rename.do()
    sheet = await asked(bench)
    sheet.edit.setText("Fire")
    QTest.keyClick(sheet.edit, Qt.Key.Key_Return)
    await bench.until(lambda: bench.session.can_undo())
    assert page.table.rows.ids() == [case_id]
    assert bench.session.settings.get(KEPT, {})["suite"] == "Fire"


@with_cases
async def test_going_back_in_a_case_after_its_suite_was_renamed_does_not_bring_the_old_name_back(bench: Bench) -> None:
    select(bench.page, BIKE)
    type_into(bench.page.editor.query, " Today")
    await bench.until(lambda: bench.session.can_undo())
    await bench.page.presenter.rename_suite("Sample", "Bikes")
    bench.page.editor.undo_wanted.emit()
    await bench.until(lambda: bench.page.presenter.rows()[0].query == BIKE and not bench.page.presenter.unsaved())
    assert await bench.session.call(lambda core: core.cases.suites()) == ("Bikes",)


@with_cases
async def test_the_menu_of_cases_offers_each_suite_that_they_are_in(bench: Bench) -> None:
    await put_in(bench, BIKE, "Smoke", "Sample")
    texts = [action.text for action in bench.page._menu(bench.page.table.selected_ids())]
    assert [text for text in texts if "suite “" in text] == ["Rename suite “Smoke”…", "Rename suite “Sample”…"]
