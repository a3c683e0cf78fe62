"""The Clients tab: which cut, limit or search loses a tool, sources of figures, and profiles of one's own."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.targets import ShowBatch, ShowCase, ShowModels
from app.screens.models.client_grid import RUN_TEXTS, VISIBILITY_MARKS
from app.screens.models.clients_tab import ClientsTab, ProfilesPane
from app.screens.models.page import ModelsPage
from app.widgets import Dialog
from mcp_tef import (
    BatchRequest,
    CaseDraft,
    CaseVisibility,
    Expectation,
    ExpectedCall,
    ModelSettings,
    ServerSpec,
    Transport,
)
from mcp_tef.workflows.clients import Clients
from tests.support.fake_engine import FakeEngine, made_tool
from tests.support.windows import opened_dialog, page_bench

LONG = "Tell the weather. " + "Of places near and far. " * 100 + "Snow depth for skiers."
PROFILE = "name: mine\ntitle: My client\nversion: 1\nchecked: '2026-11-26'\nmost_tools: {}\n"


async def engine_with_a_long_tool(folder: Path) -> FakeEngine:
    """Five tools that read about weather, one of them long, and a case for it; a batch as two clients asked."""
    tools = [made_tool("weather", LONG, "Weather")]
    tools += [made_tool(f"snow_skiers_{place}", "Snow depth for skiers.", "Weather") for place in range(6)]
    fake = FakeEngine({"Weather": tools})
    fake.clients = Clients(folder, fake.embedders)
    await fake.open_sample()
    await fake.servers.add(ServerSpec(name="Weather", transport=Transport.STREAMABLE_HTTP, url="http://127.0.0.1/w"))
    for server in await fake.servers.list():
        await fake.servers.tools(server.id)
    weather = Expectation(alternatives=((ExpectedCall(tool="weather", server="Weather"),),))
    drafts = [
        CaseDraft(name="Skiers", query="snow depth for skiers", servers=("Weather",), expectation=weather),
        CaseDraft(name="Weather", query="tell the weather", servers=("Weather",), expectation=weather),
    ]
    ids = tuple(case.id for case in await fake.cases.add(drafts))
    models = tuple(ModelSettings(client=fake.clients.find(name).label) for name in ("plain-api", "claude-code"))
    batch = await fake.runs.start(BatchRequest(cases=ids, models=models))
    await fake.runs.wait(batch.id)
    return fake


async def test_the_grid_says_what_lost_a_tool_and_leads_to_run_case_and_sources(
    tmp_path: Path, qapp: QApplication
) -> None:
    fake = await engine_with_a_long_tool(tmp_path)
    async with page_bench(ModelsPage, fake) as bench:
        bench.page.open_target(ShowModels("clients"))
        await bench.page.settled()
        tab = bench.page.tab("clients")
        assert isinstance(tab, ClientsTab)
        rows = {row.case.name: row for row in tab.presenter.rows.values()}
        differ = [row.differs for row in rows.values()]
        assert differ == sorted(differ, reverse=True), "cases that differ come first"
        cells = {name: row.cells["claude-code"] for name, row in rows.items() if name in ("Skiers", "Weather")}
        assert cells["Skiers"].visibility is CaseVisibility.NOT_FOUND
        assert cells["Weather"].visibility is CaseVisibility.CUT
        assert "skiers" in cells["Weather"].lost
        detail = tab.grid.detail
        tab.grid.table.select(rows["Skiers"].case.id)
        detail.clients.select("claude-code")
        assert "not asked" in detail.runs.text()
        detail.clients.select("plain-api")
        assert "shown, not selected" in detail.runs.text() or "shown and selected" in detail.runs.text()
        QTest.keyClick(detail.clients, Qt.Key.Key_Return)
        await bench.until(lambda: isinstance(bench.gone[-1:] and bench.gone[-1], ShowBatch))
        tab.grid.table.select(rows["Weather"].case.id)
        detail.clients.select("codex-cli")
        QTest.keyClick(detail.clients, Qt.Key.Key_Return)
        await bench.until(lambda: bench.gone[-1] == ShowCase(rows["Weather"].case.id))
        detail.links.buttons[-1].click()
        assert bench.page.current_target() == ShowModels("clients", "codex-cli")


async def test_a_profile_with_a_limit_of_0_is_refused_in_a_sentence_and_a_sound_one_is_added(
    tmp_path: Path, qapp: QApplication
) -> None:
    fake = FakeEngine()
    fake.clients = Clients(tmp_path / "own", fake.embedders)
    async with page_bench(ModelsPage, fake) as bench:
        bench.page.open_target(ShowModels("clients"))
        await bench.page.settled()
        tab = bench.page.tab("clients")
        assert isinstance(tab, ClientsTab)
        assert tab.empty.isVisible()
        file = tmp_path / "mine.yaml"
        file.write_text(PROFILE.format(0), "utf-8")
        await tab.add(file)
        assert "most_tools" in tab.notice.accessibleName()
        assert "mine" not in tab.presenter.clients
        file.write_text(PROFILE.format(1), "utf-8")
        await tab.add(file)
        assert not tab.notice.isVisible()
        assert isinstance(tab.profiles, ProfilesPane)
        assert tab.profiles.cards.current_id() == "mine"
        (tmp_path / "own" / "mine.yaml").write_text("name: [", "utf-8")
        await tab.refresh()
        assert "mine.yaml" in tab.notice.accessibleName()
        assert "mine" in tab.presenter.clients, "what was read before stays"


async def test_a_profile_is_replaced_with_a_yes_and_undo_brings_the_old_one_back(
    tmp_path: Path, qapp: QApplication
) -> None:
    fake = FakeEngine()
    fake.clients = Clients(tmp_path / "own", fake.embedders)
    file, kept = tmp_path / "mine.yaml", tmp_path / "own" / "mine.yaml"
    async with page_bench(ModelsPage, fake) as bench:
        bench.page.open_target(ShowModels("clients"))
        await bench.page.settled()
        tab = bench.page.tab("clients")
        assert isinstance(tab, ClientsTab)
        file.write_text(PROFILE.format(1), "utf-8")
        await tab.add(file)
        before = kept.read_text("utf-8")
        for yes in (False, True):
            file.write_text(PROFILE.format(7), "utf-8")
            work = bench.session.spawn(tab.add(file))
            question = await opened_dialog(tab, Dialog)
            assert "mine" in question.windowTitle()
            question.accept() if yes else question.reject()
            await work
            assert (kept.read_text("utf-8") == before) is not yes
        bench.session.undo()
        await bench.until(lambda: kept.read_text("utf-8") == before)
        bench.session.undo()
        await bench.until(lambda: not kept.exists())


def test_no_mark_of_the_grid_means_a_tool_list_and_a_run() -> None:
    assert not set(VISIBILITY_MARKS.values()) & set(RUN_TEXTS)
