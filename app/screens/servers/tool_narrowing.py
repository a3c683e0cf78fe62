"""Which tools of a server the list shows, and in which order; remembered between starts."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from app.screens.servers.schema import token_weight
from app.widgets import Action
from mcp_tef import Tool

KEPT: Final = "servers.tools_shown"


class Only(StrEnum):
    """What tools can be narrowed to."""

    CHANGED = "changed"
    UNDESCRIBED = "undescribed"
    BARE = "bare"


ONLY_WORDS: Final[Mapping[Only, str]] = {
    Only.CHANGED: "Changed since seen",
    Only.UNDESCRIBED: "Without a description",
    Only.BARE: "Without parameters",
}


class ToolOrder(StrEnum):
    """What the list is sorted by."""

    GIVEN = "given"
    NAME = "name"
    WEIGHT = "weight"


ORDER_WORDS: Final[Mapping[ToolOrder, str]] = {
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
                fitting.sort(key=token_weight, reverse=True)
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
    return Action(text=ONLY_WORDS[only], do=lambda: show(replace(now, only=only)), checked=now.only is only)


def _order(order: ToolOrder, now: ToolsShown, show: Callable[[ToolsShown], object]) -> Action:
    first = order is ToolOrder.GIVEN
    text = ORDER_WORDS[order]
    return Action(text=text, do=lambda: show(replace(now, order=order)), checked=now.order is order, apart=first)
