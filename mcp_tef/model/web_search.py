"""Search tools of six providers: one request and one answer for all of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.model_groups import require_name
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.secrets import require_no_credentials

MOST_RESULTS: Final = 20
USUAL_RESULTS: Final = 5
_LONGEST_QUERY: Final = 2_000
_CODE: Final = re.compile(r"[A-Za-z]{2}")
_DOMAIN: Final = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_MOST_DOMAINS: Final = 20


class SearchProvider(StrEnum):
    """Service that searches the web."""

    BRAVE = "brave"
    TAVILY = "tavily"
    SEARXNG = "searxng"
    EXA_AI = "exa_ai"
    GOOGLE_PSE = "google_pse"
    DATAFORSEO = "dataforseo"


PROVIDER_ADDRESSES: Final[Mapping[str, str]] = {
    SearchProvider.BRAVE: "https://api.search.brave.com",
    SearchProvider.TAVILY: "https://api.tavily.com",
    SearchProvider.EXA_AI: "https://api.exa.ai",
    SearchProvider.GOOGLE_PSE: "https://www.googleapis.com",
    SearchProvider.DATAFORSEO: "https://api.dataforseo.com",
}
"""Address of each provider itself; SearXNG has none, since each user installs it."""


PROVIDER_TITLES: Final[Mapping[str, str]] = {
    SearchProvider.BRAVE: "Brave",
    SearchProvider.TAVILY: "Tavily",
    SearchProvider.SEARXNG: "SearXNG",
    SearchProvider.EXA_AI: "Exa",
    SearchProvider.GOOGLE_PSE: "Google",
    SearchProvider.DATAFORSEO: "DataForSEO",
}


class Freshness(StrEnum):
    """Greatest age of results."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTool:
    """A named search tool. `engine` is the id of a Google engine; without a `base_url` the provider's own is asked."""

    name: str
    provider: SearchProvider
    base_url: str = ""
    engine: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        require_name(self.name, "search tool")
        require_no_credentials(self.base_url)
        if self.base_url and not origin_of(self.base_url):
            hint = "Begin it with https:// or http://."
            raise InputError(f"{self.base_url!a} is no address of a search service.", hint=hint)
        if self.provider is SearchProvider.SEARXNG and not self.base_url:
            hint = "Give the base URL of a SearXNG service."
            raise InputError(f"The search tool {self.name} does not say where SearXNG is.", hint=hint)
        if self.provider is SearchProvider.GOOGLE_PSE and not self.engine:
            hint = "Give the id of your search engine (cx)."
            raise InputError(f"The search tool {self.name} does not name a Google engine.", hint=hint)

    @property
    def title(self) -> str:
        """The provider's name as it is written."""
        return PROVIDER_TITLES[self.provider]

    @property
    def address(self) -> str:
        """The base address that is asked."""
        return (self.base_url or PROVIDER_ADDRESSES[self.provider]).rstrip("/")

    @property
    def needs_key(self) -> bool:
        """True unless the provider answers without a key."""
        return self.provider is not SearchProvider.SEARXNG


def search_tool_to_json(tool: SearchTool) -> dict[str, Json]:
    """Return a search tool as it is stored and exported."""
    given = {"base_url": tool.base_url, "engine": tool.engine, "description": tool.description}
    return {"name": tool.name, "provider": tool.provider.value, **{key: value for key, value in given.items() if value}}


def search_tool_from_json(document: JsonObject) -> SearchTool:
    """Return the search tool of a document; InputError that says what is wrong with it."""
    known = {"name", "provider", "base_url", "engine", "description"}
    if unknown := sorted(set(document) - known):
        hint = f"It may hold {', '.join(sorted(known))}; a key is never part of it."
        raise InputError(f"A search tool has no setting “{unknown[0]}”.", hint=hint)
    texts = {name: document.get(name, "") for name in known}
    if not all(isinstance(text, str) for text in texts.values()):
        raise InputError("A setting of a search tool is no text.", hint="Write each as text.")
    return SearchTool(**{**texts, "provider": parse_search_provider(texts["provider"])})


def parse_search_provider(text: str) -> SearchProvider:
    """Return the provider of a name; InputError names the nearest."""
    names = [one.value for one in SearchProvider]
    if text not in names:
        hint = did_you_mean(text, names, f"It is one of {', '.join(names)}.")
        raise InputError(f"There is no search provider named {text or 'nothing'}.", hint=hint)
    return SearchProvider(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search: `country` and `language` are two-letter codes, `domains` are searched and no others."""

    query: str
    count: int = USUAL_RESULTS
    country: str = ""
    language: str = ""
    freshness: Freshness | None = None
    domains: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.query.strip()) <= _LONGEST_QUERY:
            raise InputError("The query is empty or too long.", hint=f"Write 1 to {_LONGEST_QUERY:,} characters.")
        if type(self.count) is not int or not 1 <= self.count <= MOST_RESULTS:
            raise InputError(f"A search lists 1 to {MOST_RESULTS} results.", hint="Give another count.")
        self._require_codes()
        if len(self.domains) > _MOST_DOMAINS or not all(map(_DOMAIN.fullmatch, self.domains)):
            hint = f"Write up to {_MOST_DOMAINS}, as example.com."
            raise InputError("The domains of the search cannot be used.", hint=hint)

    def _require_codes(self) -> None:
        for name in ("country", "language"):
            if (code := getattr(self, name)) and not _CODE.fullmatch(code):
                raise InputError(f"The {name} “{code[:40]}” is no code of two letters.", hint="Write for example de.")


def search_request(arguments: Mapping[str, Any], count: int = USUAL_RESULTS) -> SearchRequest:
    """Return the request of a call's arguments; InputError for one that no provider could carry out."""
    domains = arguments.get("domains") or ()
    return SearchRequest(
        query=str(arguments.get("query", "")),
        count=arguments.get("count", count),
        country=str(arguments.get("country") or ""),
        language=str(arguments.get("language") or ""),
        freshness=_freshness(arguments.get("freshness")),
        domains=tuple(map(str, domains if isinstance(domains, list | tuple) else [domains])),
    )


def _freshness(value: object) -> Freshness | None:
    if not value:
        return None
    if value not in list(Freshness):
        raise InputError(f"The freshness is “{value}”.", hint=f"It is one of {', '.join(Freshness)}.")
    return Freshness(str(value))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page that a search found; dates are ISO 8601, or None where the provider gives none."""

    title: str
    url: str
    snippet: str
    date: str | None = None
    last_updated: str | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Results of a search, best first. `ignored` names fields of the request that the provider does not take."""

    results: tuple[SearchResult, ...]
    ignored: tuple[str, ...] = ()


def search_answer_to_json(answer: SearchAnswer) -> dict[str, Json]:
    """Return an answer in the one shape of all providers."""
    return {
        "object": "search",
        "results": [
            {
                "title": one.title,
                "url": one.url,
                "snippet": one.snippet,
                "date": one.date,
                "last_updated": one.last_updated,
            }
            for one in answer.results
        ],
    }


def iso_date(value: object) -> str | None:
    """Return a date of a provider in ISO 8601; None for what is none, as “2 days ago”."""
    if not isinstance(value, str) or not value.strip():
        return None
    text = value.strip()
    try:
        found = datetime.fromisoformat(re.sub(r"(?<!\s)\s++(?=[+-]\d\d:?\d\d$)", "", text))
    except ValueError:
        try:
            found = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError):
            return None
    return found.date().isoformat() if re.fullmatch(r"[\d/-]{8,10}", text) else found.isoformat()
