"""Which parameters of a tool are shown, and in which order; remembered between starts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from app.screens.servers.schema import Parameter
from app.widgets import Action

KEPT: Final = "servers.parameters_shown"
HEADS: Final = ("Parameter", "Type", "Required", "Description", "Limits")


class OnlyParameters(StrEnum):
    """What parameters can be narrowed to."""

    REQUIRED = "required"
    UNDESCRIBED = "undescribed"


ONLY_WORDS: Final[Mapping[OnlyParameters, str]] = {
    OnlyParameters.REQUIRED: "Required",
    OnlyParameters.UNDESCRIBED: "Without a description",
}


class ParameterOrder(StrEnum):
    """What they are sorted by."""

    GIVEN = "given"
    NAME = "name"
    TYPE = "type"
    REQUIRED = "required"


ORDER_WORDS: Final[Mapping[ParameterOrder, str]] = {
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

    def of(self, parameters: Sequence[Parameter], text: str) -> tuple[Parameter, ...]:
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

    def _fits(self, one: Parameter) -> bool:
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
        *(choice(words, replace(now, only=only)) for only, words in ONLY_WORDS.items()),
        *(
            choice(words, replace(now, order=order), apart=order is ParameterOrder.GIVEN)
            for order, words in ORDER_WORDS.items()
        ),
    ]


def cells_of(parameters: Sequence[Parameter]) -> list[tuple[str, ...]]:
    """Parameters as texts under `HEADS`."""
    return [(one.name, one.type, "yes" if one.required else "no", one.description, one.limits) for one in parameters]


def _holds(one: Parameter, words: Sequence[str]) -> bool:
    needed = "required" if one.required else "optional"
    text = "\n".join((one.name, one.type, needed, one.description, one.limits)).casefold()
    return all(word in text for word in words)
