"""A chat completion as plain values: what is asked, and what was answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_tef.llm.providers import Target
from mcp_tef.model.json import Json
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret, without
from mcp_tef.prompts.answer_parsing import WrittenCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One chat completion with `settings`; `tools` in OpenAI's shape, `key` for this call only.

    `response_format` asks for JSON, where the provider can force it. `origins` are the addresses that the call may
    reach: that of the target, else the provider's own; None means any, for providers that use credentials of their own.
    """

    target: Target
    messages: Sequence[Mapping[str, str]]
    tools: Sequence[Mapping[str, Any]]
    settings: ModelSettings
    key: Secret | None
    origins: frozenset[str]
    response_format: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Answer of a model. `cost_usd` is None if the price is unknown; `notes` name other doubtful values.

    `model` and `fingerprint` are those that the provider says have answered. `cut_off` is True if the answer ended at
    its limit.

    `raw` is the answer as litellm holds it, given only if the HTTP traffic was not recorded.
    """

    text: str
    calls: tuple[WrittenCall, ...]
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    raw: Json = None
    notes: tuple[str, ...] = ()
    model: str | None = None
    fingerprint: str | None = None
    cut_off: bool = False


LONGEST_NAME = 200


def shown_name(name: object) -> str | None:
    """Return a name that a provider gives for what answered, shortened; None if it is no text."""
    return name[:LONGEST_NAME] if isinstance(name, str) and name else None


def keyless(outcome: Completion, key: Secret | None) -> Completion:
    """Return the answer without the key, should the provider have repeated it."""
    if not key:
        return outcome
    calls = tuple(WrittenCall(key.redact(call.name), without(call.arguments, [key])) for call in outcome.calls)
    model, fingerprint = (name and key.redact(name) for name in (outcome.model, outcome.fingerprint))
    return replace(outcome, text=key.redact(outcome.text), calls=calls, model=model, fingerprint=fingerprint)
