"""A workspace of groups, routers and search tools, and how a user gets to what is shown of them."""

from app.core_link.targets import ShowModels
from app.screens.models.catalogue_tab import CatalogueTab
from app.screens.models.groups_tab import DeploymentDialog, GroupsTab
from app.screens.models.page import ModelsPage
from mcp_tef import BatchRequest, Deployment, Engine, ModelGroup, ModelRoute, ModelRouter, ModelSettings, Secret
from mcp_tef.model.web_search import SearchProvider, SearchTool
from tests.shots.answers import Answers
from tests.shots.stage import Stage
from tests.support.model_stub import ModelStub
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
            ModelRoute(target=LARGE, utterances=HARD, threshold=0.42, description="several steps"),
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
    page = await _tab(stage, "catalogue", "openai/gpt-4.1-mini")
    tab = page.tab("catalogue")
    assert isinstance(tab, CatalogueTab)
    await until(lambda: tab.table.current_id() == "openai/gpt-4.1-mini")


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
