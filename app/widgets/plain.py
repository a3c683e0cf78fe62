"""Foreign text made safe to show: controls and direction marks made visible, endless text cut."""

import html
import re
from typing import Final

PARAGRAPH_LIMIT: Final = 20_000
LINE_LIMIT: Final = 400

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def plain(text: str, limit: int = PARAGRAPH_LIMIT) -> str:
    """`text` with its lines kept, hidden characters shown as ⟨U+202E⟩, and cut after `limit` characters."""
    kept = text[:limit].replace("\r\n", "\n").replace("\r", "\n")
    shown = _CONTROLS.sub(_visible, kept)
    return f"{shown} … ({len(text) - limit:,} more characters)" if len(text) > limit else shown


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """`text` on one line, spaces joined, made visible and cut with … after `limit` characters."""
    joined = " ".join(text[: limit * 4].split())
    shown = _CONTROLS.sub(_visible, joined[:limit])
    return f"{shown}…" if len(joined) > limit or len(text) > limit * 4 else shown


def tip(text: str) -> str:
    """`text` for a tooltip: escaped, so that nothing in it is taken for markup; empty stays empty."""
    return f"<qt>{html.escape(plain(text, 2_000))}</qt>".replace("\n", "<br>") if text else ""


def units(text: str) -> int:
    """The length of `text` in UTF-16 units, as Qt counts."""
    return len(text) + sum(character > "\uffff" for character in text)


def _visible(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"
