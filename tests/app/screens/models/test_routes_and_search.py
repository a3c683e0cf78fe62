"""The Routes and Search tabs, used as a designer does."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from app.core_link.targets import ShowModels, StartRuns
from app.dialogs.consent import ApiKeyDialog
from app.screens.models.definition_tab import LinesDialog
from app.screens.models.page import ModelsPage
from app.screens.models.routes_tab import RoutesTab
from app.screens.models.routes_view import CompareDialog, RouteDialog
from app.screens.models.search_presenter import SearchToolForm
from app.screens.models.search_tab import SearchTab, SearchToolDialog
from mcp_tef import (
    BatchRequest,
    ChangedMeanwhileError,
    ModelRoute,
    ModelRouter,
    ModelSettings,
    SearchProvider,
    SearchTool,
    Secret,
)
from tests.support.displayed_text import drawn
from tests.support.fake_engine import FakeEngine
from tests.support.search_services import FORMS, SearchService
from tests.support.windows import PageBench, opened_dialog, session_for, until

LARGE, SMALL = "openai/gpt-4.1-mini", "ollama/qwen3:8b"
KEYS = {"openai": Secret("sk-of-a-test")}
DESK = ModelRouter(
    name="desk",
    routes=(
        ModelRoute(target=LARGE, utterances=("My brakes squeak, look at them", "Book a repair")),
        ModelRoute(target=SMALL, utterances=("Do you have a city bike?",), threshold=0.9),
    ),
    default=SMALL,
    embedder="tfidf",
)


class ModelsBench(PageBench[ModelsPage]):
    """The page, with what a user does there."""

    def do(self, command: str) -> None:
        """Do a command of the page, as its key does."""
        one = next(one for one in self.page.commands() if one.id == command)
        assert one.needs(), command
        self.session.do(one.do)

    async def refused(self, dialog: RouteDialog | SearchToolDialog, told: str) -> None:
        """Accept a form, which stays open and says why."""
        await dialog.agree()
        assert told in dialog.notice.accessibleName()

    async def routes(self) -> RoutesTab:
        """The Routes tab, with the first router selected."""
        self.page.open_target(ShowModels("routes"))
        tab = self.page.tab("routes")
        assert isinstance(tab, RoutesTab)
        await self.page.settled()
        return tab

    async def search(self) -> SearchTab:
        """The Search tab, with the first tool selected."""
        self.page.open_target(ShowModels("search"))
        tab = self.page.tab("search")
        assert isinstance(tab, SearchTab)
        await self.page.settled()
        return tab


@asynccontextmanager
async def models(routers: Sequence[ModelRouter] = (), *tools: SearchTool) -> AsyncIterator[ModelsBench]:
    """The page over routers and search tools."""
    fake = FakeEngine(environment={"OPENAI_API_KEY": "sk-of-a-test"})
    await fake.targets.add_all((), routers)
    for tool in tools:
        await fake.searches.add(tool)
    async with session_for(fake) as (session, _):
        bench = ModelsBench(ModelsPage, session, fake)
        await bench.open(1104)
        yield bench
        await bench.close()


async def test_a_query_is_tried_and_the_router_changed_until_it_goes_right(qapp: QApplication) -> None:
    async with models([DESK]) as bench:
        tab = await bench.routes()
        view = tab.view
        view.query.setPlainText("Can you book a repair of my brakes?")
        await bench.until(lambda: view.head.text() == f"Goes to {LARGE}")
        assert view.utterances.rows.rowCount() == 2
        assert all(row.cells[1].text for row in (view.utterances.rows.row(0), view.utterances.rows.row(1)))
        view.query.setPlainText("A city bike with a red basket for my child")
        await bench.until(lambda: view.head.text() == f"Goes to {SMALL}")
        assert "No route reaches its threshold." in view.note.text()
        view.threshold.setText("much")
        view.threshold.editingFinished.emit()
        assert "“much”" in drawn(tab)
        view.threshold.setText("7")
        view.threshold.editingFinished.emit()
        assert "desk is 7. Write a number" in drawn(tab)
        view.routes.select(SMALL)
        view.own_threshold.setText("0.2")
        view.own_threshold.editingFinished.emit()
        await bench.until(lambda: "over its 0.20" in view.note.text())
        bench.do("models.add_utterances")
        dialog = await opened_dialog(bench.page, LinesDialog)
        dialog.area.setPlainText("Which city bike is best?\n\nShow me bikes\n")
        await dialog.agree()
        await bench.until(lambda: view.utterances.rows.rowCount() == 3)
        bench.session.undo()
        await bench.until(lambda: view.utterances.rows.rowCount() == 1)
        bench.do("models.use_router")
        assert bench.gone[-1] == StartRuns(model="router/desk")


async def test_what_cannot_be_a_router_is_refused_and_nothing_typed_is_lost(qapp: QApplication) -> None:
    async with models() as bench:
        tab = await bench.routes()
        assert "No routers yet" in drawn(tab)
        bench.do("models.new_router")
        dialog = await opened_dialog(bench.page, RouteDialog)
        dialog.name.setText("desk")
        await bench.refused(dialog, "No model is selected for the route.")
        dialog.target.set_current("group/none")
        await bench.refused(dialog, "The route group/none has no utterance.")
        dialog.utterances.setPlainText("  \nBook a repair")
        await bench.refused(dialog, "The default of the router desk is missing.")
        dialog.default.set_current(SMALL)
        await bench.refused(dialog, "There is no group named none.")
        dialog.target.set_current(LARGE)
        await dialog.agree()
        await bench.until(lambda: tab.cards.current_id() == "desk")
        bench.do("models.remove_route")
        await until(lambda: bench.failed == [f"{LARGE} is the only route of desk."])
        bench.failed.clear()
        bench.do("models.delete_router")
        await bench.until(lambda: "No routers yet" in drawn(tab))
        bench.session.undo()
        await bench.until(lambda: tab.cards.current_id() == "desk")


async def test_a_router_is_compared_from_stored_runs_and_missing_ones_are_named(qapp: QApplication) -> None:
    async with models([DESK]) as bench:
        tab = await bench.routes()
        await bench.fake.open_sample()
        bench.do("models.compare")
        await (await opened_dialog(bench.page, CompareDialog)).agree()
        pane = tab.view.comparison
        await bench.until(lambda: "4 cases without a judged run of every model" in pane.note.text())
        pane.run.click()
        asked = bench.gone[-1]
        assert isinstance(asked, StartRuns)
        assert set(asked.model.split(", ")) == {LARGE, SMALL}
        for label in (LARGE, SMALL):
            provider, _, name = label.partition("/")
            model = ModelSettings(provider=provider, model=name, input_price=1.0, output_price=1.0)
            batch = await bench.fake.runs.start(BatchRequest(models=(model,)), KEYS if provider == "openai" else {})
            await bench.fake.runs.wait(batch.id)
        bench.do("models.compare")
        await (await opened_dialog(bench.page, CompareDialog)).agree()
        await bench.until(lambda: pane.arms.rows.rowCount() == 3)
        assert pane.can_save()
        assert sum(int(pane.went.rows.row(place).cells[1].text) for place in range(pane.went.rows.rowCount())) == 4
        assert len(pane.chart.plot().points) >= 1
        pane.threshold_wanted.emit(0.55)
        await bench.until(lambda: tab.router is not None and tab.router.threshold == 0.55)
        await bench.until(lambda: tab.router in tab.presenter.comparisons)


async def test_a_search_tool_is_made_and_searched_and_errors_are_one_sentence(qapp: QApplication) -> None:
    with SearchService(answer=FORMS["brave"]) as service:
        brave = SearchTool(name="web", provider=SearchProvider.BRAVE, base_url=service.url)
        async with models((), brave) as bench:
            tab = await bench.search()
            bench.do("models.search_now")
            await bench.until(lambda: "The query is empty or too long." in drawn(tab))
            tab.query.setText("pumps")
            tab.number.setText("many")
            bench.do("models.search_now")
            await bench.until(lambda: "“many”" in drawn(tab))
            tab.number.setText("5")
            tab.presenter.tools["web"] = await tab.presenter._typed(brave)
            bench.do("models.search_now")
            await bench.until(lambda: "There is no key for brave." in drawn(tab))
            bench.do("models.search_key")
            key = await opened_dialog(bench.page, ApiKeyDialog)
            key.edit.setText("typed")
            key._take()
            await bench.until(lambda: "key at hand" in drawn(tab))
            bench.do("models.search_now")
            await bench.until(lambda: tab.results.rows.rowCount() == 1)
            assert "https://docs.example.com/pumps" in tab.page.text()
            service.status, service.answer = 401, {"error": "no"}
            bench.do("models.search_now")
            await bench.until(lambda: "key" in str(tab.presenter.answers["web"]))
            service.status, service.answer = 200, "<html>"
            bench.do("models.search_now")
            await bench.until(lambda: tab.results.rows.rowCount() == 0)
            assert "brave" in str(tab.presenter.answers["web"]).casefold()
            bench.do("models.new_search_tool")
            dialog = await opened_dialog(bench.page, SearchToolDialog)
            dialog.name.setText("own")
            dialog.provider.set_current(SearchProvider.SEARXNG.value)
            await bench.refused(dialog, "The search tool own does not say where SearXNG is.")
            dialog.address.setText(service.url)
            await dialog.agree()
            await bench.until(lambda: tab.cards.current_id() == "own")
            bench.do("models.delete_search_tool")
            await bench.until(lambda: "own" not in tab.presenter.tools)


async def test_what_another_hand_changed_in_a_router_or_search_tool_survives_the_edit_and_its_undo(
    qapp: QApplication,
) -> None:
    tool = SearchTool(name="web", provider=SearchProvider.SEARXNG, base_url="http://127.0.0.1:8080", engine="one")
    async with models([DESK], tool) as bench:
        await bench.search()
        routes, search = (await bench.routes()).presenter, (await bench.search()).presenter
        targets, searches = bench.fake.targets, bench.fake.searches
        await searches.add(replace(tool, description="Theirs"))
        shown = replace(SearchToolForm.of(tool), engine="two")
        mine = await search.edit(tool, shown)
        assert await searches.find("web") == replace(tool, description="Theirs", engine="two")
        await search.save(tool, mine)
        assert await searches.find("web") == replace(tool, description="Theirs")
        with pytest.raises(ChangedMeanwhileError, match="“Theirs”; you wanted “Mine”"):
            await search.edit(tool, replace(shown, description="Mine"))
        await targets.add_router(replace(DESK, threshold=0.75))
        routes.routers[DESK.name] = DESK
        before, after = await routes.change(DESK.name, lambda one: replace(one, embedder="fastembed"))
        assert await targets.router(DESK.name) == replace(DESK, threshold=0.75, embedder="fastembed")
        await routes.save(before, after)
        assert await targets.router(DESK.name) == replace(DESK, threshold=0.75)
        with pytest.raises(ChangedMeanwhileError):
            await routes.save(replace(DESK, threshold=0.5))
