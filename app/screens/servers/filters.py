"""Filter and sort order of the lists of servers, tools and parameters, kept between starts."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from app.screens.servers.schema import SchemaParameter, token_count
from app.widgets import Action
from mcp_tef import Server, ServerStatus, Tool, Transport

SERVER_VIEW_KEY: Final = "servers.shown"
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


TOOL_VIEW_KEY: Final = "servers.tools_shown"


class Only(StrEnum):
    """What tools can be narrowed to."""

    CHANGED = "changed"
    UNDESCRIBED = "undescribed"
    BARE = "bare"


TOOL_FILTERS: Final[Mapping[Only, str]] = {
    Only.CHANGED: "Changed since seen",
    Only.UNDESCRIBED: "Without a description",
    Only.BARE: "Without parameters",
}


class ToolOrder(StrEnum):
    """What the list is sorted by."""

    GIVEN = "given"
    NAME = "name"
    WEIGHT = "weight"


TOOL_ORDERS: Final[Mapping[ToolOrder, str]] = {
    ToolOrder.GIVEN: "As the server lists them",
    ToolOrder.NAME: "Sort by name",
    ToolOrder.WEIGHT: "Sort by tokens, most first",
}


@dataclass(frozen=True, slots=True)
class ToolsShown:
    """One kind of tools, or all of them."""

    only: Only | None = None
    order: ToolOrder = ToolOrder.GIVEN

    def of(self, tools: Sequence[Tool], changed: Collection[str]) -> tuple[Tool, ...]:
        """The tools that are wanted, in the order that is wanted; `changed` are names."""
        fitting = [tool for tool in tools if self._fits(tool, changed)]
        match self.order:
            case ToolOrder.NAME:
                fitting.sort(key=lambda tool: tool.name.casefold())
            case ToolOrder.WEIGHT:
                fitting.sort(key=token_count, reverse=True)
        return tuple(fitting)

    def _fits(self, tool: Tool, changed: Collection[str]) -> bool:
        match self.only:
            case Only.CHANGED:
                return tool.name in changed
            case Only.UNDESCRIBED:
                return not tool.description.strip()
            case Only.BARE:
                return not tool.input_schema.get("properties")
        return True

    def to_keep(self) -> dict[str, Any]:
        """As plain values."""
        return {"only": self.only.value if self.only else "", "order": self.order.value}


def tools_shown_of(kept: Mapping[str, object]) -> ToolsShown:
    """What was kept; whatever does not fit is left out."""
    return ToolsShown(
        only=next((only for only in Only if only.value == kept.get("only")), None),
        order=next((order for order in ToolOrder if order.value == kept.get("order")), ToolOrder.GIVEN),
    )


def tool_narrowing_actions(now: ToolsShown, show: Callable[[ToolsShown], object]) -> Sequence[Action]:
    """Every choice, ticked while it is in force."""
    every = Action(text="All tools", do=lambda: show(replace(now, only=None)), checked=now.only is None)
    return [every, *(_only(only, now, show) for only in Only), *(_order(order, now, show) for order in ToolOrder)]


def _only(only: Only, now: ToolsShown, show: Callable[[ToolsShown], object]) -> Action:
    return Action(text=TOOL_FILTERS[only], do=lambda: show(replace(now, only=only)), checked=now.only is only)


def _order(order: ToolOrder, now: ToolsShown, show: Callable[[ToolsShown], object]) -> Action:
    first = order is ToolOrder.GIVEN
    text = TOOL_ORDERS[order]
    return Action(text=text, do=lambda: show(replace(now, order=order)), checked=now.order is order, apart=first)


PARAMETER_VIEW_KEY: Final = "servers.parameters_shown"
HEADS: Final = ("Parameter", "Type", "Required", "Description", "Limits")


class OnlyParameters(StrEnum):
    """What parameters can be narrowed to."""

    REQUIRED = "required"
    UNDESCRIBED = "undescribed"


PARAMETER_FILTERS: Final[Mapping[OnlyParameters, str]] = {
    OnlyParameters.REQUIRED: "Required",
    OnlyParameters.UNDESCRIBED: "Without a description",
}


class ParameterOrder(StrEnum):
    """What they are sorted by."""

    GIVEN = "given"
    NAME = "name"
    TYPE = "type"
    REQUIRED = "required"


PARAMETER_ORDERS: Final[Mapping[ParameterOrder, str]] = {
    ParameterOrder.GIVEN: "As the schema lists them",
    ParameterOrder.NAME: "Sort by name",
    ParameterOrder.TYPE: "Sort by type",
    ParameterOrder.REQUIRED: "Sort by required, these first",
}


@dataclass(frozen=True, slots=True)
class ParametersShown:
    """One kind of parameters, or all of them."""

    only: OnlyParameters | None = None
    order: ParameterOrder = ParameterOrder.GIVEN

    def of(self, parameters: Sequence[SchemaParameter], text: str) -> tuple[SchemaParameter, ...]:
        """Those that are wanted and hold every word, in the order that is wanted."""
        words = text.casefold().split()
        found = [one for one in parameters if self._fits(one) and _holds(one, words)]
        match self.order:
            case ParameterOrder.NAME:
                found.sort(key=lambda one: one.name.casefold())
            case ParameterOrder.TYPE:
                found.sort(key=lambda one: one.type)
            case ParameterOrder.REQUIRED:
                found.sort(key=lambda one: not one.required)
        return tuple(found)

    def _fits(self, one: SchemaParameter) -> bool:
        match self.only:
            case OnlyParameters.REQUIRED:
                return one.required
            case OnlyParameters.UNDESCRIBED:
                return not one.description.strip()
        return True

    def to_keep(self) -> dict[str, Any]:
        """As plain values."""
        return {"only": self.only.value if self.only else "", "order": self.order.value}


def parameters_shown_of(kept: Mapping[str, object]) -> ParametersShown:
    """What was kept; whatever does not fit is left out."""
    return ParametersShown(
        only=next((only for only in OnlyParameters if only.value == kept.get("only")), None),
        order=next((order for order in ParameterOrder if order.value == kept.get("order")), ParameterOrder.GIVEN),
    )


def parameter_actions(now: ParametersShown, show: Callable[[ParametersShown], object]) -> list[Action]:
    """Every choice, ticked while it is in force."""

    def choice(text: str, then: ParametersShown, *, apart: bool = False) -> Action:
        return Action(text=text, do=lambda: show(then), checked=now == then, apart=apart)

    return [
        choice("All parameters", replace(now, only=None)),
        *(choice(words, replace(now, only=only)) for only, words in PARAMETER_FILTERS.items()),
        *(
            choice(words, replace(now, order=order), apart=order is ParameterOrder.GIVEN)
            for order, words in PARAMETER_ORDERS.items()
        ),
    ]


def cells_of(parameters: Sequence[SchemaParameter]) -> list[tuple[str, ...]]:
    """Parameters as texts under `HEADS`."""
    return [(one.name, one.type, "yes" if one.required else "no", one.description, one.limits) for one in parameters]


def _holds(one: SchemaParameter, words: Sequence[str]) -> bool:
    needed = "required" if one.required else "optional"
    text = "\n".join((one.name, one.type, needed, one.description, one.limits)).casefold()
    return all(word in text for word in words)
