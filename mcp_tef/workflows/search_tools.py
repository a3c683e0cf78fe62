"""Named search tools of a workspace: kept as definitions, run by hand, and an executor of the library."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.events import DefinitionsChanged, EventStream
from mcp_tef.model.addresses import Destination
from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.secrets import Secret
from mcp_tef.model.web_search import (
    USUAL_RESULTS,
    SearchAnswer,
    SearchProvider,
    SearchRequest,
    SearchTool,
    search_answer_to_json,
    search_request,
    search_tool_from_json,
    search_tool_to_json,
)
from mcp_tef.ports import DefinitionStore
from mcp_tef.ports.servers import WebSearcher
from mcp_tef.trust.consents import ConsentError, ConsentRequest
from mcp_tef.trust.name_keys import stored_name
from mcp_tef.trust.plans import ToolPlan
from mcp_tef.workflows.models import Models

_NO_KEYS: Mapping[str, Secret] = {}


class SearchTools:
    """Search tools by name. A key goes to its provider's own address, or to one that was agreed to."""

    def __init__(self, store: DefinitionStore, models: Models, searcher: WebSearcher, events: EventStream) -> None:
        self._store = store
        self._models = models
        self._searcher = searcher
        self._events = events

    async def tools(self) -> tuple[SearchTool, ...]:
        """Return every search tool, by name."""
        return tuple(search_tool_from_json(one.document) for one in await self._store.all(DefinitionKind.SEARCH))

    async def find(self, name: str) -> SearchTool:
        """Return a search tool; NotFoundError names the nearest."""
        known = {tool.name: tool for tool in await self.tools()}
        stored = stored_name(name, known)
        if stored is None:
            hint = did_you_mean(name, known, "List them with: mcp-tef search list")
            raise NotFoundError(f"There is no search tool named {name}.", hint=hint)
        return known[stored]

    async def add(self, tool: SearchTool, *, note: str = "") -> SearchTool:
        """Keep a search tool, in the place of one of its name."""
        name = stored_name(tool.name, [one.name for one in await self.tools()])
        tool = replace(tool, name=name or tool.name)
        await self._store.add(DefinitionKind.SEARCH, tool.name, search_tool_to_json(tool), note)
        self._events.publish(DefinitionsChanged(DefinitionKind.SEARCH, tool.name))
        return tool

    async def edit(self, tool: SearchTool, seen: SearchTool | None) -> SearchTool:
        """Keep what differs from the search tool seen, None where there was none; ChangedMeanwhileError."""
        before = search_tool_to_json(seen) if seen else {}
        kept = await self._store.add(DefinitionKind.SEARCH, tool.name, search_tool_to_json(tool), seen=before)
        self._events.publish(DefinitionsChanged(DefinitionKind.SEARCH, tool.name))
        return search_tool_from_json(kept.document)

    async def remove(self, name: str) -> None:
        """Remove a search tool."""
        name = (await self.find(name)).name
        await self._store.remove(DefinitionKind.SEARCH, name)
        self._events.publish(DefinitionsChanged(DefinitionKind.SEARCH, name))

    async def run(self, name: str, request: SearchRequest, keys: Mapping[str, Secret] = _NO_KEYS) -> SearchAnswer:
        """Search by a tool; ConsentError for its key at another address, InputError without a key, ReachError."""
        return await self.search(await self.find(name), request, keys)

    async def search(
        self, tool: SearchTool, request: SearchRequest, keys: Mapping[str, Secret] = _NO_KEYS, *, agreed: bool = False
    ) -> SearchAnswer:
        """Search by a tool that need not be kept; see `run`. The contact may be `agreed` to elsewhere."""
        destination = Destination(tool.provider.value, tool.base_url or None)
        key = self._models.keys_at([destination], keys).get(destination)
        if not agreed and (requests := self._models.contacts([destination], keys)):
            raise ConsentError.of(requests)
        if key is None and tool.needs_key:
            hint = f"Run mcp-tef keys set {tool.provider}, or set {self._models.key_variable(tool.provider.value)}."
            raise InputError(f"There is no key for {tool.provider}.", hint=hint, code="search_key_missing")
        return await self._searcher.search(tool, request, key)

    def questions(self, tool: SearchTool) -> Sequence[ConsentRequest]:
        """Return the open questions about the address of a kept search tool, and about its key."""
        destination = Destination(tool.provider.value, tool.base_url or None)
        try:
            self._models.keys_at([destination], {})
        except ConsentError as error:
            return error.requests
        return self._models.contacts([destination], {})


class SearchExecutor:
    """Satisfies `ToolExecutor` for searches: by the named search tool, or at the address of a SearXNG service."""

    def __init__(self, searches: Callable[[], SearchTools]) -> None:
        self._searches = searches

    async def execute(self, plan: ToolPlan, arguments: JsonObject) -> Json:
        """Return the answer in the shape of all providers."""
        searches, config = self._searches(), plan.design.config
        request = search_request(arguments, config.get("count", USUAL_RESULTS))
        tool = plan.search or SearchTool(
            name=plan.design.name, provider=SearchProvider.SEARXNG, base_url=str(config["base_url"])
        )
        return search_answer_to_json(await searches.search(tool, request, agreed=plan.search is None))
