"""What a selector answered: calls, its own words, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mcp_tef.model.json import Json


class ConfidenceSource(StrEnum):
    """Where a confidence comes from."""

    SELF_REPORTED = "self-reported"
    AGREEMENT = "agreement"
    LOGPROB = "logprob"
    MARGIN = "margin"


class CallingMode(StrEnum):
    """How a model is asked to call: `auto` picks native tool calling where the model has it."""

    AUTO = "auto"
    NATIVE = "native"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call that was made: real tool name, and the server where it is known."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    server: str | None = None


@dataclass(frozen=True, slots=True)
class RankedTool:
    """A tool with the score that a ranking selector gave it, best first in a list."""

    offered_name: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A selector's answer. `calls` is None when it could not be read; `()` when it picked no tool.

    `call.tool` is the name the model wrote, mapped back to the real tool where it was one of those
    offered. `raw_request` leaves out tool definitions (they are the run's snapshot) and keys.
    """

    calls: tuple[Call, ...] | None
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
