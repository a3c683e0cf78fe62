"""Reads many texts into words at once, each token of them once however often it is said."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from mcp_tef.scoring.sparse import Places, ranges
from mcp_tef.scoring.stems import STOP_WORDS, spaced

_WORD_OR_END = re.compile(r"[^\W_]+|\n")
_END = "\n"


@dataclass(frozen=True, slots=True)
class Reading:
    """Texts as rows of words that say something: word `sequence[k]` of `words` stands in text `owners[k]`."""

    words: tuple[str, ...]
    sequence: Places
    owners: Places
    texts: int

    def by_text(self) -> list[list[str]]:
        """The words of each text."""
        said = [self.words[place] for place in self.sequence.tolist()]
        ends = np.cumsum(np.bincount(self.owners, minlength=self.texts)).tolist()
        return [said[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def read(texts: Sequence[str]) -> Reading:
    """The words of texts, alike for camelCase, snake_case and kebab-case, without words that say nothing."""
    written = [text.split() for text in texts]
    tokens = {token: place for place, token in enumerate(dict.fromkeys(chain.from_iterable(written)))}
    words, by_token, lengths = _words(tokens)
    row = np.fromiter(map(tokens.__getitem__, chain.from_iterable(written)), np.intp)
    owners = np.repeat(np.arange(len(texts)), [len(one) for one in written])
    sequence = by_token[ranges((np.cumsum(lengths) - lengths)[row], lengths[row])]
    return Reading(words, sequence, np.repeat(owners, lengths[row]), len(texts))


def _words(tokens: Iterable[str]) -> tuple[tuple[str, ...], Places, Places]:
    """The distinct words of tokens, which of them each token holds one after the other, and how many."""
    known: dict[str, int] = {}
    held: list[int] = []
    ends: list[int] = []
    for word in _WORD_OR_END.findall(spaced(_END.join([*tokens, ""])).lower()):
        if word == _END:
            ends.append(len(held))
        elif word not in STOP_WORDS:
            held.append(known.setdefault(word, len(known)))
    bounds = np.asarray([0, *ends], dtype=np.intp)
    return tuple(known), np.asarray(held, dtype=np.intp), bounds[1:] - bounds[:-1]
