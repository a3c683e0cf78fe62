"""Runs and batches: one case with one model, once; and many of those together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.answers import Answer, CallingMode
from mcp_tef.model.cases import Expectation
from mcp_tef.model.ids import BatchId, CaseId, RunId, SnapshotId
from mcp_tef.model.run_fields import CONCURRENCY, REPEATS, RETRIES, TEMPERATURE, TIMEOUT
from mcp_tef.model.secrets import require_no_credentials
from mcp_tef.model.tools import Snapshot, ToolLabel
from mcp_tef.model.verdicts import Classification, ConfidenceCategory, PastVerdict, Verdict, VerdictKind

OFFLINE_PROVIDER = "offline"
OFFLINE_MODEL = "retrieval"


class RunStatus(StrEnum):
    """State of a run."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class BatchStatus(StrEnum):
    """State of a batch; `interrupted` was cut off by a crash and can be resumed."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


def required_origin(address: str) -> str:
    """Return the origin of an address that keys may be bound to; InputError where it has none."""
    origin = origin_of(address)
    if not origin:
        raise InputError(
            f"{address!a} is no address of a model.",
            hint="Write one that begins with https:// or http://, with a host in plain letters.",
        )
    return origin


class Destination(NamedTuple):
    """Provider and address that a key would be sent to; no address means the provider's own."""

    provider: str
    base_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Settings of a model request; never a key. `timeout` is in seconds."""

    provider: str = OFFLINE_PROVIDER
    model: str = OFFLINE_MODEL
    timeout: int = TIMEOUT.default
    temperature: float = TEMPERATURE.default
    max_retries: int = RETRIES.default
    base_url: str | None = None
    system_prompt: str | None = None
    mode: CallingMode = CallingMode.AUTO

    def __post_init__(self) -> None:
        for name in ("provider", "model"):
            if not 1 <= len(getattr(self, name)) <= 100:
                raise InputError(f"The {name} must have 1 to 100 characters.", hint=f"Set the {name}.")
        require_no_credentials(self.base_url or "")
        TIMEOUT.check(self.timeout)
        TEMPERATURE.check(self.temperature)
        RETRIES.check(self.max_retries)

    @property
    def offline(self) -> bool:
        """True for the built-in baseline, which needs neither key nor network."""
        return self.provider == OFFLINE_PROVIDER

    @property
    def destination(self) -> Destination:
        """Provider and address that the key for this model is bound to."""
        return Destination(self.provider, self.base_url)

    @property
    def label(self) -> str:
        """`provider/model`, as people and litellm write it."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """Request for a batch: cases × models × repeats. No selection at all means every case."""

    cases: tuple[CaseId, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    models: tuple[ModelSettings, ...] = (ModelSettings(),)
    repeats: int = REPEATS.default
    concurrency: int = CONCURRENCY.default
    max_cost_usd: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        REPEATS.check(self.repeats)
        CONCURRENCY.check(self.concurrency)


@dataclass(frozen=True, slots=True)
class FailureInfo:
    """Why a run failed: the parts of an error, without the error."""

    code: str
    message: str
    hint: str = ""


INTERRUPTED = FailureInfo(
    "interrupted", "The run was interrupted before it ended.", "Resume the batch to run it again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """A run that is still to be done."""

    id: RunId
    case_id: CaseId
    settings: ModelSettings
    repeat: int = 0
    batch_id: BatchId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Result of a run: completed with answer and verdict, failed, or cancelled."""

    run_id: RunId
    status: RunStatus
    snapshot_id: SnapshotId | None = None
    answer: Answer | None = None
    verdict: Verdict | None = None
    failure: FailureInfo | None = None
    execution_time_ms: int | None = None
    expected_rank: int | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run as a row of a table. `expected` and `selected` are labels; `selected` is None before an answer."""

    id: RunId
    batch_id: BatchId | None
    case_id: CaseId
    case_name: str
    query: str
    model: str
    repeat: int
    status: RunStatus
    classification: Classification | None = None
    kind: VerdictKind | None = None
    expected: str = ""
    selected: str | None = None
    parameters_ok: bool | None = None
    completeness: float | None = None
    correctness: float | None = None
    type_conformance: bool | None = None
    hallucinated: tuple[str, ...] = ()
    confidence: float | None = None
    confidence_source: str | None = None
    confidence_category: ConfidenceCategory | None = None
    explanation: str | None = None
    execution_time_ms: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    failure: FailureInfo | None = None
    expected_tool: str | None = None
    expected_server: str | None = None
    selected_tool: str | None = None
    selected_server: str | None = None
    expected_rank: int | None = None
    created_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def interrupted(self) -> bool:
        """True if the run failed only because the program ended during it."""
        return self.failure is not None and self.failure.code == INTERRUPTED.code


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetail:
    """A run with everything that was kept of it; verdicts that were replaced come newest first."""

    summary: RunSummary
    settings: ModelSettings
    expectation: Expectation
    snapshot: Snapshot | None
    answer: Answer | None
    verdict: Verdict | None
    attempts: int = 1
    past_verdicts: tuple[PastVerdict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch with its counts; `total` runs were planned. Of those counted as failed, so many were `interrupted`."""

    id: BatchId
    name: str
    status: BatchStatus
    models: tuple[str, ...]
    total: int
    counts: Mapping[str, int] = field(default_factory=dict)
    interrupted: int = 0
    cost_usd: float | None = None
    repeats: int = 1
    concurrency: int = 4
    max_cost_usd: float | None = None
    created_at: datetime
    completed_at: datetime | None = None

    def count(self, key: str) -> int:
        """Return the number of runs that are TP, FP, TN, FN, failed, cancelled or pending."""
        return self.counts.get(key, 0)

    @property
    def failed(self) -> int:
        """Runs that failed by themselves: to be retried, where interrupted ones are to be resumed."""
        return self.count("failed") - self.interrupted

    @property
    def judged(self) -> int:
        """Runs with a verdict."""
        return sum(self.count(item) for item in Classification)


class RunOrder(StrEnum):
    """Sort order of a list of runs; `planned` is newest batch first, as planned within a batch."""

    PLANNED = "planned"
    OUTCOME = "outcome"
    QUERY = "query"
    SELECTED = "selected"
    CONFIDENCE = "confidence"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Filter and order of runs to list, count or sum up; None and empty do not restrict.

    Of several values in one field any may hold; all fields must. Suites and tags are those that the case has
    now. `expected`, `selected` and `offered` name tools, servers or both. A run that was right expected the tool
    that was selected; a server that an expectation leaves open is the only one that offered the tool.
    `since` is included, `until` is not; both are about the moment the run was planned.
    `outcome` order is FN, FP, TP, TN, then runs without a verdict; runs without a confidence come last.
    `text` is looked for in the query, the case's name, and the expected and selected tools.
    Runs that were `interrupted` count as failed; where that is False they do not, and where it is True they are named
    beside those of `statuses`.
    """

    batch_id: BatchId | None = None
    case_id: CaseId | None = None
    statuses: tuple[RunStatus, ...] = ()
    interrupted: bool | None = None
    classifications: tuple[Classification, ...] = ()
    kinds: tuple[VerdictKind, ...] = ()
    model: str | None = None
    text: str = ""
    run_ids: tuple[RunId, ...] = ()
    batch_ids: tuple[BatchId, ...] = ()
    case_ids: tuple[CaseId, ...] = ()
    models: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    expected: ToolLabel | None = None
    selected: ToolLabel | None = None
    offered: ToolLabel | None = None
    since: datetime | None = None
    until: datetime | None = None
    order: RunOrder = RunOrder.PLANNED
    descending: bool = False

    def admits_state(self, run: RunSummary) -> bool:
        """Return True if a run has one of the requested states."""
        if run.interrupted and self.interrupted is not None:
            return self.interrupted
        return not (self.statuses or self.interrupted) or run.status in self.statuses


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimate of a batch: runs, and seconds and US dollars where they can be known."""

    runs: int
    tokens: int | None
    cost_usd: float | None
    seconds: float | None


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
