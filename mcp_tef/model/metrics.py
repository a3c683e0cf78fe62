"""Statistics over many runs, each rate with its confidence interval."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from mcp_tef.model.answers import ConfidenceSource
from mcp_tef.model.cases import CaseOrigin
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.rates import decimal_text, outcome_text
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import RunStatus
from mcp_tef.model.tools import LabelKind, ToolLabel
from mcp_tef.model.verdicts import VerdictKind


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of n runs with its 95 % interval, by family of cases; `value` is None where n is 0."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def successes(self) -> int:
        """Number of successes among the n."""
        return round((self.value or 0.0) * self.n)


@dataclass(frozen=True, slots=True)
class GroupMetrics:
    """The counts and rates of one tool, server or model."""

    name: str
    n: int
    tp: int
    fp: int
    tn: int
    fn: int
    failed: int
    precision: Rate
    recall: Rate
    f1: float | None
    accuracy: Rate
    correct_call: Rate
    correct_tool: Rate
    unreadable: int
    not_offered: int


@dataclass(frozen=True, slots=True)
class OriginCounts:
    """Judged runs of the cases of one origin."""

    cases: int = 0
    runs: int = 0
    correct_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """All figures of a set of runs; None means not defined. Times in milliseconds, cost in US dollars.

    `n` runs of `cases` cases; `repeats` is the most that one model ran one case in one batch. `correct_call` and
    `correct_tool` are the shares of judged runs by their mark. `not_offered` and `cut_off` are among `failed`.
    `parameter_accuracy` and `completeness` are means over the true positives where they were judged, `priced` is
    the number of runs whose cost is known.
    """

    n: int
    cases: int
    repeats: int
    correct_call: Rate
    correct_tool: Rate
    unreadable: int
    not_offered: int
    cut_off: int
    tp: int
    fp: int
    tn: int
    fn: int
    failed: int
    precision: Rate
    recall: Rate
    f1: float | None
    accuracy: Rate
    parameter_accuracy: Rate
    completeness: Rate
    type_conformance: Rate
    hallucination: Rate
    confidence_high: int
    confidence_low: int
    confidence_none: int
    robust: int
    needs_clarity: int
    misleading: int
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    latency_p99_ms: float | None
    cost_usd: float | None
    priced: int
    cost_p50_usd: float | None
    cost_p95_usd: float | None
    tokens: int | None
    recall_at: dict[int, Rate]
    by_tool: tuple[GroupMetrics, ...] = ()
    by_server: tuple[GroupMetrics, ...] = ()
    by_model: tuple[GroupMetrics, ...] = ()
    f1_interval: tuple[float, float] | None = None
    by_origin: Mapping[CaseOrigin, OriginCounts] = field(default_factory=dict)
    latency_mean_ms: float | None = None

    @property
    def f1_text(self) -> str:
        """F1 with its 95 % interval: `0.75 (0.60 to 0.86)`."""
        if self.f1_interval is None:
            return decimal_text(self.f1)
        low, high = self.f1_interval
        return f"{decimal_text(self.f1)} ({decimal_text(low)} to {decimal_text(high)})"

    @property
    def unpriced(self) -> int:
        """Answered runs whose cost is not known."""
        return max(0, self.n + self.cut_off - self.priced)

    @property
    def sentence(self) -> str:
        """The two shares as `outcome_text` says them; written and generated cases apart if there are generated ones."""
        right = (self.correct_call.successes, self.correct_tool.successes)
        parts = (outcome_text(*right, self.n, self.failed, self.unreadable), self.origin_sentence)
        return ". ".join(filter(None, parts))

    @property
    def origin_sentence(self) -> str:
        """The correct calls of generated and of written cases, without a full stop; empty if none was generated."""
        found = [self.by_origin.get(origin, OriginCounts()) for origin in (CaseOrigin.GENERATED, CaseOrigin.WRITTEN)]
        generated, written = found
        if not generated.runs:
            return ""
        verb = "was" if generated.cases == 1 else "were"
        head = f"{generated.cases:,} of {self.cases:,} cases {verb} generated"
        shares = [f"{one.correct_calls:,}/{one.runs:,}" for one in found]
        return f"{head}: correct call {shares[0]} generated" + (f", {shares[1]} written" if written.runs else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMetrics:
    """One tool against the rest. `n` runs expected it; `taken_for` is what was most often picked instead."""

    label: ToolLabel
    name: str
    n: int
    tp: int
    fp: int
    fn: int
    tn: int
    precision: Rate
    recall: Rate
    f1: float | None
    taken_for: ToolLabel | None = None
    taken_for_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionMatrix:
    """Expected (rows) against selected (columns) over judged runs.

    The rows are tools by name, then no tool; the columns are the same, then extra calls and unreadable answers where
    there are any, then invented tools. A run with an extra call, or an unreadable one, counts in that column alone, so
    the diagonal holds the runs with the correct tool. `cells` holds the counts above 0 by (row, column),
    `frequent` those off the diagonal that are no accident (`frequent_confusions`).
    """

    rows: tuple[ToolLabel, ...]
    columns: tuple[ToolLabel, ...]
    cells: Mapping[tuple[int, int], int]
    tools: tuple[ToolMetrics, ...]
    row_totals: tuple[int, ...]
    column_totals: tuple[int, ...]
    shared_names: frozenset[str] = field(default=frozenset(), repr=False)
    frequent: frozenset[tuple[int, int]] = frozenset()

    @property
    def n(self) -> int:
        """Judged runs."""
        return sum(self.row_totals)

    def count(self, row: int, column: int) -> int:
        """Return runs that expected the one and selected the other."""
        return self.cells.get((row, column), 0)

    def name(self, label: ToolLabel) -> str:
        """Return a label in words, with its server where several have a tool of that name."""
        return f"{label.server} / {label.tool}" if label.server and label.tool in self.shared_names else label.text

    def runs_of(self, where: RunFilter, row: int, column: int) -> RunFilter:
        """Return exactly the runs that a cell counts, of those that `where` named for the matrix."""
        expected, selected = self.rows[row], self.columns[column]
        where = replace(where, expected=expected, statuses=(RunStatus.COMPLETED,))
        if selected.kind is LabelKind.UNREADABLE:
            return replace(where, unreadable=True)
        if selected.kind is LabelKind.EXTRA:
            return replace(where, kinds=(VerdictKind.EXTRA_CALL,))
        kinds = _KINDS_OF_NO_TOOL if expected.kind is LabelKind.NO_TOOL else _KINDS_OF_TOOL
        return replace(where, selected=selected, kinds=kinds, unreadable=False)


_KINDS_OF_NO_TOOL = (VerdictKind.NO_CALL_EXPECTED, VerdictKind.UNEXPECTED_CALL)
_KINDS_OF_TOOL = (VerdictKind.MATCH, VerdictKind.WRONG_TOOL, VerdictKind.NO_TOOL, VerdictKind.INVENTED_TOOL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Share of correct runs whose confidence is from `low` to below `high` (the last one: to 1)."""

    low: float
    high: float
    n: int
    mean: float | None
    right: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCalibration:
    """Confidence beside the share that was right, of one source or (None) of all.

    `without` judged runs gave no confidence. `mean_gap` is the expected calibration error: the gap between
    mean confidence and share right, weighted by the runs in each bin. `brier` is the mean squared gap of single runs.
    """

    source: ConfidenceSource | None
    n: int
    without: int
    bins: tuple[CalibrationBin, ...]
    mean_gap: float | None
    brier: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """The calibration of all confidences, and of each source that occurs."""

    overall: SourceCalibration
    by_source: tuple[SourceCalibration, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassAllRate:
    """The chance that k runs of a case all pass: the mean over cases with at least k runs (`rate.n` of them)."""

    k: int
    rate: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedCase:
    """A case that one model ran several times in one batch."""

    batch_id: BatchId | None
    case_id: CaseId
    case_name: str
    model: str
    n: int
    passed: int
    rate: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatStatistics:
    """Statistics of repeated runs: a group is one case, model and batch with two or more judged runs.

    A run passes where it is a correct call. `always` and `never`
    count groups that passed in all or in no run, `mixed` the others; `flaky` are up to 500 of those, the most
    even first.
    """

    groups: int
    runs: int
    pass_rate: Rate
    pass_power: tuple[PassAllRate, ...]
    always: int
    never: int
    mixed: int
    flaky: tuple[RepeatedCase, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """The figures of one batch, for a line over time; `note` says where the provider answers as another model.

    `priced` runs make up the cost, and the cost of `unpriced` ones is not known.
    """

    batch_id: BatchId
    name: str
    started: datetime
    n: int
    failed: int
    unreadable: int
    correct_call: Rate
    correct_tool: Rate
    latency_p50_ms: float | None
    cost_usd: float | None
    priced: int
    unpriced: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMetrics:
    """All figures of one model; a baseline is no model, and to be labelled so."""

    model: str
    baseline: bool
    metrics: Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsOverview:
    """Everything there is to say of a set of runs, read at one moment."""

    metrics: Metrics
    confusions: ConfusionMatrix
    calibration: CalibrationReport
    repeats: RepeatStatistics
    trend: tuple[TrendPoint, ...]
    models: tuple[ModelMetrics, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterChoices:
    """The names that occur in runs, sorted; choices for filters."""

    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ThresholdCheck:
    """One threshold that a command was asked to keep; `shortfall` is a sentence, and empty where it is kept."""

    name: str
    shortfall: str = ""
