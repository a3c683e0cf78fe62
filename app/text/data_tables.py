"""Plain tables of the values behind charts and lists, and their CSV."""

import csv
import io
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcp_tef import to_spreadsheet_cell

Value: TypeAlias = str | int | float | None
DIGITS: Final = 6


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
