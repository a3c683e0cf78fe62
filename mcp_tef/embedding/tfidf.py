"""TF-IDF embedder over word stems, pairs of stems and character n-grams; needs no model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from mcp_tef.scoring.similarity.signals import in_blocks
from mcp_tef.scoring.tfidf_weights import (
    Places,
    Products,
    SparseRows,
    TokenizedTexts,
    Weigher,
    at_length_one,
    beside,
    ranges,
    read,
    stem,
    tally,
)

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


def stem_terms(reading: TokenizedTexts) -> Terms:
    """Return the stem of every word, and every pair of neighbouring stems."""
    keys = np.asarray([_key(stem(word)) for word in reading.words], dtype=np.uint64)[reading.sequence]
    neighbours = reading.owners[1:] == reading.owners[:-1]
    pairs = (keys[:-1] * _PRIME + keys[1:])[neighbours]
    owners = np.concatenate((reading.owners, reading.owners[1:][neighbours]))
    return Terms(owners, np.arange(len(owners)), np.concatenate((keys, pairs)))


def letter_terms(reading: TokenizedTexts) -> Terms:
    """Return every run of 4 letters in every word, its edges counting as letters."""
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


STEM_SHARE = 0.5
QUERIES_AT_ONCE = 256
NAME = "tfidf"
DIMENSIONS = 2048


class TfidfIndex:
    """Texts weighed against one another; scores are only comparable within one index.

    A text counts by those of its words that say something: one without any overlaps nothing but its own copies.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = tuple(texts)
        reading = read(self._texts)
        self._stems = _Space(stem_terms(reading), len(self._texts), STEM_SHARE)
        self._letters = _Space(letter_terms(reading), len(self._texts), 1 - STEM_SHARE)
        self._rows = at_length_one(beside(self._stems.rows, self._letters.rows))

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return the overlap of a query with each text, 0–1, shape (n,): the mean of word cosine and letter cosine."""
        reading = read([query])
        asked = beside(self._stems.weigh(stem_terms(reading), 1), self._letters.weigh(letter_terms(reading), 1))
        weights = np.zeros(asked.width, dtype=np.float32)
        weights[asked.columns] = asked.amounts
        found = self._rows.sums(self._rows.amounts * weights[self._rows.columns])
        return np.clip(found, 0.0, 1.0, out=found)

    def scores_of(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return the same for many queries: shape (len(queries), n)."""
        parts = [self._scores_of(queries[at : at + QUERIES_AT_ONCE]) for at in range(0, len(queries), QUERIES_AT_ONCE)]
        return np.concatenate([*parts, np.zeros((0, len(self._texts)), dtype=np.float32)])

    def _scores_of(self, queries: Sequence[str]) -> NDArray[np.float32]:
        reading, count = read(queries), len(queries)
        asked = beside(self._stems.weigh(stem_terms(reading), count), self._letters.weigh(letter_terms(reading), count))
        order, ends = self._by_column
        starts = ends[asked.columns]
        lengths = ends[asked.columns + 1] - starts
        entries = order[ranges(starts, lengths)]
        cells = np.repeat(asked.owners, lengths) * len(self._texts) + self._rows.owners[entries]
        products = np.repeat(asked.amounts, lengths) * self._rows.amounts[entries]
        found = np.bincount(cells, weights=products, minlength=count * len(self._texts)).astype(np.float32)
        return np.clip(found, 0.0, 1.0, out=found).reshape(count, len(self._texts))

    @cached_property
    def _by_column(self) -> tuple[Places, Places]:
        """Places of all entries in the order of their columns, and where each column begins and the last one ends."""
        order = np.argsort(self._rows.columns, kind="stable")
        return order, np.searchsorted(self._rows.columns[order], np.arange(self._rows.width + 1))

    def overlaps(self) -> NDArray[np.float32]:
        """Return the overlap of all texts, 0–1, shape (n, n), symmetric; equal texts overlap exactly 1."""
        square = in_blocks(Products(self._rows).of, len(self._texts))
        np.clip(square, 0.0, 1.0, out=square)
        np.fill_diagonal(square, 1.0)
        for places in _copies(self._texts):
            square[np.ix_(places, places)] = 1.0
        return square

    def vectors(self) -> NDArray[np.float32]:
        """One unit vector a text (zeros where no word says anything); their dot products are about the overlaps."""
        rows = _directions(self._rows)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


class TfidfLexicon:
    """Makes indexes over texts, in a worker thread."""

    async def index(self, texts: Sequence[str]) -> TfidfIndex:
        """Weigh these texts, at least one, against one another."""
        return await asyncio.to_thread(TfidfIndex, texts)


class TfidfEmbedder(TfidfLexicon):
    """An embedder that is a lexicon too: its `index` compares texts exactly, its vectors only about as well.

    Vectors are comparable with those of the same call only.
    """

    @property
    def name(self) -> str:
        """Its name."""
        return NAME

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text (zeros where no word says anything), shape (len(texts), 2048)."""
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return await asyncio.to_thread(lambda: TfidfIndex(texts).vectors())


class _Space:
    """Terms of one kind and how much each weighs; every text has length √share in it, or 0."""

    def __init__(self, terms: Terms, texts: int, share: float) -> None:
        self._share = np.float32(np.sqrt(share))
        self._keys, columns = np.unique(np.append(terms.keys, _NOWHERE), return_inverse=True)
        counts = tally(terms.owners, columns[terms.which], (texts, len(self._keys)))
        self._weigher = Weigher(counts)
        self.rows = self._shared(counts)

    def weigh(self, terms: Terms, texts: int) -> SparseRows:
        """Return other texts, by those of their terms that are known here."""
        columns = np.minimum(np.searchsorted(self._keys, terms.keys), len(self._keys) - 1)
        known = (self._keys[columns] == terms.keys)[terms.which]
        return self._shared(tally(terms.owners[known], columns[terms.which][known], (texts, len(self._keys))))

    def _shared(self, counts: SparseRows) -> SparseRows:
        rows = self._weigher.weigh(counts)
        return rows.holding(rows.amounts * self._share)


_NOWHERE = np.uint64(0)


def _directions(rows: SparseRows) -> NDArray[np.float32]:
    """Return rows turned into 2,048 numbers each, which keeps their products about as they are.

    Every column goes to one place with a sign of its own, both drawn once and for all (feature hashing, Weinberger
    et al. 2009).
    """
    draw = np.random.default_rng(0)
    places = draw.integers(0, DIMENSIONS, rows.width)
    signs = draw.choice(np.asarray((-1, 1), dtype=np.float32), rows.width)
    turned = np.zeros((rows.height, DIMENSIONS), dtype=np.float32)
    cells = rows.owners * DIMENSIONS + places[rows.columns]
    np.add.at(turned.reshape(-1), cells, rows.amounts * signs[rows.columns])
    return turned


def _copies(texts: Sequence[str]) -> list[list[int]]:
    """Return the places of every text that is there more than once."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(text, []).append(place)
    return [found for found in places.values() if len(found) > 1]
