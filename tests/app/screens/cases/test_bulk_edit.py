"""Changes of the expected tool, the names and the suites of many cases: asked in a dialog, saved, undone."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.screens.cases.bulk_edit import ExpectedToolChange, ExpectedToolDialog, LabelsDialog, RenameSuiteDialog
from app.screens.cases.calls import ToolChoice
from app.screens.cases.rows import SUITE
from app.screens.kit import NO_FILTERS, ViewStates
from mcp_tef import NO_TOOL, CaseDraft, CaseId, Expectation, ExpectedCall, ToolLabel
from tests.support.cases_page import BIKE, Bench, command, select, type_into
from tests.support.windows import opened_dialog

FIND, BOOK = ExpectedCall(tool="find", server="desk", parameters={"q": "x"}), ExpectedCall(tool="book")
SEARCH = ToolChoice("docs", "search", "")
MOVED = replace(FIND, tool="search", server="docs")
FRESH = ExpectedCall(tool="search", server="docs")


def case(*answers: tuple[ExpectedCall, ...]) -> CaseDraft:
    return CaseDraft(name="x", query="x", expectation=Expectation(answers), servers=("desk",))


@pytest.mark.parametrize(
    ("before", "now", "then"),
    [
        (None, case((FIND,)), ((MOVED,),)),
        (None, case((FIND, BOOK)), ((FRESH,),)),
        (None, case(()), ((FRESH,),)),
        (ToolLabel(tool="find", server="desk"), case((FIND, BOOK), ()), ((MOVED, BOOK), ())),
        (ToolLabel(tool="find", server="desk"), case((BOOK,), (FIND,)), ((BOOK,), (MOVED,))),
    ],
)
def test_another_tool_is_expected_and_its_server_is_offered(
    before: ToolLabel | None, now: CaseDraft, then: tuple[tuple[ExpectedCall, ...], ...]
) -> None:
    after = ExpectedToolChange(before, SEARCH).of(now)
    assert after.expectation.alternatives == then
    assert after.servers == ("desk", "docs")


def test_cases_that_do_not_expect_what_is_meant_stay_and_none_can_be_right() -> None:
    assert ExpectedToolChange(ToolLabel(tool="find", server="desk"), SEARCH).of(case((BOOK,))) == case((BOOK,))
    assert ExpectedToolChange(None, None).of(case((FIND, BOOK))) == case(*NO_TOOL.alternatives)


async def ask(bench: Bench, name: str) -> object:
    """The sheet over all cases that a command opens."""
    bench.page.table.setFocus()
    bench.page.table.selectAll()
    command(bench.page, name)()
    kinds = (ExpectedToolDialog, LabelsDialog)

    def opened() -> list[object]:
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, kinds) and one.isVisible()]

    await bench.until(opened)
    return opened()[0]


async def expected(bench: Bench) -> list[str]:
    cases = await bench.session.call(lambda core: core.cases.list())
    return [one.draft.expectation.label for one in cases]


async def test_many_cases_expect_another_tool_by_keyboard_in_one_step_that_can_be_taken_back(bench: Bench) -> None:
    before = await expected(bench)
    sheet = await ask(bench, "cases.expect")
    assert isinstance(sheet, ExpectedToolDialog)
    assert not sheet._do.isEnabled()
    sheet.before.choose("Bike shop / search_bikes")
    assert sheet.after.hasFocus()
    QTest.keyClick(sheet.after, Qt.Key.Key_Return)
    popup = sheet.after.popup()
    await bench.until(popup.isVisible)
    QTest.keyClicks(popup.search, "book_repair")
    await bench.until(lambda: popup.list.rows.rowCount() == 1)
    QTest.keyClick(popup.search, Qt.Key.Key_Return)
    await bench.until(lambda: sheet._do.text() == "Change 1 case")
    sheet._do.click()
    await bench.until(lambda: bench.said)
    assert bench.said[-1] == "Changed the expected tool of 1 case"
    after = ["Bike shop / book_repair" if label == "Bike shop / search_bikes" else label for label in before]
    assert await expected(bench) == after
    bench.session.undo()
    await bench.until(lambda: bench.page.presenter.rows()[0].expected == before[0])
    assert await expected(bench) == before
    bench.session.redo()
    await bench.until(lambda: bench.page.presenter.rows()[0].expected == after[0])


async def test_many_cases_lose_a_server_and_get_it_back(bench: Bench) -> None:
    sheet = await ask(bench, "cases.label")
    assert isinstance(sheet, LabelsDialog)
    _, remove = sheet._servers
    QTest.keyClicks(remove.entry, "bike shop,")
    sheet._do.click()
    await bench.until(lambda: bench.said)
    assert {row.servers for row in bench.page.presenter.rows()} == {()}
    bench.session.undo()
    await bench.until(lambda: {row.servers for row in bench.page.presenter.rows()} == {("Bike shop",)})


async def test_selected_cases_become_one_family_in_one_step_that_can_be_taken_back(bench: Bench) -> None:
    async def families() -> set[str]:
        return {one.draft.family for one in await bench.session.call(lambda core: core.cases.list())}

    first = (await bench.session.call(lambda core: core.cases.list()))[0]
    bench.page.table.setFocus()
    bench.page.table.selectAll()
    command(bench.page, "cases.family")()
    await bench.until(lambda: bench.said)
    (family,) = await families()
    assert family
    bench.session.undo()
    await bench.until(lambda: len(bench.said) > 1)
    assert await families() == {first.draft.family} == {""}


async def asked(bench: Bench) -> RenameSuiteDialog:
    """The sheet that asks for the name."""
    return await opened_dialog(bench.page, RenameSuiteDialog)


async def put_in(bench: Bench, query: str, *suites: str) -> CaseId:
    """A case is in these suites."""
    select(bench.page, query)
    case_id = bench.page.presenter.current
    assert case_id is not None
    (draft,) = bench.page.presenter.drafts([case_id]).values()
    await bench.page.presenter.edit_all({case_id: replace(draft, suites=suites)}, {case_id: draft})
    bench.page._show_all()
    return case_id


def suites(bench: Bench) -> list[tuple[str, ...]]:
    """What the rows of the table say, in their order."""
    return [row.suites for row in bench.page.presenter.rows()]


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


async def test_cases_that_are_narrowed_to_a_suite_stay_so_under_its_new_name(bench: Bench) -> None:
    case_id = await put_in(bench, BIKE, "Smoke")
    page = bench.page
    page._filter(NO_FILTERS.with_values(SUITE.name, "Smoke"))
    rename = next(one for one in page.header._filter_actions() if one.text.startswith("Rename suite “Smoke”"))
    rename.do()
    sheet = await asked(bench)
    sheet.edit.setText("Fire")
    QTest.keyClick(sheet.edit, Qt.Key.Key_Return)
    await bench.until(lambda: bench.session.can_undo())
    assert page.table.rows.ids() == [case_id]
    assert ViewStates(bench.session.settings, "", "cases").load().filters.first("suite") == "Fire"


async def test_going_back_in_a_case_after_its_suite_was_renamed_does_not_bring_the_old_name_back(bench: Bench) -> None:
    select(bench.page, BIKE)
    type_into(bench.page.editor.query, " Today")
    await bench.until(lambda: bench.session.can_undo())
    await bench.page.presenter.rename_suite("Sample", "Bikes")
    bench.page.editor.undo_wanted.emit()
    await bench.until(lambda: bench.page.presenter.rows()[0].query == BIKE and not bench.page.presenter.unsaved())
    assert await bench.session.call(lambda core: core.cases.suites()) == ("Bikes",)


async def test_the_menu_of_cases_offers_each_suite_that_they_are_in(bench: Bench) -> None:
    await put_in(bench, BIKE, "Smoke", "Sample")
    texts = [action.text for action in bench.page.case_commands.row_menu()]
    assert [text for text in texts if "suite “" in text] == ["Rename suite “Smoke”…", "Rename suite “Sample”…"]
