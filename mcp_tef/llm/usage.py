"""Chat completions as plain values: what is asked, what was answered, and the tokens and cost that it took."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_tef.llm.providers import Target
from mcp_tef.model.json import Json, loads_bounded
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


MOST_TOKENS = 10**9
MOST_USD = 1e6
LARGEST_CHECKED_BYTES = 1024 * 1024
_ALL = "usage"
_SHOWN_CHARACTERS = 40


def known_tokens(value: object) -> int | None:
    """Return a count of tokens, or None if it is no whole number from 0 to 10^9."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def known_cost(value: object) -> float | None:
    """Return a cost in US dollars, or None if it is no number from 0 to one million."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value <= MOST_USD else None


class UsageCheck:
    """Checks the usage of one answer, and notes what is not believed."""

    def __init__(self) -> None:
        self._doubtful: dict[str, str] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each value that was reported and is not believed."""
        return tuple(self._doubtful.values())

    def count(self, name: str, value: object) -> int | None:
        """Return a count as litellm gives it, None if it is doubtful."""
        if value is not None and known_tokens(value) is None:
            self._note(name, value)
        return None if name in self._doubtful or _ALL in self._doubtful else known_tokens(value)

    def clean(self, body: bytes) -> bytes:
        """Return the body of an answer without doubtful usage, for which litellm would refuse the whole answer."""
        if b'"usage"' not in body or len(body) > LARGEST_CHECKED_BYTES:
            return body
        try:
            answer = loads_bounded(body)
        except (ValueError, RecursionError):
            return body
        if isinstance(answer, dict):
            self.checked(answer)
        return json.dumps(answer).encode() if self._doubtful else body

    def checked(self, answer: dict[str, Any]) -> Mapping[str, Any]:
        """Take doubtful usage out of an answer, and return the rest."""
        usage = answer.get("usage")
        if isinstance(usage, dict):
            self._clean_counts(usage)
            return usage
        if usage is not None:
            self._note(_ALL, usage)
            del answer["usage"]
        return {}

    def _clean_counts(self, usage: dict[str, Any]) -> None:
        for name, value in list(usage.items()):
            if name.endswith("_tokens") and value is not None and known_tokens(value) is None:
                self._note(name, value)
                usage[name] = 0
            elif name.endswith("_details") and value is not None:
                if isinstance(value, dict):
                    self._clean_counts(value)
                else:
                    self._note(name, value)
                    del usage[name]

    def _note(self, name: str, value: object) -> None:
        told = f"The reported {name[:_SHOWN_CHARACTERS]} is {_shown(value)}"
        wanted = f"a whole number from 0 to {MOST_TOKENS:,}" if name.endswith("_tokens") else "an object"
        self._doubtful.setdefault(name, f"{told}, not {wanted}, and counts as unknown.")


def _shown(value: object) -> str:
    """Return a value as text, shortened; a whole number of thousands of digits cannot be written out at all."""
    if isinstance(value, int) and abs(value) >= 10**_SHOWN_CHARACTERS:
        return f"a number of more than {_SHOWN_CHARACTERS} digits"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
