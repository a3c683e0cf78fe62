"""Counts a batch while it runs: outcomes, tokens, cost, and how long is left."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from mcp_tef.events import BatchProgressed
from mcp_tef.model.runs import Batch, RunStatus, RunSummary

_PENDING = RunStatus.PENDING.value
FEWEST = 3


class Tally:
    """The live counts of one batch; `done` counts the runs that ended. Time goes by while any run is under way."""

    def __init__(self, batch: Batch, clock: Callable[[], float] = time.monotonic) -> None:
        self._batch = batch
        self._counts = Counter(batch.counts)
        self._clock = clock
        self._going = 0
        self._since = 0.0
        self._worked = 0.0
        self._to_do = self._counts[_PENDING]
        self._enough = max(1, min(max(FEWEST, batch.concurrency), self._to_do // 2))
        self._ended: set[str] = set()
        self.tokens = 0
        self.cost_usd: float | None = None

    def enter(self) -> None:
        """A run goes now."""
        if not self._going:
            self._since = self._clock()
        self._going += 1

    def leave(self) -> None:
        """A run goes no longer."""
        self._going -= 1
        if not self._going:
            self._worked += self._clock() - self._since

    def count(self, runs: Sequence[RunSummary]) -> None:
        """Take in runs that ended; a run that is stored again counts once."""
        for run in runs:
            if run.id in self._ended:
                continue
            self._ended.add(run.id)
            self._counts[_PENDING] -= 1
            self._counts[run.classification.value if run.classification else run.status.value] += 1
            self.tokens += run.tokens or 0
            if run.cost_usd is not None:
                self.cost_usd = (self.cost_usd or 0.0) + run.cost_usd

    @property
    def batch(self) -> Batch:
        """The batch with the counts as they are now."""
        return replace(self._batch, counts=dict(self._counts), cost_usd=self._cost())

    def progress(self) -> BatchProgressed:
        """The event that tells how far it is."""
        return BatchProgressed(
            batch=self.batch,
            done=self._batch.total - self._counts[_PENDING],
            tokens=self.tokens,
            cost_usd=self._cost(),
            seconds_left=self._seconds_left(),
        )

    def _cost(self) -> float | None:
        if self.cost_usd is None:
            return self._batch.cost_usd
        return (self._batch.cost_usd or 0.0) + self.cost_usd

    def _seconds_left(self) -> float | None:
        ended = len(self._ended)
        if ended < self._enough:
            return None
        worked = self._worked + (self._clock() - self._since if self._going else 0.0)
        return (self._to_do - ended) * worked / ended
