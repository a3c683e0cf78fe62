"""Overlap of tools: a weighted mean of meaning, parameters and wording, with each part kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from mcp_tef.errors import InputError
from mcp_tef.model.similarity import MatrixKind, OverlapWeights
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.confusability import above
from mcp_tef.scoring.similarity.score_kinds import best_pairs
from mcp_tef.scoring.similarity.signals import Matrix, exact, in_blocks


@dataclass(frozen=True, slots=True)
class OverlappingPair:
    """Two tools by their indices in the analysis, with their overlap (0–1) and its explanation."""

    a: int
    b: int
    overlap: float
    why: str


class Overlap:
    """The weighed mean of three dimensions, each shape (n, n), in 0–1, symmetric, diagonal 1, read-only.

    `semantic` is the cosine of name and description above the one that this embedder gives to unrelated tools;
    `parameters` the Jaccard of flattened names with types; `description` the TF-IDF cosine of the words. Where
    neither tool has parameters there is nothing to compare: their weight goes to the other two in proportion, so
    that two unrelated tools without parameters stay near 0, and equal ones are 1.
    """

    def __init__(self, similarity: Similarity, weights: OverlapWeights | None = None) -> None:
        self.weights = _proportions(weights or OverlapWeights())
        self._similarity = similarity

    @property
    def semantic(self) -> Matrix:
        """Meaning."""
        return _kept(above(self._similarity.level, self._similarity.matrix(MatrixKind.SIMILARITY)))

    @property
    def parameters(self) -> Matrix:
        """Parameters."""
        return self._similarity.matrix(MatrixKind.PARAMETERS)

    @property
    def description(self) -> Matrix:
        """Wording."""
        return self._similarity.matrix(MatrixKind.LEXICAL)

    @cached_property
    def matrix(self) -> Matrix:
        """All three together, worked out some rows at a time."""
        return _kept(in_blocks(self._rows, len(self._similarity)))

    def _rows(self, start: int, stop: int) -> Matrix:
        weights, rows = self.weights, self._similarity.rows
        mean = above(self._similarity.level, rows(MatrixKind.SIMILARITY, start, stop))
        mean *= np.float32(weights.semantic)
        mean += np.float32(weights.description) * rows(MatrixKind.LEXICAL, start, stop)
        self._make_up_for_parameters(mean, start)
        mean += np.float32(weights.parameters) * rows(MatrixKind.PARAMETERS, start, stop)
        return exact(mean)

    def _make_up_for_parameters(self, mean: Matrix, start: int) -> None:
        """Share out the weight of parameters among pairs that have none, before it is given to the others."""
        bare = np.flatnonzero(self._similarity.without_parameters[start:])
        others = self.weights.semantic + self.weights.description
        if others > 0 and len(bare):
            mean[np.ix_(bare[bare < len(mean)], bare)] /= np.float32(others)

    def most_overlapping(self, limit: int) -> Iterator[OverlappingPair]:
        """Yield the pairs that overlap most, at most `limit` of them."""
        scores = self.matrix
        best = best_pairs(lambda start, stop: scores[start:stop, start:], len(scores), 0.0, limit)
        for a, b in zip(*(places.tolist() for places in best), strict=True):
            yield OverlappingPair(a, b, float(scores[a, b]), self.explain(a, b))

    def explain(self, a: int, b: int) -> str:
        """Return one cell in words: what each dimension gives, and by which weight."""
        weights = self.weights
        bare = self._similarity.without_parameters
        pair = self._similarity.pair(a, b)
        meaning = above(self._similarity.level, np.array([pair.similarity], dtype=np.float32))[0]
        parts = [
            f"similarity {meaning:.2f} × {weights.semantic:.2f}",
            f"parameters {pair.parameters:.2f} × {weights.parameters:.2f}",
            f"wording {pair.lexical:.2f} × {weights.description:.2f}",
        ]
        told = f"{self.matrix[a, b]:.2f} is {parts[0]} + {parts[1]} + {parts[2]}"
        if bare[a] and bare[b] and weights.parameters > 0:
            told = f"{self.matrix[a, b]:.2f} is {parts[0]} + {parts[2]}, raised to the whole: neither has parameters"
        return told


def _proportions(weights: OverlapWeights) -> OverlapWeights:
    given = (weights.semantic, weights.parameters, weights.description)
    whole = sum(given)
    if not all(0 <= weight < inf for weight in given) or not 0 < whole < inf:
        said = ", ".join(f"{weight:g}" for weight in given)
        raise InputError(
            f"The weights {said} cannot be used: each must be 0 or more, and one above 0.",
            hint="Give weights for meaning, parameters and wording, such as 0.5, 0.3 and 0.2.",
        )
    return OverlapWeights(*(weight / whole for weight in given))


def _kept(matrix: Matrix) -> Matrix:
    matrix.flags.writeable = False
    return matrix
