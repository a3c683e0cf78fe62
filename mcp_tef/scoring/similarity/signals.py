"""Pairwise scores of tools: cosines of vectors and of TF-IDF weights, shares of common items, and their rounding."""

import os
from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcp_tef.scoring.similarity.tool_texts import content_stem
from mcp_tef.scoring.tfidf_weights import Products, Weigher, counted, read, tally

Matrix: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.intp]
BLOCK = 512


class Signal(Protocol):
    """Scores of pairs before they are made exact; symmetric."""

    def matrix(self) -> Matrix:
        """Return all tools against all: shape (n, n), the caller's to change."""
        ...

    def rows(self, start: int, stop: int) -> Matrix:
        """Return some tools against all from the first of them on: shape (stop − start, n − start)."""
        ...

    def at(self, a: Places, b: Places) -> Matrix:
        """Return the pairs (a[i], b[i]): shape (len(a),)."""
        ...


class Vectors:
    """Cosines of unit vectors, shape (n, dimensions)."""

    def __init__(self, vectors: Matrix) -> None:
        self._vectors = vectors

    def matrix(self) -> Matrix:
        """Return one product, of which BLAS works out one triangle and mirrors it."""
        return np.asarray(self._vectors @ self._vectors.T, dtype=np.float32)

    def rows(self, start: int, stop: int) -> Matrix:
        """Return a part of the product."""
        return np.asarray(self._vectors[start:stop] @ self._vectors[start:].T, dtype=np.float32)

    def at(self, a: Places, b: Places) -> Matrix:
        """Return dot products of pairs."""
        return np.asarray(np.einsum("ij,ij->i", self._vectors[a], self._vectors[b]), dtype=np.float32)


class Square:
    """Scores that somebody else worked out already, shape (n, n)."""

    def __init__(self, scores: Matrix) -> None:
        self._scores = scores

    def matrix(self) -> Matrix:
        """Return a copy."""
        return self._scores.copy()

    def rows(self, start: int, stop: int) -> Matrix:
        """Return a copy of a part."""
        return self._scores[start:stop, start:].copy()

    def at(self, a: Places, b: Places) -> Matrix:
        """Return single scores."""
        return self._scores[a, b]


class Shares:
    """Jaccard: how much of what either tool has, both have; 0 where neither has anything.

    |A ∩ B| / |A ∪ B|. Source: P. Jaccard, Étude comparative de la distribution florale, Bulletin de la Société
    Vaudoise des Sciences Naturelles 37 (1901), 547-579.
    """

    def __init__(self, bags: Sequence[AbstractSet[Hashable]]) -> None:
        self._rows = counted(bags)
        self._sizes = np.diff(self._rows.starts).astype(np.float32)

    def matrix(self) -> Matrix:
        """Block by block."""
        return in_blocks(self.rows, len(self._sizes))

    def rows(self, start: int, stop: int) -> Matrix:
        """Return the Jaccard index |a ∩ b| / |a ∪ b| of some bags with all from the first of them on."""
        return self._share(self._products.of(start, stop), self._sizes[start:stop, None] + self._sizes[None, start:])

    def at(self, a: Places, b: Places) -> Matrix:
        """Return the same for pairs."""
        return self._share(self._rows.pairs(a, b), self._sizes[a] + self._sizes[b])

    @cached_property
    def _products(self) -> Products:
        return Products(self._rows)

    @staticmethod
    def _share(shared: Matrix, both: Matrix) -> Matrix:
        both -= shared
        np.maximum(both, 1, out=both)
        return np.divide(shared, both, out=shared)


class WeighedWords:
    """Cosines of the words of texts, each weighed by how rare it is among them (TF-IDF)."""

    def __init__(self, texts: Sequence[str]) -> None:
        reading = read(texts)
        stems: dict[str, int] = {}
        columns = [stems.setdefault(content_stem(word), len(stems)) for word in reading.words]
        places = np.array(columns, dtype=np.intp)[reading.sequence]
        counts = tally(reading.owners, places, (len(texts), max(len(stems), 1)))
        self._rows = Weigher(counts).weigh(counts)

    def matrix(self) -> Matrix:
        """Block by block."""
        return in_blocks(self.rows, self._rows.height)

    def rows(self, start: int, stop: int) -> Matrix:
        """Return a part of it."""
        return self._products.of(start, stop)

    def at(self, a: Places, b: Places) -> Matrix:
        """Return the same for pairs."""
        return self._rows.pairs(a, b)

    @cached_property
    def _products(self) -> Products:
        return Products(self._rows)


def in_blocks(rows: Callable[[int, int], Matrix], n: int) -> Matrix:
    """Return a symmetric square from its upper half, a few hundred rows at a time."""
    square = np.empty((n, n), dtype=np.float32)

    def fill(start: int) -> None:
        block = rows(start, min(start + BLOCK, n))
        corner = block[:, : len(block)]
        np.minimum(corner, corner.T.copy(), out=corner)
        square[start : start + BLOCK, start:] = block
        square[start:, start : start + BLOCK] = block.T

    if n:
        fill(0)  # alone, since it prepares what the others use
    if n > BLOCK:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(fill, range(BLOCK, n, BLOCK)))
    return square


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The tools' texts, made comparable: name and description, and with parameters where that was asked for.

    `level` is the cosine that this embedder gives to tools that have nothing to do with one another. `notice` says
    where another embedder had to stand in.
    """

    embedder: str
    described: Signal
    full: Signal | None = None
    level: float = 0.0
    notice: str | None = None


ROUNDING = 2e-6
ROWS_IN_CACHE = 32


class Scores:
    """One kind of score over all pairs; its square is worked out at first use and, with `keep`, kept for the next.

    Safe between threads.

    Two tools whose compared things (`same`) are equal score exactly 1. A cosine of more than 1 − 2·10⁻⁶ is 1: float32
    cannot tell them apart.
    """

    def __init__(self, signal: Signal, same: Sequence[Hashable], *, keep: bool = True) -> None:
        numbers: dict[Hashable, int] = {}
        self.same = np.array([numbers.setdefault(thing, len(numbers)) for thing in same], dtype=np.intp)
        self._signal = signal
        self._working = Lock()
        self.keep = keep
        self._matrix: Matrix | None = None

    @property
    def matrix(self) -> Matrix:
        """Shape (n, n), read-only: symmetric, in 0–1, with a diagonal of 1."""
        with self._working:
            matrix = self._worked_out() if self._matrix is None else self._matrix
            self._matrix = matrix if self.keep else None
            return matrix

    def rows(self, start: int, stop: int) -> Matrix:
        """Return the read-only scores of some tools against all from the first on, shape (stop − start, n − start)."""
        if self._matrix is not None:
            return self._matrix[start:stop, start:]
        scores = exact(self._signal.rows(start, stop))
        scores[self.same[start:stop, None] == self.same[None, start:]] = 1
        return scores

    def kept_rows(self, start: int, stop: int) -> Matrix:
        """Return the same, from the square where that is kept."""
        return self.matrix[start:stop, start:] if self.keep else self.rows(start, stop)

    def raw_rows(self, start: int, stop: int) -> Matrix:
        """Return the same before they are made exact, so that no more than the products is computed."""
        return self._signal.rows(start, stop) if self._matrix is None else self._matrix[start:stop, start:]

    def at(self, a: Places, b: Places) -> Matrix:
        """Return the pairs (a[i], b[i]), shape (len(a),)."""
        if self._matrix is not None:
            return self._matrix[a, b]
        scores = exact(self._signal.at(a, b))
        scores[self.same[a] == self.same[b]] = 1
        return scores

    def _worked_out(self) -> Matrix:
        scores = exact(self._signal.matrix())
        for places in _groups(self.same):
            scores[np.ix_(places, places)] = 1
        np.fill_diagonal(scores, 1)
        scores.flags.writeable = False
        return scores


def exact(scores: Matrix) -> Matrix:
    """Scores within 0–1 and without rounding at the top, changed in place, some rows at a time to stay in cache."""
    for start in range(0, len(scores), ROWS_IN_CACHE):
        some = scores[start : start + ROWS_IN_CACHE]
        np.clip(some, 0, 1, out=some)
        some[some > 1 - ROUNDING] = 1
    return scores


def _groups(numbers: Places) -> list[Places]:
    """Return the places of each number that occurs more than once."""
    order, counts = np.argsort(numbers, kind="stable"), np.bincount(numbers)
    starts = np.cumsum(counts) - counts
    return [order[starts[number] : starts[number] + counts[number]] for number in np.flatnonzero(counts > 1)]
