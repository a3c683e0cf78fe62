"""Metrics, rates, times and models as text, and as plain tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.text.data_tables import DIGITS, DataTable, Value
from app.text.formatting import count, duration, model_name, money, percent
from app.text.glossary import explain
from mcp_tef import (
    ConfidenceSource,
    Metrics,
    ModelMetrics,
    Rate,
    decimal_text,
    interval_text,
    priced_text,
)

NONE: Final = "–"
TOO_FEW: Final = 10
INTERVAL: Final = "The thin bar is the 95 % interval: in 19 of 20 measurements, the true share lies within it."

SOURCES: Final = {
    ConfidenceSource.SELF_REPORTED: "self-reported",
    ConfidenceSource.AGREEMENT: "agreement of repeats",
    ConfidenceSource.LOGPROB: "token probability",
    ConfidenceSource.MARGIN: "margin of the ranking",
}


def bounds(rate: Rate) -> str:
    """Return an interval in percent, `(73–86)`; "" if nothing was counted."""
    interval = interval_text(rate.low, rate.high)
    return f"({interval})" if interval else ""


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
    return decimal_text(value)


def milliseconds(value: float | None) -> str:
    """Return `840 ms`, or `2.4 s` from one second on; a dash if nothing was measured."""
    if value is None:
        return NONE
    return f"{value:.0f} ms" if value < 1000 else duration(value / 1000)


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


SHOWN_DIGITS, SMALL = 3, 0.01
MOST_BATCHES: Final = 12
NO_WRONG_TOOLS: Final = "without wrong tools"
RATE_PARTS: Final = ("", " low", " high", " n")
_RATE_TERMS: Final = {" low": "Wilson interval", " high": "Wilson interval", " n": "n"}
_TERMS: Final = {
    "Accuracy": "accuracy",
    "Correct call": "correct call",
    "Correct tool": "correct tool",
    "Mean confidence": "confidence",
    "Correct": "calibration",
    "pass^k": "pass^k",
    "p50 ms": "latency",
}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricValue:
    """A share with its interval; `sentence` says its n in words, `help` explains the term, `note` is by the title."""

    title: str
    value: str
    bounds: str
    rate: Rate
    sentence: str
    help: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideMetric:
    """A quieter figure; `bad` where it asks for a look."""

    label: str
    value: str
    help: str
    bad: bool = False


def headline_metrics(metrics: Metrics) -> tuple[MetricValue, ...]:
    """Return the shares of correct calls and correct tools, precision and recall."""
    return (
        _metric_value("Correct call", metrics.correct_call, _share_text(metrics.correct_call), _call_help(metrics)),
        _metric_value("Correct tool", metrics.correct_tool, _share_text(metrics.correct_tool), _TOOL_HELP),
        _metric_value(
            "Precision", metrics.precision, _precision_text(metrics), _precision_help(metrics), NO_WRONG_TOOLS
        ),
        _metric_value("Recall", metrics.recall, _recall_text(metrics), _recall_help(metrics)),
    )


def _metric_value(title: str, rate: Rate, sentence: str, explained: str, note: str = "") -> MetricValue:
    return MetricValue(
        title=title,
        value=percent(rate.value),
        bounds=bounds(rate),
        rate=rate,
        sentence=sentence,
        help=f"{explained}\n{INTERVAL}" if rate.n else explained,
        note=note,
    )


def _share_text(rate: Rate) -> str:
    return part_of(rate, "judged run") if rate.n else "No run was judged"


_TOOL_HELP = (
    "Correct tool: of the judged runs, the share that selected the expected tool, or no tool if none was expected. "
    "Arguments do not count. An unreadable answer is wrong."
)


def _call_help(metrics: Metrics) -> str:
    lines = ["Correct call: of the judged runs, the share with the correct tool and every judged argument correct."]
    if metrics.parameter_accuracy.n:
        lines.append(f"On average {percent(metrics.parameter_accuracy.value)} of a call's expected values are correct.")
    if metrics.completeness.n:
        lines.append(f"On average {percent(metrics.completeness.value)} of what a call needs is present.")
    return "\n".join(lines)


def _precision_text(metrics: Metrics) -> str:
    if not metrics.precision.n:
        return "No correct and no unexpected calls"
    return f"{part_of(metrics.precision, 'call')} expected"


def _precision_help(metrics: Metrics) -> str:
    return (
        f"Precision: of {count(metrics.tp + metrics.fp, 'run')} with the correct tool or an unexpected call, the share "
        "with the correct tool. A low value means that tools are called where none should be.\n"
        "A wrong tool counts in recall, and in the table in the precision of the tool that was selected."
    )


def _recall_text(metrics: Metrics) -> str:
    return f"{part_of(metrics.recall, 'expected tool')} selected" if metrics.recall.n else "No tool was expected"


def _recall_help(metrics: Metrics) -> str:
    return f"Recall: of the {count(metrics.recall.n, 'time')} a tool was expected, the share that selected it."


def side_metrics(
    metrics: Metrics, models: Sequence[ModelMetrics] = (), model: str = "", batches: Sequence[str] = ()
) -> tuple[SideMetric, ...]:
    """Return the model, the batches, counts beside the rates, parameters, F1, time and cost."""
    return (
        *_model(models, model),
        *_batches(batches),
        SideMetric(
            label="Unreadable",
            value=f"{metrics.unreadable:,}",
            help="Answers that could not be read. They count as wrong, also where no tool was expected.",
            bad=metrics.unreadable > 0,
        ),
        SideMetric(label="Failed", value=f"{metrics.failed:,}", help=_failed_help(metrics), bad=metrics.failed > 0),
        SideMetric(
            label="Sure and wrong",
            value=f"{metrics.misleading:,}",
            help="Runs with a confidence of 0.7 or more that are no correct call.",
            bad=metrics.misleading > 0,
        ),
        SideMetric(
            label="Hallucinated parameters",
            value=_quiet(metrics.hallucination),
            help=f"Of {count(metrics.hallucination.n, 'run')} with the correct tool, the share with at least one. "
            f"{explain('hallucinated parameter')}",
            bad=bool(metrics.hallucination.successes),
        ),
        SideMetric(
            label="Types conform",
            value=_quiet(metrics.type_conformance),
            help=f"Of {count(metrics.type_conformance.n, 'run')} with the correct tool, the share that conforms. "
            f"{explain('type conformance')}",
        ),
        SideMetric(label="F1", value=score(metrics.f1), help=f"{metrics.f1_text}. {_F1_HELP}"),
        SideMetric(label="Latency", value=_latency(metrics), help=_latency_help(metrics)),
        SideMetric(label="Cost", value=_cost(metrics), help=_cost_help(metrics)),
    )


def _model(models: Sequence[ModelMetrics], model: str) -> Iterator[SideMetric]:
    """Yield the model that the metrics are about: the best of several, or the only one if it is a baseline."""
    if model:
        explained = "Models are never mixed in one share. Models compares them. Filter by model to see another here."
        yield SideMetric(label="Model", value=f"{model_name(model)}, best of {len(models):,}", help=explained)
    elif len(models) == 1 and models[0].baseline:
        explained = "An offline baseline is not a model. It shows what a tool search finds without one."
        yield SideMetric(label="Selector", value=model_name(models[0].model), help=explained)


def _batches(names: Sequence[str]) -> Iterator[SideMetric]:
    if len(names) > 1:  # the newest first
        more = [f"and {len(names) - MOST_BATCHES:,} more"] if len(names) > MOST_BATCHES else []
        lines = ["This page sums these batches. Filter by batch to see one.", *names[:MOST_BATCHES], *more]
        yield SideMetric(label="Sum of", value=f"{len(names):,} batches", help="\n".join(lines))


def _failed_help(metrics: Metrics) -> str:
    lines = ["Runs without an answer, such as unreachable models. They do not count in any rate."]
    if metrics.not_offered:
        lines.append(f"The expected tool was not offered in {runs_text(metrics.not_offered)}.")
    if metrics.cut_off:
        lines.append(f"The answer limit cut off {runs_text(metrics.cut_off)}.")
    return "\n".join(lines)


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


def least_cost(metrics: Metrics, *, baseline: bool) -> str:
    """Return the cost of a model as a cell; at least what is known, where some runs have no price."""
    if metrics.cost_usd is None:
        return NONE if baseline else money(None)
    return f"≥ {money(metrics.cost_usd)}" if metrics.unpriced else money(metrics.cost_usd)


def _cost(metrics: Metrics) -> str:
    if metrics.cost_usd is None or not metrics.unpriced:
        return money(metrics.cost_usd)
    return f"{money(metrics.cost_usd)}, {metrics.priced:,} of {metrics.priced + metrics.unpriced:,} runs"


def _cost_help(metrics: Metrics) -> str:
    if metrics.cost_usd is None:
        return "No run has a known price. The offline baseline costs nothing."
    tokens = f", {count(metrics.tokens, 'token')}" if metrics.tokens is not None else ""
    each = f" Half of the runs cost {money(metrics.cost_p50_usd)} or less." if metrics.cost_p50_usd is not None else ""
    amount = priced_text(money(metrics.cost_usd), metrics.priced, metrics.unpriced)
    return f"All runs with a known price: {amount}{tokens}.{each}"


def metrics_table(metrics: Metrics) -> DataTable:
    """Return all metrics as rows of name, value, low, high and n."""
    rates = (
        ("Correct call", metrics.correct_call),
        ("Correct tool", metrics.correct_tool),
        ("Accuracy", metrics.accuracy),
        ("Precision", metrics.precision),
        ("Recall", metrics.recall),
        ("Parameter accuracy, mean", metrics.parameter_accuracy),
        ("Completeness, mean", metrics.completeness),
        ("Hallucinated parameters", metrics.hallucination),
        ("Types conform", metrics.type_conformance),
    )
    rows: list[tuple[Value, ...]] = [(name, *rate_values(rate)) for name, rate in rates]
    rows += [(name, value, None, None, None) for name, value in _plain_figures(metrics)]
    return DataTable(name="Metrics", columns=("Metric", "Value", "Low", "High", "n"), rows=tuple(rows))


def _plain_figures(metrics: Metrics) -> tuple[tuple[str, Value], ...]:
    return (
        ("F1", metrics.f1),
        ("True positives", metrics.tp),
        ("False positives", metrics.fp),
        ("True negatives", metrics.tn),
        ("False negatives", metrics.fn),
        ("Failed", metrics.failed),
        ("Unreadable", metrics.unreadable),
        ("Expected tool not offered", metrics.not_offered),
        ("Cut off", metrics.cut_off),
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
