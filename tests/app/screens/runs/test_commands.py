"""Links from a run to other screens and back."""

from PySide6.QtCore import Qt

from app.core_link.targets import ShowCase, ShowRuns, ShowTool
from mcp_tef import Classification, RunFilter, ToolLabel
from tests.app.screens.runs.conftest import Desk, on_page


@on_page()
async def test_a_run_leads_to_its_case_and_to_the_tool(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    verdict = desk.page.detail.verdict
    await desk.until(lambda: "search_bikes" in verdict.head.sentence.text())
    verdict.head.links.buttons[0].click()
    verdict.pairs[0].expected.links.buttons[0].click()
    cases = await desk.session.call(lambda core: core.cases.list())
    tool = ToolLabel(tool="search_bikes", server="Bike shop")
    assert desk.gone == [ShowCase(cases[0].id), ShowTool(tool)]
    possible = [one.id for one in desk.page.commands() if one.id.startswith("runs.to") and one.needs()]
    assert possible == ["runs.to.case", "runs.to.expected", "runs.to.selected"]


@on_page()
async def test_who_comes_back_finds_the_run_that_was_looked_at(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    desk.bot.keyClick(desk.page.run_list.table, Qt.Key.Key_Down)
    head = desk.page.detail.verdict.head
    await desk.until(lambda: "new chain" in head.query.text())
    here = desk.page.current_target()
    desk.page.open_target(ShowRuns(RunFilter(classifications=(Classification.FP,)), "One too many"))
    await desk.until(
        lambda: desk.page.run_list.summary_bar.note.text() == "One too many" and "new chain" not in head.query.text()
    )
    assert here is not None
    desk.page.open_target(here)
    await desk.until(lambda: "new chain" in head.query.text())
    assert desk.page.current_target() == here
