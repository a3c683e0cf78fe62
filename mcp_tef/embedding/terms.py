"""Reads texts into terms by which they can be compared: stems, neighbouring stems, and the letters of words."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from mcp_tef.scoring.stems import STOP_WORDS, spaced, stems

Places = NDArray[np.int64]
Keys = NDArray[np.uint64]
LETTERS = 4

_WORD_OR_END = re.compile(r"[^\W_]+|\n")
_END = "\n"
_PRIME = np.uint64(1099511628211)
_SPACE = ord(" ")


@dataclass(frozen=True, slots=True)
class Terms:
    """One term for each place: `owners` says whose it is, `keys` which it is; equal terms have equal 64-bit keys."""

    owners: Places
    keys: Keys


@dataclass(frozen=True, slots=True)
class Reading:
    """Texts as rows of words that say something: word `sequence[k]` of `words` stands in text `owners[k]`."""

    words: tuple[str, ...]
    sequence: Places
    owners: Places

    def stems(self) -> Terms:
        """The stem of every word, and every pair of neighbouring stems, by text."""
        keys = np.asarray([_key(stem) for stem in stems(_END.join(self.words))], dtype=np.uint64)[self.sequence]
        neighbours = self.owners[1:] == self.owners[:-1]
        pairs = (keys[:-1] * _PRIME + keys[1:])[neighbours]
        return Terms(np.concatenate((self.owners, self.owners[1:][neighbours])), np.concatenate((keys, pairs)))

    def letters(self) -> Terms:
        """Every run of 4 letters in every word, its edges counting as letters, by place in `words`."""
        codes = np.frombuffer(f" {' '.join(self.words)} ".encode("utf-32-le", "surrogatepass"), dtype="<u4")
        edges = np.cumsum(codes == _SPACE)
        count = max(0, len(codes) - LETTERS + 1)
        whole = edges[:count] == edges[LETTERS - 2 : LETTERS - 2 + count]
        keys = np.zeros(count, dtype=np.uint64)
        for place in range(LETTERS):
            keys = (keys ^ codes[place : place + count]) * _PRIME
        return Terms(edges[:count][whole] - 1, keys[whole])


def read(texts: Sequence[str]) -> Reading:
    """The words of texts, alike for camelCase, snake_case and kebab-case, without words that say nothing."""
    written = [text.split() for text in texts]
    tokens = {token: place for place, token in enumerate(dict.fromkeys(itertools.chain.from_iterable(written)))}
    words, by_token, lengths = _words(tokens)
    row = np.fromiter(map(tokens.__getitem__, itertools.chain.from_iterable(written)), np.int64)
    owners = np.repeat(np.arange(len(texts)), [len(one) for one in written])
    ends = np.cumsum(lengths[row])
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths[row], lengths[row])
    starts = np.cumsum(lengths) - lengths
    sequence = by_token[np.repeat(starts[row], lengths[row]) + within]
    return Reading(words, sequence, np.repeat(owners, lengths[row]))


def _words(tokens: Sequence[str] | dict[str, int]) -> tuple[tuple[str, ...], Places, Places]:
    """The distinct words of tokens, which of them each token holds one after the other, and how many."""
    known: dict[str, int] = {}
    held: list[int] = []
    ends: list[int] = []
    for word in _WORD_OR_END.findall(spaced(_END.join([*tokens, ""])).lower()):
        if word == _END:
            ends.append(len(held))
        elif word not in STOP_WORDS:
            held.append(known.setdefault(word, len(known)))
    bounds = np.asarray([0, *ends], dtype=np.int64)
    return tuple(known), np.asarray(held, dtype=np.int64), bounds[1:] - bounds[:-1]


def _key(stem: str) -> int:
    return int.from_bytes(blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
