"""Rates, times and models as text, and statistics as plain tables and CSV."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from app.text.formatting import count, duration, percent
from app.text.glossary import explain
from mcp_tef import ConfidenceSource, ModelSettings, Rate, to_spreadsheet_cell

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


def share_words(rate: Rate) -> str:
    """Return a share with its interval: `82 % (71–90)`."""
    return f"{percent(rate.value)} {bounds(rate)}".strip()


def part_words(rate: Rate) -> str:
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


def runs_words(number: int) -> str:
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
