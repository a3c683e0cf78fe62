"""A workspace of groups, routers and search tools, and how a user gets to what is shown of them."""

from functools import partial

from app.core_link.targets import ShowModels
from app.screens.models.catalogue_tab import CatalogueTab
from app.screens.models.groups_tab import DeploymentDialog, GroupsTab
from app.screens.models.page import ModelsPage
from app.screens.models.routes_presenter import RouteComparisonRequest
from app.screens.models.routes_tab import RoutesTab
from app.screens.models.routes_view import COMPARE, RouteDialog
from app.screens.models.search_tab import SearchTab, SearchToolDialog
from mcp_tef import BatchRequest, Deployment, Engine, ModelGroup, ModelRoute, ModelRouter, ModelSettings, Secret
from mcp_tef.model.web_search import SearchProvider, SearchTool
from tests.shots.answers import Answers
from tests.shots.stage import Stage
from tests.support.model_stub import ModelStub
from tests.support.search_services import SearchService
from tests.support.windows import until

LARGE, SMALL = "openai/gpt-4.1", "ollama/qwen3-small"
GROUPS = (
    ModelGroup(
        name="fast",
        deployments=(
            Deployment(provider="openai", model="gpt-4.1-mini", rpm=500, tpm=200_000),
            Deployment(provider="groq", model="llama-3.3-70b-versatile", rpm=30, tpm=12_000),
            Deployment(provider="ollama", model="qwen3-small", base_url="http://127.0.0.1:9/v1", rpm=60),
        ),
    ),
    ModelGroup(name="spare", deployments=(Deployment(provider="ollama", model="qwen3:8b"),)),
)
HARD = (
    "Move my repair booking to another day",
    "What would a full service cost for a bike?",
    "Put a note into the booking that the customer wants a loan bike",
    "Forget about the repair, I fixed it myself",
)
EASY = (
    "Is part CH-012 in stock at the station branch?",
    "Find spare parts for brakes with a highest price",
    "How is my bike doing, is the repair ready?",
)
ROUTERS = (
    ModelRouter(
        name="front-desk",
        routes=(
            ModelRoute(target=LARGE, utterances=HARD, description="several steps"),
            ModelRoute(target=SMALL, utterances=EASY),
        ),
        default=SMALL,
        embedder="tfidf",
    ),
    ModelRouter(
        name="night-shift",
        routes=(ModelRoute(target="group/fast", utterances=("My bike was stolen",)),),
        default="group/spare",
        embedder="tfidf",
    ),
)
SEARCHES = (
    SearchTool(name="web", provider=SearchProvider.BRAVE, description="Pages about bicycle parts"),
    SearchTool(name="own", provider=SearchProvider.SEARXNG, base_url="http://127.0.0.1:9"),
    SearchTool(name="papers", provider=SearchProvider.EXA_AI),
)
PAGES = (
    (
        "Tyre pressure for wide tyres",
        "https://wheels.example.com/pressure",
        "A 42 mm tyre takes 2.4 bar at 75 kg.",
    ),
    (
        "Tubeless from start to finish",
        "https://workshop.example.com/tubeless",
        "Rim tape, sealant, beads.",
    ),
    ("Pressure calculator", "https://calculator.example.com", "Enter width, weight and surface to get a pressure."),
)


async def fill(engine: Engine) -> None:
    """Groups, routers and search tools, and runs of two models for all cases of the sample."""
    await engine.open_sample()
    await engine.targets.add_all(GROUPS, ROUTERS)
    for tool in SEARCHES:
        await engine.searches.add(tool)
    with ModelStub(Answers(await engine.cases.list())) as stub:
        for label, prices in ((LARGE, (2.0, 8.0)), (SMALL, (0.1, 0.2))):
            provider, _, name = label.partition("/")
            engine.consents.add_typed_address(provider, stub.url)
            model = ModelSettings(
                provider=provider,
                model=name,
                base_url=stub.url,
                max_retries=0,
                input_price=prices[0],
                output_price=prices[1],
            )
            batch = await engine.runs.start(
                BatchRequest(name=name, models=(model,), repeats=2), {provider: Secret("sk-of-a-stub")}
            )
            await engine.runs.wait(batch.id)


async def _tab(stage: Stage, key: str, item: str = "") -> ModelsPage:
    page = await stage.page("models", ShowModels(key, item))
    assert isinstance(page, ModelsPage)
    await page.settled()
    return page


async def catalogue(stage: Stage) -> None:
    """The catalogue, a model of a provider selected."""
    await _catalogue(stage)


async def _catalogue(stage: Stage) -> CatalogueTab:
    page = await _tab(stage, "catalogue", "openai/gpt-4.1-mini")
    tab = page.tab("catalogue")
    assert isinstance(tab, CatalogueTab)
    await until(lambda: tab.table.current_id() == "openai/gpt-4.1-mini")
    return tab


async def catalogue_hello(stage: Stage) -> None:
    """A model that was asked hello without a key."""
    await (await _catalogue(stage)).ask_hello()


async def catalogue_none(stage: Stage) -> None:
    """A filter that no model fits."""
    tab = await _catalogue(stage)
    tab.price.set_current("0")
    tab.price.changed.emit("0")
    tab.find_rows("gpt-4.1 frog")


async def groups(stage: Stage) -> None:
    """A group whose third deployment is down."""
    page = await _tab(stage, "groups", "fast")
    tab = page.tab("groups")
    assert isinstance(tab, GroupsTab)
    await tab.ask_hello()
    await until(lambda: tab.presenter.failed("fast"))


async def group_new(stage: Stage) -> None:
    """The form of a new group, with a provider that nobody knows."""
    page = await _tab(stage, "groups", "fast")
    tab = page.tab("groups")
    assert isinstance(tab, GroupsTab)
    stage.do("models.new_group")
    dialog = await stage.sheet()
    assert isinstance(dialog, DeploymentDialog)
    dialog.name.setText("cheap")
    dialog.model.set_current("opnai/gpt-4.1-mini")
    await dialog.agree()


async def _routes(stage: Stage, query: str) -> RoutesTab:
    page = await _tab(stage, "routes", "front-desk")
    tab = page.tab("routes")
    assert isinstance(tab, RoutesTab)
    await until(lambda: tab.router)
    tab.view.query.setPlainText(query)
    await until(lambda: tab.presenter.decision)
    return tab


async def routes(stage: Stage) -> None:
    """A query that goes to the large model, beside the comparison of the router."""
    tab = await _routes(stage, "Move the repair of my cargo bike to another day, please")
    await tab.presenter.compare("front-desk", RouteComparisonRequest(suite="Sample"))
    tab.show_selected()
    await until(lambda: tab.view.utterances.rows.rowCount())


async def routes_compared(stage: Stage) -> None:
    """The comparison, which a small window shows instead of the tester."""
    await routes(stage)
    tab = await _routes(stage, "Is CH-012 in stock?")
    tab.view.views.set_current(COMPARE)
    tab.view.place_panes(tab.width())


async def routes_missing(stage: Stage) -> None:
    """A router whose models have no runs yet."""
    page = await _tab(stage, "routes", "night-shift")
    tab = page.tab("routes")
    assert isinstance(tab, RoutesTab)
    await until(lambda: tab.router and tab.router.name == "night-shift")
    await tab.presenter.compare("night-shift", RouteComparisonRequest())
    tab.show_selected()


async def route_new(stage: Stage) -> None:
    """The form of a new router without an utterance."""
    await _tab(stage, "routes", "front-desk")
    stage.do("models.new_router")
    dialog = await stage.sheet()
    assert isinstance(dialog, RouteDialog)
    dialog.name.setText("weekend")
    dialog.target.set_current("group/fast")
    await dialog.agree()


async def _searched(stage: Stage, item: str, query: str) -> SearchTab:
    page = await _tab(stage, "search", item)
    tab = page.tab("search")
    assert isinstance(tab, SearchTab)
    await until(lambda: tab.tool and tab.tool.name == item)
    tab.query.setText(query)
    await tab.search()
    return tab


async def search(stage: Stage) -> None:
    """Results of a search service of one's own."""
    answer = {"results": [{"title": title, "url": url, "content": text} for title, url, text in PAGES]}
    answer["results"][0]["publishedDate"] = "2026-11-01T09:30:00"
    with SearchService(answer=answer) as service:
        tool = SearchTool(name="own", provider=SearchProvider.SEARXNG, base_url=service.url)
        await stage.session.call(lambda core: core.searches.add(tool))
        await _searched(stage, "own", "tubeless tyre pressure 42 mm")


async def search_failed(stage: Stage) -> None:
    """A provider without a key."""
    await _searched(stage, "web", "tubeless tyre pressure 42 mm")


async def search_new(stage: Stage) -> None:
    """The form of a new search tool that lacks its engine."""
    await _tab(stage, "search", "web")
    stage.do("models.new_search_tool")
    dialog = await stage.sheet()
    assert isinstance(dialog, SearchToolDialog)
    dialog.name.setText("shop")
    dialog.provider.set_current(SearchProvider.GOOGLE_PSE.value)
    dialog.provider.changed.emit(SearchProvider.GOOGLE_PSE.value)
    await dialog.agree()


SCENES = {
    "models-catalogue": catalogue,
    "models-catalogue-none": catalogue_none,
    "models-catalogue-hello": catalogue_hello,
    "models-groups": groups,
    "models-group-new": group_new,
    "models-routes": routes,
    "models-routes-compared": routes_compared,
    "models-routes-missing": routes_missing,
    "models-route-new": route_new,
    "models-search": search,
    "models-search-failed": search_failed,
    "models-search-new": search_new,
}
EMPTY_SCENES = {f"models-{key}": partial(_tab, key=key) for key in ("groups", "routes", "search")}
