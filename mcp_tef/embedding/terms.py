"""The terms by which texts are compared: stems, neighbouring stems, and the letters of words."""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from mcp_tef.scoring.reading import Reading
from mcp_tef.scoring.sparse import Places, ranges
from mcp_tef.scoring.stems import stem

Keys = NDArray[np.uint64]
LETTERS = 4

_PRIME = np.uint64(1099511628211)
_SPACE = ord(" ")


@dataclass(frozen=True, slots=True)
class Terms:
    """Text `owners[i]` has the term `keys[which[i]]`; equal terms have equal 64-bit keys."""

    owners: Places
    which: Places
    keys: Keys


def stem_terms(reading: Reading) -> Terms:
    """The stem of every word, and every pair of neighbouring stems."""
    keys = np.asarray([_key(stem(word)) for word in reading.words], dtype=np.uint64)[reading.sequence]
    neighbours = reading.owners[1:] == reading.owners[:-1]
    pairs = (keys[:-1] * _PRIME + keys[1:])[neighbours]
    owners = np.concatenate((reading.owners, reading.owners[1:][neighbours]))
    return Terms(owners, np.arange(len(owners)), np.concatenate((keys, pairs)))


def letter_terms(reading: Reading) -> Terms:
    """Every run of 4 letters in every word, its edges counting as letters."""
    codes = np.frombuffer(f" {' '.join(reading.words)} ".encode("utf-32-le", "surrogatepass"), dtype="<u4")
    edges = np.cumsum(codes == _SPACE)
    count = max(0, len(codes) - LETTERS + 1)
    whole = edges[:count] == edges[LETTERS - 2 : LETTERS - 2 + count]
    keys = np.zeros(count, dtype=np.uint64)
    for place in range(LETTERS):
        keys = (keys ^ codes[place : place + count]) * _PRIME
    held = np.bincount(edges[:count][whole] - 1, minlength=len(reading.words))
    lengths = held[reading.sequence]
    which = ranges((np.cumsum(held) - held)[reading.sequence], lengths)
    return Terms(np.repeat(reading.owners, lengths), which, keys[whole])


def _key(stem: str) -> int:
    return int.from_bytes(blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
