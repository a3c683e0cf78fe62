"""Clusters of similar tools by average linkage, their best leaf order, and copies on different servers.

scipy has both, but it holds the interpreter lock throughout, which freezes the window: linkage takes 60 ms for 2,000
tools and 2 s for 10,000, and the leaf order 0.2 s for 500. Its leaf order is also not always optimal where the
distances are no metric, as here. The tests compare the linkage with scipy's.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.similarity import ClusterMerge, Clusters, MatrixKind, ToolGroup, ToolPair
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.confusability import levels_for
from mcp_tef.scoring.similarity.signals import Matrix
from mcp_tef.scoring.similarity.tool_texts import content_stem, description_text, stems_of
from mcp_tef.scoring.tfidf_weights import read

Joins: TypeAlias = NDArray[np.float64]


def average_linkage(similar: Matrix) -> Joins:
    """Return the joins by height (1 − mean similarity) like scipy's, shape (n − 1, 4): left, right, height, size.

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
        """Return the distances of all items from one, shape (n,)."""
        row: Joins = self._apart[place]
        seen = self._seen[place]
        if seen < self._joins:
            (changed,) = (self._changed > seen).nonzero()
            row[changed] = self._apart[:, place][changed]
            self._seen[place] = self._joins
        return row


def _numbered(joins: Joins) -> Joins:
    """Return joins of tools as joins of nodes."""
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
    """Return the tools from left to right."""
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


AT_ONCE = 2**17


def best_ordered(tree: Joins, similar: Matrix) -> Joins:
    """Return the tree with branches swapped so that the sum of distances between neighbours is least.

    Z. Bar-Joseph et al., Fast optimal leaf ordering for hierarchical clustering, Bioinformatics 17 (2001), S22-S29:
    what each branch costs at best, by the two leaves at its ends, from what both its branches cost.
    """
    order = np.array(leaves(tree))
    found = _Branches(tree, 1 - similar[np.ix_(order, order)].astype(np.float64))
    return found.swapped()


class _Branches:
    """Leaves by their place in the given order; each branch holds a span of them."""

    def __init__(self, tree: Joins, apart: Joins) -> None:
        self._tree = tree
        self._apart = apart
        self._below: list[list[int]] = tree[:, :2].astype(int).tolist()
        self._spans = self._placed()
        self._costs = np.zeros_like(apart)
        for left, right in self._below:
            self._join(left, right)

    def _placed(self) -> list[slice]:
        n = len(self._tree) + 1
        sizes = [1] * n + self._tree[:, 3].astype(int).tolist()
        starts = [0] * len(sizes)
        for node in range(len(sizes) - 1, n - 1, -1):
            left, right = self._below[node - n]
            starts[left], starts[right] = starts[node], starts[node] + sizes[left]
        return [slice(start, start + size) for start, size in zip(starts, sizes, strict=True)]

    def _ends(self, node: int) -> Iterator[tuple[slice, slice]]:
        """Yield the possible first leaves of a branch, each with the last leaves that go with them."""
        n = len(self._tree) + 1
        if node < n:
            yield self._spans[node], self._spans[node]
            return
        left, right = (self._spans[child] for child in self._below[node - n])
        yield from ((left, right), (right, left))

    def _join(self, left: int, right: int) -> None:
        costs, whole = self._costs, self._spans[right]
        for first, inner in self._ends(left):
            bridged = _least_sums(costs[first, inner], self._apart[inner, whole])
            for start, last in self._ends(right):
                there = bridged[:, start.start - whole.start : start.stop - whole.start]
                costs[first, last] = _least_sums(there, costs[start, last])
                costs[last, first] = costs[first, last].T

    def swapped(self) -> Joins:
        """Go down from the best ends of the whole, and give each branch the ends that it has there."""
        tree, n = self._tree.copy(), len(self._tree) + 1
        first, last = (self._spans[child] for child in self._below[-1])
        a, b = _lowest(self._costs[first, last])
        waiting = [(2 * n - 2, first.start + a, last.start + b)]
        while waiting:
            node, begin, end = waiting.pop()
            if node < n:
                continue
            left, right = self._below[node - n]
            if not self._spans[left].start <= begin < self._spans[left].stop:
                left, right = right, left
            tree[node - n, :2] = left, right
            inner, outer = self._across(left, begin), self._across(right, end)
            sums = self._costs[begin, inner, None] + self._apart[inner, outer] + self._costs[end, outer]
            a, b = _lowest(sums)
            waiting += [(left, begin, inner.start + a), (right, outer.start + b, end)]
        return tree

    def _across(self, node: int, begin: int) -> slice:
        """Return the last leaf of a branch that begins with this one."""
        return next(last for first, last in self._ends(node) if first.start <= begin < first.stop)


def _least_sums(a: Joins, b: Joins) -> Joins:
    """Return the least of a[i, j] + b[j, k] over all j, shape (i, k)."""
    step = max(1, AT_ONCE // b.size)
    parts = [(a[at : at + step, :, None] + b).min(axis=1) for at in range(0, len(a), step)]
    return np.concatenate(parts)


def _lowest(sums: Joins) -> tuple[int, int]:
    a, b = divmod(int(sums.argmin()), sums.shape[1])
    return a, b


BEST_ORDER_UP_TO = 500
MOST_NEAR = 1_000
NAME_WORDS = 3
NAME_COUNTS = 3
BEGINNING = 160
COMMON = 0.6


def clusters(similarity: Similarity) -> Clusters:
    """Return average linkage over 1 − similarity; a group is a branch that joins at a similarity of `group_level`.

    Up to 500 tools the order is the one that keeps neighbours most alike, above that the order of joining.
    """
    if len(similarity) < 2:
        return Clusters(order=tuple(range(len(similarity))), merges=(), groups=(), near_duplicates=())
    tree = _tree(similarity)
    order = leaves(tree)
    return Clusters(
        order=order,
        merges=tuple(
            ClusterMerge(int(left), int(right), height, int(size)) for left, right, height, size in tree.tolist()
        ),
        groups=_groups(similarity, tree, order),
        near_duplicates=near_duplicates(similarity),
    )


def group_level(similarity: Similarity) -> float:
    """From which similarity on tools are grouped: a fixed part of the way from what unrelated tools have to 1."""
    return similarity.level + levels_for(similarity.embedder).grouped * (1 - similarity.level)


def near_duplicates(similarity: Similarity) -> tuple[ToolPair, ...]:
    """Pairs on different servers that are nearly the same in either form; most alike first, at most 1,000."""
    least = levels_for(similarity.embedder).near
    kinds = (MatrixKind.SIMILARITY, MatrixKind.FULL) if similarity.has_full else (MatrixKind.SIMILARITY,)
    near = {(pair.a, pair.b): pair for kind in kinds for pair in similarity.above(kind, least, MOST_NEAR)}
    apart = [pair for pair in near.values() if _server(similarity, pair.a) != _server(similarity, pair.b)]
    return tuple(sorted(apart, key=lambda pair: (-max(pair.similarity, pair.full or 0), pair.a, pair.b))[:MOST_NEAR])


def _server(similarity: Similarity, place: int) -> str:
    return similarity.tools[place].tool.server


def _tree(similarity: Similarity) -> Joins:
    square = similarity.matrix(MatrixKind.SIMILARITY)
    tree = average_linkage(square)
    return best_ordered(tree, square) if len(similarity) <= BEST_ORDER_UP_TO else tree


def _groups(similarity: Similarity, tree: Joins, order: Sequence[int]) -> tuple[ToolGroup, ...]:
    """Return the branches below the cut with two tools or more, in the order of the leaves."""
    branch_of = branches(tree, 1 - group_level(similarity))
    members: dict[int, list[int]] = {}
    for place in order:
        members.setdefault(branch_of[place], []).append(place)
    several = [tuple(found) for found in members.values() if len(found) > 1]
    names = _Names([each.tool for each in similarity.tools])
    return tuple(ToolGroup(names.of(found), found) for found in several)


class _Names:
    """Names groups by words that most members have and few others: those of names first, then those of beginnings.

    Further on, descriptions of one server often hold the same paragraphs, which say nothing of a group.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        reading = read([description_text(tool)[:BEGINNING] for tool in tools])
        self._words = reading.by_text()
        self._stem_of = {word: content_stem(word) for word in reading.words}
        self._stems = [set(map(self._stem_of.__getitem__, bag)) for bag in self._words]
        self._seen = Counter(chain.from_iterable(self._stems))

    def of(self, members: Sequence[int]) -> str:
        """Return the three most telling words in their usual spelling and order; else the first member's name."""
        held = Counter(chain.from_iterable(self._stems[place] for place in members))
        in_names = Counter(chain.from_iterable(set(stems_of(self._tools[place].name)) for place in members))
        common = [stem for stem, count in held.items() if count >= COMMON * len(members) and len(stem) > 1]
        weight = {stem: (held[stem] + NAME_COUNTS * in_names[stem]) * self._rarity(stem, held[stem]) for stem in common}
        best = sorted(common, key=lambda stem: (-weight[stem], stem))[:NAME_WORDS]
        return " ".join(self._written(members, best)) or self._tools[members[0]].name

    def _rarity(self, stem: str, held: int) -> float:
        return held / self._seen[stem] + 0.1

    def _written(self, members: Sequence[int], stems: Sequence[str]) -> list[str]:
        """Return some stems as they are mostly spelled, in the order in which the members say them."""
        said = chain.from_iterable(self._words[place] for place in members)
        spelled = Counter(word for word in said if self._stem_of[word] in stems)
        mostly = {self._stem_of[word]: word for word, _ in reversed(spelled.most_common())}
        return [mostly[stem] for stem in dict.fromkeys(self._stem_of[word] for word in spelled)]
