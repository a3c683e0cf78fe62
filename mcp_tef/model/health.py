"""Health of servers, from contacts that happen anyway: when, how long, and how each ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from typing import Final

from mcp_tef.model.rates import percent_text

WINDOW: Final = timedelta(hours=1)
KEPT: Final = timedelta(days=7)
DEGRADED_ERROR_RATE: Final = 0.10
DEGRADED_FACTOR: Final = 2.0
SLOW_MS: Final = 10_000
"""A p95 above this many milliseconds is degraded, whatever is usual for the server."""
LEAST_USUAL: Final = 20
"""Earlier contacts that it takes before a server has a usual p95."""
LAST_FAILURES: Final = 3


class ContactKind(StrEnum):
    """Kind of a contact with a server."""

    LISTING = "listing"
    CALL = "call"
    EXECUTION = "execution"


class HealthState(StrEnum):
    """Health of one server or of all; `unknown` where there was no contact yet."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContact:
    """One contact, or those of one hour folded together: then `contacts` is more than 1 and `duration_ms` the mean."""

    server: str
    kind: ContactKind | None = None
    at: datetime
    duration_ms: int
    error: str | None = None
    contacts: int = 1
    failures: int = 0

    @property
    def failed(self) -> bool:
        """True if it ended with an error."""
        return self.failures > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactSummary:
    """The contacts up to a moment in short, since a week of watching 50 servers makes 500,000.

    `usual_ms` is the p95 of each server that has enough of them; `last` holds for each server its last success and its
    last failures, oldest first.
    """

    before: datetime
    usual_ms: Mapping[str, int]
    last: tuple[ServerContact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerHealth:
    """Health of one server, or of all together; figures are of the last hour and None where it had no contact."""

    server: str
    state: HealthState
    reason: str = ""
    last_success: datetime | None = None
    last_error: str | None = None
    error_rate: float | None = None
    p50_ms: int | None = None
    p95_ms: int | None = None
    calls_per_minute: float = 0.0
    last_updated: datetime | None = None


def percentile(values: Sequence[int], share: float) -> int | None:
    """Return the nearest-rank percentile; None of nothing."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)] if values else None


def usual_p95(durations: Sequence[int]) -> int | None:
    """Return the usual p95 of a server from the durations of its earlier contacts; None of too few."""
    return percentile(durations, 0.95) if len(durations) >= LEAST_USUAL else None


def server_health(
    server: str, contacts: Sequence[ServerContact], now: datetime, usual: int | None = None
) -> ServerHealth:
    """Return the health of one server from its contacts, oldest first; `usual` is its p95 where that is known."""
    if not contacts:
        return ServerHealth(server=server, state=HealthState.UNKNOWN, reason="no contact yet")
    found = _figures(server, contacts, now)
    if _all_failed(contacts[-LAST_FAILURES:]):
        return replace(found, state=HealthState.UNAVAILABLE, reason=f"the last {LAST_FAILURES} contacts failed")
    usual = usual or usual_p95(_durations([one for one in contacts if one.at <= now - WINDOW]))
    reason = _degradation(found.error_rate or 0, found.p95_ms or 0, usual)
    return replace(found, state=HealthState.DEGRADED, reason=reason) if reason else found


def recent_contacts(contacts: Sequence[ServerContact], now: datetime) -> tuple[ServerContact, ...]:
    """Return the contacts of the last hour, without those that were folded together."""
    return tuple(one for one in contacts if one.at > now - WINDOW and one.contacts == 1)


def _figures(server: str, contacts: Sequence[ServerContact], now: datetime) -> ServerHealth:
    recent = recent_contacts(contacts, now)
    durations = _durations(recent)
    return ServerHealth(
        server=server,
        state=HealthState.HEALTHY,
        last_success=_last_success(contacts),
        last_error=_last_error(contacts),
        error_rate=sum(one.failed for one in recent) / len(recent) if recent else None,
        p50_ms=percentile(durations, 0.5),
        p95_ms=percentile(durations, 0.95),
        calls_per_minute=len(recent) / (WINDOW / timedelta(minutes=1)),
        last_updated=contacts[-1].at,
    )


def _last_success(contacts: Sequence[ServerContact]) -> datetime | None:
    return max((one.at for one in contacts if one.failures < one.contacts), default=None)


def _all_failed(contacts: Sequence[ServerContact]) -> bool:
    return len(contacts) == LAST_FAILURES and all(one.failures == one.contacts for one in contacts)


def _durations(contacts: Sequence[ServerContact]) -> list[int]:
    return [one.duration_ms for one in contacts if not one.failed]


def _last_error(contacts: Sequence[ServerContact]) -> str | None:
    return next((one.error for one in reversed(contacts) if one.failed), None)


def _degradation(rate: float, p95: int, usual: int | None) -> str:
    """Return why a server is degraded; empty where it is not."""
    if rate > DEGRADED_ERROR_RATE:
        return f"{percent_text(rate)} of the last hour’s contacts failed"
    if p95 > SLOW_MS:
        return f"p95 is {p95} ms, over {SLOW_MS} ms"
    if usual and p95 > DEGRADED_FACTOR * usual:
        return f"p95 is {p95} ms, over twice the usual {usual} ms"
    return ""


def overall_health(servers: Sequence[ServerHealth], contacts: Sequence[ServerContact], now: datetime) -> ServerHealth:
    """Return the health of all: unavailable where all are, healthy where all are, degraded otherwise.

    Servers without any contact do not count.
    """
    states = {one.state for one in servers} - {HealthState.UNKNOWN}
    state = states.pop() if len(states) == 1 else HealthState.DEGRADED if states else HealthState.UNKNOWN
    return replace(server_health("", contacts, now), state=state, reason="")
