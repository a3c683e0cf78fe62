"""A stand-in model that chooses by the words of names and descriptions, with noise, for tests of trials."""

import random
import re

from tests.support.model_replies import Received, Reply, tool_calls


class WordSensitiveModel:
    """Calls the tool whose name and description share most words with the query, plus seeded normal noise."""

    def __init__(self, seed: int, noise: float = 1.0) -> None:
        self._random = random.Random(seed)
        self._noise = noise

    def __call__(self, request: Received) -> Reply:
        asked = _words(request.query)
        scores = [
            len(asked & _words(f"{tool['name']} {tool.get('description', '')}")) + self._random.gauss(0, self._noise)
            for tool in request.tools
        ]
        return tool_calls((request.tools[scores.index(max(scores))]["name"], {}))


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 2}
