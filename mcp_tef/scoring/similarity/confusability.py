"""Actions of tools by the verb of their name or description: reading, creating, deleting and so on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.signals import Matrix, Places, Scores, in_blocks
from mcp_tef.scoring.similarity.tool_texts import name_words
from mcp_tef.scoring.tfidf_weights import spaced, stem, words

VERBS = (
    "get fetch read retrieve show view describe inspect check see display obtain access info details status",
    "list enumerate browse ls all",
    "search find query lookup locate match discover filter",
    "create add new insert make generate write build register append draft import upload save store put",
    "update edit modify set change patch rename replace configure alter adjust assign",
    "delete remove clear drop destroy purge erase unset detach",
    "run execute start invoke call launch trigger perform connect begin enable resume activate",
    "stop end kill close terminate cancel abort disconnect disable pause archive",
    "send publish post notify share email reply forward submit",
    "move copy transfer duplicate clone merge convert transform",
)
"""Groups of verbs that mean about the same. The first three only read, so that they do not oppose each other."""
READING = 3
FIRST_WORDS = 3
BEGINNING = 120
_GROUPS = {form: group for group, verbs in enumerate(VERBS) for verb in verbs.split() for form in (stem(verb), verb)}


def action(tool: Tool) -> int | None:
    """Return the group of the first verb of the name, else of the first three words of the description."""
    named = _first(spaced(tool.name).lower().split())
    return _first(words(tool.description[:BEGINNING])[:FIRST_WORDS]) if named is None else named


def _first(said: Sequence[str]) -> int | None:
    groups = (_GROUPS.get(word, _GROUPS.get(stem(word))) for word in said)
    return next((group for group in groups if group is not None), None)


class Actions:
    """Scores of the verbs of two tools: `same` for one group, `opposed` for two of which one at least changes things.

    0 where either has no known verb, or where both only read.
    """

    def __init__(self, tools: Sequence[Tool], same: float, opposed: float) -> None:
        table = np.full((len(VERBS), len(VERBS)), opposed, dtype=np.float32)
        table[:READING, :READING] = 0
        np.fill_diagonal(table, same)
        groups = list(map(action, tools))
        self._held = np.zeros((len(tools), len(VERBS)), dtype=np.float32)
        known = [place for place, group in enumerate(groups) if group is not None]
        self._held[known, [group for group in groups if group is not None]] = 1
        self._of_other = self._held @ table

    def rows(self, start: int, stop: int) -> NDArray[np.float32]:
        """Return some tools against all from the first of them on: shape (stop − start, n − start)."""
        return np.asarray(self._of_other[start:stop] @ self._held[start:].T, dtype=np.float32)

    def at(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the pairs (a[i], b[i])."""
        return np.asarray(np.einsum("ij,ij->i", self._of_other[a], self._held[b]), dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Weights in the log-odds. Only `opposed`, for verbs such as create and delete, is negative.

    `across` and `within` weigh the similarity of two servers' tools and of one server's, which shares its subject
    anyway; `contained` counts where one name has every word of the other. `one_server` is added to the intercept for
    tools of one server, so that there too `HIGH_FROM` has its meaning.
    """

    intercept: float
    one_server: float
    across: float
    within: float
    names: float
    contained: float
    same: float
    opposed: float
    parameters: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityLevels:
    """Similarities with a meaning, which differ by embedder, since words agree less often than meanings do.

    Tools are `grouped` from this part of the way between unrelated tools and 1 on; those of two servers are `near`
    duplicates; an overlap is `framed` in the picture of all pairs.
    """

    grouped: float
    near: float
    framed: float


_STORED = json.loads(files("resources").joinpath("confusability.json").read_text("utf-8"))
"""By embedder: `tfidf`, and `model` for all that compare meaning."""
COEFFICIENTS = {kind: Coefficients(**_STORED[kind]["coefficients"]) for kind in ("tfidf", "model")}
LEVELS = {kind: SimilarityLevels(**_STORED[kind]["levels"]) for kind in ("tfidf", "model")}


def coefficients_for(embedder: str) -> Coefficients:
    """Return the coefficients fitted with TF-IDF, or those fitted with all-MiniLM-L6-v2 for all other embedders.

    The latter serve every model, because each counts from its own level of unrelated tools.
    """
    return COEFFICIENTS["tfidf" if embedder == "tfidf" else "model"]


def levels_for(embedder: str) -> SimilarityLevels:
    """Return the levels of an embedder; by words, those that as many pairs of catalogues reach as by a model."""
    return LEVELS["tfidf" if embedder == "tfidf" else "model"]


def least_similarity(weights: Coefficients, level: float, score: float) -> float:
    """Return the similarity that two tools need for this score where neither name holds every word of the other."""
    odds = np.log(score / (1 - score)) if 0 < score < 1 else np.inf * (score - 0.5)
    odds -= weights.intercept + weights.names + weights.parameters + max(weights.same, weights.opposed, 0)
    risen = min(odds / weights.across, (odds - weights.one_server) / weights.within)
    return float(level + risen * (1 - level)) if risen > 0 else 0.0


def above(level: float, cosines: Matrix) -> Matrix:
    """Cosines as 0–1 above what an embedder gives to unrelated tools: (cosine − level) / (1 − level), at least 0."""
    risen: Matrix = cosines - np.float32(level)
    risen /= np.float32(1 - level)
    return np.clip(risen, 0, 1, out=risen)


@dataclass(frozen=True, slots=True)
class Parts:
    """Evidence for confusion; `level` is the cosine that the embedder gives to unrelated tools."""

    tools: Sequence[Tool]
    similarity: Scores
    names: Scores
    parameters: Scores
    level: float


ROUNDING = np.float32(1e-4)


class Confusability:
    """The signal: 1 / (1 + e^−x), x = intercept + Σ coefficient · score."""

    def __init__(self, parts: Parts, weights: Coefficients) -> None:
        self._parts = parts
        self._weights = weights
        self._actions = Actions(parts.tools, weights.same, weights.opposed)
        self._servers = np.unique([tool.server for tool in parts.tools], return_inverse=True)[1]
        self._sizes = np.array([len(name_words(tool.name)) for tool in parts.tools], dtype=np.float32)

    def matrix(self) -> Matrix:
        """Block by block, keeping none of the parts but the semantic one."""
        return in_blocks(self.rows, len(self._parts.tools))

    def rows(self, start: int, stop: int) -> Matrix:
        """Return a part of it."""
        parts, these, others = self._parts, np.s_[start:stop, None], np.s_[None, start:]
        actions = self._actions.rows(start, stop)
        similarity = parts.similarity.kept_rows(start, stop)
        names, parameters = parts.names.rows(start, stop), parts.parameters.rows(start, stop)
        return _share(self._odds(these, others, similarity, names, parameters, actions))

    def at(self, a: Places, b: Places) -> Matrix:
        """Return the same for pairs."""
        return _share(self.odds(a, b))

    def odds(self, a: Places, b: Places) -> Matrix:
        """Return the log-odds of pairs."""
        parts = self._parts
        similarity, names, parameters = (part.at(a, b) for part in (parts.similarity, parts.names, parts.parameters))
        return self._odds(a, b, similarity, names, parameters, self._actions.at(a, b))

    def _odds(self, a: Any, b: Any, similarity: Matrix, names: Matrix, parameters: Matrix, actions: Matrix) -> Matrix:
        weights = self._weights
        odds = above(self._parts.level, similarity)
        near = odds[one_server := self._servers[a] == self._servers[b]]
        odds *= np.float32(weights.across)
        odds[one_server] = np.float32(weights.within) * near + np.float32(weights.one_server)
        odds += np.float32(weights.parameters) * parameters
        odds += actions
        odds += np.float32(weights.intercept)
        odds += np.float32(weights.names) * names
        odds += np.float32(weights.contained) * self._contained(a, b, names)
        return odds

    def _contained(self, a: Any, b: Any, names: Matrix) -> NDArray[np.bool_]:
        """Tell where one name has every word of the other: the Jaccard index is then the fewer by the more words."""
        one, other = self._sizes[a], self._sizes[b]
        whole: NDArray[np.bool_] = names * np.maximum(one, other) > np.minimum(one, other) - ROUNDING
        return whole & (names > 0)


def _share(odds: Matrix) -> Matrix:
    """Return 1 / (1 + e^−odds), in place."""
    np.negative(odds, out=odds)
    np.exp(odds, out=odds)
    odds += 1
    return np.reciprocal(odds, out=odds)
