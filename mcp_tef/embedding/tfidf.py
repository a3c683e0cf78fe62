"""TF-IDF embedder over word stems, pairs of stems and character n-grams; needs no model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from mcp_tef.embedding.term_space import Sums, TermCounts, Terms, TermSpace
from mcp_tef.scoring.similarity.signals import in_blocks
from mcp_tef.scoring.tfidf_weights import (
    Places,
    Products,
    SparseRows,
    TokenizedTexts,
    at_length_one,
    beside,
    ranges,
    read,
    stem,
)

LETTERS = 4

_PRIME = np.uint64(1099511628211)
_SPACE = ord(" ")


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


SHARES = (0.5, 0.5)
"""Shares of words and of letters in a score."""
ROWS_IN_CACHE = 64
KEPT_NEAR = 4
LONGEST_KEPT = 5_000
NAME = "tfidf"
DIMENSIONS = 2048


@dataclass(frozen=True, slots=True)
class _Answers:
    """Sums for some queries in some spaces; since then the texts at some places were replaced."""

    queries: tuple[str, ...]
    asked: tuple[TermCounts, ...]
    spaces: tuple[TermSpace, ...]
    sums: tuple[Sums, ...]
    differing: Places = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


class TfidfIndex:
    """Texts weighed against one another; scores are only comparable within one index.

    A text counts by those of its words that say something: one without any overlaps nothing but its own copies.
    `near` is an index of as many texts, many of them equal: its terms, and its sums for the last queries, are taken
    over. All numbers are the same without it.
    """

    def __init__(self, texts: Sequence[str], near: "TfidfIndex | None" = None) -> None:
        self.texts = tuple(texts)
        places = np.arange(len(texts)) if near is None else near.differing(self.texts)
        found = _counted([self.texts[place] for place in places.tolist()])
        if near is not None:
            old = [space.counts for space in near.spaces]
            found = tuple(one.replaced(places, new) for one, new in zip(old, found, strict=True))
        self.spaces: tuple[TermSpace, ...] = tuple(map(TermSpace, found))
        self._answers = None if near is None else near.hand_over(places)

    def differing(self, texts: Sequence[str]) -> Places:
        """Return the places at which as many other texts differ from those here."""
        return np.flatnonzero([one != other for one, other in zip(self.texts, texts, strict=True)])

    def hand_over(self, places: Places) -> "_Answers | None":
        """Give away the sums of the last queries: they take much memory, and the newest index needs them."""
        answers, self._answers = self._answers, None
        return answers and replace(answers, differing=np.union1d(answers.differing, places))

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return the overlap of a query with each text, 0–1, shape (n,): the mean of word cosine and letter cosine."""
        asked = _counted_query(query)
        (found,) = self._cosines(asked, [space.sums(one) for space, one in zip(self.spaces, asked, strict=True)])
        return np.asarray(found, dtype=np.float32)

    def scores_of(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return the same for many queries: shape (len(queries), n)."""
        known = self._answers
        if known is None or known.queries != tuple(queries):
            asked = _counted(queries)
            sums = tuple(space.sums(one) for space, one in zip(self.spaces, asked, strict=True))
        else:
            asked = known.asked
            rows = zip(self.spaces, known.spaces, asked, known.sums, strict=True)
            sums = tuple(new.sums_after(old, one, each, known.differing) for new, old, one, each in rows)
        self._answers = _Answers(tuple(queries), asked, self.spaces, sums)
        return self._cosines(asked, sums)

    def _cosines(self, asked: Sequence[TermCounts], sums: Sequence[Sums]) -> NDArray[np.float32]:
        """Return the scores by sums of products, some rows at a time to stay in cache."""
        scales = [
            (_inverse(space.lengths_of(one))[:, None], other)
            for space, one, other in zip(self.spaces, asked, self._scales, strict=True)
        ]
        found: NDArray[np.float32] = np.empty(sums[0].shape, dtype=np.float32)
        for start in range(0, len(found), ROWS_IN_CACHE):
            some = slice(start, start + ROWS_IN_CACHE)
            parts = (each[some] * one[some] * other for each, (one, other) in zip(sums, scales, strict=True))
            np.clip(sum(parts), 0.0, 1.0, out=found[some], casting="same_kind")
        return found

    @cached_property
    def _scales(self) -> tuple[Sums, ...]:
        """The factor of each text in its sums by words and by letters."""
        had = np.sum([share * (space.lengths > 0) for share, space in zip(SHARES, self.spaces, strict=True)], axis=0)
        each = zip(SHARES, self.spaces, strict=True)
        return tuple(share * _inverse(space.lengths * np.sqrt(had)) for share, space in each)

    @cached_property
    def _rows(self) -> SparseRows:
        """The weights of each text at length one, half of them by words and half by letters."""
        weighed = (space.weighed for space in self.spaces)
        words, letters = (
            rows.holding(rows.amounts * np.float32(np.sqrt(share))) for rows, share in zip(weighed, SHARES, strict=True)
        )
        return at_length_one(beside(words, letters))

    def pairs(self, a: Places, b: Places) -> NDArray[np.float32]:
        """Return the overlaps of texts a[i] and b[i], 0–1, shape (len(a),); equal texts overlap exactly 1."""
        found = np.clip(self._rows.pairs(a, b), 0.0, 1.0)
        found[[self.texts[one] == self.texts[other] for one, other in zip(a.tolist(), b.tolist(), strict=True)]] = 1.0
        return found

    def overlaps(self) -> NDArray[np.float32]:
        """Return the overlap of all texts, 0–1, shape (n, n), symmetric; equal texts overlap exactly 1."""
        square = in_blocks(Products(self._rows).of, len(self.texts))
        np.clip(square, 0.0, 1.0, out=square)
        np.fill_diagonal(square, 1.0)
        for places in _copies(self.texts):
            square[np.ix_(places, places)] = 1.0
        return square

    def vectors(self) -> NDArray[np.float32]:
        """One unit vector a text (zeros where no word says anything); their dot products are about the overlaps."""
        rows = _directions(self._rows)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


class TfidfLexicon:
    """Makes indexes over texts, in a worker thread; where few texts changed, from one of the last indexes."""

    def __init__(self) -> None:
        self._recent: tuple[TfidfIndex, ...] = ()

    async def index(self, texts: Sequence[str]) -> TfidfIndex:
        """Weigh these texts, at least one, against one another."""
        return await asyncio.to_thread(self._index, texts)

    def _index(self, texts: Sequence[str]) -> TfidfIndex:
        found = ((len(one.differing(texts)), one) for one in self._recent if len(one.texts) == len(texts))
        different, near = min(found, key=itemgetter(0), default=(len(texts), None))
        index = TfidfIndex(texts, near if 2 * different <= len(texts) else None)
        if len(texts) <= LONGEST_KEPT:
            self._recent = (index, *self._recent)[:KEPT_NEAR]
        return index


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


def _counted(texts: Sequence[str]) -> tuple[TermCounts, ...]:
    """Return the terms of texts by word stems and by letters."""
    reading = read(texts)
    return tuple(TermCounts.of(terms(reading), len(texts)) for terms in (stem_terms, letter_terms))


@lru_cache(maxsize=256)
def _counted_query(query: str) -> tuple[TermCounts, ...]:
    """Return the terms of a query; kept, since both arms of a trial are asked it."""
    return _counted([query])


def _inverse(lengths: Sums) -> Sums:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


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
