"""State of the health of servers: the last hour, checks, and watching; knows no Qt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from app.screens.servers.health_rows import STATES
from app.screens.servers.presenter import CoreCalls
from mcp_tef import HealthOverview, HealthState, Server, ServerContact, ServerHealth, ServerId, Transport

if TYPE_CHECKING:
    from mcp_tef import Engine

NOT_WATCHED: Final = "0"
INTERVALS: Final = {
    NOT_WATCHED: "Do not watch",
    "60": "Check every minute",
    "300": "Check every 5 minutes",
    "900": "Check every 15 minutes",
}


@dataclass(slots=True)
class HealthPresenter:
    """Health of all servers as it was read last."""

    core: CoreCalls
    overview: HealthOverview | None = None
    servers: tuple[Server, ...] = ()
    states: dict[str, HealthState] = field(default_factory=dict)

    async def load(self) -> None:
        """Read the health of every server."""

        async def read(core: "Engine") -> tuple[HealthOverview, Sequence[Server]]:
            return await core.health.overview(), await core.servers.list()

        self.overview, servers = await self.core.call(read)
        self.servers = tuple(servers)

    def contacts(self, server_id: str) -> tuple[ServerContact, ...]:
        """Return the contacts of the last hour with a server, oldest first."""
        server = self.server(server_id)
        return tuple(self.overview.contacts.get(server.name, ())) if server and self.overview else ()

    def health(self, server_id: str) -> ServerHealth | None:
        """Return the health of a server; None for a tools file."""
        server = self.server(server_id)
        known = self.overview.servers if self.overview else ()
        return next((one for one in known if server and one.server == server.name), None)

    def server(self, server_id: str) -> Server | None:
        """Return a server by its id."""
        return next((one for one in self.servers if one.id == server_id), None)

    def id_of(self, name: str) -> str:
        """Return the id of a server by its name; "" if there is none."""
        return next((one.id for one in self.servers if one.name == name), "")

    async def check_all(self) -> int:
        """Check every server that needs no consent, and return the number of those that were left alone."""
        reachable = [one for one in self.servers if one.spec.transport is not Transport.FILE]

        async def check(core: "Engine") -> int:
            allowed = [one for one in reachable if not core.consents.missing([one.spec])]
            for one in allowed:
                await core.servers.check(one.id)
            return len(reachable) - len(allowed)

        return await self.core.call(check)

    async def check(self, server_id: str) -> None:
        """Check one server; ConsentError if it was not allowed."""
        await self.core.call(lambda core: core.servers.check(ServerId(server_id)))

    async def watch(self, seconds: float, tell: Callable[[ServerHealth], object]) -> None:
        """Check servers again and again until it is cancelled; `tell` hears changes on the core's thread."""

        async def watching(core: "Engine") -> None:
            async for health in core.health.watch(every=seconds):
                tell(health)

        await self.core.call(watching)

    def notice(self, health: ServerHealth) -> str:
        """Return what to say about a change of state; "" for the first state, and for what is known already."""
        before, self.states[health.server] = self.states.get(health.server), health.state
        if before in (None, health.state, HealthState.UNKNOWN) and health.state is not HealthState.UNAVAILABLE:
            return ""
        if before is health.state:
            return ""
        reason = f": {health.reason}" if health.reason else ""
        return f"{health.server} is {STATES[health.state].lower()} now{reason}"
