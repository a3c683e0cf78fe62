"""Data of the charts: calibration, correct calls by batch, and pass^k."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.screens.metrics.metric_values import (
    NONE,
    SOURCES,
    milliseconds,
    rate_columns,
    rate_values,
    runs_text,
    share_text,
)
from app.text.data_tables import DataTable
from app.text.formatting import clock, count, money, percent
from mcp_tef import CalibrationBin, CalibrationReport, PassAllRate, Rate, TrendPoint, decimal_text, priced_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPoint:
    """One measured point: its place, the share, and its text. `name` labels the axis."""

    x: float
    rate: Rate
    text: str
    name: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceBar:
    """Number of runs with a confidence from `low` to `high`."""

    low: float
    high: float
    n: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """A chart's data; `message` is shown instead where there is nothing to draw."""

    note: str
    help: str
    table: DataTable
    points: tuple[ChartPoint, ...] = ()
    bars: tuple[ConfidenceBar, ...] = ()
    message: str = ""


CALIBRATION_HELP = (
    "Calibration: the share of correct calls at each level of confidence. On the dashed line, 8 of 10 runs with a "
    "confidence of 0.8 are correct calls. Below the line, the model is overconfident. Bars count runs."
)
TREND_HELP = "Correct calls of each batch, oldest first, with the 95 % interval. Click a point to see its runs."
POWER_HELP = (
    "pass^k: the chance that k runs of the same case are all correct, averaged over cases. A case that passes 9 times "
    "of 10 passes 8 times in a row in only 43 %."
)


def calibration_data(report: CalibrationReport) -> ChartData:
    """Return the share of correct runs, and the number of runs, by confidence."""
    whole = report.overall
    message = "" if whole.n else "No answer has a confidence, so there is no calibration to show."
    return ChartData(
        note=_calibration_note(report),
        help=_calibration_help(report),
        table=_calibration_table(report),
        points=tuple(_level(item) for item in whole.bins if item.mean is not None and item.right.value is not None),
        bars=tuple(_stack(item) for item in whole.bins),
        message=message,
    )


def _calibration_note(report: CalibrationReport) -> str:
    return " · ".join(filter(None, [", ".join(_sources(report)), f"n {report.overall.n:,}"]))


def _sources(report: CalibrationReport) -> list[str]:
    return [SOURCES[item.source] for item in report.by_source if item.source is not None and item.n]


def _calibration_help(report: CalibrationReport) -> str:
    lines, whole, sources = [CALIBRATION_HELP], report.overall, _sources(report)
    if len(sources) > 1:
        lines.append(f"These runs have several kinds of confidence: {', '.join(sources)}.")
    if whole.mean_gap is not None:
        lines.append(f"On average, confidence and share of correct calls differ by {decimal_text(whole.mean_gap)}.")
    if whole.without:
        lines.append(f"{runs_text(whole.without).capitalize()} have no confidence.")
    return "\n".join(lines)


def _level(item: CalibrationBin) -> ChartPoint:
    mean = item.mean or 0.0
    return ChartPoint(
        x=mean,
        rate=item.right,
        text=f"Confidence about {mean:.2f}: {share_text(item.right)} of {runs_text(item.n)} correct calls",
    )


def _stack(item: CalibrationBin) -> ConfidenceBar:
    return ConfidenceBar(
        low=item.low,
        high=item.high,
        n=item.n,
        text=f"{runs_text(item.n)} have a confidence from {item.low:.1f} to {item.high:.1f}",
    )


def _calibration_table(report: CalibrationReport) -> DataTable:
    """Return the bins; where all runs have one kind of confidence, its name stands there as on the chart."""
    parts = report.by_source if len(_sources(report)) == 1 else (report.overall, *report.by_source)
    rows = tuple(
        (
            SOURCES[part.source] if part.source else "all",
            item.low,
            item.high,
            item.mean,
            *rate_values(item.right),
        )
        for part in parts
        for item in part.bins
        if item.n
    )
    columns = ("Source", "From", "To", "Mean confidence", *rate_columns("Correct"))
    return DataTable(name="Correct by confidence", columns=columns, rows=rows)


def trend_data(points: Sequence[TrendPoint], now: datetime) -> ChartData:
    """Return the share of correct calls by batch."""
    judged = [point for point in points if point.correct_call.value is not None]
    names = _axis_names([point.started for point in judged], now)
    return ChartData(
        note="band: 95 % interval" if len(judged) > 1 else count(len(judged), "batch", "batches"),
        help=TREND_HELP,
        table=_trend_table(points),
        points=tuple(_batch_point(number, point, now, names[number]) for number, point in enumerate(judged)),
        message=_trend_message(judged),
    )


def _trend_message(judged: Sequence[TrendPoint]) -> str:
    if not judged:
        return "None of these batches has a judged run."
    if len(judged) == 1:
        only = judged[0]
        share = f"{share_text(only.correct_call)} of {runs_text(only.correct_call.n)} are correct calls"
        return f"One batch so far: {share}. A trend needs two."
    return ""


def _axis_names(moments: Sequence[datetime], now: datetime) -> list[str]:
    """Return the day of the first moment of each day, and the time of all others."""
    days = [clock(moment, now) for moment in moments]
    return [clock(moments[place], moments[place]) if day in days[:place] else day for place, day in enumerate(days)]


def _batch_point(number: int, point: TrendPoint, now: datetime, name: str) -> ChartPoint:
    when = clock(point.started, now)
    share = f"{share_text(point.correct_call)} of {runs_text(point.correct_call.n)} are correct calls"
    lines = [f"{point.name or 'Batch'}, {when}: {share}"]
    lines.append(f"Correct tool: {share_text(point.correct_tool)}")
    extras = [milliseconds(point.latency_p50_ms)] if point.latency_p50_ms is not None else []
    if point.cost_usd is not None:
        extras.append(priced_text(money(point.cost_usd), point.priced, point.unpriced))
    beside = ((point.unreadable, "unreadable"), (point.failed, "failed"))
    extras += [f"{number:,} {name}" for number, name in beside if number]
    return ChartPoint(
        x=float(number),
        rate=point.correct_call,
        text="\n".join(filter(None, [*lines, " · ".join(extras), point.note])),
        name=name,
        id=point.batch_id,
    )


def _trend_table(points: Sequence[TrendPoint]) -> DataTable:
    columns = (
        "Batch",
        "Started",
        *rate_columns("Correct call"),
        *rate_columns("Correct tool"),
        "Unreadable",
        "Failed",
        "p50 ms",
        "USD",
        "Without a price",
        "Note",
    )
    rows = tuple(
        (
            point.name or "Batch",
            point.started.astimezone().isoformat(sep=" ", timespec="minutes"),
            *rate_values(point.correct_call),
            *rate_values(point.correct_tool),
            point.unreadable,
            point.failed,
            point.latency_p50_ms,
            point.cost_usd,
            point.unpriced,
            point.note,
        )
        for point in points
    )
    return DataTable(name="Correct calls by batch", columns=columns, rows=rows)


def pass_all_data(powers: Sequence[PassAllRate]) -> ChartData:
    """Return the chance that k runs all pass, by k."""
    known = [power for power in powers if power.rate.value is not None]
    return ChartData(
        note=count(known[0].rate.n, "repeated case") if known else NONE,
        help=POWER_HELP,
        table=DataTable(
            name="Chance that k runs all pass",
            columns=("k", *rate_columns("pass^k")),
            rows=tuple((power.k, *rate_values(power.rate)) for power in powers),
        ),
        points=tuple(
            ChartPoint(
                x=float(power.k),
                rate=power.rate,
                name=str(power.k),
                text=f"{count(power.k, 'run')} all correct: {percent(power.rate.value)}, over "
                f"{count(power.rate.n, 'repeated case')}",
            )
            for power in known
        ),
    )
