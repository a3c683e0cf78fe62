"""Requests to search providers and their answers, in the form that each provider documents; nothing is sent here.

Sources, compared in November 2026: api-dashboard.search.brave.com/api-reference/web/search/get,
docs.tavily.com/api-reference/endpoint/search, docs.searxng.org/dev/search_api.html (its code takes a week, too),
exa.ai/docs/reference/search, developers.google.com/custom-search/v1/reference/rest/v1/cse/list,
docs.dataforseo.com/v3/serp/google/organic/live/advanced and docs.dataforseo.com/v3/appendix/errors.
"""

import base64
import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json
from mcp_tef.model.secrets import Secret
from mcp_tef.model.web_search import Freshness, SearchProvider, SearchRequest, SearchResult, SearchTool, iso_date

_DAYS: Final = {Freshness.DAY: 1, Freshness.WEEK: 7, Freshness.MONTH: 31, Freshness.YEAR: 365}
_LONGEST_SNIPPET: Final = 1_000
_GOOGLE_PAGE: Final = 10
_UNITED_STATES: Final = 2840
_MARKUP: Final = re.compile(r"<[^<>]{1,200}>")


@dataclass(frozen=True, slots=True)
class SearchCall:
    """One HTTP request: POST with a `body`, else GET. Headers and parameters may hold the key."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Json = None


@dataclass(frozen=True, slots=True)
class SearchForm:
    """Form of one provider's requests and answers; `not_taken` are the fields of a request that it has nothing for.

    `longest` is the most characters of a query with its domains, where the provider documents a limit below ours.
    """

    calls: Callable[[SearchTool, SearchRequest, str], Sequence[SearchCall]]
    items: Callable[[Any], Iterator[Mapping[str, Any]]]
    fields: Mapping[str, tuple[str, ...]]
    not_taken: tuple[str, ...] = ()
    longest: int | None = None


def calls_for(tool: SearchTool, request: SearchRequest, key: Secret | None) -> Sequence[SearchCall]:
    """Return the requests of a search: one, or two pages at Google. InputError for a query that is too long there."""
    longest, length = FORMS[tool.provider].longest, len(_with_sites(request))
    if longest is not None and length > longest:
        said = f"{tool.title} takes queries of {longest} characters, and this one has {length:,} with its domains."
        raise InputError(said, hint="Shorten the query, or name fewer domains.")
    return FORMS[tool.provider].calls(tool, request, key.reveal() if key else "")


def ignored_fields(tool: SearchTool, request: SearchRequest) -> tuple[str, ...]:
    """Return the given fields of a request that the provider does not take."""
    not_taken = FORMS[tool.provider].not_taken
    if tool.provider is SearchProvider.SEARXNG and not request.language:
        not_taken = ("country",)  # It takes one only as part of the language, as in de-AT.
    return tuple(name for name in not_taken if getattr(request, name))


def results_of(tool: SearchTool, answer: Json) -> list[SearchResult]:
    """Return the results of an answer; LookupError or TypeError where it has another form.

    Results without a title or an address are left out, since both are always there.
    """
    form, found = FORMS[tool.provider], []
    for item in form.items(answer):
        texts = {name: _first(item, paths) for name, paths in form.fields.items()}
        title, url = _plain(texts["title"]), str(texts["url"] or "")
        if title and url.startswith(("http://", "https://")):
            dates = iso_date(texts.get("date")), iso_date(texts.get("last_updated"))
            found.append(SearchResult(title, url, _plain(texts["snippet"]), *dates))
    return found


def refusal_in(tool: SearchTool, answer: Json) -> str:
    """Return why a provider refused a task in an answer with status 200; empty where it did not."""
    if tool.provider is not SearchProvider.DATAFORSEO or not isinstance(answer, Mapping):
        return ""
    tasks = answer.get("tasks") or [{}]
    code = tasks[0].get("status_code", answer.get("status_code"))
    said = tasks[0].get("status_message") or answer.get("status_message") or ""
    return "" if code in (20000, None) else f"{code} {said}".strip()


def _first(item: Mapping[str, Any], paths: Sequence[str]) -> Any:
    """Return the first value that is there at one of the paths; of lists, their first item."""
    for path in paths:
        value: Any = item
        for step in path.split("/"):
            value = _head(_head(value).get(step) if isinstance(_head(value), Mapping) else None)
        if value:
            return value
    return None


def _head(value: Any) -> Any:
    return next(iter(value), None) if isinstance(value, list) else value


def _plain(value: object) -> str:
    text = html.unescape(_MARKUP.sub("", value)) if isinstance(value, str) else ""
    return " ".join(text.split())[:_LONGEST_SNIPPET]


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", None, [], ())}


def _with_sites(request: SearchRequest) -> str:
    sites = " OR ".join(f"site:{domain}" for domain in request.domains)
    return f"{request.query} ({sites})" if sites else request.query


def _listed(answer: Any, *path: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of the list at a path; an absent list is one without results."""
    if not isinstance(answer, Mapping):
        raise TypeError("The answer is no object.")
    found: Any = answer
    for step in path:
        found = found.get(step)
        if found is None:
            return
        if not isinstance(found, Mapping | list):
            raise TypeError(f"{step} is neither a list nor an object.")
    if not isinstance(found, list):
        raise TypeError("The results are no list.")
    yield from (item for item in found if isinstance(item, Mapping))


def _required_list(answer: Any, name: str) -> Iterator[Mapping[str, Any]]:
    if not isinstance(answer, Mapping) or name not in answer:
        raise LookupError(name)
    yield from _listed(answer, name)


def _brave(tool: SearchTool, request: SearchRequest, key: str) -> Sequence[SearchCall]:
    params = {
        "q": _with_sites(request),
        "count": str(request.count),
        "country": request.country.upper(),
        "search_lang": request.language.lower(),
        "freshness": request.freshness and f"p{request.freshness[0]}",
        "text_decorations": "false",
    }
    headers = {"X-Subscription-Token": key}
    return [SearchCall(f"{tool.address}/res/v1/web/search", headers, _given(params))]


def _brave_items(answer: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(answer, Mapping) or not ({"web", "query", "type"} & set(answer)):
        raise LookupError("web")
    yield from _listed(answer, "web", "results")


def _tavily(tool: SearchTool, request: SearchRequest, key: str) -> Sequence[SearchCall]:
    body = {
        "query": request.query,
        "max_results": request.count,
        "include_domains": list(request.domains),
        "time_range": request.freshness and request.freshness.value,
    }
    return [SearchCall(f"{tool.address}/search", {"Authorization": f"Bearer {key}"}, body=_given(body))]


def _searxng(tool: SearchTool, request: SearchRequest, key: str) -> Sequence[SearchCall]:
    language = request.language.lower()
    params = {
        "q": _with_sites(request),
        "format": "json",
        "language": f"{language}-{request.country.upper()}" if language and request.country else language,
        "time_range": request.freshness and request.freshness.value,
    }
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return [SearchCall(f"{tool.address}/search", headers, _given(params))]


def _exa(tool: SearchTool, request: SearchRequest, key: str) -> Sequence[SearchCall]:
    since = request.freshness and datetime.now(UTC) - timedelta(days=_DAYS[request.freshness])
    body = {
        "query": request.query,
        "numResults": request.count,
        "includeDomains": list(request.domains),
        "userLocation": request.country.upper(),
        "startPublishedDate": since and since.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "contents": {"highlights": True},
    }
    return [SearchCall(f"{tool.address}/search", {"x-api-key": key}, body=_given(body))]


def _google(tool: SearchTool, request: SearchRequest, key: str) -> Sequence[SearchCall]:
    """Ask for two pages where more than ten results are wanted: a page has no more."""
    params = {
        "key": key,
        "cx": tool.engine,
        "q": _with_sites(request),
        "gl": request.country.lower(),
        "lr": request.language and f"lang_{request.language.lower()}",
        "dateRestrict": request.freshness and f"{request.freshness[0]}1",
    }
    calls = []
    for start in range(1, request.count + 1, _GOOGLE_PAGE):
        page = {"num": str(min(_GOOGLE_PAGE, request.count - start + 1)), "start": str(start)}
        calls.append(SearchCall(f"{tool.address}/customsearch/v1", {}, _given({**params, **page})))
    return calls


def _google_items(answer: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(answer, Mapping) or not ({"items", "kind", "searchInformation"} & set(answer)):
        raise LookupError("items")
    yield from _listed(answer, "items")


def _dataforseo(tool: SearchTool, request: SearchRequest, key: str) -> Sequence[SearchCall]:
    task = {
        "keyword": _with_sites(request).replace("%", "%25").replace("+", "%2B"),  # it decodes both
        "depth": request.count,
        "language_code": request.language.lower() or "en",
        "location_code": _UNITED_STATES,
        "search_param": request.freshness and f"tbs=qdr:{request.freshness[0]}",
    }
    sent = {"Authorization": f"Basic {base64.b64encode(key.encode()).decode()}"}
    return [SearchCall(f"{tool.address}/v3/serp/google/organic/live/advanced", sent, body=[_given(task)])]


def _dataforseo_items(answer: Any) -> Iterator[Mapping[str, Any]]:
    for task in _required_list(answer, "tasks"):
        for result in task.get("result") or []:
            yield from (item for item in _listed(result, "items") if item.get("type") == "organic")


FORMS: Final[Mapping[SearchProvider, SearchForm]] = {
    SearchProvider.BRAVE: SearchForm(
        _brave,
        _brave_items,
        {"title": ("title",), "url": ("url",), "snippet": ("description",), "date": ("page_age", "age")},
        longest=400,
    ),
    SearchProvider.TAVILY: SearchForm(
        _tavily,
        lambda answer: _required_list(answer, "results"),
        {"title": ("title",), "url": ("url",), "snippet": ("content",), "date": ("published_date",)},
        ("country", "language"),
    ),
    SearchProvider.SEARXNG: SearchForm(
        _searxng,
        lambda answer: _required_list(answer, "results"),
        {"title": ("title",), "url": ("url",), "snippet": ("content",), "date": ("publishedDate", "pubdate")},
    ),
    SearchProvider.EXA_AI: SearchForm(
        _exa,
        lambda answer: _required_list(answer, "results"),
        {
            "title": ("title",),
            "url": ("url",),
            "snippet": ("highlights", "summary", "text"),
            "date": ("publishedDate",),
        },
        ("language",),
    ),
    SearchProvider.GOOGLE_PSE: SearchForm(
        _google,
        _google_items,
        {
            "title": ("title",),
            "url": ("link",),
            "snippet": ("snippet",),
            "date": ("pagemap/metatags/article:published_time",),
            "last_updated": ("pagemap/metatags/article:modified_time",),
        },
    ),
    SearchProvider.DATAFORSEO: SearchForm(
        _dataforseo,
        _dataforseo_items,
        {"title": ("title",), "url": ("url",), "snippet": ("description",), "date": ("timestamp",)},
        ("country",),
        longest=700,
    ),
}
