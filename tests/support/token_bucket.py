"""A model server that allows a number of requests a second, and says so in its headers."""

import time
from dataclasses import replace

from tests.support.model_replies import Received, Reply, pick, rate_limited


class TokenBucket:
    """A server that allows so many requests a second, and says so; `refused` counts the others."""

    def __init__(self, rate: float, size: int) -> None:
        self.rate, self.size, self.refused = rate, size, 0
        self._level, self._at = float(size), time.monotonic()

    def __call__(self, request: Received) -> Reply:
        now = time.monotonic()
        self._level = min(self.size, self._level + (now - self._at) * self.rate)
        self._at = now
        if self._level < 1:
            self.refused += 1
            return self._headed(rate_limited("1"))
        self._level -= 1
        return self._headed(pick(request))

    def _headed(self, reply: Reply) -> Reply:
        stated = {
            "x-ratelimit-limit-requests": str(self.size),
            "x-ratelimit-remaining-requests": str(int(self._level)),
            "x-ratelimit-reset-requests": f"{(self.size - int(self._level)) / self.rate:.3f}s",
        }
        return replace(reply, headers={**reply.headers, **stated})
