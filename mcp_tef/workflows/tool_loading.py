"""Tools offered in a batch: each server is listed once, all servers concurrently."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_tef.errors import InputError
from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import RunId, SnapshotId
from mcp_tef.model.servers import Server
from mcp_tef.model.tools import Listing, OfferedTool, Tool
from mcp_tef.ports import RunStore, ServerGateway, ServerStore
from mcp_tef.prompts.tool_aliases import offer
from mcp_tef.workflows.consent import Consents


@dataclass(frozen=True, slots=True)
class CaseTools:
    """Tools that a case offers under the names the model sees, and where that is stored."""

    offered: tuple[OfferedTool, ...]
    tools: tuple[Tool, ...]
    snapshot_id: SnapshotId


class ToolCache:
    """The tools of one batch. A server that fails fails every case that needs it, and no other."""

    def __init__(
        self,
        gateway: ServerGateway,
        servers: ServerStore,
        runs: RunStore,
        consents: Consents,
        *,
        seconds: float,
        separator: str,
    ) -> None:
        self._gateway = gateway
        self._servers = servers
        self._runs = runs
        self._consents = consents
        self._seconds = seconds
        self._separator = separator
        self._listings: dict[str, asyncio.Task[Listing]] = {}
        self._kits: dict[tuple[str, ...], asyncio.Task[CaseTools]] = {}

    async def kit_for(self, case: TestCase, run_id: RunId) -> CaseTools:
        """Return the kit of a case; raises ServerError with the server's name, InputError where there are no tools."""
        names = case.draft.servers
        if names not in self._kits:
            self._kits[names] = asyncio.create_task(self._assemble(names, run_id))
        return await asyncio.shield(self._kits[names])

    async def close(self) -> None:
        """Stop what is still fetching."""
        tasks = [*self._kits.values(), *self._listings.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _assemble(self, names: Sequence[str], run_id: RunId) -> CaseTools:
        if not names:
            raise InputError("The case names no server, so there is no tool to offer.", hint="Choose its servers.")
        servers = [await self._agreed(name) for name in names]
        fetches = [asyncio.shield(self._listing(server)) for server in servers]
        listings = map(_raised, await asyncio.gather(*fetches, return_exceptions=True))
        tools = [tool for listing in listings for tool in listing.tools]
        if not tools:
            raise InputError(f"{', '.join(names)} listed no usable tool.", hint="Look at the server's problems.")
        offered = offer(tools, self._separator, aliases=_aliases(servers))
        return CaseTools(offered, tuple(item.tool for item in offered), await self._runs.save_snapshot(offered, run_id))

    async def _agreed(self, name: str) -> Server:
        """Return the server as it is now: it may have been changed since the batch began."""
        server = await self._servers.find(name)
        self._consents.require(server.spec)
        return server

    def _listing(self, server: Server) -> asyncio.Task[Listing]:
        if server.name not in self._listings:
            fetch = self._gateway.list_tools(server.spec, timeout=self._seconds)
            self._listings[server.name] = asyncio.create_task(fetch)
        return self._listings[server.name]


def _aliases(servers: Sequence[Server]) -> dict[str, str]:
    return {server.name: server.spec.alias for server in servers if server.spec.alias}


def _raised(item: Listing | BaseException) -> Listing:
    if isinstance(item, BaseException):
        raise item
    return item
