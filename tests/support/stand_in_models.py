"""Stand-in models with seeded noise: one chooses by words, one until too many tools are offered."""

import json
import random
import re

from tests.support.model_replies import Received, Reply, tool_calls

TOOL = "book_repair"


class CrowdedModel:
    """Calls the tool of the tests among fewer than `lost_from` tools, else the first other one."""

    def __init__(self, lost_from: int, noise: float = 0.0, seed: int = 0) -> None:
        self._lost_from = lost_from
        self._noise = noise
        self._random = random.Random(seed)

    def __call__(self, request: Received) -> Reply:
        names = [tool["name"] for tool in request.tools]
        other = next(name for name in names if not name.endswith(TOOL))
        mine = next((name for name in names if name.endswith(TOOL)), other)
        wrong = len(names) >= self._lost_from or self._random.random() < self._noise
        texts = (request.query, request.system, *map(_compact, request.tools))
        return tool_calls((other if wrong else mine, {}), tokens=(sum(map(len, texts)) // 4, 10))


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


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
