"""Load of the deployments of groups: what each took in the last minute, and which is asked next."""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mcp_tef.errors import ModelError
from mcp_tef.model.model_groups import Deployment, ModelGroup

MINUTE = 60.0
COOLDOWN_S = 15.0
"""A deployment that failed is asked last for so long, unless it says a time of its own."""
_NO_LIMIT = 10_000.0


@dataclass(slots=True)
class _Calls:
    at: deque[tuple[float, int]] = field(default_factory=deque)
    under_way: int = 0
    not_before: float = 0.0


class DeploymentLoad:
    """Calls of the last minute by group and deployment. The share that is free is that of the scarcer limit."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls = defaultdict[tuple[str, str], _Calls](_Calls)

    def order(self, group: ModelGroup) -> Sequence[Deployment]:
        """Return the deployments of a group, the one with the largest free share first; those that failed come last."""
        now = self._clock()

        def place(deployment: Deployment) -> tuple[float, float]:
            calls = self._of(group, deployment)
            return max(0.0, calls.not_before - now), -self._free(group, deployment)

        return sorted(group.deployments, key=place)

    def wait(self, group: ModelGroup) -> float:
        """Return the seconds until a deployment has room for one more request; 0 where one has."""
        return min(self._wait(group, one) for one in group.deployments)

    def begin(self, group: ModelGroup, deployment: Deployment) -> None:
        """Count a request that is sent now."""
        calls = self._of(group, deployment)
        calls.at.append((self._clock(), 0))
        calls.under_way += 1

    def end(self, group: ModelGroup, deployment: Deployment, tokens: int = 0, error: ModelError | None = None) -> None:
        """Count the tokens of an answer, or let a deployment rest that failed."""
        calls, now = self._of(group, deployment), self._clock()
        calls.under_way -= 1
        if tokens:
            calls.at.append((now, tokens))
        if error is not None:
            calls.not_before = now + min(error.retry_after or COOLDOWN_S, MINUTE)

    def _of(self, group: ModelGroup, deployment: Deployment) -> _Calls:
        calls = self._calls[group.name, deployment.label_at]
        while calls.at and calls.at[0][0] <= self._clock() - MINUTE:
            calls.at.popleft()
        return calls

    def _used(self, group: ModelGroup, deployment: Deployment) -> tuple[int, int]:
        calls = self._of(group, deployment)
        return sum(not tokens for _, tokens in calls.at), sum(tokens for _, tokens in calls.at)

    def _free(self, group: ModelGroup, deployment: Deployment) -> float:
        """Return the free share; without limits it falls slowly with the requests under way and sent."""
        requests, tokens = self._used(group, deployment)
        shares = [1 - requests / deployment.rpm] if deployment.rpm else []
        shares += [1 - tokens / deployment.tpm] if deployment.tpm else []
        under_way = self._of(group, deployment).under_way
        return min(shares) if shares else 1 - (under_way * MINUTE + requests) / _NO_LIMIT

    def _wait(self, group: ModelGroup, deployment: Deployment) -> float:
        requests, tokens = self._used(group, deployment)
        full = deployment.rpm is not None and requests >= deployment.rpm
        if not full and not (deployment.tpm is not None and tokens >= deployment.tpm):
            return 0.0
        return max(0.0, self._of(group, deployment).at[0][0] + MINUTE - self._clock())
