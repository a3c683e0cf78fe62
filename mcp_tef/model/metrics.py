"""Statistics over many runs, each rate with its confidence interval."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from mcp_tef.model.answers import ConfidenceSource
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.runs import RunFilter, RunStatus
from mcp_tef.model.tools import ToolLabel


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95 % Wilson interval; `value` is None where n is 0."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """All figures of a set of runs; None means not defined. Times in milliseconds, cost in US dollars.

    `parameters_right` is the share of true positives whose every judged value is right.
    """

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
    parameters_right: Rate
    parameter_accuracy: float | None
    completeness: float | None
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
    cost_p50_usd: float | None
    cost_p95_usd: float | None
    tokens: int | None
    recall_at: dict[int, Rate]
    by_tool: tuple[GroupMetrics, ...] = ()
    by_server: tuple[GroupMetrics, ...] = ()
    by_model: tuple[GroupMetrics, ...] = ()


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

    The rows are tools by name, then no tool; the columns are the same and invented tools. `cells` holds the
    counts above 0 by (row, column).
    """

    rows: tuple[ToolLabel, ...]
    columns: tuple[ToolLabel, ...]
    cells: Mapping[tuple[int, int], int]
    tools: tuple[ToolMetrics, ...]
    row_totals: tuple[int, ...]
    column_totals: tuple[int, ...]
    shared_names: frozenset[str] = field(default=frozenset(), repr=False)

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
        return replace(where, expected=self.rows[row], selected=self.columns[column], statuses=(RunStatus.COMPLETED,))


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

    A run passes where the choice of tools is right and no judged parameter is wrong. `always` and `never`
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
    """The figures of one batch, for a line over time."""

    batch_id: BatchId
    name: str
    started: datetime
    n: int
    failed: int
    accuracy: Rate
    parameters_right: Rate
    latency_p50_ms: float | None
    cost_usd: float | None


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
