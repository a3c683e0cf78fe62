"""Answers of a selector: calls, text, confidence and cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mcp_tef.model.json import Json


class ConfidenceSource(StrEnum):
    """Origin of a confidence."""

    SELF_REPORTED = "self-reported"
    AGREEMENT = "agreement"
    LOGPROB = "logprob"
    MARGIN = "margin"


class CallingMode(StrEnum):
    """Mode of calling a model: `auto` uses native tool calling if the model supports it."""

    AUTO = "auto"
    NATIVE = "native"
    JSON = "json"


NAMELESS_CALL = "a call without a name"


class ToolChoiceMode(StrEnum):
    """Instruction to the provider: the model may call a tool, or must."""

    AUTO = "auto"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActualCall:
    """One call that was made: real tool name, and the server where it is known.

    `repeated` are the arguments that its JSON gave more than once; `arguments` holds their last values.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    server: str | None = None
    repeated: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name for people; `a call without a name` where the model gave none, which is an invented tool."""
        return self.tool if self.tool.strip() else NAMELESS_CALL


def selected_label(calls: Sequence[ActualCall] | None) -> str:
    """Return the selected tools of an answer for people: `shop / pay + shop / ship`; None is an unreadable answer."""
    if calls is None:
        return "unreadable answer"
    names = (f"{call.server} / {call.label}" if call.server else call.label for call in calls)
    return " + ".join(names) or "no tool"


@dataclass(frozen=True, slots=True)
class RankedTool:
    """A tool with the score that a ranking selector gave it, best first in a list."""

    offered_name: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A selector's answer. `calls` is None when it could not be read; `()` when it picked no tool.

    `call.tool` is the name the model wrote, mapped back to the real tool where it was one of those
    offered. `raw_request` leaves out tool definitions (they are the run's snapshot) and keys. `answered_model` and
    `answered_fingerprint` are those that the provider named; `base_url`, `seed` and `answer_limit` (tokens) are those
    that were really sent. `cut_off` is True if the answer ended at its limit. `routing` says as JSON which deployment
    of a group answered, or which route was taken; None for a model that was asked by its own name.
    """

    calls: tuple[ActualCall, ...] | None
    words: str = ""
    confidence: float | None = None
    confidence_source: ConfidenceSource | None = None
    mode: CallingMode = CallingMode.NATIVE
    raw_request: Json = None
    raw_response: Json = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    ranking: tuple[RankedTool, ...] = ()
    read_from_text: bool = False
    answered_model: str | None = None
    answered_fingerprint: str | None = None
    base_url: str | None = None
    seed: int | None = None
    answer_limit: int | None = None
    cut_off: bool = False
    routing: Json = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what the provider reported and is not believed; they are kept with the raw response."""
        found = self.raw_response.get(_NOTES) if isinstance(self.raw_response, Mapping) else None
        return tuple(note for note in found if isinstance(note, str)) if isinstance(found, list) else ()

    @property
    def prompt(self) -> str | None:
        """Name and version of the prompt, as `name@version`; None for the baseline, and for runs recorded without."""
        found = self.raw_request.get(_PROMPT) if isinstance(self.raw_request, Mapping) else None
        return found if isinstance(found, str) else None

    @property
    def cached_tokens(self) -> int | None:
        """The tokens of the prompt that the provider had kept from an earlier request, where its usage says so."""
        found = [_at(self.raw_response, path) for path in _CACHED]
        return next((count for count in found if type(count) is int and 0 <= count <= (self.tokens_in or 0)), None)

    @property
    def sent_request(self) -> Json:
        """The raw request as it was sent, without the prompt's name, which is kept beside it."""
        if not isinstance(self.raw_request, Mapping):
            return self.raw_request
        return {name: value for name, value in self.raw_request.items() if name != _PROMPT}


@dataclass(frozen=True, slots=True)
class AnsweringModel:
    """The model that answered some runs of `label` (`provider/model`), as the provider named it.

    `address` is the host and port that the batch asked for; empty for the provider's own.
    """

    label: str
    name: str
    fingerprint: str | None = None
    address: str = ""

    @property
    def label_at(self) -> str:
        """The label with the address: `openai/small @ localhost:8000`."""
        return f"{self.label} @ {self.address}" if self.address else self.label


def without_address(label: str) -> str:
    """Return `openai/small` for `openai/small @ localhost:8000`."""
    return label.partition(" @ ")[0]


_NOTES, _PROMPT = "mcp_tef_notes", "mcp_tef_prompt"
_CACHED = (
    ("usage", "prompt_tokens_details", "cached_tokens"),
    ("usage", "prompt_cache_hit_tokens"),
    ("usage", "cache_read_input_tokens"),
    ("usageMetadata", "cachedContentTokenCount"),
)
"""Where OpenAI, DeepSeek, Anthropic and Gemini say how much of the prompt they had kept."""


def _at(value: Json, path: Sequence[str]) -> Json:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def with_prompt(raw_request: Json, label: str) -> Json:
    """Return a raw request with the name and version of its prompt."""
    return {_PROMPT: label, **raw_request} if isinstance(raw_request, Mapping) else raw_request


def with_notes(raw_response: Json, notes: Sequence[str]) -> Json:
    """Return a raw response with notes beside what the provider said; a provider cannot write notes itself."""
    if isinstance(raw_response, Mapping):
        said = {name: value for name, value in raw_response.items() if name != _NOTES}
        return {_NOTES: list(notes), **said} if notes else said
    return {_NOTES: list(notes), "answer": raw_response} if notes else raw_response
