"""Actions of tools by the verb of their name or description: reading, creating, deleting and so on."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.tools import Tool
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
