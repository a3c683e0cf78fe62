"""Untrusted text made safe to show: controls and direction marks made visible, endless text cut."""

import csv
import html
import io
import re
import sys
from collections.abc import Sequence
from typing import Final

from mcp_tef import to_spreadsheet_cell

PARAGRAPH_LIMIT: Final = 20_000
PARAGRAPH_LINES: Final = 400
LINE_LIMIT: Final = 400
NAME_LIMIT: Final = 2_000
TIP_LIMIT: Final = 2_000

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_NAMED = re.compile("⟨U\\+([0-9A-F]{4,6})⟩")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&$@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
_ENDLESS_WORD = re.compile(r"(\S{4000})(\S+)")


def plain(text: str, limit: int = PARAGRAPH_LIMIT, lines: int = PARAGRAPH_LINES) -> str:
    """`text` with its lines kept, hidden characters shown as ⟨U+202E⟩, and cut after so many characters or lines.

    A word without an end is cut as well: to lay it out takes time with the square of its length.
    """
    whole = text[:limit].replace("\r\n", "\n").replace("\r", "\n")
    kept = "\n".join(whole.split("\n", lines)[:lines])
    missing = max(0, len(text) - limit) + len(whole) - len(kept)
    shown = _CONTROLS.sub(_visible, _ENDLESS_WORD.sub(_cut, kept))
    return f"{shown}{_more(missing)}" if missing else shown


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; nothing in its cells is read as Markdown, a link or a mention."""
    lines = (f"| {' | '.join(map(_as_words, row))} |" for row in (heads, *rows))
    return "\n".join([next(lines), f"| {' | '.join('---' for _ in heads)} |", *lines])


def spreadsheet_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as CSV, whose texts are those of `to_spreadsheet_cell`."""
    out = io.StringIO()
    csv.writer(out).writerows(map(to_spreadsheet_cell, row) for row in (heads, *rows))
    return out.getvalue()


def _as_words(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(visible(text).split()))


def visible(text: str, limit: int = NAME_LIMIT) -> str:
    """`text` with its spaces kept, hidden characters shown, and cut with … after `limit` characters."""
    shown = _CONTROLS.sub(_visible, text[:limit])
    return f"{shown}…" if len(text) > limit else shown


def meant(text: str) -> str:
    """Return the original of a text in which hidden characters were made visible."""
    return _NAMED.sub(lambda found: chr(min(int(found[1], 16), sys.maxunicode)), text)


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """`text` on one line, spaces joined, made visible and cut with … after `limit` characters."""
    joined = " ".join(text[: limit * 4].split())
    shown = _CONTROLS.sub(_visible, joined[:limit])
    return f"{shown}…" if len(joined) > limit or len(text) > limit * 4 else shown


def tip(text: str) -> str:
    """`text` for a tooltip: escaped, so that nothing in it is taken for markup; empty stays empty."""
    return f"<qt>{html.escape(plain(text, TIP_LIMIT))}</qt>".replace("\n", "<br>") if text else ""


def units(text: str) -> int:
    """Return the length of `text` in UTF-16 units, as Qt counts."""
    return len(text) + sum(character > "\uffff" for character in text)


def _cut(found: re.Match[str]) -> str:
    return f"{found[1]}{_more(len(found[2]))}"


def _more(number: int) -> str:
    return f" … ({number:,} more character{'s' * (number != 1)})"


def _visible(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"
