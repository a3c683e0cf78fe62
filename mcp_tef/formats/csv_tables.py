"""Tables as CSV whose cells a spreadsheet shows and never runs, and that can be read back."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from mcp_tef.model.json import Json, loads_bounded

_ACTING: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|^[^\\S\n]*+:(?=:)|#(?=#[A-Za-z]*\\[)", re.MULTILINE)
_BLANKS: Final = re.compile("[\\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]*")
_FORMULA: Final = ("=", "+", "-", "@")
_GUARD: Final = "'"


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Json]]) -> str:
    """Return a head and rows as RFC 4180 CSV; texts are those of `to_spreadsheet_cell`."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return to_spreadsheet_cell(value) if isinstance(value, str) else str(value)


def to_spreadsheet_cell(text: str) -> str:
    """Return the text for a cell. What could be run as a formula gets an apostrophe before it.

    Control characters, which could steer a terminal, become escapes: then the cell is the text as a JSON string.
    """
    if _ACTING.search(text):
        return _GUARD + _ACTING.sub(_escape, json.dumps(text, ensure_ascii=False))
    return _GUARD + text if _is_guarded(text) else text


def from_spreadsheet_cell(cell: str) -> str:
    """Return the text that `to_spreadsheet_cell` made a cell of; other cells as they are."""
    if not cell.startswith(_GUARD):
        return cell
    inside = cell[len(_GUARD) :]
    if inside.startswith('"'):
        return _unescaped(inside) or cell
    return inside if _is_guarded(inside) else cell


def _is_guarded(text: str) -> bool:
    """Return whether the text begins with a guard or, after blanks, as a formula does in any width or height."""
    if text.startswith((_GUARD, "\t", "\r")):
        return True
    first = _BLANKS.sub("", text, count=1)[:1]
    return unicodedata.normalize("NFKC", first)[:1] in _FORMULA


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _unescaped(literal: str) -> str:
    """Return the text of a JSON string that holds control characters; empty where it is none."""
    try:
        text = loads_bounded(literal)
    except (ValueError, RecursionError):
        return ""
    return text if isinstance(text, str) and _ACTING.search(text) else ""
