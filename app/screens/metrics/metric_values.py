"""Metrics as text: four main rates, and further values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.screens.metrics.formatting import (
    INTERVAL,
    NONE,
    DataTable,
    Value,
    bounds,
    milliseconds,
    part_of,
    rate_values,
    runs_words,
    score,
    share_words,
)
from app.text.formatting import count, money, percent
from app.text.glossary import explain
from mcp_tef import Metrics, ModelMetrics, Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A share with its interval; `sentence` says its n in words, `help` explains the term by example."""

    title: str
    value: str
    bounds: str
    rate: Rate
    sentence: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """A quieter figure; `bad` where it asks for a look."""

    label: str
    value: str
    help: str
    bad: bool = False


def figures(metrics: Metrics) -> tuple[Figure, ...]:
    """Return accuracy, precision, recall and correct parameters."""
    return (
        _figure("Accuracy", metrics.accuracy, _accuracy_words(metrics), _accuracy_help(metrics)),
        _figure("Precision", metrics.precision, _precision_words(metrics), _precision_help(metrics)),
        _figure("Recall", metrics.recall, _recall_words(metrics), _recall_help(metrics)),
        _figure("Parameters right", metrics.parameters_right, _parameter_words(metrics), _parameter_help(metrics)),
    )


def _figure(title: str, rate: Rate, sentence: str, explained: str) -> Figure:
    return Figure(
        title=title,
        value=percent(rate.value),
        bounds=bounds(rate),
        rate=rate,
        sentence=sentence,
        help=f"{explained}\n{INTERVAL}" if rate.n else explained,
    )


def _accuracy_words(metrics: Metrics) -> str:
    return f"{part_of(metrics.accuracy, 'run')} judged correct" if metrics.accuracy.n else "No run was judged"


def _accuracy_help(metrics: Metrics) -> str:
    return (
        f"Accuracy: of the {runs_words(metrics.accuracy.n)} that were judged, the share that selected "
        "correctly: the expected tool, or no tool if none was expected."
    )


def _precision_words(metrics: Metrics) -> str:
    if not metrics.precision.n:
        return "No correct and no unexpected calls"
    return f"{count(metrics.tp, 'correct call')}, {metrics.fp:,} unexpected"


def _precision_help(metrics: Metrics) -> str:
    return (
        f"Precision: of {count(metrics.tp + metrics.fp, 'call')} that were correct or unexpected, the share that "
        "was correct. A low value means that tools are called where none should be."
    )


def _recall_words(metrics: Metrics) -> str:
    return f"{part_of(metrics.recall, 'expected tool')} selected" if metrics.recall.n else "No tool was expected"


def _recall_help(metrics: Metrics) -> str:
    return f"Recall: of the {count(metrics.recall.n, 'time')} a tool was expected, the share that selected it."


def _parameter_words(metrics: Metrics) -> str:
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


def asides(metrics: Metrics, models: Sequence[ModelMetrics] = ()) -> tuple[Aside, ...]:
    """Return F1, parameters, time, cost and failures."""
    return (
        Aside(label="F1", value=score(metrics.f1), help=_F1_HELP),
        *_baseline(metrics, models),
        Aside(
            label="Made-up parameters",
            value=_quiet(metrics.hallucination),
            help=f"Of the {count(metrics.hallucination.n, 'correct call')}, the share with at least one. "
            f"{explain('hallucinated parameter')}",
            bad=bool(metrics.hallucination.successes),
        ),
        Aside(
            label="Types conform",
            value=_quiet(metrics.type_conformance),
            help=f"Of {count(metrics.type_conformance.n, 'correct call')} with parameters, the share that conforms. "
            f"{explain('type conformance')}",
        ),
        Aside(label="Latency", value=_latency(metrics), help=_latency_help(metrics)),
        Aside(label="Cost", value=_cost(metrics), help=_cost_help(metrics)),
        Aside(
            label="Confident but wrong",
            value=f"{metrics.misleading:,}",
            help="Runs with a confidence of 0.7 or more that selected the wrong tool: the description misleads.",
            bad=metrics.misleading > 0,
        ),
        Aside(
            label="Failed",
            value=f"{metrics.failed:,}",
            help="Runs without an answer, such as unreachable models. They do not count in any rate.",
            bad=metrics.failed > 0,
        ),
    )


def _baseline(metrics: Metrics, models: Sequence[ModelMetrics]) -> Iterator[Aside]:
    """Yield the number of runs of the baseline, if there are any."""
    number = sum(one.metrics.n for one in models if one.baseline)
    if number:
        explained = "Runs of the built-in offline baseline, which is not a model. Filter by model to exclude it."
        yield Aside(label="Baseline", value=f"{number:,} of {metrics.n:,}", help=explained)


_F1_HELP = f"F1: {explain('F1')}"


def _quiet(rate: Rate) -> str:
    return share_words(rate) if rate.n else NONE


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
    return DataTable(name="Figures", columns=("Figure", "Value", "Low", "High", "n"), rows=tuple(rows))


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
