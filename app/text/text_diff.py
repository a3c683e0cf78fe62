"""Where two texts differ, word by word."""

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
    """A piece of text; `changed` where the other text has something else."""

    text: str
    changed: bool = False


Both: TypeAlias = tuple[tuple[Stretch, ...], tuple[Stretch, ...]]


def difference(before: str, after: str) -> Both:
    """Both texts with their changes marked; texts that share little, and very long ones, are left unmarked."""
    return differing(pieces(before), pieces(after))


def pieces(text: str) -> list[str]:
    """The words of a text, and the blanks between them."""
    return _WORDS.findall(text)


def differing(old: Sequence[str], new: Sequence[str], alike: Callable[[str], str] = str) -> Both:
    """The same of texts in pieces of one's own; those count as equal of which `alike` makes the same."""
    if len(old) > LONGEST or len(new) > LONGEST:
        return _unmarked(old), _unmarked(new)
    kept_old, kept_new = _kept(old, new, alike)
    if _shared(new, kept_new) < LEAST_SHARED:
        return _unmarked(old), _unmarked(new)
    return _stretches(old, kept_old), _stretches(new, kept_new)


def _kept(old: Sequence[str], new: Sequence[str], alike: Callable[[str], str]) -> tuple[list[bool], list[bool]]:
    """Which pieces both texts have, in the same order; blanks, and texts that repeat themselves, are not looked at."""
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
    """How many pairs of equal words there are: what comparing costs."""
    often = Counter(new)
    return sum(often[word] for word in old)


def _unmarked(words: Sequence[str]) -> tuple[Stretch, ...]:
    return (Stretch("".join(words)),) if words else ()


def _shared(words: Sequence[str], kept: Sequence[bool]) -> float:
    """How much of a text the other has too: where it is little, marks would cover everything and say nothing."""
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
    """A blank is marked where both its neighbours are, so that a changed stretch reads as one."""
    return 0 < number < len(kept) - 1 and not kept[number - 1] and not kept[number + 1]
