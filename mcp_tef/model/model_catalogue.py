"""Rows of the model catalogue, names of models as users write them, and checks of a model by one call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from mcp_tef.errors import InputError, ModelFault

GROUP_PROVIDER: Final = "group"
ROUTER_PROVIDER: Final = "router"
TARGET_PROVIDERS: Final = frozenset({GROUP_PROVIDER, ROUTER_PROVIDER})
"""What stands before the name of a group or a router where it is run like a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """One row of the model catalogue. Prices are US dollars per token; None means unknown."""

    provider: str
    model: str
    context_tokens: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    tool_calling: bool | None = None
    vision: bool | None = None
    structured_output: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}"


def parse_model(text: str) -> tuple[str, str]:
    """Split `provider/model` at the first slash."""
    provider, slash, model = text.strip().partition("/")
    if not (provider and slash and model):
        raise InputError(
            f"The model “{text}” is not of the form PROVIDER/NAME.", hint="Write for example openai/gpt-4.1-mini."
        )
    return provider, model


class CheckStep(StrEnum):
    """Part of a check, in the order in which a call meets them."""

    ADDRESS = "address"
    KEY = "key"
    MODEL = "model"
    TOOLS = "tool calling"


class CheckState(StrEnum):
    """Result of a step; what comes after a failed one is not checked."""

    OK = "ok"
    FAILED = "failed"
    UNCHECKED = "not checked"


STEP_OF_FAULT: Final = {
    **dict.fromkeys(
        (
            *(ModelFault.DOWN, ModelFault.TIMEOUT, ModelFault.NOT_AN_API, ModelFault.ADDRESS_UNKNOWN),
            *(ModelFault.ADDRESS_REFUSED, ModelFault.ANSWER_TOO_LARGE),
        ),
        CheckStep.ADDRESS,
    ),
    **dict.fromkeys(
        (ModelFault.KEY_MISSING, ModelFault.KEY_WRONG, ModelFault.FORBIDDEN, ModelFault.QUOTA), CheckStep.KEY
    ),
    ModelFault.NO_TOOLS: CheckStep.TOOLS,
}
"""The step at which a fault ends a check; any other fault is one of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """Result of asking a model hello: the failed step with its reason, or None where every step went well.

    Where it was not `is_sent`, the key was missing before anything could be.
    """

    model: str
    failed: CheckStep | None = None
    is_sent: bool = True
    code: str = ""
    reason: str = ""
    hint: str = ""
    answered_model: str | None = None
    milliseconds: int | None = None

    @property
    def states(self) -> dict[CheckStep, CheckState]:
        """The state of each step."""
        if self.failed is None:
            return dict.fromkeys(CheckStep, CheckState.OK)
        steps = list(CheckStep)
        at = steps.index(self.failed)
        states = {step: CheckState.OK if place < at else CheckState.UNCHECKED for place, step in enumerate(steps)}
        if not self.is_sent:
            states[CheckStep.ADDRESS] = CheckState.UNCHECKED
        return {**states, self.failed: CheckState.FAILED}


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model server that answers on this machine, with the names of its models."""

    provider: str
    address: str
    models: tuple[str, ...]
