"""Results of a running batch: stored in few large transactions, then counted and published."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mcp_tef.events import BatchProgressed, Event, RunEnded, RunStarted
from mcp_tef.model.ids import RunId
from mcp_tef.model.runs import (
    CUT_OFF_CODE,
    NOT_OFFERED_CODE,
    PRICED,
    READ_FROM_TEXT,
    UNREADABLE,
    Batch,
    FailureInfo,
    RunResult,
    RunStatus,
    RunSummary,
    shown_together,
)
from mcp_tef.ports import RunStore

FLUSH_EVERY_S, LONGEST_WAIT_S = 0.2, 1.0
REST_AFTER_FLUSH = 4
"""The next flush waits at least this many times the length of the last one, so that groups grow with the load."""
ROWS_PER_TRANSACTION = 250

NOT_STORABLE = "result_not_storable"

_UNSTORABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of values that cannot become cells; a StoreError is about the file."""

_LOG = logging.getLogger(__name__)

OnStored = Callable[[Sequence[RunSummary]], None]


class RunLog:
    """Collects starts and outcomes; `flush` stores them. A run counts as ended only when it is on disk."""

    def __init__(self, store: RunStore, publish: Callable[[Event], None], on_stored: OnStored) -> None:
        self._store = store
        self._publish = publish
        self._on_stored = on_stored
        self._started: dict[RunId, RunSummary] = {}
        self._ended: list[RunResult] = []
        self._flushing = asyncio.Lock()

    def start(self, run: RunSummary) -> None:
        """Note that a run left the queue."""
        self._started[run.id] = run

    def end(self, outcome: RunResult) -> None:
        """Note that a run has an outcome, so that its start need not be stored any more."""
        self._started.pop(outcome.run_id, None)
        self._ended.append(outcome)

    async def keep_flushing(self) -> None:
        """Flush for ever, a few times a second; being cancelled never cuts a flush short."""
        took = 0.0
        while True:
            await asyncio.sleep(min(max(FLUSH_EVERY_S, took * REST_AFTER_FLUSH), LONGEST_WAIT_S))
            began = time.monotonic()
            await asyncio.shield(self.flush())
            took = time.monotonic() - began

    async def flush(self) -> None:
        """Store all that was collected so far; what could not be stored is kept for the next time."""
        async with self._flushing:
            await self._store_started(list(self._started.values()))
            await self._store_all_ended()

    async def flush_ended(self) -> None:
        """Store all outcomes so far, those of others together with one's own; being cancelled cuts nothing short."""
        await asyncio.shield(self._flush_ended())

    async def _flush_ended(self) -> None:
        async with self._flushing:
            await self._store_all_ended()

    async def _store_all_ended(self) -> None:
        while piece := self._ended[:ROWS_PER_TRANSACTION]:
            await self._store_ended(piece)
            del self._ended[: len(piece)]

    async def _store_started(self, runs: Sequence[RunSummary]) -> None:
        if runs:
            await self._store.mark_running([run.id for run in runs])
        for run in runs:
            self._started.pop(run.id, None)
            self._publish(RunStarted(run))

    async def _store_ended(self, outcomes: Sequence[RunResult]) -> None:
        runs = await self._finished(outcomes)
        for run in runs:
            self._publish(RunEnded(run))
        self._on_stored(runs)

    async def _finished(self, outcomes: Sequence[RunResult]) -> Sequence[RunSummary]:
        """Store outcomes together; if the values of one cannot be stored, each by itself, and that one as failed.

        A StoreError means that the file cannot be used, for whichever outcome, so it is raised.
        """
        try:
            return await self._store.finish(outcomes)
        except _UNSTORABLE:
            _LOG.exception("Results could not be stored together")
        return [run for outcome in outcomes for run in await self._finished_alone(outcome)]

    async def _finished_alone(self, outcome: RunResult) -> Sequence[RunSummary]:
        try:
            return await self._store.finish([outcome])
        except _UNSTORABLE as error:
            return await self._store.finish([_not_storable(outcome, error)])


def _not_storable(outcome: RunResult, error: BaseException) -> RunResult:
    reason = f"The result holds a value that cannot be stored ({type(error).__name__})."
    failure = FailureInfo(NOT_STORABLE, reason, "Run it again, or ask another model.")
    return RunResult(run_id=outcome.run_id, status=RunStatus.FAILED, snapshot_id=outcome.snapshot_id, failure=failure)


_PENDING = RunStatus.PENDING.value
FEWEST = 3


class BatchCounts:
    """The live counts of one batch; `done` counts the runs that ended. Time goes by while any run is under way."""

    def __init__(self, batch: Batch, clock: Callable[[], float] = time.monotonic) -> None:
        self._batch = batch
        self._counts = Counter(batch.counts)
        self._tally = Counter(batch.tally)
        self._clock = clock
        self._going = 0
        self._since = 0.0
        self._worked = 0.0
        self._to_do = self._counts[_PENDING]
        self._enough = max(1, min(max(FEWEST, batch.concurrency), self._to_do // 2))
        self._ended: set[str] = set()
        self.tokens = 0
        self.cost_usd: float | None = None

    def plan(self, runs: int) -> None:
        """Note that so many further runs were planned."""
        self._batch = replace(self._batch, total=self._batch.total + runs)
        self._counts[_PENDING] += runs
        self._to_do += runs

    def enter(self) -> None:
        """Note that a run has started."""
        if not self._going:
            self._since = self._clock()
        self._going += 1

    def leave(self) -> None:
        """Note that a run has ended."""
        self._going -= 1
        if not self._going:
            self._worked += self._clock() - self._since

    def count(self, runs: Sequence[RunSummary]) -> None:
        """Take in runs that ended; a run that is stored again counts once."""
        new = [run for run in runs if run.id not in self._ended]
        self._tally.update(tally_of(new, self._batch.models))
        for run in new:
            self._ended.add(run.id)
            self._counts[_PENDING] -= 1
            self._counts[run.classification.value if run.classification else run.status.value] += 1
            self.tokens += run.tokens or 0
            if run.cost_usd is not None:
                self.cost_usd = (self.cost_usd or 0.0) + run.cost_usd

    @property
    def batch(self) -> Batch:
        """The batch with the counts as they are now."""
        return replace(self._batch, counts=dict(self._counts), tally=dict(self._tally), cost_usd=self._cost())

    def progress(self) -> BatchProgressed:
        """Return the event that tells how far it is."""
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


def tally_of(runs: Iterable[RunSummary], models: Iterable[str]) -> Counter[str]:
    """Count runs of a batch that asked these models as `Batch.tally` does."""
    found: Counter[str] = Counter()
    together = shown_together(models)
    for run in runs:
        found[READ_FROM_TEXT] += run.read_from_text
        found[PRICED] += run.cost_usd is not None
        if run.model in together:
            found[run.mark.value if run.mark else run.status.value] += 1
            found[UNREADABLE] += run.unreadable
            found.update({run.failure_code} & {NOT_OFFERED_CODE, CUT_OFF_CODE})
    return found
