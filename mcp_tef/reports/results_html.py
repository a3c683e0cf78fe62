"""Results of runs as one HTML page."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT
from mcp_tef.model.metrics import ConfusionMatrix, Metrics, ModelMetrics, RepeatStatistics
from mcp_tef.model.rates import decimal_text as number
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.model.verdicts import RunMark, VerdictKind
from mcp_tef.reports import charts
from mcp_tef.reports.charts import dollars, rate_words, share, shown
from mcp_tef.reports.page import cell, counted, page, paragraphs, section, table
from mcp_tef.reports.results import Results, model_name, reason
from mcp_tef.statistics.confusion_patterns import cluster_confusions

MOST_RUNS: Final = 2000
_KINDS: Final[Mapping[VerdictKind, str]] = {
    VerdictKind.MATCH: "Wrong arguments",
    VerdictKind.WRONG_TOOL: "Wrong tool",
    VerdictKind.NO_TOOL: "No tool",
    VerdictKind.INVENTED_TOOL: "Invented tool",
    VerdictKind.EXTRA_CALL: "Extra call",
    VerdictKind.UNEXPECTED_CALL: "Call not expected",
}
_CODE: Final = re.compile("`([^`]+)`")
MOST_CONFUSIONS = 20
MOST_FLAKY = 20
_RATES = (
    "Recall: how often the right tool was selected where one was expected. Precision: how often a selection was right. "
    "The line is the 95 % interval: the fewer runs (n), the wider."
)
_CATEGORIES = (
    "Robust: a correct call, and sure. Needs clarity: a correct call, but not sure. Misleading: wrong, and sure."
)


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
    title = f"{results.title}: will a model select the right tool?"
    return page(title, _lead(results), sections, heading=results.title)


def _lead(results: Results) -> str:
    """Render the introduction: batch, models, time and accuracy. The baseline is always named as such."""
    metrics = results.overview.metrics
    failed = " Failed runs count in no share." if metrics.failed else ""
    several = len(results.overview.models) > 1
    figure = "" if several else f"<strong>{share(metrics.correct_call.value)}</strong> "
    lead = "".join(f'<p class="lead">{figure}{shown(sentence)}</p>' for sentence in results.sentences)
    unfinished = f'<p class="warn">{results.unfinished_sentence}</p>' if results.unfinished_sentence else ""
    return (
        f"{paragraphs(*results.condition_lines)}"
        f"{lead}<p>A correct call has the right tool with the right arguments, or none where none was expected."
        f"{failed}</p>{unfinished}"
    )


def _figures(metrics: Metrics) -> str:
    outcomes = [
        ("right tool (TP)", "f-good", metrics.tp),
        ("correctly none (TN)", "f-info", metrics.tn),
        ("not expected (FP)", "f-warn", metrics.fp),
        ("missed (FN)", "f-bad", metrics.fn),
        ("failed", "f-none", metrics.failed),
    ]
    rates = [
        ("Correct call", metrics.correct_call),
        ("Correct tool", metrics.correct_tool),
        ("Precision", metrics.precision),
        ("Recall", metrics.recall),
        ("Accuracy", metrics.accuracy),
        ("Types conform", metrics.type_conformance),
        ("Hallucinated parameters", metrics.hallucination),
        ("Parameter accuracy", metrics.parameter_accuracy),
        ("Completeness", metrics.completeness),
    ]
    singles = [
        ("F1", metrics.f1_text),
        ("Unreadable answers", f"{metrics.unreadable:,}"),
        ("Expected tool not offered", f"{metrics.not_offered:,}"),
        ("Cut off by the answer limit", f"{metrics.cut_off:,}"),
        ("Time per run, median", _milliseconds(metrics.latency_p50_ms)),
        ("Time per run, 95 %", _milliseconds(metrics.latency_p95_ms)),
        ("Cost", _cost(metrics)),
    ]
    return (
        charts.shares(outcomes)
        + charts.intervals(rates)
        + f"<p>{_RATES}</p>"
        + table(("Figure", "Value"), singles, [1], kind="narrow")
    )


def _models(models: Sequence[ModelMetrics]) -> str:
    """Render the models beside each other, where there are several."""
    heads = ("Model", "Runs", "Correct call", "Correct tool", "Recall", "Precision", "Median time", "Cost")
    rows = [
        (
            model_name(one.model),
            str(one.metrics.n),
            rate_words(one.metrics.correct_call),
            rate_words(one.metrics.correct_tool),
            rate_words(one.metrics.recall),
            rate_words(one.metrics.precision),
            _milliseconds(one.metrics.latency_p50_ms),
            _cost(one.metrics),
        )
        for one in models
    ]
    return table(heads, rows, range(1, 8)) if len(rows) > 1 else ""


def _confusions(matrix: ConfusionMatrix) -> str:
    """Render the matrix where it can be read, else the pairs that were confused most."""
    if not matrix.n:
        return ""
    matrix = cluster_confusions(matrix)
    if len(matrix.columns) <= charts.LARGEST_MATRIX:
        return (
            f"<p>Rows: what was expected. Columns: what was selected. Off the diagonal are the confusions.</p>"
            f"{charts.heat(matrix)}"
        )
    wrong = {place: count for place, count in matrix.cells.items() if place[0] != place[1]}
    most = sorted(wrong.items(), key=lambda item: -item[1])
    rows = [
        (matrix.name(matrix.rows[row]), matrix.name(matrix.columns[column]), str(count))
        for (row, column), count in most
    ]
    heads = ("Expected", "Selected instead", "Runs")
    return _cut(heads, rows, MOST_CONFUSIONS) or "<p>No tool was taken for another.</p>"


def _cut(heads: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> str:
    """Render a table whose last column is a number; rows after the first ones unfold below it."""
    rest = table(heads, rows[most:], [len(heads) - 1])
    unfold = f"<details><summary>{most:,} of {len(rows):,}: show the others</summary>{rest}</details>" if rest else ""
    return table(heads, rows[:most], [len(heads) - 1]) + unfold


def _confidence(results: Results) -> str:
    figures = results.overview.calibration.overall
    metrics = results.overview.metrics
    if not figures.n:
        return ""
    words = f"{metrics.robust} robust, {metrics.needs_clarity} need clarity, {metrics.misleading} misleading."
    gap = (
        f" On average, confidence and the share that was right are {number(figures.mean_gap)} apart."
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
        f"{repeats.always} pass each time, {repeats.never} never, and {repeats.mixed} sometimes."
    )
    rows = [(one.case_name, one.model, f"{one.passed} of {one.n}") for one in repeats.flaky]
    known = f"<p>{len(rows):,} of {repeats.mixed:,}; the CSV holds all runs.</p>" if len(rows) < repeats.mixed else ""
    return f"<p>{words}</p>{known}{_cut(('Passes sometimes', 'Model', 'Passed'), rows, MOST_FLAKY)}"


def _tools(matrix: ConfusionMatrix) -> str:
    rows = [
        (tool.name, str(tool.n), rate_words(tool.precision), rate_words(tool.recall), number(tool.f1))
        for tool in matrix.tools
    ]
    return table(("Tool", "Expected", "Precision", "Recall", "F1"), rows, range(1, 5))


def _cost(metrics: Metrics) -> str:
    return dollars(metrics.cost_usd, metrics.priced, metrics.unpriced)


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} ms" if value < 1000 else f"{value / 1000:.1f} s"


def runs_table(runs: Sequence[RunSummary]) -> str:
    """Render the first `MOST_RUNS` of the runs; the model only where there are several."""
    first = sorted(runs, key=lambda run: run.passes)[:MOST_RUNS]
    rest = f"<p>{MOST_RUNS:,} of {len(runs):,} runs; the CSV holds all.</p>" if len(runs) > MOST_RUNS else ""
    several = len({run.model for run in runs}) > 1
    names = ("Outcome", "Case", "Expected", "Selected", *["Model"] * several)
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
        f'<tr><td class="{colour}">{mark}&nbsp;{_outcome(run)}</td><td>{_case(run)}{_reason(run)}</td>{tail}'
        f'<td class="number">{confidence}</td></tr>'
    )


def _case(run: RunSummary) -> str:
    """Render the query of a case, after its name where that is another text."""
    name = "" if run.case_name == run.query else f"<div><strong>{shown(run.case_name)}</strong></div>"
    return name + shown(run.query)


def _mark(run: RunSummary) -> tuple[str, str]:
    """Return the mark of a run and the class of its colour."""
    if run.passes:
        return "✓", "good"
    if run.mark is RunMark.WRONG_ARGUMENTS:
        return "~", "warn"
    return ("✗", "bad") if run.mark else ("!", "warn")


def _reason(run: RunSummary) -> str:
    """Render why a run did not pass; nothing for one that did."""
    if run.passes:
        return ""
    why = reason(run)
    return f'<div class="dim">{_told(why)}</div>' if why else ""


def _outcome(run: RunSummary) -> str:
    if run.passes:
        return "Correct call"
    if run.unreadable:
        return "Unreadable"
    if run.kind is not None:
        return _KINDS.get(run.kind, "Wrong")
    return "Failed" if run.status is RunStatus.FAILED else "Not run"


def _told(text: str) -> str:
    """Render a sentence of a verdict, with text in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", shown(text))
