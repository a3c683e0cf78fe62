"""Rounding of scores: within 0 to 1, exactly 1 for identical texts, and free of floating-point noise."""

from collections.abc import Hashable, Sequence
from threading import Lock

import numpy as np

from mcp_tef.scoring.similarity.signals import Matrix, Places, Signal

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
        self._same = np.array([numbers.setdefault(thing, len(numbers)) for thing in same], dtype=np.intp)
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
        scores[self._same[start:stop, None] == self._same[None, start:]] = 1
        return scores

    def at(self, a: Places, b: Places) -> Matrix:
        """Return the pairs (a[i], b[i]), shape (len(a),)."""
        if self._matrix is not None:
            return self._matrix[a, b]
        scores = exact(self._signal.at(a, b))
        scores[self._same[a] == self._same[b]] = 1
        return scores

    def _worked_out(self) -> Matrix:
        scores = exact(self._signal.matrix())
        for places in _groups(self._same):
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
