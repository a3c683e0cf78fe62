"""Doubtful cases in the window, and what answers them, each with undo."""

from PySide6.QtWidgets import QPushButton

from app.screens.cases.case_checks import CaseChecksDialog
from mcp_tef import CaseDraft, CaseId, Expectation, ExpectedCall
from tests.support.cases_page import BIKE, Bench, command
from tests.support.windows import opened_dialog

NAMED = CaseDraft(
    name="Named",
    query="Use search_parts for a bell",
    servers=("Bike shop",),
    expectation=Expectation(((ExpectedCall(tool="search_parts", server="Bike shop"),),)),
)
GONE = CaseDraft(
    name="Gone",
    query="A bell, please",
    servers=("Bike shop",),
    expectation=Expectation(((ExpectedCall(tool="search_part", server="Bike shop"),),)),
)
TWICE = CaseDraft(name="Twice", query=BIKE, servers=("Bike shop",))


async def checked(bench: Bench, *drafts: CaseDraft) -> tuple[CaseChecksDialog, list[CaseId]]:
    """The dialog over the sample and these cases, with their ids."""
    cases = await bench.session.call(lambda core: core.cases.add(drafts))
    await bench.until(lambda: bench.page.table.rows.rowCount() == bench.page.presenter.total == 4 + len(drafts))
    command(bench.page, "cases.check")()
    dialog = await opened_dialog(bench.page, CaseChecksDialog)
    await bench.until(lambda: "doubt" in dialog.summary.text())
    return dialog, [case.id for case in cases]


async def push(bench: Bench, dialog: CaseChecksDialog, text: str) -> None:
    def buttons() -> list[QPushButton]:
        return [one for one in dialog.findChildren(QPushButton) if one.isVisible() and one.text().startswith(text)]

    await bench.until(buttons)
    buttons()[0].click()


async def test_an_expectation_that_is_not_offered_is_replaced_by_the_nearest_tool_and_undone(bench: Bench) -> None:
    dialog, (case,) = await checked(bench, GONE)
    await push(bench, dialog, "Expect ")
    await bench.until(lambda: not dialog.findings)
    stored = await bench.session.call(lambda core: core.cases.get(case))
    assert stored.draft.expectation.first_call is not None
    assert stored.draft.expectation.first_call.tool == "search_parts"
    dialog.undo()
    await bench.until(lambda: dialog.findings)
    assert (await bench.session.call(lambda core: core.cases.get(case))).draft == GONE


async def test_a_duplicate_is_deleted_and_undone(bench: Bench) -> None:
    dialog, (case,) = await checked(bench, TWICE)
    await push(bench, dialog, "Delete")
    await bench.until(lambda: not dialog.findings)
    assert case not in bench.page.presenter.drafts([case])
    dialog.undo()
    await bench.until(lambda: dialog.findings)
    assert case in bench.page.presenter.drafts([case])


async def test_a_query_that_names_its_tool_is_edited_in_the_editor(bench: Bench) -> None:
    dialog, (case,) = await checked(bench, NAMED)
    assert "search_parts" in dialog.sentence.text()
    await push(bench, dialog, "Edit")
    await bench.until(lambda: bench.page.presenter.current == case)
    assert bench.page.editor.query.toPlainText() == NAMED.query
    assert bench.page.focusWidget() is bench.page.editor.query


async def test_only_the_cases_asked_about_are_listed(bench: Bench) -> None:
    await bench.session.call(lambda core: core.cases.add([NAMED, GONE]))
    page = bench.page
    await bench.until(lambda: page.presenter.total == 6)
    assert page.header.search is not None
    page.header.search.setText("bell, please")
    await bench.until(lambda: page.table.rows.rowCount() == 1)
    command(page, "cases.check")()
    dialog = await opened_dialog(page, CaseChecksDialog)
    await bench.until(lambda: dialog.findings)
    assert {one.name for one in dialog.findings.values()} == {"Gone"}
