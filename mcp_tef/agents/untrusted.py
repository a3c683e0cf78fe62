"""Texts of tools, models and cases in answers to agents: cleaned, shortened, and marked as data."""

import re
from typing import Final

from mcp_tef import Json, visible

OPENED, CLOSED = "<untrusted>", "</untrusted>"
LONGEST_BYTES: Final = 400
_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,120}")
_MARKER: Final = re.compile(r"<\s*/?\s*untrusted", re.IGNORECASE)


def quoted(text: str | None, longest: int = LONGEST_BYTES) -> str:
    """Return a text between markers that no text inside can close, at most `longest` bytes of it."""
    clean = _MARKER.sub("[marker]", visible(text or ""))
    raw = clean.encode("utf-8", "replace")
    short = clean if len(raw) <= longest else f"{raw[:longest].decode('utf-8', 'ignore')} …"
    return f"{OPENED}{short}{CLOSED}"


def quoted_lines(text: str, longest: int = 2_000) -> str:
    """Return a text of several lines in the same way; `unquoted` gives it back if it was not too long."""
    return OPENED + "\n".join(quoted(line, longest)[len(OPENED) : -len(CLOSED)] for line in text.split("\n")) + CLOSED


def unquoted(value: Json) -> Json:
    """Return a JSON value with the markers around its texts removed, as an agent may pass them back."""
    if isinstance(value, str):
        return value[len(OPENED) : -len(CLOSED)] if value.startswith(OPENED) and value.endswith(CLOSED) else value
    if isinstance(value, list):
        return [unquoted(one) for one in value]
    return {name: unquoted(one) for name, one in value.items()} if isinstance(value, dict) else value


def name_or_quoted(text: str | None) -> str:
    """Return a name as it is where it is plainly one, such as `shop/find_bike`; any other text is marked as data."""
    return text if text is not None and _NAME.fullmatch(text) else quoted(text, 200)
