"""Request to a model and its completion, as plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_tef.llm.providers import Target
from mcp_tef.model.json import Json
from mcp_tef.model.secrets import Secret
from mcp_tef.prompts.answer_parsing import WrittenCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One chat completion; `timeout` in seconds, `tools` in OpenAI's shape, `key` for this call only.

    `json_only` asks for one JSON object, where the provider can force it. `origins` are the addresses that the call may
    reach: that of the target, else the provider's own; None means any, for providers that use credentials of their own.
    """

    target: Target
    messages: Sequence[Mapping[str, str]]
    tools: Sequence[Mapping[str, Any]]
    temperature: float
    timeout: float
    key: Secret | None
    origins: frozenset[str]
    json_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Answer of a model. `cost_usd` is None if the price is unknown; `notes` name other doubtful values.

    `raw` is the answer as litellm holds it, given only if the HTTP traffic was not recorded.
    """

    text: str
    calls: tuple[WrittenCall, ...]
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    raw: Json = None
    notes: tuple[str, ...] = ()
