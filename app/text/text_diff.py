"""Differences of two texts, word by word."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, TypeAlias

_WORDS: Final = re.compile(r"\S+|\s+")
LONGEST: Final = 800
MOST_PAIRS: Final = 3_000
LEAST_SHARED: Final = 0.25


@dataclass(frozen=True, slots=True)
class Stretch:
    """Piece of a text; `changed` if the other text differs there."""

    text: str
    changed: bool = False


Both: TypeAlias = tuple[tuple[Stretch, ...], tuple[Stretch, ...]]


def difference(before: str, after: str) -> Both:
    """Return both texts with their changes marked; texts that share little, and very long ones, stay unmarked."""
    return differing(pieces(before), pieces(after))


def pieces(text: str) -> list[str]:
    """Split a text into words and the blanks between them."""
    return _WORDS.findall(text)


def differing(old: Sequence[str], new: Sequence[str], alike: Callable[[str], str] = str) -> Both:
    """Return the difference of texts in pieces; two pieces are equal if `alike` returns the same for both."""
    if len(old) > LONGEST or len(new) > LONGEST:
        return _unmarked(old), _unmarked(new)
    kept_old, kept_new = _kept(old, new, alike)
    if _shared(new, kept_new) < LEAST_SHARED:
        return _unmarked(old), _unmarked(new)
    return _stretches(old, kept_old), _stretches(new, kept_new)


def _kept(old: Sequence[str], new: Sequence[str], alike: Callable[[str], str]) -> tuple[list[bool], list[bool]]:
    """Return for each piece if both texts have it, in the same order; blanks and repetitive texts are ignored."""
    words = [[place for place, piece in enumerate(side) if not piece.isspace()] for side in (old, new)]
    a, b = ([alike(side[place]) for place in places] for side, places in zip((old, new), words, strict=True))
    kept = [False] * len(old), [False] * len(new)
    if _pairs(a, b) > MOST_PAIRS:
        return kept
    for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            kept[0][words[0][block.a + step]] = kept[1][words[1][block.b + step]] = True
    return kept


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of pairs of equal words, which is the cost of the comparison."""
    often = Counter(new)
    return sum(often[word] for word in old)


def _unmarked(words: Sequence[str]) -> tuple[Stretch, ...]:
    return (Stretch("".join(words)),) if words else ()


def _shared(words: Sequence[str], kept: Sequence[bool]) -> float:
    """Return the share of a text that the other has too: if it is small, marks would cover everything."""
    real = [keep for word, keep in zip(words, kept, strict=True) if any(map(str.isalnum, word))]
    return sum(real) / len(real) if real else 0.0


def _stretches(words: Sequence[str], kept: Sequence[bool]) -> tuple[Stretch, ...]:
    made: list[Stretch] = []
    for number, word in enumerate(words):
        changed = _between(kept, number) if word.isspace() else not kept[number]
        if made and made[-1].changed == changed:
            made[-1] = Stretch(made[-1].text + word, changed)
        else:
            made.append(Stretch(word, changed))
    return tuple(made)


def _between(kept: Sequence[bool], number: int) -> bool:
    """Return True if both neighbours of a blank changed, so that a changed passage is marked as one."""
    return 0 < number < len(kept) - 1 and not kept[number - 1] and not kept[number + 1]
