"""The pairs that score highest, found some rows at a time: no list of all pairs is ever made."""

from collections.abc import Callable

import numpy as np

from mcp_tef.scoring.similarity.signals import BLOCK, Matrix, Places


class Best:
    """The highest scores of those added so far, at most `most`, of equals those added first."""

    def __init__(self, least: float, most: int) -> None:
        self._floor = np.nextafter(np.float32(least), np.float32(-np.inf))
        self._most = most
        self._scores = np.zeros(0, dtype=np.float32)
        self._places = np.zeros((2, 0), dtype=np.intp)

    def add(self, start: int, block: Matrix) -> None:
        """The scores of some tools against all from the first of them on."""
        higher = block > self._floor
        higher[:, : len(block)] &= np.tri(len(block), dtype=np.bool_).T
        np.fill_diagonal(higher, val=False)
        found = np.array(np.divmod(np.flatnonzero(higher), higher.shape[1]))
        self._scores = np.concatenate((self._scores, block[found[0], found[1]]))
        self._places = np.concatenate((self._places, found + start), axis=1)
        if len(self._scores) > self._most:
            self._cut()

    def _cut(self) -> None:
        number = len(self._scores) - self._most
        least = np.partition(self._scores, number)[number]
        higher, equal = np.flatnonzero(self._scores > least), np.flatnonzero(self._scores == least)
        kept = np.sort(np.concatenate((higher, equal[: self._most - len(higher)])))
        self._scores, self._places, self._floor = self._scores[kept], self._places[:, kept], least

    def pairs(self) -> tuple[Places, Places]:
        """Both places of each, highest first, of equals the first pair first."""
        order = np.argsort(-self._scores, kind="stable")
        return self._places[0, order], self._places[1, order]


def best_pairs(rows: Callable[[int, int], Matrix], n: int, least: float, most: int) -> tuple[Places, Places]:
    """The pairs of n tools with a score of at least `least`, highest first, at most `most`."""
    best = Best(least, most)
    for start in range(0, n if most else 0, BLOCK):
        best.add(start, rows(start, min(start + BLOCK, n)))
    return best.pairs()
