"""Which servers the list shows, and in which order: what is ticked in the filter menu, remembered between starts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from app.widgets import Action
from mcp_tef import Server, ServerStatus, Transport

KEPT: Final = "servers.shown"
STATES: Final[Mapping[ServerStatus, str]] = {
    ServerStatus.ACTIVE: "Active",
    ServerStatus.FAILED: "Failed",
    ServerStatus.STARTING: "Starting",
    ServerStatus.INACTIVE: "Not started",
}
KINDS: Final[Mapping[Transport, str]] = {
    Transport.STDIO: "Commands",
    Transport.STREAMABLE_HTTP: "Addresses",
    Transport.SSE: "Addresses (SSE)",
    Transport.FILE: "Tools files",
}


class Order(StrEnum):
    """What the list is sorted by."""

    NAME = "name"
    STATE = "state"
    TOOLS = "tools"
    SEEN = "seen"


ORDERS: Final[Mapping[Order, str]] = {
    Order.NAME: "Sort by name",
    Order.STATE: "Sort by state, failed first",
    Order.TOOLS: "Sort by tools, most first",
    Order.SEEN: "Sort by last seen, latest first",
}
_PLACES: Final = (ServerStatus.FAILED, ServerStatus.STARTING, ServerStatus.INACTIVE, ServerStatus.ACTIVE)


@dataclass(frozen=True, slots=True)
class Shown:
    """One state and one kind, or all of them; `changed` wants servers whose tools are not as they were seen."""

    state: ServerStatus | None = None
    kind: Transport | None = None
    changed: bool = False
    order: Order = Order.NAME

    @property
    def filters(self) -> int:
        """How many filters are set."""
        return (self.state is not None) + (self.kind is not None) + self.changed

    def fits(self, server: Server, *, changed: bool) -> bool:
        """Whether a server is wanted."""
        of_state = self.state is None or server.status is self.state
        of_kind = self.kind is None or server.spec.transport is self.kind
        return of_state and of_kind and (changed or not self.changed)

    def sorted(self, servers: Iterable[Server]) -> list[Server]:
        """In the order that is wanted; names decide between equals."""
        by_name = sorted(servers, key=lambda server: server.name.casefold())
        match self.order:
            case Order.STATE:
                return sorted(by_name, key=lambda server: _PLACES.index(server.status))
            case Order.TOOLS:
                return sorted(by_name, key=lambda server: -(server.tool_count or 0))
            case Order.SEEN:
                return sorted(by_name, key=_seen, reverse=True)
        return by_name

    def to_keep(self) -> dict[str, Any]:
        """As plain values."""
        state, kind = self.state, self.kind
        words = {"state": state.value if state else "", "kind": kind.value if kind else "", "order": self.order.value}
        return {**words, "changed": self.changed}


def _seen(server: Server) -> float:
    return server.last_connected_at.timestamp() if server.last_connected_at else 0.0


def shown_of(kept: Mapping[str, object]) -> Shown:
    """What was kept; whatever does not fit is left out."""
    return Shown(
        state=next((state for state in STATES if state.value == kept.get("state")), None),
        kind=next((kind for kind in KINDS if kind.value == kept.get("kind")), None),
        changed=kept.get("changed") is True,
        order=next((order for order in Order if order.value == kept.get("order")), Order.NAME),
    )


def narrowing_actions(now: Shown, show: Callable[[Shown], object]) -> Sequence[Action]:
    """Every choice, ticked while it is in force, and a way to take all filters away."""

    def choice(text: str, then: Shown, *, ticked: bool, apart: bool = False) -> Action:
        return Action(text=text, do=lambda: show(then), checked=ticked, apart=apart)

    states = [
        choice(text, replace(now, state=None if now.state is one else one), ticked=now.state is one)
        for one, text in STATES.items()
    ]
    kinds = [
        choice(text, replace(now, kind=None if now.kind is one else one), ticked=now.kind is one, apart=place == 0)
        for place, (one, text) in enumerate(KINDS.items())
    ]
    changed = choice("Tools changed since seen", replace(now, changed=not now.changed), ticked=now.changed, apart=True)
    orders = [
        choice(text, replace(now, order=one), ticked=now.order is one, apart=place == 0)
        for place, (one, text) in enumerate(ORDERS.items())
    ]
    every = Action(text="Show all servers", do=lambda: show(Shown(order=now.order)), enabled=now.filters > 0)
    return [every, *states, *kinds, changed, *orders]
