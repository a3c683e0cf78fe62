"""Texts of tools, models and cases in answers to agents: cleaned, shortened, and marked as data.

The markers hold a word that is random for each answer, so that no stored text can hold the one that closes it.
"""

import re
import secrets
from contextvars import ContextVar
from typing import Final

from mcp_tef import Json, visible

_WORD: ContextVar[str] = ContextVar("word of the markers", default="")
_DIGITS: Final = 18
"""Digits take the same number of tokens whatever they are, so that pages end at the same items in each answer."""
LONGEST_BYTES: Final = 400
_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,120}")
_MARKER: Final = re.compile(r"<\s*+/?\s*+untrusted", re.IGNORECASE)
_MARKED: Final = re.compile(r"<untrusted-([0-9]{18})>(.*)</untrusted-\1>", re.DOTALL)


def begin_answer() -> None:
    """Take a new random word for the markers of one answer."""
    _WORD.set(f"{secrets.randbelow(10**_DIGITS):0{_DIGITS}}")


def _marked(text: str) -> str:
    if not _WORD.get():
        begin_answer()
    return f"<untrusted-{_WORD.get()}>{text}</untrusted-{_WORD.get()}>"


def quoted(text: str | None, longest: int = LONGEST_BYTES) -> str:
    """Return a text between markers that no text inside can close, at most `longest` bytes of it."""
    return _marked(_cleaned(text or "", longest))


def _cleaned(text: str, longest: int) -> str:
    clean = _MARKER.sub("[marker]", visible(text))
    raw = clean.encode("utf-8", "replace")
    return clean if len(raw) <= longest else f"{raw[:longest].decode('utf-8', 'ignore')} …"


def quoted_lines(text: str, longest: int = 2_000) -> str:
    """Return a text of several lines in the same way; `unquoted` gives it back if it was not too long."""
    return _marked("\n".join(_cleaned(line, longest) for line in text.split("\n")))


def unquoted(value: Json) -> Json:
    """Return a JSON value with the markers around its texts removed, as an agent may pass them back."""
    if isinstance(value, str):
        marked = _MARKED.fullmatch(value)
        return marked[2] if marked else value
    if isinstance(value, list):
        return [unquoted(one) for one in value]
    return {name: unquoted(one) for name, one in value.items()} if isinstance(value, dict) else value


def name_or_quoted(text: str | None) -> str:
    """Return a name as it is where it is plainly one, such as `shop/find_bike`; any other text is marked as data."""
    return text if text is not None and _NAME.fullmatch(text) else quoted(text, 200)
