"""Results of runs as one HTML page."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT
from mcp_tef.model.metrics import ConfusionMatrix, Metrics, ModelMetrics, RepeatStatistics
from mcp_tef.model.runs import ModelSettings, RunStatus, RunSummary
from mcp_tef.model.verdicts import VerdictKind
from mcp_tef.reports import charts
from mcp_tef.reports.charts import rate_words, share, shown
from mcp_tef.reports.page import cell, counted, page, section, table
from mcp_tef.reports.results import Results, passed
from mcp_tef.statistics.intervals import wilson

MOST_RUNS: Final = 2000
_KINDS: Final[Mapping[VerdictKind, str]] = {
    VerdictKind.MATCH: "Wrong parameters",
    VerdictKind.WRONG_TOOL: "Wrong tool",
    VerdictKind.NO_TOOL: "No tool",
    VerdictKind.INVENTED_TOOL: "Invented tool",
    VerdictKind.EXTRA_CALL: "Extra call",
    VerdictKind.UNEXPECTED_CALL: "Call not wanted",
}
_CODE: Final = re.compile("`([^`]+)`")
MOST_CONFUSIONS = 20
MOST_FLAKY = 20
_RATES = (
    "Recall: how often the right tool was picked where one was wanted. Precision: how often a pick was right. "
    "The line is the 95 % interval: the fewer runs (n), the wider."
)
_CATEGORIES = "Robust: right and sure. Needs clarity: right, but not sure. Misleading: wrong, and sure."


def to_html(results: Results) -> str:
    """Render the whole page."""
    overview = results.overview
    sections = [
        section("Figures", _figures(overview.metrics)),
        section("Models", _models(overview.models)),
        section("Expected and selected tools", _confusions(overview.confusions)),
        section("Confidence", _confidence(results)),
        section("Repeats", _repeats(overview.repeats)),
        section("Tools", _tools(overview.confusions)),
        section("Runs", runs_table(results.runs)),
    ]
    title = f"{results.title}: will a model pick the right tool?"
    return page(title, _lead(results), sections, heading=results.title)


def _lead(results: Results) -> str:
    """Render the introduction: batch, models, time and accuracy. The baseline is always named as such."""
    judged = [run for run in results.runs if run.classification]
    rate = wilson(sum(map(passed, judged)), len(judged))
    failed = f" {results.failed} failed, and count in no rate." if results.failed else ""
    unfinished = f'<p class="warn">{results.unfinished_sentence}</p>' if results.unfinished_sentence else ""
    return (
        f"<p>{shown(', '.join(map(_model, results.models)))}. {_when(results.runs)}</p>"
        f'<p class="lead"><strong>{share(rate.value)}</strong> {rate.successes} of {rate.n} judged runs passed: '
        f"the right tool with the right parameters, or none where none was wanted.{failed}</p>{unfinished}"
    )


def _model(label: str) -> str:
    return f"{label} (a baseline, not a model)" if label == ModelSettings().label else label


def _when(runs: Sequence[RunSummary]) -> str:
    """Return the first and the last minute at which a run was planned; empty where that is not known."""
    moments = sorted(run.created_at for run in runs if run.created_at)
    minutes = dict.fromkeys(f"{moment:%Y-%m-%d %H:%M}" for moment in (*moments[:1], *moments[-1:]))
    return f"{' to '.join(minutes)} UTC." if minutes else ""


def _figures(metrics: Metrics) -> str:
    outcomes = [
        ("right tool (TP)", "f-good", metrics.tp),
        ("correctly none (TN)", "f-info", metrics.tn),
        ("not wanted (FP)", "f-warn", metrics.fp),
        ("missed (FN)", "f-bad", metrics.fn),
        ("failed", "f-none", metrics.failed),
    ]
    rates = [
        ("Precision", metrics.precision),
        ("Recall", metrics.recall),
        ("Accuracy", metrics.accuracy),
        ("Parameters right", metrics.parameters_right),
        ("Types conform", metrics.type_conformance),
        ("Made-up parameters", metrics.hallucination),
    ]
    singles = [
        ("F1", _number(metrics.f1)),
        ("Parameter accuracy", _number(metrics.parameter_accuracy)),
        ("Time per run, median", _milliseconds(metrics.latency_p50_ms)),
        ("Time per run, 95 %", _milliseconds(metrics.latency_p95_ms)),
        ("Cost", _dollars(metrics.cost_usd)),
    ]
    return (
        charts.shares(outcomes)
        + charts.intervals(rates)
        + f"<p>{_RATES}</p>"
        + table(("Figure", "Value"), singles, [1], kind="narrow")
    )


def _models(models: Sequence[ModelMetrics]) -> str:
    """Render the models beside each other, where there are several."""
    heads = ("Model", "Runs", "Recall", "Precision", "Parameters right", "Median time", "Cost")
    rows = [
        (
            _model(one.model),
            str(one.metrics.n),
            rate_words(one.metrics.recall),
            rate_words(one.metrics.precision),
            rate_words(one.metrics.parameters_right),
            _milliseconds(one.metrics.latency_p50_ms),
            _dollars(one.metrics.cost_usd),
        )
        for one in models
    ]
    return table(heads, rows, range(1, 7)) if len(rows) > 1 else ""


def _confusions(matrix: ConfusionMatrix) -> str:
    """Render the matrix where it can be read, else the pairs that were confused most."""
    if not matrix.n:
        return ""
    if len(matrix.columns) <= charts.LARGEST_MATRIX:
        return (
            f"<p>Rows: what was expected. Columns: what was selected. Off the diagonal are the confusions.</p>"
            f"{charts.heat(matrix)}"
        )
    wrong = {place: count for place, count in matrix.cells.items() if place[0] != place[1]}
    most = sorted(wrong.items(), key=lambda item: -item[1])[:MOST_CONFUSIONS]
    rows = [
        (matrix.name(matrix.rows[row]), matrix.name(matrix.columns[column]), str(count))
        for (row, column), count in most
    ]
    heads = ("Expected", "Selected instead", "Runs")
    return table(heads, rows, [2]) or "<p>No tool was taken for another.</p>"


def _confidence(results: Results) -> str:
    figures = results.overview.calibration.overall
    metrics = results.overview.metrics
    if not figures.n:
        return ""
    words = f"{metrics.robust} robust, {metrics.needs_clarity} need clarity, {metrics.misleading} misleading."
    gap = (
        f" On average, confidence and the share that was right are {figures.mean_gap:.2f} apart."
        if figures.mean_gap
        else ""
    )
    return f"<p>{_CATEGORIES} {shown(words + gap)}</p>{charts.calibration(figures)}"


def _repeats(repeats: RepeatStatistics) -> str:
    """Render the consistency of cases that ran several times."""
    if not repeats.groups:
        return ""
    words = (
        f"Of {counted(repeats.groups, 'case')} that a model was asked several times, "
        f"{repeats.always} passed each time, {repeats.never} never, and {repeats.mixed} now and then."
    )
    rows = [(one.case_name, one.model, f"{one.passed} of {one.n}") for one in repeats.flaky[:MOST_FLAKY]]
    return f"<p>{words}</p>{table(('Now and then', 'Model', 'Passed'), rows, [2])}"


def _tools(matrix: ConfusionMatrix) -> str:
    rows = [
        (tool.name, str(tool.n), rate_words(tool.precision), rate_words(tool.recall), _number(tool.f1))
        for tool in matrix.tools
    ]
    return table(("Tool", "Expected", "Precision", "Recall", "F1"), rows, range(1, 5))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _dollars(value: float | None) -> str:
    return "–" if value is None else f"${value:.4f}" if value else "$0"


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"


def runs_table(runs: Sequence[RunSummary]) -> str:
    """Render the first `MOST_RUNS` of the runs; the model only where there are several."""
    first = sorted(runs, key=passed)[:MOST_RUNS]
    rest = f"<p>{MOST_RUNS:,} of {len(runs):,} runs; the CSV holds all.</p>" if len(runs) > MOST_RUNS else ""
    several = len({run.model for run in runs}) > 1
    names = ("Outcome", "Query", "Expected", "Selected", *["Model"] * several)
    heads = "".join(f"<th>{name}</th>" for name in names) + '<th class="number">Confidence</th>'
    body = "".join(_run(run, several=several) for run in first)
    table = f'<table class="runs"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
    return f'{rest}<div class="wide">{table}</div>'


def _run(run: RunSummary, *, several: bool) -> str:
    mark, colour = _mark(run)
    confidence = "–" if run.confidence is None else f"{run.confidence:.2f}"
    texts = (run.expected or NO_TOOL_TEXT, run.selected or "–", *[run.model] * several)
    tail = "".join(f"<td>{cell(text)}</td>" for text in texts)
    return (
        f'<tr><td class="{colour}">{mark}&nbsp;{_outcome(run)}</td><td>{shown(run.query)}{_reason(run)}</td>{tail}'
        f'<td class="number">{confidence}</td></tr>'
    )


def _mark(run: RunSummary) -> tuple[str, str]:
    """Return the mark of a run and the class of its colour."""
    if passed(run):
        return "✓", "good"
    return ("✗", "bad") if run.classification else ("!", "warn")


def _reason(run: RunSummary) -> str:
    """Render why a run did not pass; nothing for one that did."""
    if passed(run):
        return ""
    why = f"{run.failure.message} {run.failure.hint}" if run.failure else run.explanation
    return f'<div class="dim">{_told(why)}</div>' if why else ""


def _outcome(run: RunSummary) -> str:
    if passed(run):
        return "Passed"
    if run.kind is not None:
        return _KINDS.get(run.kind, "Wrong")
    return "Failed" if run.status is RunStatus.FAILED else "Not run"


def _told(text: str) -> str:
    """Render a sentence of a verdict, with text in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", shown(text))
