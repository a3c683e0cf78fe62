"""Where two names or two descriptions differ, word by word."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from app.screens.runs.words import Span

NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^A-Za-z\d]+")
WORDS = re.compile(r"\S+|\s+")
LONGEST = 400
LEAST_SHARED = 0.3


def name_difference(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Two tool names in mono, with the parts marked that only one of them has."""
    return _difference(NAME_PARTS.findall(left), NAME_PARTS.findall(right), mono=True)


def text_difference(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Two texts with the words marked that only one of them has; the first 400 words of each are compared."""
    return _difference(_words(left), _words(right), mono=False)


def _words(text: str) -> list[str]:
    words = WORDS.findall(text)
    return words if len(words) <= LONGEST * 2 else [*words[: LONGEST * 2], "…"]


def _difference(left: list[str], right: list[str], *, mono: bool) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    if left == right or not left or not right:
        return _spans(left, [False] * len(left), mono), _spans(right, [False] * len(right), mono)
    keys = [[_key(part) for part in side] for side in (left, right)]
    marked = [[True] * len(left), [True] * len(right)]
    for block in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            marked[0][block.a + offset] = marked[1][block.b + offset] = False
    if _shared(left, marked[0]) < LEAST_SHARED:
        marked = [[False] * len(left), [False] * len(right)]
    return _spans(left, _joined(left, marked[0]), mono), _spans(right, _joined(right, marked[1]), mono)


def _shared(parts: Sequence[str], marked: Sequence[bool]) -> float:
    """How much of one side the other side has too; where it is little, marks would cover everything and say nothing."""
    words = [mark for part, mark in zip(parts, marked, strict=True) if any(map(str.isalnum, part))]
    return words.count(False) / len(words) if words else 1.0


def _key(part: str) -> str:
    return part.casefold().rstrip(".,;:") or part


def _joined(parts: Sequence[str], marked: Sequence[bool]) -> list[bool]:
    """Blanks are marked exactly when both their neighbours are, so that a marked stretch reads as one."""
    last = len(parts) - 1
    return [
        0 < i < last and marked[i - 1] and marked[i + 1] if part.isspace() else marked[i]
        for i, part in enumerate(parts)
    ]


def _spans(parts: Sequence[str], marked: Sequence[bool], mono: bool) -> tuple[Span, ...]:
    spans: list[Span] = []
    for part, mark in zip(parts, marked, strict=True):
        if spans and spans[-1].marked == mark:
            spans[-1] = Span(spans[-1].text + part, mono=mono, marked=mark)
        else:
            spans.append(Span(part, mono=mono, marked=mark))
    return tuple(spans)
