"""Searches that clients run over tools before a model is asked, by words."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.clients import SearchMethod, SearchRule
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.scoring.tfidf_weights import spaced, stems

SATURATION, LENGTH_WEIGHT = 1.2, 0.75
"""Usual values of k1 and b (Robertson and Zaragoza 2009, The Probabilistic Relevance Framework, section 3.2)."""


def _parameters(tool: Tool) -> Mapping[str, object]:
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


_READ: Mapping[str, Callable[[Tool], str]] = {
    "name": lambda tool: spaced(tool.name),
    "server": lambda tool: spaced(tool.server),
    "title": lambda tool: str(tool.raw.get("title") or ""),
    "description": lambda tool: tool.description,
    "parameters": lambda tool: " ".join(map(spaced, _parameters(tool))),
}
READABLE = frozenset(_READ)
"""Texts of a tool that a search can read."""


def searched_text(tool: Tool, reads: Sequence[str]) -> str:
    """Return the texts of a tool that a search reads, as one."""
    return ". ".join(filter(None, (_READ[name](tool) for name in reads)))


class WordSearch:
    """Search over tools by words: by BM25, or by how many words of the request a tool has."""

    def __init__(self, rule: SearchRule, tools: Sequence[OfferedTool]) -> None:
        self._rule = rule
        self._texts = [Counter(stems(searched_text(one.tool, rule.reads))) for one in tools]
        self._holding = Counter(word for text in self._texts for word in text)
        lengths = np.array([sum(text.values()) for text in self._texts], dtype=float)
        self._relative = lengths / max(1.0, float(lengths.mean())) if len(lengths) else lengths

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return the score of each tool for a request; 0 for a tool that the search does not find."""
        total = np.zeros(len(self._texts))
        for word in dict.fromkeys(stems(query)):
            times = np.array([text[word] for text in self._texts], dtype=float)
            total += self._weighted(word, times)
        return total

    def _weighted(self, word: str, times: NDArray[np.float64]) -> NDArray[np.float64]:
        tools, holding = len(self._texts), self._holding[word]
        rarity = np.log(1 + (tools - holding + 0.5) / (holding + 0.5))
        if self._rule.method is SearchMethod.KEYWORDS:
            return np.asarray(
                (times > 0) * (1 + rarity / (1 + np.log(1 + 2 * tools)) / 1000)
            )  # rarity only decides ties
        length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * self._relative
        return np.asarray(rarity * times * (SATURATION + 1) / (times + SATURATION * length))


def best(scores: NDArray[np.float64], results: int) -> tuple[int, ...]:
    """Return the places of the best scores above 0, best first; equal scores keep their order."""
    order = np.argsort(-scores, kind="stable")[:results]
    return tuple(int(place) for place in order if scores[place] > 0)
