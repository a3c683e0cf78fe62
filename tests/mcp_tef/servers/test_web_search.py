"""Search tools against stand-ins that answer in each provider's documented form, errors included."""

import base64
from typing import Any

import pytest

from mcp_tef.errors import InputError, ReachError
from mcp_tef.model.secrets import Secret
from mcp_tef.model.web_search import (
    Freshness,
    SearchAnswer,
    SearchProvider,
    SearchRequest,
    SearchTool,
    search_answer_to_json,
)
from mcp_tef.servers.web_search import HttpWebSearcher
from tests.support.search_services import FORMS, PAGE, Asked, SearchService

KEY = "login:very-secret"
REQUEST = SearchRequest(
    query="pumps", count=3, country="at", language="de", freshness=Freshness.WEEK, domains=("example.com",)
)
SENT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "brave": (
        "GET",
        "/res/v1/web/search",
        {"q": "pumps (site:example.com)", "count": "3", "country": "AT", "search_lang": "de", "freshness": "pw"},
    ),
    "tavily": ("POST", "/search", {"query": "pumps", "max_results": 3, "time_range": "week"}),
    "searxng": ("GET", "/search", {"format": "json", "language": "de-AT", "time_range": "week"}),
    "exa_ai": ("POST", "/search", {"numResults": 3, "includeDomains": ["example.com"], "userLocation": "AT"}),
    "google_pse": (
        "GET",
        "/customsearch/v1",
        {"key": KEY, "cx": "engine-1", "num": "3", "gl": "at", "lr": "lang_de", "dateRestrict": "w1"},
    ),
    "dataforseo": (
        "POST",
        "/v3/serp/google/organic/live/advanced",
        {"keyword": "pumps (site:example.com)", "depth": 3, "language_code": "de", "search_param": "tbs=qdr:w"},
    ),
}
SIGNED = {
    "brave": ("x-subscription-token", KEY),
    "tavily": ("authorization", f"Bearer {KEY}"),
    "searxng": ("authorization", f"Bearer {KEY}"),
    "exa_ai": ("x-api-key", KEY),
    "dataforseo": ("authorization", f"Basic {base64.b64encode(KEY.encode()).decode()}"),
}


def a_tool(provider: str, url: str) -> SearchTool:
    engine = "engine-1" if provider == "google_pse" else ""
    return SearchTool(name="web", provider=SearchProvider(provider), base_url=url, engine=engine)


async def asked(provider: str, service: SearchService, request: SearchRequest = REQUEST) -> SearchAnswer:
    return await HttpWebSearcher(0.5 if service.hang else 20).search(
        a_tool(provider, service.url), request, Secret(KEY)
    )


def values(call: Asked) -> dict[str, Any]:
    if call.method == "GET":
        return {name: given[0] for name, given in call.params.items()}
    found = call.body[0] if isinstance(call.body, list) else call.body
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("provider", SENT)
async def test_each_provider_is_asked_and_read_in_its_documented_form(provider: str) -> None:
    with SearchService(FORMS[provider]) as service:
        answer = await asked(provider, service)
    (call,) = service.asked
    method, path, fields = SENT[provider]
    assert (call.method, call.path) == (method, path)
    assert fields.items() <= values(call).items()
    if provider in SIGNED:
        name, value = SIGNED[provider]
        assert call.headers[name] == value
    (result,) = answer.results
    assert (result.title, result.url, result.snippet) == ("Pumps & more", PAGE, "All pumps.")
    dated = provider != "tavily"  # it dates only news
    assert (result.date or "").startswith("2026-11-01") is dated
    assert result.last_updated is None
    assert answer.ignored == {
        "tavily": ("country", "language"),
        "exa_ai": ("language",),
        "dataforseo": ("country",),
    }.get(provider, ())
    document = search_answer_to_json(answer)
    assert document["object"] == "search"


@pytest.mark.parametrize("provider", SENT)
@pytest.mark.parametrize(
    ("faulty", "code"),
    [
        (SearchService({"error": "API key"}, 401), "search_key_wrong"),
        (SearchService({}, 429, {"Retry-After": "7"}), "search_limited"),
        (SearchService({}, 500), "search_failed"),
        (SearchService("<html>Hello</html>"), "search_unreadable"),
        (SearchService({"results": 7, "web": 7, "items": 7, "tasks": 7}), "search_unreadable"),
        (SearchService([1]), "search_unreadable"),
        (SearchService({}, 302, {"Location": "http://127.0.0.1:9/"}), "search_redirected"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_each_failure_is_one_sentence_without_the_key(provider: str, faulty: SearchService, code: str) -> None:
    with faulty, pytest.raises(ReachError) as caught:
        await asked(provider, faulty)
    assert caught.value.code == code
    told = f"{caught.value.message} {caught.value.hint}"
    assert KEY not in told
    assert "very-secret" not in told
    if code == "search_limited":
        assert "7 seconds" in told


async def test_a_service_that_does_not_answer_or_is_not_there_is_told() -> None:
    with SearchService(FORMS["brave"], hang=True) as service, pytest.raises(ReachError) as late:
        await asked("brave", service)
    assert late.value.code == "search_timeout"
    with pytest.raises(ReachError) as gone:
        await HttpWebSearcher().search(a_tool("brave", service.url), REQUEST, Secret(KEY))
    assert gone.value.code == "search_unreachable"


@pytest.mark.parametrize(
    ("provider", "status", "answer", "code"),
    [
        ("brave", 422, {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}, "type": "ErrorResponse"}, "search_key_wrong"),
        ("tavily", 432, {"detail": {"error": "plan's set usage limit"}}, "search_quota"),
        ("google_pse", 400, {"error": {"code": 400, "message": "API key not valid."}}, "search_key_wrong"),
        ("searxng", 403, "Forbidden", "search_refused"),
        ("dataforseo", 200, {"status_code": 20000, "tasks": [{"status_code": 40202}]}, "search_limited"),
        ("dataforseo", 200, {"status_code": 40100, "tasks": None}, "search_key_wrong"),
        ("dataforseo", 200, {"status_code": 20000, "tasks": [{"status_code": 40200}]}, "search_quota"),
    ],
)
async def test_refusals_that_a_provider_words_in_its_own_way(
    provider: str, status: int, answer: Any, code: str
) -> None:
    with SearchService(answer, status) as service, pytest.raises(ReachError) as caught:
        await asked(provider, service)
    assert caught.value.code == code


async def test_more_than_ten_results_of_google_are_two_pages_and_an_empty_answer_is_none() -> None:
    with SearchService(FORMS["google_pse"]) as service:
        answer = await asked("google_pse", service, SearchRequest(query="pumps", count=15))
    assert [(values(call)["start"], values(call)["num"]) for call in service.asked] == [("1", "10"), ("11", "5")]
    assert len(answer.results) == 2
    with SearchService({"kind": "customsearch#search", "searchInformation": {"totalResults": "0"}}) as service:
        assert (await asked("google_pse", service)).results == ()


@pytest.mark.parametrize(("provider", "longest"), [("brave", 400), ("dataforseo", 700)])
async def test_a_query_that_is_too_long_for_a_provider_is_never_sent(provider: str, longest: int) -> None:
    with SearchService(FORMS[provider]) as service:
        await asked(provider, service, SearchRequest(query="p" * longest))
        with pytest.raises(InputError, match=f"takes queries of {longest} characters"):
            await asked(provider, service, SearchRequest(query="p" * longest, domains=("example.com",)))
    assert len(service.asked) == 1


async def test_signs_that_dataforseo_decodes_are_sent_so_that_they_stay() -> None:
    with SearchService(FORMS["dataforseo"]) as service:
        await asked("dataforseo", service, SearchRequest(query="100 % C++"))
    assert values(service.asked[0])["keyword"] == "100 %25 C%2B%2B"
