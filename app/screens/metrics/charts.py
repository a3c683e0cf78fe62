"""Data of the charts: calibration, accuracy by batch, and pass^k."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.screens.metrics.formatting import (
    NONE,
    SOURCES,
    DataTable,
    milliseconds,
    rate_columns,
    rate_values,
    runs_words,
    share_words,
)
from app.text.formatting import clock, count, money, percent
from mcp_tef import CalibrationBin, CalibrationReport, PassAllRate, Rate, TrendPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One measured point: where it stands, the share, and what it says in words. `name` labels the axis."""

    x: float
    rate: Rate
    says: str
    name: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """How many runs gave a confidence from `low` to `high`."""

    low: float
    high: float
    n: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A chart's data; `message` stands in its place where there is nothing to draw, as a result."""

    note: str
    help: str
    table: DataTable
    spots: tuple[Spot, ...] = ()
    stacks: tuple[Stack, ...] = ()
    message: str = ""


CALIBRATION_HELP = (
    "Calibration: of the runs that gave a confidence of about 0.8, how many were right? Eight of ten would be on the "
    "dashed line. Below the line an answer is surer than it should be. The bars count the runs at each level."
)
TREND_HELP = "Accuracy of each batch, oldest first, with its 95 % interval. Click a point to see its runs."
POWER_HELP = (
    "pass^k: the chance that k runs of the same case are all right, averaged over cases. A tool that is picked nine "
    "times of ten passes once in 90 %, but eight times in a row in only 43 %."
)


def calibration_curve(report: CalibrationReport) -> Curve:
    """How often runs were right at each level of confidence, and how many gave it."""
    whole = report.overall
    message = (
        ""
        if whole.n
        else "No answer came with a confidence, so there is nothing to set against how often it was right."
    )
    return Curve(
        note=_calibration_note(report),
        help=_calibration_help(report),
        table=_calibration_table(report),
        spots=tuple(_level(item) for item in whole.bins if item.mean is not None and item.right.value is not None),
        stacks=tuple(_stack(item) for item in whole.bins),
        message=message,
    )


def _calibration_note(report: CalibrationReport) -> str:
    sources = _sources(report)
    known = [sources[0] if len(sources) == 1 else "of several kinds"] if sources else []
    return " · ".join([*known, f"n {report.overall.n:,}"])


def _sources(report: CalibrationReport) -> list[str]:
    return [SOURCES[item.source] for item in report.by_source if item.source is not None and item.n]


def _calibration_help(report: CalibrationReport) -> str:
    lines, whole, sources = [CALIBRATION_HELP], report.overall, _sources(report)
    if len(sources) > 1:
        lines.append(f"The confidence is of several kinds here: {', '.join(sources)}.")
    if whole.mean_gap is not None:
        lines.append(f"On average the confidence is {whole.mean_gap:.2f} away from the share that was right.")
    if whole.without:
        lines.append(f"{runs_words(whole.without).capitalize()} gave no confidence.")
    return "\n".join(lines)


def _level(item: CalibrationBin) -> Spot:
    mean = item.mean or 0.0
    return Spot(
        x=mean,
        rate=item.right,
        says=f"Confidence about {mean:.2f}: right in {share_words(item.right)} of {runs_words(item.n)}",
    )


def _stack(item: CalibrationBin) -> Stack:
    return Stack(
        low=item.low,
        high=item.high,
        n=item.n,
        says=f"{runs_words(item.n)} gave a confidence from {item.low:.1f} to {item.high:.1f}",
    )


def _calibration_table(report: CalibrationReport) -> DataTable:
    rows = tuple(
        (
            SOURCES[part.source] if part.source else "all",
            item.low,
            item.high,
            item.mean,
            *rate_values(item.right),
        )
        for part in (report.overall, *report.by_source)
        for item in part.bins
        if item.n
    )
    columns = ("Source", "From", "To", "Mean confidence", *rate_columns("Right"))
    return DataTable(name="Right by stated confidence", columns=columns, rows=rows)


def trend_curve(points: Sequence[TrendPoint], now: datetime) -> Curve:
    """Accuracy from batch to batch."""
    judged = [point for point in points if point.accuracy.value is not None]
    return Curve(
        note="band: 95 % interval" if len(judged) > 1 else count(len(judged), "batch", "batches"),
        help=TREND_HELP,
        table=_trend_table(points),
        spots=tuple(_batch_spot(number, point, now) for number, point in enumerate(judged)),
        message=_trend_message(judged),
    )


def _trend_message(judged: Sequence[TrendPoint]) -> str:
    if not judged:
        return "No batch with a judged run is among these."
    if len(judged) == 1:
        only = judged[0]
        return (
            f"One batch so far: {share_words(only.accuracy)} of {runs_words(only.accuracy.n)} right. A trend needs two."
        )
    return ""


def _batch_spot(number: int, point: TrendPoint, now: datetime) -> Spot:
    when = clock(point.started, now)
    lines = [f"{point.name or 'Batch'}, {when}: {share_words(point.accuracy)} of {runs_words(point.accuracy.n)} right"]
    if point.parameters_right.n:
        lines.append(f"Parameters right: {share_words(point.parameters_right)}")
    extras = [milliseconds(point.latency_p50_ms)] if point.latency_p50_ms is not None else []
    extras += [money(point.cost_usd)] if point.cost_usd is not None else []
    extras += [f"{point.failed:,} failed"] if point.failed else []
    return Spot(
        x=float(number),
        rate=point.accuracy,
        says="\n".join([*lines, *([" · ".join(extras)] if extras else [])]),
        name=when,
        id=point.batch_id,
    )


def _trend_table(points: Sequence[TrendPoint]) -> DataTable:
    columns = (
        "Batch",
        "Started",
        *rate_columns("Accuracy"),
        *rate_columns("Parameters right"),
        "Failed",
        "p50 ms",
        "USD",
    )
    rows = tuple(
        (
            point.name or "Batch",
            point.started.astimezone().isoformat(sep=" ", timespec="minutes"),
            *rate_values(point.accuracy),
            *rate_values(point.parameters_right),
            point.failed,
            point.latency_p50_ms,
            point.cost_usd,
        )
        for point in points
    )
    return DataTable(name="Accuracy by batch", columns=columns, rows=rows)


def power_curve(powers: Sequence[PassAllRate]) -> Curve:
    """The chance that k runs all pass, by k."""
    known = [power for power in powers if power.rate.value is not None]
    return Curve(
        note=count(known[0].rate.n, "repeated case") if known else NONE,
        help=POWER_HELP,
        table=DataTable(
            name="Chance that k runs all pass",
            columns=("k", *rate_columns("pass^k")),
            rows=tuple((power.k, *rate_values(power.rate)) for power in powers),
        ),
        spots=tuple(
            Spot(
                x=float(power.k),
                rate=power.rate,
                name=str(power.k),
                says=f"{count(power.k, 'run')} all right: {percent(power.rate.value)}, over "
                f"{count(power.rate.n, 'repeated case')}",
            )
            for power in known
        ),
    )
