"""State of the health of servers: the last hour as rows of latency and errors, checks, and watching; knows no Qt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from app.screens.servers.presenter import CoreCalls
from app.text.data_tables import DataTable
from app.text.formatting import ago, count, duration
from mcp_tef import (
    ContactKind,
    HealthOverview,
    HealthState,
    Server,
    ServerContact,
    ServerHealth,
    ServerId,
    Transport,
    percentile,
)

if TYPE_CHECKING:
    from mcp_tef import Engine


BUCKETS: Final = 30
WINDOW: Final = timedelta(hours=1)
STATES: Final[Mapping[HealthState, str]] = {
    HealthState.UNAVAILABLE: "Unavailable",
    HealthState.DEGRADED: "Degraded",
    HealthState.HEALTHY: "Healthy",
    HealthState.UNKNOWN: "Not checked",
}
KINDS: Final[Mapping[ContactKind, tuple[str, str]]] = {
    ContactKind.LISTING: ("listing", "listings"),
    ContactKind.CALL: ("tool call", "tool calls"),
    ContactKind.EXECUTION: ("execution", "executions"),
}
NO_FILE_CONTACT: Final = "A tools file: there is nothing to reach"
NO_LIBRARY_CONTACT: Final = "The library: there is nothing to reach"
NO_CONTACT: Final = "No contact in the last hour"
_SCALES: Final = (100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 30_000, 60_000)


@dataclass(frozen=True, slots=True)
class LatencyPoint:
    """p50 and p95 of two minutes, at a place from 0 (an hour ago) to 1 (now)."""

    place: float
    p50_ms: int
    p95_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRow:
    """One server. `errors` are places from 0 to 1; `note` stands instead of the line where there is none."""

    id: str
    name: str
    state: HealthState = HealthState.UNKNOWN
    line: tuple[LatencyPoint, ...] = ()
    errors: tuple[float, ...] = ()
    top_ms: int = 100
    note: str = ""
    times: tuple[str, str] = ("", "")
    failed: tuple[str, str] = ("", "")
    failing: bool = False
    last_success: str = ""

    @property
    def spoken(self) -> str:
        """The whole row as one sentence."""
        parts = (self.name, STATES[self.state], self.note, *self.times, *self.failed, self.last_success)
        return ", ".join(filter(None, parts))


def health_rows(overview: HealthOverview, servers: Sequence[Server], now: datetime) -> tuple[HealthRow, ...]:
    """Return a row for each server, the worst first."""
    known = {one.server: one for one in overview.servers}
    rows = [_row(server, known.get(server.name), overview.contacts.get(server.name, ()), now) for server in servers]
    order = list(STATES)
    return tuple(sorted(rows, key=lambda row: (order.index(row.state), row.name.casefold())))


def _row(server: Server, health: ServerHealth | None, contacts: Sequence[ServerContact], now: datetime) -> HealthRow:
    if health is None or server.spec.transport is Transport.FILE:
        note = NO_LIBRARY_CONTACT if server.spec.is_library else NO_FILE_CONTACT
        return HealthRow(id=server.id, name=server.name, note=note)
    line = latency_line(contacts, now)
    failed = [one for one in contacts if one.failed]
    return HealthRow(
        id=server.id,
        name=server.name,
        state=health.state,
        line=line,
        errors=tuple(_place(one.at, now) for one in failed),
        top_ms=scale_of([point.p95_ms for point in line]),
        note="" if contacts else NO_CONTACT,
        times=(time_text(health.p50_ms), time_text(health.p95_ms)),
        failed=_failed(len(failed), len(contacts), health),
        failing=bool(failed),
        last_success=_last(health.last_success, now),
    )


def _failed(failed: int, contacts: int, health: ServerHealth) -> tuple[str, str]:
    return (f"{failed:,} of {contacts:,}", f"{health.calls_per_minute:.1f} a minute") if contacts else ("", "")


def _last(success: datetime | None, now: datetime) -> str:
    return ago(success, now) if success else "never"


def latency_line(contacts: Sequence[ServerContact], now: datetime) -> tuple[LatencyPoint, ...]:
    """Return p50 and p95 of every two minutes of the last hour that had a successful contact."""
    buckets: dict[int, list[int]] = {}
    for one in contacts:
        if not one.failed:
            buckets.setdefault(min(BUCKETS - 1, int(_place(one.at, now) * BUCKETS)), []).append(one.duration_ms)
    return tuple(
        LatencyPoint((number + 0.5) / BUCKETS, percentile(taken, 0.5) or 0, percentile(taken, 0.95) or 0)
        for number, taken in sorted(buckets.items())
    )


def _place(at: datetime, now: datetime) -> float:
    return max(0.0, min(1.0, 1 - (now - at) / WINDOW))


def scale_of(values: Sequence[int]) -> int:
    """Return the end of the scale that holds these times, in milliseconds."""
    most = max(values, default=0)
    return next((one for one in _SCALES if one >= most), most)


def time_text(milliseconds: int | None) -> str:
    """Return a time as "204 ms" or "3.0 s"; "" for None."""
    if milliseconds is None:
        return ""
    return f"{milliseconds:,} ms" if milliseconds < 1_000 else duration(milliseconds / 1_000)


def overall_detail(overview: HealthOverview, now: datetime) -> str:
    """Return how many servers are in each state: "1 unavailable, 4 healthy · updated 20 s ago"."""
    counted = {state: sum(one.state is state for one in overview.servers) for state in STATES}
    parts = [f"{number} {STATES[state].lower()}" for state, number in counted.items() if number]
    updated = overview.overall.last_updated
    return ", ".join(parts) + (f" · updated {ago(updated, now)}" if updated else "")


def health_sentence(health: ServerHealth, contacts: Sequence[ServerContact]) -> tuple[str, str]:
    """Return a headline on one server, and the reason for its state."""
    failed = sum(one.failed for one in contacts)
    headline = f"{health.server}: {failed:,} of {count(len(contacts), 'contact')} failed"
    if not contacts:
        headline = f"{health.server}: {NO_CONTACT.lower()}"
    elif not failed:
        headline = f"{health.server}: all {count(len(contacts), 'contact')} answered"
    reason = f"{health.reason[:1].upper()}{health.reason[1:]}." if health.reason else ""
    return headline, reason


def errors_summary(contacts: Sequence[ServerContact]) -> str:
    """Return the errors by kind of contact: "16 errors · 8 tool calls, 8 listings"."""
    failed = [one for one in contacts if one.failed]
    if not failed:
        return "No errors in the last hour"
    kinds = [(sum(one.kind is kind for one in failed), names) for kind, names in KINDS.items()]
    parts = ", ".join(count(number, *names) for number, names in kinds if number)
    return f"{count(len(failed), 'error')} · {parts}"


def health_table(overview: HealthOverview) -> DataTable:
    """Return the figures of each server as a table."""
    columns = ("server", "state", "why", "contacts", "failed", "p50_ms", "p95_ms", "contacts_a_minute", "last_success")
    rows = []
    for one in overview.servers:
        contacts = overview.contacts.get(one.server, ())
        success = one.last_success.isoformat() if one.last_success else None
        failed = sum(contact.failed for contact in contacts)
        figures = (len(contacts), failed, one.p50_ms, one.p95_ms, one.calls_per_minute, success)
        rows.append((one.server, STATES[one.state], one.reason, *figures))
    return DataTable(name="Health of servers", columns=columns, rows=tuple(rows))


def contacts_table(overview: HealthOverview) -> DataTable:
    """Return every contact of the last hour as a table, oldest first."""
    every = sorted((one for each in overview.contacts.values() for one in each), key=lambda one: one.at)
    rows = tuple((one.at.isoformat(), one.server, one.kind, one.duration_ms, one.error) for one in every)
    columns = ("at", "server", "kind", "duration_ms", "error")
    return DataTable(name="Contacts of the last hour", columns=columns, rows=rows)


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
