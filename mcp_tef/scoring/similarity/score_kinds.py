"""Scores of every pair of some tools, by kind, and the pairs above a score, found block by block."""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.similarity import FlagRule, MatrixKind
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.confusability import (
    Coefficients,
    Confusability,
    Parts,
    coefficients_for,
    least_similarity,
)
from mcp_tef.scoring.similarity.signals import (
    BLOCK,
    Matrix,
    Meaning,
    Places,
    Scores,
    Shares,
    Signal,
    Square,
    WeighedWords,
)
from mcp_tef.scoring.similarity.tool_texts import (
    FlatParameter,
    description_text,
    name_words,
    parameters,
    tokens,
)
from mcp_tef.scoring.tfidf_weights import Products, counted

KEPT_UP_TO = 5_000
MOST_IN_SQUARE = 20_000


class ScoreKinds:
    """Scores by kind. Safe between threads.

    Above 5,000 tools only the similarity square is kept: each other one takes hundreds of megabytes, and is worked
    out anew when it is asked for again. Above 20,000 tools not even that one is.
    """

    def __init__(self, tools: Sequence[Tool], meaning: Meaning, most_in_square: int = MOST_IN_SQUARE) -> None:
        """Take the tools without their boilerplate."""
        self.has_squares = len(tools) <= most_in_square
        self.tools = tools
        self.embedder = meaning.embedder
        self.level = meaning.level
        self.meaning = meaning
        self._preparing = RLock()
        self._prepared: dict[MatrixKind, Scores] = {}

    def __len__(self) -> int:
        return len(self.tools)

    def __reduce__(self) -> tuple[type["ScoreKinds"], tuple[Sequence[Tool], Meaning]]:
        """Return what a worker needs: none of what was worked out here."""
        return ScoreKinds, (self.tools, self.meaning)

    @property
    def all(self) -> tuple[MatrixKind, ...]:
        """Every kind that there is: `full` only where it was asked for."""
        return tuple(kind for kind in MatrixKind if kind is not MatrixKind.FULL or self.meaning.full is not None)

    def of(self, kind: MatrixKind) -> Scores:
        """Return the scores of a kind; KeyError for `full` where it was not asked for."""
        if kind not in self.all:
            raise KeyError(kind)
        with self._preparing:
            if kind not in self._prepared:
                self._prepared[kind] = self._prepare(kind)
            return self._prepared[kind]

    def similar(self, start: int, stop: int) -> Matrix:
        """Return the similarities of some tools to all from the first of them on, not yet exact."""
        return self.of(MatrixKind.SIMILARITY).raw_rows(start, stop)

    def among(self, places: Places) -> "ScoreKinds":
        """Return the scores of a few tools with one another, without `full`; nothing is worked out for the others."""
        count = len(places)
        scores = self.of(MatrixKind.SIMILARITY).at(np.repeat(places, count), np.tile(places, count))
        meaning = replace(self.meaning, described=Square(scores.reshape(count, count)), full=None)
        return ScoreKinds([self.tools[place] for place in places.tolist()], meaning)

    @cached_property
    def without_parameters(self) -> NDArray[np.bool_]:
        """Mask of the tools without parameters, shape (n,)."""
        return np.array([not each for each in self._parameters], dtype=np.bool_)

    def _prepare(self, kind: MatrixKind) -> Scores:
        signal, same = self._signal(kind)
        kept = kind is MatrixKind.SIMILARITY or len(self) <= KEPT_UP_TO
        return Scores(signal, same, keep=kept and self.has_squares)

    def _signal(self, kind: MatrixKind) -> tuple[Signal, Sequence[Hashable]]:
        """Return the signal of a matrix, and a value per tool, equal for tools that it cannot tell apart."""
        match kind:
            case MatrixKind.SIMILARITY:
                return self.meaning.described, self._described
            case MatrixKind.FULL:
                return self.meaning.full or self.meaning.described, self._whole
            case MatrixKind.LEXICAL:
                return WeighedWords(self._described), self._described
            case MatrixKind.NAMES:
                names = list(map(attrgetter("name"), self.tools))
                return Shares(list(map(name_words, names))), names
            case MatrixKind.PARAMETERS:
                return self._shared_parameters()
            case MatrixKind.CONFUSABILITY:
                return self.confusability(coefficients_for(self.meaning.embedder)), self._told

    def _shared_parameters(self) -> tuple[Signal, Sequence[Hashable]]:
        bags = [tokens(each) for each in self._parameters]
        return Shares(bags), [bag or text for bag, text in zip(bags, self._described, strict=True)]

    def confusability(self, coefficients: Coefficients) -> Confusability:
        """Return the signal by these coefficients."""
        parts = Parts(
            tools=self.tools,
            similarity=self.of(MatrixKind.SIMILARITY),
            names=self.of(MatrixKind.NAMES),
            parameters=self.of(MatrixKind.PARAMETERS),
            level=self.meaning.level,
        )
        return Confusability(parts, coefficients)

    @cached_property
    def _described(self) -> list[str]:
        return [description_text(tool) for tool in self.tools]

    @cached_property
    def _whole(self) -> list[tuple[str, tuple[tuple[str, FlatParameter], ...]]]:
        """All that `full` is about: equal where the texts of two tools are."""
        return [(text, tuple(each.items())) for text, each in zip(self._described, self._parameters, strict=True)]

    @cached_property
    def _told(self) -> list[Hashable]:
        """Description and parameters: tools with the same are confusable by any name. Without a description, all."""
        return [
            (tool.description, whole[1]) if tool.description.strip() else whole
            for tool, whole in zip(self.tools, self._whole, strict=True)
        ]

    @cached_property
    def _parameters(self) -> list[Mapping[str, FlatParameter]]:
        return [parameters(tool) for tool in self.tools]


class HighestPairs:
    """The highest scores of those added so far, at most `most`, of equals those added first."""

    def __init__(self, least: float, most: int) -> None:
        self._floor = np.nextafter(np.float32(least), np.float32(-np.inf))
        self._most = most
        self._scores = np.zeros(0, dtype=np.float32)
        self._places = np.zeros((2, 0), dtype=np.intp)

    def add(self, start: int, block: Matrix) -> None:
        """Add the scores of some tools against all from the first of them on."""
        higher = block > self._floor
        higher[:, : len(block)] &= np.tri(len(block), dtype=np.bool_).T
        np.fill_diagonal(higher, val=False)
        found = np.array(np.divmod(np.flatnonzero(higher), higher.shape[1]))
        self.add_pairs(block[found[0], found[1]], found + start)

    def add_pairs(self, scores: Matrix, places: Places) -> None:
        """Add pairs: places has the shape (2, pairs)."""
        higher = scores > self._floor
        self._scores = np.concatenate((self._scores, scores[higher]))
        self._places = np.concatenate((self._places, places[:, higher]), axis=1)
        if len(self._scores) > self._most:
            self._cut()

    def _cut(self) -> None:
        number = len(self._scores) - self._most
        least = np.partition(self._scores, number)[number]
        higher, equal = np.flatnonzero(self._scores > least), np.flatnonzero(self._scores == least)
        kept = np.sort(np.concatenate((higher, equal[: self._most - len(higher)])))
        self._scores, self._places, self._floor = self._scores[kept], self._places[:, kept], least

    def unordered(self) -> tuple[Matrix, Places]:
        """Return the scores and places as they were added."""
        return self._scores, self._places

    def pairs(self) -> tuple[Places, Places]:
        """Return both places of each, highest first, of equals the first pair first."""
        order = np.argsort(-self._scores, kind="stable")
        return self._places[0, order], self._places[1, order]


def best_pairs(rows: Callable[[int, int], Matrix], n: int, least: float, most: int) -> tuple[Places, Places]:
    """Return the pairs of n tools with a score of at least `least`, highest first, at most `most`."""
    best = HighestPairs(least, most)
    for start in range(0, n if most else 0, BLOCK):
        best.add(start, rows(start, min(start + BLOCK, n)))
    return best.pairs()


CELLS = 2**23
PAIRS_AT_ONCE = 2**16
MOST_KEPT = 200_000


@dataclass(frozen=True, slots=True)
class FlaggedPairs:
    """The number of pairs that a rule flags, and the places of the highest of them, at most 200,000, highest first."""

    count: int
    a: Places
    b: Places


@dataclass(frozen=True, slots=True)
class BlockOfPairs:
    """Flagged pairs of a block: how many, and the scores and places, shape (2, pairs), of the highest."""

    count: int
    scores: Matrix
    places: Places


@dataclass
class PairScan:
    """Finds the pairs that a rule flags. Safe between threads.

    Only pairs that can reach the rule's score are scored: those of enough similarity, those of which one name holds
    every word of the other, and those that score 1 because what is compared is the same. So what is found is what
    scoring every pair would find.
    """

    kinds: ScoreKinds
    rule: FlagRule
    most: int = MOST_KEPT
    block: int | None = None

    def blocks(self) -> list[tuple[int, int]]:
        """Return the first row of each block, and that after its last."""
        n = len(self.kinds)
        rows = self.block or max(16, min(BLOCK, CELLS // max(n, 1)))
        return [(start, min(start + rows, n)) for start in range(0, n, rows)]

    def found(self, start: int, stop: int) -> BlockOfPairs:
        """Return what is flagged of some tools with all later ones."""
        best, count = HighestPairs(self.rule.threshold, self.most), 0
        candidates = self._candidates(start, stop)
        for part in np.array_split(candidates, max(1, -(-len(candidates) // PAIRS_AT_ONCE))):
            places = np.array(np.divmod(part, len(self.kinds) - start)) + start
            scores = self.kinds.of(self.rule.kind).at(*places)
            count += int(np.count_nonzero(scores >= np.float32(self.rule.threshold)))
            best.add_pairs(scores, places)
        return BlockOfPairs(count, *best.unordered())

    def all(self) -> FlaggedPairs:
        """Return what is flagged of all pairs, by as many threads as this machine has processors."""
        assert self._filters, "threads would each prepare them"
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            return self.joined(threads.map(lambda block: self.found(*block), self.blocks()))

    def joined(self, blocks: Iterable[BlockOfPairs]) -> FlaggedPairs:
        """Return what was flagged in all blocks, given in order."""
        best, count = HighestPairs(self.rule.threshold, self.most), 0
        for one in blocks:
            count += one.count
            best.add_pairs(one.scores, one.places)
        return FlaggedPairs(count, *best.pairs())

    def _candidates(self, start: int, stop: int) -> Places:
        """Return the cells of a block, counted along its rows, whose pairs may be flagged."""
        least, same, names = self._filters
        similar = self.kinds.similar(start, stop) >= least
        similar |= same[start:stop, None] == same[None, start:]
        if names is not None:
            shared = names.products.of(start, stop)
            similar |= shared >= np.minimum(names.sizes[start:stop, None], names.sizes[None, start:])
        similar[:, : len(similar)] &= np.tri(len(similar), k=-1, dtype=np.bool_).T
        return np.flatnonzero(similar)

    @cached_property
    def _filters(self) -> "tuple[np.float32, NDArray[np.int32], _Names | None]":
        """Return the least similarity, a number per tool that is equal where the score is 1, and the names if used."""
        same = self.kinds.of(self.rule.kind).same.astype(np.int32)
        if self.rule.kind is MatrixKind.SIMILARITY:
            return np.float32(self.rule.threshold - MARGIN), same, None
        weights = coefficients_for(self.kinds.embedder)
        least = least_similarity(weights, self.kinds.level, self.rule.threshold)
        return np.float32(least - MARGIN), same, _Names.of(self.kinds.tools)


MARGIN = 1e-4
"""Candidates are taken from so far below, since a product in blocks is rounded in another order."""


@dataclass(frozen=True, slots=True)
class _Names:
    """Words that the names of tools share; a name without words has itself."""

    products: Products
    sizes: Matrix

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> "_Names":
        bags = [name_words(tool.name) or {tool.name} for tool in tools]
        return cls(Products(counted(bags)), np.array([len(bag) for bag in bags], dtype=np.float32))
