"""Where two names or two descriptions differ, word by word."""

import re

from app.screens.runs.words import Span
from app.text.text_diff import LONGEST, Stretch, differing, pieces

NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^A-Za-z\d]+")
Both = tuple[tuple[Span, ...], tuple[Span, ...]]


def name_difference(left: str, right: str) -> Both:
    """Two tool names in mono, with the parts marked that only one of them has."""
    a, b = differing(NAME_PARTS.findall(left), NAME_PARTS.findall(right), str.casefold)
    return _spans(a, mono=True), _spans(b, mono=True)


def text_difference(left: str, right: str) -> Both:
    """Two texts with the words marked that only one of them has; the first 400 words of each are compared."""
    a, b = differing(_words(left), _words(right), _key)
    return _spans(a, mono=False), _spans(b, mono=False)


def _words(text: str) -> list[str]:
    words = pieces(text)
    return words if len(words) <= LONGEST else [*words[: LONGEST - 1], "…"]


def _key(part: str) -> str:
    return part.casefold().rstrip(".,;:") or part


def _spans(text: tuple[Stretch, ...], *, mono: bool) -> tuple[Span, ...]:
    return tuple(Span(one.text, mono=mono, marked=one.changed) for one in text)
