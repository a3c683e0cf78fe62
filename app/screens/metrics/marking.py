"""Where two texts differ, word by word, as stretches that are marked or not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

WORDS = re.compile(r"\w+|\s+|[^\w\s]")
LONGEST = 600


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of text; `marked` where the other text has something else."""

    text: str
    marked: bool = False


def marked_texts(left: str, right: str) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Both texts with their differing words marked; texts with nothing in common are left unmarked."""
    words = _words(left), _words(right)
    same = [[False] * len(side) for side in words]
    for block in SequenceMatcher(None, *words, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            same[0][block.a + offset] = same[1][block.b + offset] = True
    common = any(flag and word.strip() for word, flag in zip(words[0], same[0], strict=True))
    return _stretches(words[0], same[0], common), _stretches(words[1], same[1], common)


def _words(text: str) -> list[str]:
    words = WORDS.findall(" ".join(text.split()))
    return words if len(words) <= LONGEST else [*words[:LONGEST], "…"]


def _stretches(words: Sequence[str], same: Sequence[bool], common: bool) -> tuple[Stretch, ...]:
    made: list[Stretch] = []
    for word, equal in zip(words, same, strict=True):
        marked = common and not equal and bool(word.strip())
        if made and made[-1].marked == marked:
            made[-1] = Stretch(made[-1].text + word, marked)
        else:
            made.append(Stretch(word, marked))
    return tuple(made)
