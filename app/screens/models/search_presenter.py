"""State of the Search tab: search tools, the keys of their providers, and the last answer of each; knows no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.text.formatting import count
from mcp_tef import (
    DefinitionKind,
    DefinitionsChanged,
    Event,
    InputError,
    SearchAnswer,
    SearchProvider,
    SearchTool,
    parse_search_provider,
    search_request,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

PROVIDERS: Final[Mapping[SearchProvider, str]] = {
    SearchProvider.BRAVE: "Brave",
    SearchProvider.TAVILY: "Tavily",
    SearchProvider.SEARXNG: "SearXNG",
    SearchProvider.EXA_AI: "Exa",
    SearchProvider.GOOGLE_PSE: "Google Programmable Search",
    SearchProvider.DATAFORSEO: "DataForSEO",
}
NO_KEY: Final = "search_key_missing"
"""Code of the error of a search without a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchToolForm:
    """The text of a form about a search tool."""

    name: str = ""
    provider: str = SearchProvider.BRAVE.value
    base_url: str = ""
    engine: str = ""
    description: str = ""

    @classmethod
    def of(cls, tool: SearchTool) -> "SearchToolForm":
        """Return the form of a search tool."""
        texts = (tool.name, tool.provider.value, tool.base_url, tool.engine, tool.description)
        return cls(**dict(zip(("name", "provider", "base_url", "engine", "description"), texts, strict=True)))

    def parsed(self) -> SearchTool:
        """Return the search tool; InputError says what is wrong with it."""
        texts = (self.name, self.base_url, self.engine, self.description)
        name, base_url, engine, description = (text.strip() for text in texts)
        provider = parse_search_provider(self.provider)
        return SearchTool(name=name, provider=provider, base_url=base_url, engine=engine, description=description)


@dataclass(slots=True)
class SearchPresenter:
    """The search tools as they were read last; `at_hand` are the providers with a key, `variables` theirs by provider.

    `answers` holds the last answer of each tool, or the sentence of its error.
    """

    ask: CoreCall
    tools: dict[str, SearchTool] = field(default_factory=dict)
    at_hand: frozenset[str] = frozenset()
    variables: Mapping[str, str] = field(default_factory=dict)
    answers: dict[str, SearchAnswer | str] = field(default_factory=dict)

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        changed = isinstance(event, DefinitionsChanged) and event.kind is DefinitionKind.SEARCH
        return Refresh.NOW if changed else Refresh.NONE

    async def load(self) -> None:
        """Read the search tools, and the providers whose key is at hand."""
        tools, self.at_hand, self.variables = await self.ask(_read)
        self.tools = {tool.name: tool for tool in tools}

    async def save(self, tool: SearchTool, seen: SearchTool | None = None) -> SearchTool:
        """Keep what differs from the search tool seen (None: none was there); ChangedMeanwhileError, NotFoundError."""
        return await self.ask(lambda core: core.searches.edit(tool, seen))

    async def add(self, form: SearchToolForm) -> SearchTool:
        """Keep a new search tool; InputError where its name is taken or anything is wrong."""
        if form.name.strip() in self.tools:
            raise InputError(f"There is a search tool named {form.name.strip()} already.", hint="Use another name.")
        return await self.save(await self._typed(form.parsed()))

    async def edit(self, seen: SearchTool, form: SearchToolForm) -> SearchTool:
        """Keep another definition of the search tool seen, under its name; return what was to be kept. InputError."""
        wanted = await self._typed(replace(form, name=seen.name).parsed())
        await self.save(wanted, seen)
        return wanted

    async def _typed(self, tool: SearchTool) -> SearchTool:
        """Note that the user typed the address of a search tool, so that it is not asked about."""

        async def note(core: "Engine") -> None:
            core.consents.add_typed_address(tool.provider, tool.base_url or "")

        await self.ask(note)
        return tool

    async def remove(self, name: str) -> SearchTool:
        """Remove a search tool and return it."""
        await self.ask(lambda core: core.searches.remove(name))
        return self.tools[name]

    async def search(self, name: str, query: str, number: str) -> SearchAnswer:
        """Search by a tool; InputError, ReachError, and ConsentError for its key at another address."""
        digits = number.strip()
        if not digits.isascii() or not digits.isdigit():
            raise InputError(f"The number of results is “{digits[:40]}”.", hint="Write a whole number from 1 to 20.")
        request = search_request({"query": query, "count": int(digits)})
        tool = self.tools[name]
        found = await self.ask(lambda core: core.searches.search(tool, request))
        self.answers[name] = found
        return found

    def key_text(self, tool: SearchTool) -> str:
        """Return the state of the key of a tool, which is kept in memory only."""
        provider = tool.provider.value
        if not tool.needs_key:
            return "needs no key"
        return "key at hand" if provider in self.at_hand else f"no key: set {self.variables[provider]}, or type it"


async def _read(core: "Engine") -> tuple[tuple[SearchTool, ...], frozenset[str], Mapping[str, str]]:
    names = [provider.value for provider in SearchProvider]
    variables = {name: core.models.key_variable(name) or f"{name.upper()}_API_KEY" for name in names}
    return await core.searches.tools(), core.models.with_key(names), variables


def answer_text(answer: SearchAnswer, tool: SearchTool) -> str:
    """Return the number of results, and which fields of the request the provider does not take."""
    ignored = f" {PROVIDERS[tool.provider]} takes no {' and no '.join(answer.ignored)}." if answer.ignored else ""
    return (count(len(answer.results), "result") if answer.results else "Nothing was found.") + ignored
