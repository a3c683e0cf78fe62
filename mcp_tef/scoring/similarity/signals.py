"""Ways to compare tools in pairs: cosines of vectors, cosines of weighed words, shares of what is in either."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.intp]
BLOCK = 512


class Signal(Protocol):
    """Scores of pairs before they are made exact; symmetric."""

    def matrix(self) -> Matrix:
        """All tools against all: shape (n, n), the caller's to change."""
        ...

    def rows(self, start: int, stop: int) -> Matrix:
        """Some tools against all from the first of them on: shape (stop − start, n − start)."""
        ...

    def at(self, a: Places, b: Places) -> Matrix:
        """The pairs (a[i], b[i]): shape (len(a),)."""
        ...


class Vectors:
    """Cosines of unit vectors, shape (n, dimensions)."""

    def __init__(self, vectors: Matrix) -> None:
        self._vectors = vectors

    def matrix(self) -> Matrix:
        """One product, of which BLAS works out one triangle and mirrors it."""
        return np.asarray(self._vectors @ self._vectors.T, dtype=np.float32)

    def rows(self, start: int, stop: int) -> Matrix:
        """A part of the product."""
        return np.asarray(self._vectors[start:stop] @ self._vectors[start:].T, dtype=np.float32)

    def at(self, a: Places, b: Places) -> Matrix:
        """Dot products of pairs."""
        return np.asarray(np.einsum("ij,ij->i", self._vectors[a], self._vectors[b]), dtype=np.float32)


class Square:
    """Scores that somebody else worked out already, shape (n, n)."""

    def __init__(self, scores: Matrix) -> None:
        self._scores = scores

    def matrix(self) -> Matrix:
        """A copy."""
        return self._scores.copy()

    def rows(self, start: int, stop: int) -> Matrix:
        """A copy of a part."""
        return self._scores[start:stop, start:].copy()

    def at(self, a: Places, b: Places) -> Matrix:
        """Single scores."""
        return self._scores[a, b]


class Shares:
    """Jaccard: how much of what either tool has, both have; 0 where neither has anything.

    |A ∩ B| / |A ∪ B|. Source: P. Jaccard, Étude comparative de la distribution florale, Bulletin de la Société
    Vaudoise des Sciences Naturelles 37 (1901), 547-579.
    """

    def __init__(self, bags: Sequence[Iterable[Hashable]]) -> None:
        self._rows = incidence([dict.fromkeys(bag, 1) for bag in bags])
        self._sizes = np.diff(self._rows.indptr).astype(np.float32)

    def matrix(self) -> Matrix:
        """Block by block."""
        return in_blocks(self.rows, len(self._sizes))

    def rows(self, start: int, stop: int) -> Matrix:
        """Counts of shared things by one sparse product."""
        shared = (self._rows[start:stop] @ self._rows[start:].T).toarray()
        return self._share(shared, self._sizes[start:stop, None] + self._sizes[None, start:])

    def at(self, a: Places, b: Places) -> Matrix:
        """The same for pairs."""
        shared = np.asarray(self._rows[a].multiply(self._rows[b]).sum(axis=1), dtype=np.float32).ravel()
        return self._share(shared, self._sizes[a] + self._sizes[b])

    @staticmethod
    def _share(shared: Matrix, both: Matrix) -> Matrix:
        both -= shared
        np.maximum(both, 1, out=both)
        return np.divide(shared, both, out=shared)


class WeighedWords:
    """TF-IDF cosine: (1 + ln tf) · (ln((1 + n) / (1 + df)) + 1), rows of length 1.

    Source: G. Salton and C. Buckley, Term-weighting approaches in automatic text retrieval, Information Processing
    & Management 24 (1988), 513-523; smoothed as if one more text had every word.
    """

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        rows = incidence([Counter(bag) for bag in bags])
        seen = np.bincount(rows.indices, minlength=rows.shape[1])
        rarity = np.log((1 + len(bags)) / (1 + seen)) + 1
        rows.data = (np.log(rows.data) + 1) * rarity[rows.indices].astype(np.float32)
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        lengths = np.sqrt(np.where(squares > 0, squares, 1))
        rows.data /= np.repeat(lengths, np.diff(rows.indptr)).astype(np.float32)
        self._rows = rows

    def matrix(self) -> Matrix:
        """Block by block."""
        return in_blocks(self.rows, self._rows.shape[0])

    def rows(self, start: int, stop: int) -> Matrix:
        """One sparse product."""
        return np.asarray((self._rows[start:stop] @ self._rows[start:].T).toarray(), dtype=np.float32)

    def at(self, a: Places, b: Places) -> Matrix:
        """The same for pairs."""
        return np.asarray(self._rows[a].multiply(self._rows[b]).sum(axis=1), dtype=np.float32).ravel()


def in_blocks(rows: Callable[[int, int], Matrix], n: int) -> Matrix:
    """A symmetric square from its upper half, a few hundred rows at a time."""
    square = np.empty((n, n), dtype=np.float32)
    for start in range(0, n, BLOCK):
        block = rows(start, min(start + BLOCK, n))
        corner = block[:, : len(block)]
        np.minimum(corner, corner.T.copy(), out=corner)
        square[start : start + BLOCK, start:] = block
        square[start:, start : start + BLOCK] = block.T
    return square


def incidence(bags: Sequence[Mapping[Any, int]]) -> Any:
    """A sparse matrix (scipy CSR, float32, sorted): how often each bag (row) holds each thing (column)."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]  # it has no types

    columns = {thing: column for column, thing in enumerate(dict.fromkeys(chain.from_iterable(bags)))}
    places = np.fromiter(map(columns.__getitem__, chain.from_iterable(bags)), dtype=np.int32)
    counts = np.fromiter(chain.from_iterable(bag.values() for bag in bags), dtype=np.float32, count=len(places))
    starts = np.concatenate(([0], np.cumsum([len(bag) for bag in bags])))
    rows = csr_array((counts, places, starts), shape=(len(bags), max(len(columns), 1)))
    rows.sort_indices()
    return rows
