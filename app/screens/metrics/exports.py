"""What is shown as plain tables, and those as CSV for other programs."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from app.text.glossary import explain
from mcp_tef import Rate, to_spreadsheet_cell

Value: TypeAlias = str | int | float | None
DIGITS: Final = 6
SHOWN_DIGITS, SMALL = 3, 0.01
RATE_PARTS: Final = ("", " low", " high", " n")
_RATE_TERMS: Final = {" low": "Wilson interval", " high": "Wilson interval", " n": "n"}
_TERMS: Final = {
    "Accuracy": "accuracy",
    "Parameters right": "parameters right",
    "Mean confidence": "confidence",
    "Right": "calibration",
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
    """A table as RFC 4180 CSV. Its texts are those of `to_spreadsheet_cell`."""
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
    """The columns that a rate takes."""
    return tuple(f"{name}{part}" for part in RATE_PARTS)


def rate_values(rate: Rate) -> tuple[Value, ...]:
    """A rate as its columns."""
    return (rate.value, rate.low, rate.high, rate.n)


def heading_help(heading: str) -> str:
    """What a heading of such a table means; empty where it is an everyday word."""
    for part, term in (*_RATE_TERMS.items(), ("", "")):
        if heading.endswith(part) and (base := heading.removesuffix(part)) in _TERMS:
            return explain(term) if term else explain(_TERMS[base])
    return ""


def shown(value: Value) -> str:
    """A value as a cell of a table on the screen; what is small keeps its digits, as costs are."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.{DIGITS if abs(value) < SMALL else SHOWN_DIGITS}f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else value


def joined_rows(rows: Iterable[Iterable[Value]]) -> tuple[tuple[Value, ...], ...]:
    """Rows of any kind as they are kept."""
    return tuple(tuple(row) for row in rows)
