"""Word overlap: TF-IDF over stemmed words and over runs of letters, needs no model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_tef.embedding.products import directions, products
from mcp_tef.embedding.terms import Reading, Terms, read
from mcp_tef.embedding.weighing import Weigher, at_length_one

STEM_SHARE = 0.5
NAME = "tfidf"
DIMENSIONS = 2048


class TfidfIndex:
    """Texts weighed against one another; scores are only comparable within one index.

    A text counts by those of its words that say something: one without any overlaps nothing but its own copies.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = tuple(texts)
        reading = read(self._texts)
        self._stems = _Space(_stem_counts(reading, len(self._texts)), STEM_SHARE)
        self._letters = _Space(_letter_counts(reading, len(self._texts)), 1 - STEM_SHARE)
        self._rows = at_length_one(_beside(self._stems.rows, self._letters.rows))

    def scores(self, query: str) -> NDArray[np.float32]:
        """How far a query overlaps each text, 0–1: the mean of word cosine and letter cosine."""
        reading = read([query])
        asked = _beside(self._stems.weigh(_stem_counts(reading, 1)), self._letters.weigh(_letter_counts(reading, 1)))
        return np.asarray(np.clip((self._rows @ asked.T).toarray()[:, 0], 0.0, 1.0), dtype=np.float32)

    def overlaps(self) -> NDArray[np.float32]:
        """How far each text overlaps each other, 0–1: a symmetric square; equal texts overlap exactly 1."""
        square = np.clip(products(self._rows), 0.0, 1.0)
        np.fill_diagonal(square, 1.0)
        for places in _copies(self._texts):
            square[np.ix_(places, places)] = 1.0
        return square

    def vectors(self) -> NDArray[np.float32]:
        """One unit vector a text (zeros where no word says anything); their dot products are about the overlaps."""
        rows = directions(self._rows, DIMENSIONS)
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
        """One unit vector a text (zeros where no word says anything), shape (len(texts), 2048)."""
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return await asyncio.to_thread(lambda: TfidfIndex(texts).vectors())


@dataclass(frozen=True, slots=True)
class _Counts:
    """Terms of the parts of texts (their words, or the texts themselves), and how often each text has each part."""

    terms: Terms
    texts_by_parts: Any

    def matrix(self, columns: NDArray[np.int64], width: int) -> Any:
        """How often each text has each term, sparse, shape (texts, width); a column of -1 is left out."""
        known = columns >= 0
        parts = self.texts_by_parts.shape[1]
        return self.texts_by_parts @ _tally(self.terms.owners[known], columns[known], (parts, width))


class _Space:
    """Terms of one kind and how much each weighs; every text has length √share in it, or 0."""

    def __init__(self, counts: _Counts, share: float) -> None:
        self._share = np.float32(np.sqrt(share))
        self._keys, columns = np.unique(np.append(counts.terms.keys, _NOWHERE), return_inverse=True)
        known = counts.matrix(columns[:-1], len(self._keys))
        self._weigher = Weigher(known)
        self.rows = self._weigher.weigh(known) * self._share

    def weigh(self, counts: _Counts) -> Any:
        """Other texts, by those of their terms that are known here."""
        columns = np.searchsorted(self._keys, counts.terms.keys)
        known = self._keys[np.minimum(columns, len(self._keys) - 1)] == counts.terms.keys
        return self._weigher.weigh(counts.matrix(np.where(known, columns, -1), len(self._keys))) * self._share


_NOWHERE = np.uint64(0)


def _stem_counts(reading: Reading, texts: int) -> _Counts:
    from scipy.sparse import eye_array  # type: ignore[import-untyped]  # it has no types

    return _Counts(reading.stems(), eye_array(texts, dtype=np.float32, format="csr"))


def _letter_counts(reading: Reading, texts: int) -> _Counts:
    return _Counts(reading.letters(), _tally(reading.owners, reading.sequence, (texts, len(reading.words))))


def _tally(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> Any:
    """How often each row comes with each column, as a scipy CSR array."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)


def _beside(left: Any, right: Any) -> Any:
    from scipy.sparse import hstack

    return hstack((left, right), format="csr")


def _copies(texts: Sequence[str]) -> list[list[int]]:
    """The places of every text that is there more than once."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(text, []).append(place)
    return [found for found in places.values() if len(found) > 1]
