"""Metrics, rates, times and models as text, and as plain tables for CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from app.text.formatting import count, duration, money, percent
from app.text.glossary import explain
from mcp_tef import ConfidenceSource, Metrics, ModelMetrics, ModelSettings, Rate, to_spreadsheet_cell

NONE: Final = "–"
TOO_FEW: Final = 10
BASELINE_LABEL: Final = ModelSettings().label
BASELINE: Final = "offline baseline"
INTERVAL: Final = "The thin bar is the 95 % interval: in 19 of 20 measurements, the true share lies within it."

SOURCES: Final = {
    ConfidenceSource.SELF_REPORTED: "self-reported",
    ConfidenceSource.AGREEMENT: "agreement of repeats",
    ConfidenceSource.LOGPROB: "token probability",
    ConfidenceSource.MARGIN: "margin of the ranking",
}


def bounds(rate: Rate) -> str:
    """Return an interval in whole percents, `(73–86)`; "" if nothing was counted."""
    if rate.low is None or rate.high is None:
        return ""
    return f"({rate.low * 100:.0f}–{rate.high * 100:.0f})"


def share_text(rate: Rate) -> str:
    """Return a share with its interval: `82 % (71–90)`."""
    return f"{percent(rate.value)} {bounds(rate)}".strip()


def part_text(rate: Rate) -> str:
    """Return a count of a total: `5 of 6`."""
    return f"{rate.successes:,} of {rate.n:,}"


def part_of(rate: Rate, thing: str) -> str:
    """Return a count of a total with its noun: `5 of 6 runs`, `1 of 1 run`."""
    return f"{rate.successes:,} of {count(rate.n, thing)}"


def span_of(rate: Rate) -> tuple[float, float, float] | None:
    """Return value, low and high end; None if nothing was counted."""
    if rate.value is None or rate.low is None or rate.high is None:
        return None
    return rate.value, rate.low, rate.high


def score(value: float | None) -> str:
    """Return a mean from 0 to 1 with two decimals; a dash if undefined."""
    return NONE if value is None else f"{value:.2f}"


def milliseconds(value: float | None) -> str:
    """Return `840 ms`, or `2.4 s` from one second on; a dash if nothing was measured."""
    if value is None:
        return NONE
    return f"{value:.0f} ms" if value < 1000 else duration(value / 1000)


def is_baseline(label: str) -> bool:
    """Return True for the label of the built-in baseline."""
    return label == BASELINE_LABEL


def model_name(label: str) -> str:
    """Return the name of a model without its provider."""
    return BASELINE if is_baseline(label) else label.split("/", 1)[-1]


def runs_text(number: int) -> str:
    """`469 runs`."""
    return count(number, "run")


def percent_points(value: float | None, low: float | None, high: float | None) -> str:
    """Return a difference of shares in points with its interval: `+9 points (+2 to +16)`."""
    if value is None:
        return "difference unknown"
    interval = f" ({low * 100:+.0f} to {high * 100:+.0f})" if low is not None and high is not None else ""
    points = round(value * 100)
    return f"{points:+,} {'point' if abs(points) == 1 else 'points'}{interval}".replace("-", "−")


Value: TypeAlias = str | int | float | None
DIGITS: Final = 6
SHOWN_DIGITS, SMALL = 3, 0.01
RATE_PARTS: Final = ("", " low", " high", " n")
_RATE_TERMS: Final = {" low": "Wilson interval", " high": "Wilson interval", " n": "n"}
_TERMS: Final = {
    "Accuracy": "accuracy",
    "Parameters right": "parameters right",
    "Mean confidence": "confidence",
    "Correct": "calibration",
    "pass^k": "pass^k",
    "p50 ms": "latency",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """Columns and rows of plain values; `name` is for people and becomes the file's name."""

    name: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()

    @property
    def file_name(self) -> str:
        """The name as a file is called, without an ending."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.name.casefold()).split()) or "data"


def csv_text(table: DataTable) -> str:
    """Return a table as RFC 4180 CSV, guarded against formulas in spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(table.columns)
    writer.writerows([_safe(value) for value in row] for row in table.rows)
    return out.getvalue()


def _safe(value: Value) -> Value:
    if isinstance(value, float):
        return round(value, DIGITS)
    return to_spreadsheet_cell(value) if isinstance(value, str) else value


def rate_columns(name: str) -> tuple[str, ...]:
    """Return the columns of a rate."""
    return tuple(f"{name}{part}" for part in RATE_PARTS)


def rate_values(rate: Rate) -> tuple[Value, ...]:
    """Return a rate as values of its columns."""
    return (rate.value, rate.low, rate.high, rate.n)


def heading_help(heading: str) -> str:
    """Return the explanation of a heading; "" for everyday words."""
    for part, term in (*_RATE_TERMS.items(), ("", "")):
        if heading.endswith(part) and (base := heading.removesuffix(part)) in _TERMS:
            return explain(term) if term else explain(_TERMS[base])
    return ""


def shown(value: Value) -> str:
    """Return a value as the text of a cell; small numbers, such as costs, keep more digits."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.{DIGITS if abs(value) < SMALL else SHOWN_DIGITS}f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else value


def joined_rows(rows: Iterable[Iterable[Value]]) -> tuple[tuple[Value, ...], ...]:
    """Return rows of any kind as tuples."""
    return tuple(tuple(row) for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricValue:
    """A share with its interval; `sentence` says its n in words, `help` explains the term by example."""

    title: str
    value: str
    bounds: str
    rate: Rate
    sentence: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideMetric:
    """A quieter figure; `bad` where it asks for a look."""

    label: str
    value: str
    help: str
    bad: bool = False


def figures(metrics: Metrics) -> tuple[MetricValue, ...]:
    """Return accuracy, precision, recall and correct parameters."""
    return (
        _figure("Accuracy", metrics.accuracy, _accuracy_text(metrics), _accuracy_help(metrics)),
        _figure("Precision", metrics.precision, _precision_text(metrics), _precision_help(metrics)),
        _figure("Recall", metrics.recall, _recall_text(metrics), _recall_help(metrics)),
        _figure("Parameters right", metrics.parameters_right, _parameter_text(metrics), _parameter_help(metrics)),
    )


def _figure(title: str, rate: Rate, sentence: str, explained: str) -> MetricValue:
    return MetricValue(
        title=title,
        value=percent(rate.value),
        bounds=bounds(rate),
        rate=rate,
        sentence=sentence,
        help=f"{explained}\n{INTERVAL}" if rate.n else explained,
    )


def _accuracy_text(metrics: Metrics) -> str:
    return f"{part_of(metrics.accuracy, 'run')} judged correct" if metrics.accuracy.n else "No run was judged"


def _accuracy_help(metrics: Metrics) -> str:
    return (
        f"Accuracy: of the {runs_text(metrics.accuracy.n)} that were judged, the share that selected "
        "correctly: the expected tool, or no tool if none was expected."
    )


def _precision_text(metrics: Metrics) -> str:
    if not metrics.precision.n:
        return "No correct and no unexpected calls"
    return f"{count(metrics.tp, 'correct call')}, {metrics.fp:,} unexpected"


def _precision_help(metrics: Metrics) -> str:
    return (
        f"Precision: of {count(metrics.tp + metrics.fp, 'call')} that were correct or unexpected, the share that "
        "was correct. A low value means that tools are called where none should be."
    )


def _recall_text(metrics: Metrics) -> str:
    return f"{part_of(metrics.recall, 'expected tool')} selected" if metrics.recall.n else "No tool was expected"


def _recall_help(metrics: Metrics) -> str:
    return f"Recall: of the {count(metrics.recall.n, 'time')} a tool was expected, the share that selected it."


def _parameter_text(metrics: Metrics) -> str:
    rate = metrics.parameters_right
    return f"{part_of(rate, 'correct call')}, every value" if rate.n else "No parameter was judged"


def _parameter_help(metrics: Metrics) -> str:
    lines = [
        f"Parameters right: of the {count(metrics.parameters_right.n, 'correct call')} whose values were judged, "
        "the share with every value correct."
    ]
    if metrics.parameter_accuracy is not None:
        lines.append(f"On average {percent(metrics.parameter_accuracy)} of a call's expected values are correct.")
    if metrics.completeness is not None:
        lines.append(f"On average {percent(metrics.completeness)} of what a call needs is present.")
    return "\n".join(lines)


def side_metrics(metrics: Metrics, models: Sequence[ModelMetrics] = ()) -> tuple[SideMetric, ...]:
    """Return F1, parameters, time, cost and failures."""
    return (
        SideMetric(label="F1", value=score(metrics.f1), help=_F1_HELP),
        *_baseline(metrics, models),
        SideMetric(
            label="Made-up parameters",
            value=_quiet(metrics.hallucination),
            help=f"Of the {count(metrics.hallucination.n, 'correct call')}, the share with at least one. "
            f"{explain('hallucinated parameter')}",
            bad=bool(metrics.hallucination.successes),
        ),
        SideMetric(
            label="Types conform",
            value=_quiet(metrics.type_conformance),
            help=f"Of {count(metrics.type_conformance.n, 'correct call')} with parameters, the share that conforms. "
            f"{explain('type conformance')}",
        ),
        SideMetric(label="Latency", value=_latency(metrics), help=_latency_help(metrics)),
        SideMetric(label="Cost", value=_cost(metrics), help=_cost_help(metrics)),
        SideMetric(
            label="Confident but wrong",
            value=f"{metrics.misleading:,}",
            help="Runs with a confidence of 0.7 or more that selected the wrong tool: the description misleads.",
            bad=metrics.misleading > 0,
        ),
        SideMetric(
            label="Failed",
            value=f"{metrics.failed:,}",
            help="Runs without an answer, such as unreachable models. They do not count in any rate.",
            bad=metrics.failed > 0,
        ),
    )


def _baseline(metrics: Metrics, models: Sequence[ModelMetrics]) -> Iterator[SideMetric]:
    """Yield the number of runs of the baseline, if there are any."""
    number = sum(one.metrics.n for one in models if one.baseline)
    if number:
        explained = "Runs of the built-in offline baseline, which is not a model. Filter by model to exclude it."
        yield SideMetric(label="Baseline", value=f"{number:,} of {metrics.n:,}", help=explained)


_F1_HELP = f"F1: {explain('F1')}"


def _quiet(rate: Rate) -> str:
    return share_text(rate) if rate.n else NONE


def _latency(metrics: Metrics) -> str:
    if metrics.latency_p50_ms is None:
        return NONE
    return f"{milliseconds(metrics.latency_p50_ms)}, p95 {milliseconds(metrics.latency_p95_ms)}"


def _latency_help(metrics: Metrics) -> str:
    return (
        f"Half of the answers came within {milliseconds(metrics.latency_p50_ms)}, 95 of 100 within "
        f"{milliseconds(metrics.latency_p95_ms)}, 99 of 100 within {milliseconds(metrics.latency_p99_ms)}."
    )


def _cost(metrics: Metrics) -> str:
    return money(metrics.cost_usd) if metrics.cost_usd is not None else "unknown"


def _cost_help(metrics: Metrics) -> str:
    if metrics.cost_usd is None:
        return "No run has a known price. The offline baseline costs nothing."
    tokens = f", {count(metrics.tokens, 'token')}" if metrics.tokens is not None else ""
    each = f" Half of the runs cost {money(metrics.cost_p50_usd)} or less." if metrics.cost_p50_usd is not None else ""
    return f"All runs with a known price: {money(metrics.cost_usd)}{tokens}.{each}"


def figures_table(metrics: Metrics) -> DataTable:
    """Return all metrics as rows of name, value, low, high and n."""
    rates = (
        ("Accuracy", metrics.accuracy),
        ("Precision", metrics.precision),
        ("Recall", metrics.recall),
        ("Parameters right", metrics.parameters_right),
        ("Made-up parameters", metrics.hallucination),
        ("Types conform", metrics.type_conformance),
    )
    rows: list[tuple[Value, ...]] = [(name, *rate_values(rate)) for name, rate in rates]
    rows += [(name, value, None, None, None) for name, value in _plain_figures(metrics)]
    return DataTable(name="Metrics", columns=("Metric", "Value", "Low", "High", "n"), rows=tuple(rows))


def _plain_figures(metrics: Metrics) -> tuple[tuple[str, Value], ...]:
    return (
        ("F1", metrics.f1),
        ("Parameter accuracy, mean", metrics.parameter_accuracy),
        ("Completeness, mean", metrics.completeness),
        ("True positives", metrics.tp),
        ("False positives", metrics.fp),
        ("True negatives", metrics.tn),
        ("False negatives", metrics.fn),
        ("Failed", metrics.failed),
        ("High confidence", metrics.confidence_high),
        ("Low confidence", metrics.confidence_low),
        ("Without confidence", metrics.confidence_none),
        ("Robust", metrics.robust),
        ("Needs clarity", metrics.needs_clarity),
        ("Misleading", metrics.misleading),
        ("Latency p50 in ms", metrics.latency_p50_ms),
        ("Latency p95 in ms", metrics.latency_p95_ms),
        ("Latency p99 in ms", metrics.latency_p99_ms),
        ("Cost in USD", metrics.cost_usd),
        ("Tokens", metrics.tokens),
    )
