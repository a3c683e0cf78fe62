"""The tab that searches for a better text: planned for a budget, run, stopped, and its texts opened as drafts."""

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.targets import ShowDraft
from app.screens.workshop import commands as ids
from app.screens.workshop.batch_tab import CrowdOptionsDialog
from app.screens.workshop.improvement_tab import ImprovementTab
from mcp_tef import ModelSettings
from tests.app.screens.workshop.test_drafts import WorkshopBench, workshop
from tests.support.windows import opened_dialog


async def search_tab(bench: WorkshopBench) -> ImprovementTab:
    """The tab, over the server of a changed draft, once the search is planned."""
    await bench.change()
    bench.do(ids.FIND)
    tab = bench.page.tabs.tab
    assert isinstance(tab, ImprovementTab)
    await bench.until(lambda: tab.presenter.plan_made)
    return tab


async def test_a_better_text_is_sought_offline_and_opened_as_a_draft(qapp: QApplication) -> None:
    async with workshop() as bench:
        tab = await search_tab(bench)
        await bench.until(lambda: "sealed" in tab.banner.claims[0].text())
        tab.session.spawn(tab.ask_options())
        options = await opened_dialog(bench.page, CrowdOptionsDialog)
        options.edits["budget"].selectAll()
        QTest.keyClicks(options.edits["budget"], "3")
        options.use.click()
        await bench.until(lambda: "too small" in tab.banner.claims[0].text())
        assert not bench.can(ids.TRY)
        tab.presenter.budget = 500
        await tab.replan()
        bench.do(ids.TRY)
        await bench.until(lambda: tab.presenter.found)
        await bench.until(lambda: tab.presenter.sentences()[0] == tab.banner.claims[0].text())
        assert len(tab.table.rows.ids()) == len(tab.presenter.rows())
        assert len(tab.log.rows.ids()) == len(tab.presenter.steps) > 0
        found = tab.presenter.draft_id
        if found is not None:
            next(link for link in tab.banner.links.buttons if link.text() == "Show the draft").click()
            assert bench.gone == [ShowDraft(found)]
        rows = [row for row in tab.presenter.rows() if row.candidate.texts]
        if rows:
            tab.table.select(rows[-1].key)
            gone = len(bench.gone)
            bench.do(ids.ACCEPT)
            await bench.until(lambda: len(bench.gone) > gone)
            await tab.open_draft()
            assert bench.gone[-1] == bench.gone[-2]
            assert next(iter(rows[-1].candidate.texts.values())) in tab.pane.text.text()


async def test_a_search_that_is_stopped_keeps_its_log_and_no_draft(qapp: QApplication) -> None:
    async with workshop() as bench:
        tab = await search_tab(bench)
        drafts = len(await bench.fake.drafts.list())
        bench.fake.selector.gate.clear()  # else the search may be over before anybody can stop it
        bench.do(ids.TRY)
        await bench.until(lambda: bench.fake.selector.under_way)
        bench.do(ids.STOP)
        await bench.until(lambda: not tab.presenter.under_way and not bench.fake.runs.active())
        await bench.until(lambda: "stopped" in tab.banner.claims[0].text())
        await bench.until(lambda: tab.footer.go.text() == "Find a better text")
        assert len(await bench.fake.drafts.list()) == drafts


async def test_a_model_of_the_trial_is_the_model_of_the_search(qapp: QApplication) -> None:
    async with workshop() as bench:
        await bench.change()
        bench.page.trial.presenter.choose([ModelSettings(provider="openai", model="gpt-x")])
        bench.do(ids.FIND)
        tab = bench.page.tabs.tab
        assert isinstance(tab, ImprovementTab)
        request = tab.presenter.request()
        assert (request.settings.model, request.writer, request.server) == ("gpt-x", request.settings, "Bike shop")
