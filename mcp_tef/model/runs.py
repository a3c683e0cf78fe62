"""Runs and batches: one case with one model, once; and many of those together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import Destination
from mcp_tef.model.answers import Answer, CallingMode, ToolChoiceMode
from mcp_tef.model.cases import EarlierMessage, Expectation
from mcp_tef.model.ids import BatchId, CaseId, RunId, SnapshotId
from mcp_tef.model.json import Json
from mcp_tef.model.rates import outcome_text
from mcp_tef.model.run_fields import (
    CONCURRENCY,
    MAX_TOKENS,
    REPEATS,
    RETRIES,
    SEED,
    TEMPERATURE,
    TIMEOUT,
    require_amount,
)
from mcp_tef.model.secrets import require_no_credentials
from mcp_tef.model.tools import Snapshot
from mcp_tef.model.verdicts import (
    Classification,
    ConfidenceCategory,
    ParameterFinding,
    PastVerdict,
    RunMark,
    Verdict,
    VerdictKind,
)

OFFLINE_PROVIDER = "offline"


class Baseline(StrEnum):
    """Built-in selectors; `DEFAULT`, which old runs keep, is `MEANING` with an embedding model here, else `WORDS`."""

    WORDS = "words"
    MEANING = "meaning"
    DEFAULT = "retrieval"


class RunStatus(StrEnum):
    """State of a run."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Arm(StrEnum):
    """Side of a trial that a run belongs to: the tools as they are, or as a draft has them."""

    ORIGINAL = "original"
    DRAFT = "draft"


class BatchStatus(StrEnum):
    """State of a batch; `interrupted` was cut off by a crash and can be resumed."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Settings of a request, never a key. With a `prompt`, `system_prompt` is its text, filled with `variables`."""

    provider: str = OFFLINE_PROVIDER
    model: str = Baseline.DEFAULT.value
    timeout: int = TIMEOUT.default
    temperature: float = TEMPERATURE.default
    max_retries: int = RETRIES.default
    base_url: str | None = None
    system_prompt: str | None = None
    mode: CallingMode = CallingMode.AUTO
    tool_choice: ToolChoiceMode = ToolChoiceMode.AUTO
    seed: int | None = None
    max_tokens: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    client: str = ""
    prompt: str = ""
    variables: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name in ("provider", "model"):
            if not 1 <= len(getattr(self, name)) <= 100:
                raise InputError(f"The {name} must have 1 to 100 characters.", hint=f"Set the {name}.")
        if self.base_url:
            require_no_credentials(self.base_url)
        TIMEOUT.check(self.timeout)
        TEMPERATURE.check(self.temperature)
        RETRIES.check(self.max_retries)
        SEED.check(self.seed)
        MAX_TOKENS.check(self.max_tokens)

    @property
    def token_prices(self) -> tuple[float, float] | None:
        """The prices that the user gave, in US dollars per token sent and received; None without both."""
        if self.input_price is None or self.output_price is None:
            return None
        return self.input_price / 1e6, self.output_price / 1e6

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

    @property
    def asked(self) -> str:
        """The label with client and prompt: runs that were asked under different conditions are never mixed."""
        client, prompt = self.client and f" via {self.client}", self.prompt and f" with {self.prompt}"
        return f"{self.label}{client}{prompt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """Request for a batch: cases × models × repeats, by default of every case; `trial` describes its trial, as JSON."""

    cases: tuple[CaseId, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    models: tuple[ModelSettings, ...] = (ModelSettings(),)
    repeats: int = REPEATS.default
    concurrency: int = CONCURRENCY.default
    max_cost_usd: float | None = None
    name: str = ""
    trial: Mapping[str, Json] | None = None

    def __post_init__(self) -> None:
        REPEATS.check(self.repeats)
        CONCURRENCY.check(self.concurrency)
        require_amount(self.max_cost_usd)


@dataclass(frozen=True, slots=True)
class FailureInfo:
    """Why a run failed: the parts of an error, without the error."""

    code: str
    message: str
    hint: str = ""


INTERRUPTED = FailureInfo(
    "interrupted", "The run was interrupted before it ended.", "Resume the batch to run it again."
)

NOT_OFFERED_CODE = "expected_tool_not_offered"
"""Code of a run that was not asked, since no tool that its case expects was among those offered."""
CUT_OFF_CODE = "cut_off"
"""Code of a run whose answer was cut by its limit, so that it cannot be judged."""
UNREADABLE, PRICED, READ_FROM_TEXT, FAILED = "unreadable", "priced", "read_from_text", "failed"
"""Further names in a tally."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """A run that is still to be done. In a trial it has an arm, and a place (from 0) within its round."""

    id: RunId
    case_id: CaseId
    settings: ModelSettings
    repeat: int = 0
    batch_id: BatchId | None = None
    arm: Arm | None = None
    place: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Result of a run: completed, failed or cancelled; `expectation` judges it, where not that of its case."""

    run_id: RunId
    status: RunStatus
    snapshot_id: SnapshotId | None = None
    answer: Answer | None = None
    verdict: Verdict | None = None
    failure: FailureInfo | None = None
    execution_time_ms: int | None = None
    expected_rank: int | None = None
    attempts: int = 1
    expectation: Expectation | None = None


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
    findings: tuple[ParameterFinding, ...] = ()
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
    unreadable: bool = False
    read_from_text: bool = False
    arm: Arm | None = None
    place: int | None = None

    @property
    def mark(self) -> RunMark | None:
        """The mark of the run; None without a verdict."""
        return RunMark.of(self.classification, self.parameters_ok, self.unreadable)

    @property
    def passes(self) -> bool:
        """True if the run is a correct call."""
        return self.mark is RunMark.CORRECT_CALL

    @property
    def failure_code(self) -> str:
        """The code of its failure; empty without one."""
        return self.failure.code if self.failure else ""

    @property
    def interrupted(self) -> bool:
        """True if the run failed only because the program ended during it."""
        return self.failure_code == INTERRUPTED.code


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
    before: tuple[EarlierMessage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch with its counts; `total` runs were planned. Of those counted as failed, so many were `interrupted`.

    `tally` counts runs by mark, and those that failed, were unreadable, not offered, cut off, read from text or priced,
    without a baseline's runs beside models. `stopped`: why it ended early. `trial` describes the trial that the batch
    is, as JSON. One `elsewhere` is under way in another process.
    """

    id: BatchId
    name: str
    status: BatchStatus
    models: tuple[str, ...]
    total: int
    counts: Mapping[str, int] = field(default_factory=dict)
    tally: Mapping[str, int] = field(default_factory=dict)
    interrupted: int = 0
    cost_usd: float | None = None
    repeats: int = 1
    concurrency: int = 4
    max_cost_usd: float | None = None
    created_at: datetime
    completed_at: datetime | None = None
    stopped: str | None = None
    trial: Mapping[str, Json] | None = None
    elsewhere: bool = False

    def count(self, key: str) -> int:
        """Return the number of runs that are TP, FP, TN, FN, failed, cancelled or pending."""
        return self.counts.get(key, 0)

    @property
    def correct_calls(self) -> int:
        """Runs with the right tools and every judged argument right."""
        return self.tally.get(RunMark.CORRECT_CALL, 0)

    @property
    def correct_tools(self) -> int:
        """Runs with the right tools, whatever the arguments."""
        return self.correct_calls + self.tally.get(RunMark.WRONG_ARGUMENTS, 0)

    @property
    def in_shares(self) -> int:
        """Runs with a mark, the denominator of shares: the judged ones, without a baseline beside models."""
        return sum(self.tally.get(mark, 0) for mark in RunMark)

    @property
    def unreadable(self) -> int:
        """Judged runs whose answer could not be read."""
        return self.tally.get(UNREADABLE, 0)

    @property
    def not_offered(self) -> int:
        """Failed runs whose expected tool was not offered."""
        return self.tally.get(NOT_OFFERED_CODE, 0)

    @property
    def cut_off(self) -> int:
        """Failed runs whose answer was cut by its limit."""
        return self.tally.get(CUT_OFF_CODE, 0)

    @property
    def priced(self) -> int:
        """Runs whose cost is known."""
        return self.tally.get(PRICED, 0)

    @property
    def text_calls_note(self) -> str:
        """A note on answers that held their calls as text; empty without any."""
        number = self.tally.get(READ_FROM_TEXT, 0)
        return f"{number:,} of {self.judged:,} answers held a call as text: try JSON mode" if number else ""

    @property
    def unpriced(self) -> int:
        """Answered runs whose cost is not known."""
        return max(0, self.judged + self.cut_off - self.priced)

    @property
    def sentence(self) -> str:
        """The two shares with failed and unreadable runs, as `outcome_text` says them."""
        marks = self.correct_calls, self.correct_tools, self.in_shares
        return outcome_text(*marks, self.tally.get(FAILED, 0), self.unreadable)

    @property
    def failed(self) -> int:
        """Runs that failed by themselves: to be retried, where interrupted ones are to be resumed."""
        return self.count("failed") - self.interrupted

    @property
    def judged(self) -> int:
        """Runs with a verdict."""
        return sum(self.count(item) for item in Classification)


def shown_together(labels: Iterable[str]) -> frozenset[str]:
    """Return the models whose runs shares are made of: all, but no baseline where a model was asked as well."""
    every = frozenset(labels)
    return frozenset(label for label in every if not is_baseline(label)) or every


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimate of a batch: runs, and seconds and US dollars where they can be known."""

    runs: int
    tokens: int | None
    cost_usd: float | None
    seconds: float | None


def is_baseline(label: str) -> bool:
    """Return True for `provider/model` of a built-in baseline, which is no model."""
    return label.startswith(f"{OFFLINE_PROVIDER}/")
