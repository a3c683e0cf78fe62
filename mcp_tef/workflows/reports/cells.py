"""Tables as CSV, safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence

from mcp_tef.model.json import Json

_STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Json]]) -> str:
    """A head and the rows; a text that a spreadsheet would run as a formula begins with an apostrophe."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    text = str(value)
    return "'" + text if isinstance(value, str) and text.startswith(_STARTS_FORMULA) else text
