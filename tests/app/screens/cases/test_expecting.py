"""Other tools and servers for many cases at once: what becomes of each, asked in a sheet, and taken back."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.screens.cases.expecting import Expecting, ExpectSheet
from app.screens.cases.labelling import LabelSheet
from app.screens.cases.tools import ToolChoice
from mcp_tef import NO_TOOL, CaseDraft, Expectation, ExpectedCall, ToolLabel
from tests.support.cases_page import Bench, command, with_cases

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
    after = Expecting(before, SEARCH).of(now)
    assert after.expectation.alternatives == then
    assert after.servers == ("desk", "docs")


def test_cases_that_do_not_expect_what_is_meant_stay_and_none_can_be_right() -> None:
    assert Expecting(ToolLabel(tool="find", server="desk"), SEARCH).of(case((BOOK,))) == case((BOOK,))
    assert Expecting(None, None).of(case((FIND, BOOK))) == case(*NO_TOOL.alternatives)


async def ask(bench: Bench, name: str) -> object:
    """The sheet over all cases that a command opens."""
    bench.page.table.setFocus()
    bench.page.table.selectAll()
    command(bench.page, name)()
    kinds = (ExpectSheet, LabelSheet)

    def opened() -> list[object]:
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, kinds) and one.isVisible()]

    await bench.until(opened)
    return opened()[0]


async def expected(bench: Bench) -> list[str]:
    cases = await bench.session.call(lambda core: core.cases.list())
    return [one.draft.expectation.label for one in cases]


@with_cases
async def test_many_cases_expect_another_tool_by_keyboard_in_one_step_that_can_be_taken_back(bench: Bench) -> None:
    before = await expected(bench)
    sheet = await ask(bench, "cases.expect")
    assert isinstance(sheet, ExpectSheet)
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
    await bench.until(lambda: bench.toasts)
    assert bench.toasts[-1][0] == "Changed the expected tool of 1 case"
    after = ["Bike shop / book_repair" if label == "Bike shop / search_bikes" else label for label in before]
    assert await expected(bench) == after
    bench.session.undo()
    await bench.until(lambda: bench.page.presenter.rows()[0].expected == before[0])
    assert await expected(bench) == before
    bench.session.redo()
    await bench.until(lambda: bench.page.presenter.rows()[0].expected == after[0])


@with_cases
async def test_many_cases_lose_a_server_and_get_it_back(bench: Bench) -> None:
    sheet = await ask(bench, "cases.label")
    assert isinstance(sheet, LabelSheet)
    _, remove = sheet._servers
    QTest.keyClicks(remove.entry, "bike shop,")
    sheet._do.click()
    await bench.until(lambda: bench.toasts)
    assert {row.servers for row in bench.page.presenter.rows()} == {()}
    bench.session.undo()
    await bench.until(lambda: {row.servers for row in bench.page.presenter.rows()} == {("Bike shop",)})
