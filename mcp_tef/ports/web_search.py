"""Port for search services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mcp_tef.model.secrets import Secret
    from mcp_tef.model.web_search import SearchAnswer, SearchRequest, SearchTool


class WebSearcher(Protocol):
    """Asks search services."""

    async def search(self, tool: SearchTool, request: SearchRequest, key: Secret | None) -> SearchAnswer:
        """Return the answer of one attempt, no retries; raises ReachError in one sentence."""
        ...
