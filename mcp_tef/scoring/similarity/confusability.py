"""Probability that two tools are confused: a logistic model over four inspectable scores."""

import json
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from mcp_tef.scoring.similarity.signals import Matrix, Places, Scores, in_blocks


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Weights of the scores in the log-odds of confusion; none is negative, so that every reason speaks for it."""

    intercept: float
    semantic: float
    lexical: float
    names: float
    parameters: float


def _stored() -> dict[str, Coefficients]:
    """By embedder: `tfidf`, and `model` for all that compare meaning."""
    text = files("resources").joinpath("confusability.json").read_text("utf-8")
    return {kind: Coefficients(**json.loads(text)[kind]["coefficients"]) for kind in ("tfidf", "model")}


COEFFICIENTS = _stored()


def coefficients_for(embedder: str) -> Coefficients:
    """Return the coefficients fitted with TF-IDF, or those fitted with all-MiniLM-L6-v2 for all other embedders.

    The latter serve every model, because each counts from its own level of unrelated tools.
    """
    return COEFFICIENTS["tfidf" if embedder == "tfidf" else "model"]


def above(level: float, cosines: Matrix) -> Matrix:
    """Cosines as 0–1 above what an embedder gives to unrelated tools: (cosine − level) / (1 − level), at least 0."""
    risen: Matrix = cosines - np.float32(level)
    risen /= np.float32(1 - level)
    return np.clip(risen, 0, 1, out=risen)


@dataclass(frozen=True, slots=True)
class Parts:
    """The scores that speak for confusion; `level` is the cosine that the embedder gives to unrelated tools."""

    similarity: Scores
    lexical: Scores
    names: Scores
    parameters: Scores
    level: float


class Confusability:
    """The signal: 1 / (1 + e^−x), x = intercept + Σ coefficient · score."""

    def __init__(self, parts: Parts, weights: Coefficients) -> None:
        self._parts = parts
        self._weights = weights

    def matrix(self) -> Matrix:
        """Block by block, keeping none of the parts but the semantic one."""
        return in_blocks(self.rows, len(self._parts.similarity.matrix))

    def rows(self, start: int, stop: int) -> Matrix:
        """Return a part of it."""
        parts = self._parts
        words = (part.rows(start, stop) for part in (parts.lexical, parts.names, parts.parameters))
        return self._combined(parts.similarity.matrix[start:stop, start:], *words)

    def at(self, a: Places, b: Places) -> Matrix:
        """Return the same for pairs."""
        parts = self._parts
        return self._combined(
            *(part.at(a, b) for part in (parts.similarity, parts.lexical, parts.names, parts.parameters))
        )

    def _combined(self, semantic: Matrix, lexical: Matrix, names: Matrix, parameters: Matrix) -> Matrix:
        weights = self._weights
        odds: Matrix = np.float32(weights.semantic) * above(self._parts.level, semantic)
        odds += np.float32(weights.lexical) * lexical
        odds += np.float32(weights.names) * names
        odds += np.float32(weights.parameters) * parameters
        odds += np.float32(weights.intercept)
        np.negative(odds, out=odds)
        np.exp(odds, out=odds)
        odds += 1
        return np.reciprocal(odds, out=odds)
