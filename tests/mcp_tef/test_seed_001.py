"""The rules of seed 001 that are about models, routers and searches, a row each; changed ones say why."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import Engine
from mcp_tef.errors import InputError
from mcp_tef.llm.keys import KeyRing
from mcp_tef.model.config import Config
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.model_groups import MODES, Deployment, ModelGroup, group_abilities, group_from_json, group_to_json
from mcp_tef.model.model_routers import (
    USUAL_THRESHOLD,
    ModelRoute,
    ModelRouter,
    RouteScore,
    decide_route,
    router_from_json,
    router_to_json,
)
from mcp_tef.model.servers import ServerSpec, Transport, require_complete
from mcp_tef.model.similarity import parse_embedder
from mcp_tef.model.tools import Tool
from mcp_tef.model.web_search import (
    SearchAnswer,
    SearchProvider,
    SearchResult,
    SearchTool,
    iso_date,
    search_answer_to_json,
    search_tool_from_json,
    search_tool_to_json,
)
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.servers.search_requests import results_of
from tests.support.model_replies import openai
from tests.support.model_stub import ModelStub
from tests.support.seed_rules import Rule, SeedRules, kept, refused

SEED = SeedRules()
BIG, SMALL = (
    Deployment(provider="openai", model="big", rpm=10),
    Deployment(provider="azure", model="small", rpm=5, tpm=9),
)
GROUP = ModelGroup(name="both", deployments=(BIG, SMALL))
INFO = ModelInfo(
    provider="openai",
    model="big",
    context_tokens=8_000,
    input_price=2e-6,
    output_price=8e-6,
    tool_calling=True,
    vision=False,
    structured_output=True,
    extra={"output_tokens": 4_000, "web_search": False},
)
OTHER = ModelInfo(
    provider="azure",
    model="small",
    context_tokens=32_000,
    input_price=1e-6,
    output_price=9e-6,
    tool_calling=False,
    vision=False,
    extra={"output_tokens": 1_000, "streaming": True},
)
FREE = ModelGroup(name="free", deployments=(Deployment(provider="openai", model="big"),))
WHOLE = group_abilities(GROUP, (INFO, OTHER))


def equal(section: str, text: str, found: object, expected: object, changed: str = "") -> None:
    """Add a row that compares two values."""

    async def check(_: Engine) -> None:
        assert found == expected

    SEED.add(section, text, check, changed)


def not_made(section: str, text: str, make: Callable[[], object], changed: str = "") -> None:
    """Add a row for a value that is refused."""

    async def check(_: Engine) -> None:
        with pytest.raises(InputError):
            make()

    SEED.add(section, text, check, changed)


DISCOVERY = "Discovery"
for field, expected, rule in (
    ("model_group", "both", "named"),
    ("providers", ("openai", "azure"), "UNION"),
    ("max_input_tokens", 32_000, "MAX"),
    ("max_output_tokens", 4_000, "MAX"),
    ("input_cost_per_token", 2e-6, "MAX"),
    ("output_cost_per_token", 9e-6, "MAX"),
    ("mode", "chat", "one of six"),
    ("supports_vision", False, "OR of no and no"),
    ("supports_function_calling", True, "OR of yes and no"),
    ("supports_streaming", True, "OR of unknown and yes"),
    ("supports_web_search", False, "OR of no and unknown"),
    ("supported_params", ("tools", "tool_choice", "response_format", "stream"), "UNION without repeats"),
    ("rpm", 15, "SUM"),
    ("tpm", 9, "SUM of what is known"),
):
    equal(DISCOVERY, f"{field}: {rule}", getattr(WHOLE, field), expected)
equal(
    DISCOVERY,
    "lists keep the order of deployments",
    group_abilities(GROUP, (OTHER, INFO)).supported_params[0],
    "stream",
)
equal(DISCOVERY, "without any limit rpm is unknown", group_abilities(FREE, ()).rpm, None)
equal(
    DISCOVERY,
    "an unknown price makes the price of the group unknown",
    group_abilities(GROUP, (INFO, None)).input_cost_per_token,
    None,
    "MAX of the known ones would let a cost cap be passed.",
)
for mode in MODES:
    equal(DISCOVERY, f"mode {mode} is allowed", group_abilities(GROUP, (), mode).mode, mode)
not_made(DISCOVERY, "another mode is refused", lambda: group_abilities(GROUP, (), "video"))
not_made(DISCOVERY, "a group without deployments is refused", lambda: ModelGroup(name="none", deployments=()))
not_made(DISCOVERY, "a deployment that is a group is refused", lambda: Deployment(provider="group", model="x"))
equal(DISCOVERY, "a group is the same after export and import", group_from_json(group_to_json(GROUP)), GROUP)

ROUTER = "AutoRouterConfig"
ROUTE = ModelRoute(target="openai/big", utterances=("Solve it",), threshold=0.8)
OPEN = ModelRoute(target="openai/code", utterances=("Write code", "Debug"))
AUTO = ModelRouter(name="auto", routes=(ROUTE, OPEN), default="openai/small", embedder="tfidf")


def made(**changes: Any) -> Callable[[], object]:
    """What makes the router with a change."""
    return lambda: replace(AUTO, **changes)


def scored(big: float, code: float) -> str:
    """The model that is asked where the routes have these scores."""
    scores = [RouteScore(one.target, score, AUTO.threshold_of(one)) for one, score in ((ROUTE, big), (OPEN, code))]
    return decide_route(AUTO, scores).target


equal(ROUTER, "ScoreThreshold is 0.3 by default", (AUTO.threshold, USUAL_THRESHOLD), (0.3, 0.3))
not_made(ROUTER, "Routes: at least one", made(routes=()))
not_made(ROUTER, "DefaultModel is required", made(default=""))
not_made(ROUTER, "EmbeddingModel is required", made(embedder=""))
not_made(ROUTER, "a threshold above 1 is refused", made(threshold=1.5))
not_made("Route", "Name is required", made(routes=(replace(ROUTE, target=""),)))
not_made("Route", "Utterances: at least one", made(routes=(replace(ROUTE, utterances=()),)))
not_made("Route", "an empty utterance is refused", made(routes=(replace(ROUTE, utterances=("a", " ")),)))
equal("Route", "its threshold overrides the router's", (AUTO.threshold_of(ROUTE), AUTO.threshold_of(OPEN)), (0.8, 0.3))
equal("Route", "the best score at or above its threshold is taken", scored(0.8, 0.5), "openai/big")
equal("Route", "a nearer route below its own threshold is passed over", scored(0.79, 0.3), "openai/code")
equal("Route", "below every threshold the default is asked", scored(0.79, 0.29), "openai/small")
equal(ROUTER, "a router is the same after export and import", router_from_json(router_to_json(AUTO)), AUTO)


@SEED.rule(ROUTER, "DefaultModel must be known")
async def known_default(engine: Engine) -> None:
    await refused(engine.targets.add_router(replace(AUTO, default="group/none")))


@SEED.rule("Route", "Name must be a known model or group", "A model that the catalogue's provider has is enough.")
async def known_route(engine: Engine) -> None:
    await refused(engine.targets.add_router(replace(AUTO, routes=(replace(ROUTE, target="group/none"),))))
    await refused(engine.targets.add_router(replace(AUTO, routes=(replace(ROUTE, target="nobody/x"),))))
    await engine.targets.add_router(AUTO)


@SEED.rule(ROUTER, "EmbeddingModel must be known", "It names an embedder of this program, not a group.")
async def known_embedder(_: Engine) -> None:
    with pytest.raises(InputError):
        replace(AUTO, embedder="word2vec")


@SEED.rule("RouteVectors", "the score of a route is that of its nearest utterance")
async def nearest_utterance(engine: Engine) -> None:
    (decision,) = await engine.targets.decisions(AUTO, ["Debug"])
    nearest = next(one for one in decision.scores if one.target == "openai/code")
    assert (nearest.utterance, round(nearest.score, 4)) == ("Debug", 1.0)


@SEED.rule("RouteVectors", "the vectors of utterances are computed once")
async def computed_once(engine: Engine) -> None:
    with ModelStub(openai) as stub:
        router = replace(AUTO, embedder=f"http:{stub.url}")
        engine.consents.add_typed_embedder(parse_embedder(f"http:{stub.url}"))
        for query in ("Debug", "Solve it", "Debug"):
            await engine.targets.decisions(router, [query])
    texts = [text for request in stub.requests for text in request.body.get("input") or request.body["inputs"]]
    assert texts.count("Write code") == 1


SERVER, ALIAS = "MCPServerConfig", "MCPTool"
for transport in Transport:
    spec = ServerSpec(name="x", transport=transport)
    needs = {Transport.STDIO: "Command", Transport.FILE: "a path"}.get(transport, "URL")
    not_made(SERVER, f"Transport {transport} requires {needs}", partial(require_complete, spec))
CHOSEN = ServerSpec(name="x", transport=Transport.FILE, allowed_tools=("a", "b"), disallowed_tools=("b",))
equal(SERVER, "AllowedTools lists all that are offered", [CHOSEN.wants(one) for one in "ac"], [True, False])
equal(SERVER, "DisallowedTools are never offered", CHOSEN.wants("b"), False)
equal(SERVER, "without AllowedTools all are", replace(CHOSEN, allowed_tools=()).wants("c"), True)
SHARED = [Tool(server=one, name="find", description="", input_schema={}, raw={}) for one in ("My shop", "city")]
equal(
    ALIAS,
    "PrefixedName is {server_alias}{sep}{name}",
    [one.offered_name for one in offer(SHARED, "__", aliases={"My shop": "shop"})],
    ["shop__find", "city__find"],
)
equal(
    ALIAS,
    "PrefixedName only where servers share a name",
    [one.offered_name for one in offer(SHARED[:1])],
    ["find"],
    "A model sees the name that the designer wrote; client profiles add the prefixes of clients.",
)
equal(ALIAS, "PrefixedName has letters, digits, - and _ only", offer(SHARED)[0].offered_name, "My_shop-find")
equal(ALIAS, "ToolSeparator is “-” by default", Config.from_environment({}).separator, "-")
equal(
    ALIAS,
    "ToolSeparator is set by MCP_TOOL_PREFIX_SEPARATOR",
    Config.from_environment({"MCP_TOOL_PREFIX_SEPARATOR": "__"}).separator,
    "__",
)

SEARCH, RESULT = "SearchToolConfig", "SearchResult"
for provider in ("brave", "tavily", "searxng", "exa_ai", "google_pse", "dataforseo"):
    equal(SEARCH, f"{provider} is a provider", SearchProvider(provider).value, provider)
equal(SEARCH, "there are six providers", len(SearchProvider), 6)
BRAVE: Mapping[str, Any] = {"name": "web", "provider": "brave"}
not_made(SEARCH, "another provider is refused", lambda: search_tool_from_json({**BRAVE, "provider": "bing"}))
not_made(SEARCH, "SearchToolName is required", lambda: search_tool_from_json({**BRAVE, "name": ""}))
not_made(
    SEARCH,
    "APIKey is no part of it",
    lambda: search_tool_from_json({**BRAVE, "api_key": "k"}),
    "Keys are in the environment or the keychain.",
)
TOOL = SearchTool(name="web", provider=SearchProvider.BRAVE, description="News")
equal(SEARCH, "APIBase is the provider's by default", TOOL.address, "https://api.search.brave.com")
equal(SEARCH, "APIBase can be set", replace(TOOL, base_url="http://localhost:1/").address, "http://localhost:1")
equal(SEARCH, "it is the same after export and import", search_tool_from_json(search_tool_to_json(TOOL)), TOOL)
ANSWER = search_answer_to_json(SearchAnswer((SearchResult("T", "https://a.test", "S"),)))
equal("SearchResponse", "Object is always “search”", ANSWER["object"], "search")
equal(RESULT, "its five fields", ANSWER["results"], [
    {"title": "T", "url": "https://a.test", "snippet": "S", "date": None, "last_updated": None}
])  # fmt: skip
for given, date in (
    ("2026-11-01", "2026-11-01"),
    ("2026-11-01T09:30:00.000Z", "2026-11-01T09:30:00+00:00"),
    ("2026-11-01 09:30:00 +00:00", "2026-11-01T09:30:00+00:00"),
    ("Sun, 01 Nov 2026 09:30:00 GMT", "2026-11-01T09:30:00+00:00"),
    ("2 days ago", None),
    ("", None),
):
    equal(RESULT, f"Date “{given}” becomes {date or 'null'}", iso_date(given), date)


equal(
    RESULT,
    "Title and URL are required; a result without one is left out",
    results_of(TOOL, {"web": {"results": [{"title": "T"}, {"url": "https://a.test"}, {"title": "T", "url": "x:y"}]}}),
    [],
)
equal(
    RESULT,
    "Snippet is always there, if need be empty",
    [one.snippet for one in results_of(TOOL, {"web": {"results": [{"title": "T", "url": "https://a.test"}]}})],
    [""],
)


@SEED.rule(SEARCH, "APIKey is optional where the environment has it")
async def key_from_environment(_: Engine) -> None:
    assert KeyRing({"BRAVE_API_KEY": "k"}).stored("brave") is not None
    assert KeyRing({}).stored("brave") is None


@SEED.rule(SEARCH, "SearchToolName is unique")
async def unique_name(engine: Engine) -> None:
    for text in ("First", "Second"):
        await engine.searches.add(replace(TOOL, description=text))
    assert [one.description for one in await engine.searches.tools()] == ["Second"]


@pytest.mark.parametrize("row", SEED.rows, ids=[row.name for row in SEED.rows])
async def test_rule(row: Rule, tmp_path: Path) -> None:
    await kept(row, tmp_path)
