"""Cases of a trial, added and moved by hand."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.screens.workshop.draft_dialogs import AddCasesDialog
from app.screens.workshop.trial_cases import AGAIN, BROKEN, TrialCaseRow, guards_count_text
from mcp_tef import CaseDraft, CaseId
from tests.app.screens.workshop.test_drafts import workshop
from tests.app.screens.workshop.test_trials import changed
from tests.support.windows import opened_dialog, until


async def test_a_case_is_moved_to_the_other_list_by_keyboard(qapp: QApplication) -> None:
    async with workshop() as bench:
        await changed(bench)
        cases, guards = bench.page.view.cases.table, bench.page.view.guards.table
        moved = guards.rows.ids()[0]
        guards.select(moved)
        guards.setFocus()
        QTest.keyClick(guards, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
        await until(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
        menu = QApplication.activePopupWidget()
        assert menu is not None
        QTest.keyClick(menu, Qt.Key.Key_Down)
        QTest.keyClick(menu, Qt.Key.Key_Return)
        await bench.until(lambda: moved in cases.rows.ids())
        assert moved not in guards.rows.ids()
        row = cases.rows.row(cases.rows.ids().index(moved))
        assert row.cells[2].text == "added by you"


async def test_cases_that_must_not_change_say_how_many_were_asked_and_broke() -> None:
    rows = [TrialCaseRow(id=CaseId(str(number)), name="", query="") for number in range(3)]
    assert guards_count_text(rows) == "3 cases"
    rows[0] = replace(rows[0], said=AGAIN)
    assert guards_count_text(rows) == "3 cases · 1 asked, none broken"
    assert guards_count_text([replace(row, said=BROKEN) for row in rows]) == "3 cases · 3 broken"


async def test_a_case_that_is_held_back_is_asked_and_never_shown(qapp: QApplication) -> None:
    async with workshop() as bench:
        draft = CaseDraft(name="Secret", query="Somebody to book a repair?", servers=("Bike shop",), held_back=True)
        (hidden,) = await bench.fake.cases.add([draft])
        await changed(bench)
        bench.page.trial.add_cases(bench.page.view.cases, about=True)
        dialog = await opened_dialog(bench.page, AddCasesDialog)
        cells = {row: dialog.table.rows.row(place).cells for place, row in enumerate(dialog.table.rows.ids())}
        assert all(cell.text in ("", "held back", "must not change") for cell in cells[hidden.id][1:])
        dialog.reject()


async def test_most_rounds_and_cases_that_must_not_change_are_options(qapp: QApplication) -> None:
    async with workshop() as bench:
        await changed(bench)
        options = {one.text: one for one in bench.page.trial.options()}
        next(one for one in options["Most rounds with a model"].under if one.text == "10").do()
        next(one for one in options["Most cases that must not change"].under if one.text == "0").do()
        await bench.until(lambda: not bench.page.view.guards.table.rows.ids())
        (request,) = bench.page.trial.presenter.requests(bench.draft)
        assert (request.rounds, request.guards) == (10, ())


async def test_any_case_of_the_server_can_be_added(qapp: QApplication) -> None:
    async with workshop() as bench:
        await changed(bench)
        page = bench.page
        await bench.fake.cases.add([CaseDraft(name="Elsewhere", query="A wheel of cheese", servers=("Dairy",))])
        drafts = [CaseDraft(name=f"Wheel {n}", query=f"Zyx {n}", servers=("Bike shop",)) for n in range(40)]
        more = {case.id for case in await bench.fake.cases.add(drafts)}
        await bench.until(lambda: more & set(page.view.guards.table.rows.ids()))
        left = more.difference(page.view.guards.table.rows.ids(), page.view.cases.table.rows.ids())
        page.view.cases.add.click()
        dialog = await opened_dialog(page, AddCasesDialog)
        assert not dialog.add.isEnabled()
        assert left <= set(dialog.table.rows.ids())
        dialog.search.setText("cheese")
        assert not dialog.table.rows.ids()
        dialog.search.setText("wheel")
        added = dialog.table.rows.ids()[0]
        assert added in left
        dialog.table.tick([added], ticked=True)
        dialog.add.click()
        await bench.until(lambda: added in page.view.cases.table.rows.ids())
