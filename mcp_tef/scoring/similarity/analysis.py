"""An analysis: tools, and every score of every pair of them, worked out when it is asked for."""

from collections.abc import Mapping
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.similarity import ComparedTool, MatrixKind, PairExplanation, ToolPair, ToolSet
from mcp_tef.scoring.similarity.best import best_pairs
from mcp_tef.scoring.similarity.explain import explain
from mcp_tef.scoring.similarity.kinds import Kinds
from mcp_tef.scoring.similarity.meaning import Meaning
from mcp_tef.scoring.similarity.signals import Matrix, Places


class Similarity:
    """Every score of every pair. Safe between threads; a square that was not asked for before takes a while."""

    def __init__(self, tool_set: ToolSet, meaning: Meaning) -> None:
        self.tools: tuple[ComparedTool, ...] = tool_set.tools
        self.unreachable = tool_set.unreachable
        self.problems = tool_set.problems
        self.embedder = meaning.embedder
        self.level = meaning.level
        self.notice = meaning.notice
        self._kinds = Kinds([each.tool for each in tool_set.tools], meaning)

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def pair_count(self) -> int:
        """n (n − 1) / 2."""
        return len(self) * (len(self) - 1) // 2

    @property
    def has_full(self) -> bool:
        """Whether the score with parameters was asked for."""
        return MatrixKind.FULL in self._kinds.all

    def matrix(self, kind: MatrixKind) -> Matrix:
        """All pairs, shape (n, n), read-only: symmetric, in 0–1, diagonal 1. KeyError for `full` without it."""
        return self._kinds.of(kind).matrix

    def scores(self, kind: MatrixKind) -> Matrix:
        """Each pair once, shape (pair_count,): (0, 1), (0, 2) … (1, 2) …"""
        matrix = self.matrix(kind)
        found, start = np.empty(self.pair_count, dtype=np.float32), 0
        for place, row in enumerate(matrix, start=1):
            found[start : start + len(row) - place] = row[place:]
            start += len(row) - place
        return found

    def rows(self, kind: MatrixKind, start: int, stop: int) -> Matrix:
        """Some tools against all from the first of them on, shape (stop − start, n − start); not to be changed."""
        scores = self._kinds.of(kind)
        return scores.matrix[start:stop, start:] if scores.keep else scores.rows(start, stop)

    def count_at(self, threshold: float) -> int:
        """How many pairs have a similarity of at least `threshold`."""
        return self.pair_count - int(np.searchsorted(self._sorted, np.float32(threshold)))

    def histogram(self, bins: int = 50) -> NDArray[np.intp]:
        """How many pairs have which similarity: equal steps over 0–1, the last one including 1."""
        edges = np.linspace(0, 1, bins + 1, dtype=np.float32)[:-1]
        return np.diff(np.searchsorted(self._sorted, edges), append=self.pair_count)

    def flagged(self, threshold: float, limit: int | None = None) -> tuple[ToolPair, ...]:
        """The pairs whose similarity is at least `threshold`, most similar first; at most `limit`."""
        return self.above(MatrixKind.SIMILARITY, threshold, limit)

    def above(self, kind: MatrixKind, threshold: float, limit: int | None = None) -> tuple[ToolPair, ...]:
        """The pairs with a score of at least `threshold`, most alike first; at most `limit`."""
        most = self.pair_count if limit is None else limit
        return self.pairs(*best_pairs(partial(self.rows, kind), len(self), threshold, most))

    def pairs_by(self, kind: MatrixKind, limit: int) -> tuple[ToolPair, ...]:
        """The pairs most alike by one score, best first."""
        return self.above(kind, 0.0, limit)

    def pair(self, a: int, b: int) -> ToolPair:
        """One pair, whichever way round it is named."""
        places = np.array([min(a, b)], dtype=np.intp), np.array([max(a, b)], dtype=np.intp)
        return self.pairs(*places)[0]

    def pairs(self, a: Places, b: Places) -> tuple[ToolPair, ...]:
        """The pairs (a[i], b[i]) with all their scores."""
        ranks = self.percentiles(self._kinds.of(MatrixKind.SIMILARITY).at(a, b))
        return self._scored(a, b, ranks, a, b)

    def alone(self, a: Places, b: Places) -> tuple[ToolPair, ...]:
        """The pairs as if there were no others: named 0 and 1, without a percentile, nothing worked out but them."""
        return self._scored(a, b, np.zeros(len(a)), np.zeros_like(a), np.ones_like(b))

    def _scored(self, a: Places, b: Places, ranks: NDArray[np.float64], *names: Places) -> tuple[ToolPair, ...]:
        kinds = {kind: self._kinds.of(kind).at(a, b).tolist() for kind in self._kinds.all}
        rows = zip(*(name.tolist() for name in names), ranks.tolist(), *kinds.values(), strict=True)
        return tuple(
            _pair(one, other, rank, dict(zip(kinds, scores, strict=True))) for one, other, rank, *scores in rows
        )

    def percentiles(self, scores: Matrix) -> NDArray[np.float64]:
        """The share of all pairs that are less similar than each score."""
        return np.searchsorted(self._sorted, scores) / max(self.pair_count, 1)

    def explain(self, a: int, b: int) -> PairExplanation:
        """Why a pair looks alike, in words."""
        return explain(self.tools[a].tool, self.tools[b].tool, self.pair(a, b))

    @property
    def without_parameters(self) -> NDArray[np.bool_]:
        """Which tools have no parameters, shape (n,)."""
        return self._kinds.without_parameters

    @cached_property
    def _sorted(self) -> Matrix:
        scores = self.scores(MatrixKind.SIMILARITY)
        scores.sort()
        return scores


def _pair(a: int, b: int, percentile: float, scores: Mapping[MatrixKind, float]) -> ToolPair:
    return ToolPair(
        a=a,
        b=b,
        similarity=scores[MatrixKind.SIMILARITY],
        full=scores.get(MatrixKind.FULL),
        lexical=scores[MatrixKind.LEXICAL],
        names=scores[MatrixKind.NAMES],
        parameters=scores[MatrixKind.PARAMETERS],
        percentile=percentile,
        confusability=scores[MatrixKind.CONFUSABILITY],
    )
