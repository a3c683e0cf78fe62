"""Health of servers: every contact that happens anyway is a sample, and watching makes some more."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from mcp_tef.model.health import (
    WINDOW,
    ContactSummary,
    HealthState,
    ServerContact,
    ServerHealth,
    overall_health,
    recent_contacts,
    server_health,
)
from mcp_tef.model.servers import Transport

if TYPE_CHECKING:
    from mcp_tef.model.servers import Server
    from mcp_tef.ports import ContactStore
    from mcp_tef.workflows.consent import Consents
    from mcp_tef.workflows.servers import Servers

WATCH_SECONDS: Final = 60.0
MOST_BACKOFF: Final = 16
NOT_ALLOWED: Final = "no contact yet: it needs your consent first"


class WatchRounds:
    """Decides which servers are checked in each round: after failures they rest for 1, 3, 7 and then 15 rounds."""

    def __init__(self) -> None:
        self._failures: defaultdict[str, int] = defaultdict(int)
        self._rest: dict[str, int] = {}

    def due(self, names: Sequence[str]) -> list[str]:
        """Return those of the names that are checked in the next round."""
        resting = {name for name in names if self._rest.get(name, 0) > 0}
        self._rest = {name: self._rest[name] - 1 for name in resting}
        return [name for name in names if name not in resting]

    def ended(self, name: str, *, failed: bool) -> None:
        """Note how a check ended."""
        self._failures[name] = self._failures[name] + 1 if failed else 0
        self._rest[name] = min(2 ** self._failures[name], MOST_BACKOFF) - 1


@dataclass(frozen=True, slots=True)
class HealthOverview:
    """Health of all together and of each server, with the contacts of the last hour by server, oldest first."""

    overall: ServerHealth
    servers: tuple[ServerHealth, ...]
    contacts: Mapping[str, tuple[ServerContact, ...]]


class HealthReports:
    """Health of the registered servers, from their contacts."""

    def __init__(self, store: ContactStore, servers: Servers, consents: Consents) -> None:
        self._store = store
        self._servers = servers
        self._consents = consents
        self._earlier: ContactSummary | None = None

    async def report(self, names: Sequence[str] = ()) -> tuple[ServerHealth, tuple[ServerHealth, ...]]:
        """Return the health of all together, then of each server by name; NotFoundError for an unknown name."""
        found = await self.overview(names)
        return found.overall, found.servers

    async def overview(self, names: Sequence[str] = ()) -> HealthOverview:
        """Return the health of all and of each server, with the contacts of the last hour; NotFoundError."""
        servers = await self._reachable(names)
        now = datetime.now(UTC)
        earlier = await self._summary(now)
        contacts = [*earlier.last, *await self._store.contacts(earlier.before)]
        of_server: defaultdict[str, list[ServerContact]] = defaultdict(list)
        for contact in contacts:
            of_server[contact.server].append(contact)
        usual = earlier.usual_ms.get
        each = tuple(
            replace(server_health("", [], now), server=one.name, reason=NOT_ALLOWED)
            if not of_server[one.name] and self._consents.needed(one.spec)
            else server_health(one.name, of_server[one.name], now, usual(one.name))
            for one in servers
        )
        known = {server.name for server in servers}
        overall = overall_health(each, [one for one in contacts if one.server in known], now)
        recent = {name: recent_contacts(of_server[name], now) for name in known}
        return HealthOverview(overall, each, recent)

    async def _summary(self, now: datetime) -> ContactSummary:
        """Return the contacts up to an hour or two ago in short; it takes about a second after a week of watching."""
        if self._earlier is None or now - self._earlier.before > 2 * WINDOW:
            self._earlier = await self._store.summary(now - WINDOW)
        return self._earlier

    async def watch(
        self,
        names: Sequence[str] = (),
        *,
        every: float = WATCH_SECONDS,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> AsyncIterator[ServerHealth]:
        """Check servers again and again, for ever; yield a server's health at first and whenever its state changes.

        A server that needs consent is never started or contacted. After each failure a server is left alone for twice
        as many rounds, at most sixteen.
        """
        states: dict[str, HealthState] = {}
        rounds = WatchRounds()
        while True:
            servers = {server.name: server for server in await self._reachable(names)}
            await asyncio.gather(*(self._checked(servers[name], rounds) for name in rounds.due(list(servers))))
            for health in (await self.report(names))[1]:
                if states.get(health.server) is not health.state:
                    states[health.server] = health.state
                    yield health
            await wait(every)

    async def _checked(self, server: Server, rounds: WatchRounds) -> None:
        if not self._consents.needed(server.spec):
            rounds.ended(server.name, failed=(await self._servers.check(server.id)).reason is not None)

    async def _reachable(self, names: Sequence[str]) -> list[Server]:
        """Return the servers of these names, or all; tools files and the library have no health."""
        servers = [await self._servers.find(name) for name in names] or await self._servers.list()
        return [server for server in servers if server.spec.transport is not Transport.FILE]
