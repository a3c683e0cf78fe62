"""Average linkage: which tools join first, and what the tree of joins says of order and branches.

scipy has the same, and the tests compare with it; but it keeps the interpreter to itself from beginning to end, so that
the window stands still: 60 ms for 2,000 tools, 2 s for 10,000.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcp_tef.scoring.similarity.signals import Matrix

Joins: TypeAlias = NDArray[np.float64]


def average_linkage(similar: Matrix) -> Joins:
    """The joins by height (1 − mean similarity) as scipy gives them, shape (n − 1, 4): left, right, height, size.

    Nodes below n are tools, n + k is what the k-th join made. Nearest-neighbour chains: F. Murtagh, A survey of recent
    advances in hierarchical clustering algorithms, The Computer Journal 26 (1983), 354-359.
    """
    state = _Chain(similar)
    joins = np.array([state.join() for _ in range(len(similar) - 1)], dtype=np.float64).reshape(-1, 4)
    return _numbered(joins[np.argsort(joins[:, 2], kind="stable")])


class _Chain:
    """Distances between what is not joined yet, and a chain of nearest neighbours through it.

    What a join changes in other rows is made up for when such a row is looked at next: writing columns is slow.
    """

    def __init__(self, similar: Matrix) -> None:
        self._apart = np.subtract(1, similar, dtype=np.float64)
        np.fill_diagonal(self._apart, np.inf)
        self._sizes = [1] * len(similar)
        self._changed = np.zeros(len(similar), dtype=np.int32)
        self._joins = 0
        self._seen = [0] * len(similar)
        self._chain: list[int] = []
        self._first = 0

    def join(self) -> tuple[int, int, float, int]:
        """Join the next two that are each other's nearest; the second stands for both from then on."""
        one, other = sorted(self._mutual())
        row, kept, left, right = self._row(one), self._row(other), self._sizes[one], self._sizes[other]
        height, size = float(row[other]), left + right
        row *= left
        kept *= right
        kept += row
        kept /= size
        row.fill(np.inf)
        self._sizes[one], self._sizes[other] = 0, size
        self._joins += 1
        self._changed[one] = self._changed[other] = self._seen[other] = self._joins
        return one, other, height, size

    def _mutual(self) -> tuple[int, int]:
        """Go on to the nearest neighbour until it is the one before; of equals that one, or else the first."""
        chain = self._chain or [self._start()]
        self._chain = chain
        while True:
            row = self._row(chain[-1])
            nearest = int(row.argmin())
            if len(chain) > 1 and row[chain[-2]] <= row[nearest]:
                return chain.pop(), chain.pop()
            chain.append(nearest)

    def _start(self) -> int:
        while not self._sizes[self._first]:
            self._first += 1
        return self._first

    def _row(self, place: int) -> Joins:
        """How far everything is from one."""
        row: Joins = self._apart[place]
        seen = self._seen[place]
        if seen < self._joins:
            (changed,) = (self._changed > seen).nonzero()
            row[changed] = self._apart[:, place][changed]
            self._seen[place] = self._joins
        return row


def _numbered(joins: Joins) -> Joins:
    """Joins of tools as joins of nodes."""
    n = len(joins) + 1
    above = list(range(2 * n - 1))
    for number, (one, other) in enumerate(joins[:, :2].astype(int).tolist()):
        nodes = sorted((_top(above, one), _top(above, other)))
        above[nodes[0]] = above[nodes[1]] = n + number
        joins[number, :2] = nodes
    return joins


def _top(above: list[int], node: int) -> int:
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


def leaves(tree: Joins) -> tuple[int, ...]:
    """The tools from left to right."""
    n, found, waiting = len(tree) + 1, [], [2 * len(tree)]
    below = tree[:, :2].astype(int).tolist()
    while waiting:
        node = waiting.pop()
        if node < n:
            found.append(node)
        else:
            waiting.extend(reversed(below[node - n]))
    return tuple(found)


def branches(tree: Joins, height: float) -> Sequence[int]:
    """For each tool the highest node above it that joins at `height` or below."""
    n = len(tree) + 1
    found = list(range(2 * n - 1))
    for node in range(2 * n - 2, n - 1, -1):
        left, right, joined, _ = tree[node - n]
        if joined <= height:
            found[int(left)] = found[int(right)] = found[node]
    return found[:n]
