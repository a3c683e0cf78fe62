"""Rows of the model catalogue, and names of models as users write them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_tef.errors import InputError

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
