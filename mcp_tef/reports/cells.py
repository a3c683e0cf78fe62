"""Tables as CSV, safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence

from mcp_tef.model.json import Json
from mcp_tef.model.spreadsheet_cells import to_spreadsheet_cell


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Json]]) -> str:
    """A head and the rows, whose texts are those of `to_spreadsheet_cell`."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return to_spreadsheet_cell(value) if isinstance(value, str) else str(value)
