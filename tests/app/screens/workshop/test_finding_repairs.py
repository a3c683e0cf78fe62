"""Findings of Quality in the workshop: the repair is put in as one step, or the advice leads to the field at fault."""

from PySide6.QtWidgets import QApplication

from app.core_link.targets import ChangeTool
from app.screens.quality.page import QualityPage
from app.screens.workshop import commands as ids
from mcp_tef import TefError, Tool, ToolLabel, ToolProblem
from tests.app.screens.workshop.test_drafts import WorkshopBench, workshop
from tests.support.fake_engine import FakeEngine, made_tool
from tests.support.windows import PageBench, session_for

SEARCH = ToolLabel(tool="search_bikes", server="Bike shop")
LIMIT = "parameter:limit"
ADVICE = "Say what to put there."
UNDOCUMENTED = ChangeTool(SEARCH, ADVICE, rule="parameter-undocumented", place="parameter limit")
CODED = made_tool("rent_bike", "Rent a bike.", "Bike shop", code={"type": "string", "description": "A", "pattern": "("})
BROKEN = made_tool("rent_bike", "Rent a bike for a day.", "Bike shop", day={"type": "str", "description": "A day"})


async def list_also(bench: WorkshopBench, *tools: Tool) -> None:
    """Let the server list more tools."""
    listed = bench.fake.gateway.servers["Bike shop"]
    assert not isinstance(listed, TefError)
    bench.fake.gateway.servers["Bike shop"] = (*listed, *tools)
    (server,) = await bench.fake.servers.list()
    await bench.fake.servers.tools(server.id)


async def open_finding(bench: WorkshopBench, target: ChangeTool, field: str) -> None:
    """Come from Quality, and wait until the field at fault has the keyboard."""
    bench.page.open_target(target)
    await bench.page.settled()
    await bench.until(lambda: (row := bench.page.view.editor.row(field)) and row.editor().hasFocus())


async def test_the_repair_of_a_finding_is_put_in_as_one_step_and_told(qapp: QApplication) -> None:
    async with workshop() as bench:
        await open_finding(bench, UNDOCUMENTED, LIMIT)
        note = bench.page.view.editor.put_in
        assert (bench.draft.step, bench.draft.changed_tools()) == (1, ("search_bikes",))
        assert "10" in bench.row(LIMIT).draft.text()
        assert "finding" in note.accessibleName()
        bench.do(ids.UNDO)
        await bench.until(lambda: bench.row(LIMIT).draft.text() == "")
        assert note.isHidden()
        bench.do(ids.REDO)
        await bench.until(lambda: not note.isHidden())
        await open_finding(bench, UNDOCUMENTED, LIMIT)
        assert bench.draft.step == 1
        assert "gone" in note.accessibleName()
        bench.page.open_target(ChangeTool(ToolLabel(tool="book_repair", server="Bike shop")))
        await bench.until(lambda: bench.page.view.editor.name.text() == "book_repair")
        assert note.isHidden()


async def test_a_finding_that_needs_knowledge_leads_to_its_field_with_the_advice(qapp: QApplication) -> None:
    async with workshop() as bench:
        await list_also(bench, CODED)
        tool = ToolLabel(tool=CODED.name, server="Bike shop")
        target = ChangeTool(tool, "Correct it.", rule="schema-pattern-invalid", place="parameter code")
        await open_finding(bench, target, "parameter:code")
        editor = bench.page.view.editor
        assert bench.draft.step == 0
        assert "Correct it." in editor.put_in.accessibleName()
        assert "Pattern" in editor.put_in.accessibleName()


async def test_a_value_that_only_all_fields_show_is_shown_where_the_finding_is_about_it(qapp: QApplication) -> None:
    async with workshop() as bench:
        target = ChangeTool(SEARCH, "Correct it.", rule="parameter-default-invalid", place="parameter limit")
        await open_finding(bench, target, "json default:limit")
        assert bench.page.presenter.every_field


async def test_a_definition_that_was_set_aside_is_repaired_in_the_draft(qapp: QApplication) -> None:
    async with workshop() as bench:
        bench.fake.gateway.problems = (ToolProblem(tool="rent_bike", reason="Bad type.", place=3, raw=BROKEN.raw),)
        (server,) = await bench.fake.servers.list()
        await bench.fake.servers.tools(server.id)
        rent = ToolLabel(tool="rent_bike", server="Bike shop")
        target = ChangeTool(rent, "Correct it.", rule="schema-invalid", place="inputSchema")
        await open_finding(bench, target, "description")
        after = bench.draft.revisions[0].after
        assert after is not None
        assert after["inputSchema"]["properties"]["day"]["type"] == "string"


async def test_quality_names_rule_and_place_of_the_finding(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    (server,) = await fake.servers.list()
    await fake.servers.tools(server.id)
    async with session_for(fake) as (session, _):
        bench = PageBench(QualityPage, session, fake)
        await bench.open(1280)
        page = bench.page
        await bench.until(lambda: page.view.table.rows.ids())
        page.view.table.select("Bike shop/search_bikes")
        await bench.until(lambda: page.view.detail.quality)
        page._fix("parameter-undocumented")
        (target,) = bench.gone
        assert isinstance(target, ChangeTool)
        assert (target.tool, target.rule, target.place) == (SEARCH, UNDOCUMENTED.rule, UNDOCUMENTED.place)
        assert target.reason
        await bench.close()
