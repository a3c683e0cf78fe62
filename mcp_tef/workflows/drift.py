"""Changes of tool definitions since the user or a run last saw them."""

import asyncio
from collections.abc import Mapping, Sequence

from mcp_tef.errors import ConflictError, NotFoundError
from mcp_tef.events import EventStream, ServersChanged
from mcp_tef.model.comparison import DefinitionChange, Drift
from mcp_tef.model.ids import RunId, ServerId
from mcp_tef.model.runs import RunDetail
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.ports import Store
from mcp_tef.scoring.run_differences import changes_since, tool_drift
from mcp_tef.workflows.consent import Consents


class DriftCheck:
    """Definitions that changed. What a server lists now is what its last check found; nothing here connects."""

    def __init__(self, store: Store, consents: Consents, events: EventStream) -> None:
        self._store = store
        self._consents = consents
        self._events = events

    async def of_server(self, server_id: ServerId) -> Drift | None:
        """Return the changes since the user last saw the server's tools; None if there are none."""
        seen = await self._store.servers.accepted_listing(server_id)
        now = await self._store.servers.listing(server_id) if seen else None
        if seen is None or now is None:
            return None
        spec = (await self._store.servers.get(server_id)).spec
        found = await asyncio.to_thread(tool_drift, seen, now)
        tools = tuple(tool for tool in found if tool.after is not None or spec.wants(tool.name))
        return Drift(listing=now, tools=tools, agreed=self._is_allowed_program(spec)) if tools else None

    async def accept(self, server_id: ServerId, drift: Drift, *, by: str = "") -> None:
        """Take it as seen; ConflictError where the server lists something else by now."""
        if not await self._store.servers.accept_listing(server_id, drift.listing):
            raise ConflictError("The tools changed once more.", hint="Look at them again.")
        self._events.publish(ServersChanged((server_id,), by))

    async def since_run(self, run: RunDetail) -> Mapping[str, DefinitionChange]:
        """Return the changes of the tools that a run was offered, by offered name; unchanged tools are left out."""
        if run.snapshot is None:
            return {}
        found: dict[str, DefinitionChange] = {}
        for name in sorted({item.tool.server for item in run.snapshot.tools}):
            spec, now = await self._now(name)
            if spec is not None and now is not None:
                found |= await asyncio.to_thread(changes_since, run.snapshot, now, spec.wants)
        return found

    async def outdated(self, run_ids: Sequence[RunId]) -> Mapping[RunId, tuple[str, ...]]:
        """Of some runs those whose expected or selected tool is defined otherwise now, with its name."""
        return await self._store.runs.redefined(run_ids)

    async def _now(self, name: str) -> tuple[ServerSpec | None, Listing | None]:
        try:
            server = await self._store.servers.find(name)
            return server.spec, await self._store.servers.listing(server.id)
        except NotFoundError:
            return None, None

    def _is_allowed_program(self, spec: ServerSpec) -> bool:
        return spec.transport is Transport.STDIO and not self._consents.needed(spec)
