"""The gateway that workflows use to learn which tools there are; it cannot call one."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from mcp_tef.model.json import Json
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.servers.credential_store import CredentialStore
from mcp_tef.servers.definitions import read_catalogue, read_tools_file, sort_catalogue
from mcp_tef.servers.error_messages import ServerErrors
from mcp_tef.servers.observations import Observations
from mcp_tef.trust.plans import StartPlan

if TYPE_CHECKING:
    from mcp_tef.servers.client import McpClient


class McpToolLister:
    """Reaches MCP servers and tools files; satisfies `ports.ServerGateway`.

    `${NAME}` in a spec is read from `environment` (default: this process's) when it connects.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        limits: LimitsSource = USUAL,
        credentials: CredentialStore | None = None,
        require_start: Callable[[ServerSpec, StartPlan], object] = lambda _spec, _plan: None,
    ) -> None:
        self._require_start = require_start
        self._limits = limits
        self._environment = environment
        self._credentials = credentials

    @cached_property
    def _client(self) -> "McpClient":
        from mcp_tef.servers.client import McpClient

        return McpClient(self._environment, self._limits, self._credentials, require_start=self._require_start)

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """Every tool that the server lists now; raises ServerError within `timeout` seconds, and ConsentError."""
        if spec.transport is Transport.FILE:
            return await self._read(spec, timeout)
        return await self._client.list_tools(spec, timeout)

    async def read_catalogue(self, path: str) -> tuple[Listing, ...]:
        """The tools that a file holds, by server; raises ServerError."""
        return await asyncio.to_thread(read_catalogue, path, self._limits.limits)

    async def sort_catalogue(self, name: str, definitions: Sequence[Json]) -> tuple[Listing, ...]:
        """Given definitions, by server; `name` is the server of those that name none."""
        return await asyncio.to_thread(sort_catalogue, name, definitions, self._limits.limits)

    async def close(self) -> None:
        """Leave every server; returns when no connection and no program of ours is left."""
        if "_client" in vars(self):
            await self._client.close()

    async def _read(self, spec: ServerSpec, seconds: float) -> Listing:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(read_tools_file, spec, self._limits.limits)
        except TimeoutError:
            raise ServerErrors(spec, Observations()).silent(seconds) from None
