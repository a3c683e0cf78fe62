"""A stand-in model that selects one tool until too many are offered, with seeded noise, for tests of crowds."""

import json
import random

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
