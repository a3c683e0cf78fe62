"""Writes what happens to runs in few, larger transactions, and tells of it once it is on disk."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from mcp_tef.events import Event, RunEnded, RunStarted
from mcp_tef.model.ids import RunId
from mcp_tef.model.runs import Failure, Outcome, RunStatus, RunSummary
from mcp_tef.ports import RunStore

FLUSH_EVERY_S = 0.1
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
        self._ended: list[Outcome] = []
        self._flushing = asyncio.Lock()

    def start(self, run: RunSummary) -> None:
        """The run left the queue."""
        self._started[run.id] = run

    def end(self, outcome: Outcome) -> None:
        """The run has an outcome; that it was started need not be stored any more."""
        self._started.pop(outcome.run_id, None)
        self._ended.append(outcome)

    async def keep_flushing(self) -> None:
        """Flush for ever, a few times a second; being cancelled never cuts a flush short."""
        while True:
            await asyncio.sleep(FLUSH_EVERY_S)
            await asyncio.shield(self.flush())

    async def flush(self) -> None:
        """Store all that was collected so far; what could not be stored is kept for the next time."""
        async with self._flushing:
            await self._store_started(list(self._started.values()))
            while piece := self._ended[:ROWS_PER_TRANSACTION]:
                await self._store_ended(piece)
                del self._ended[: len(piece)]

    async def _store_started(self, runs: Sequence[RunSummary]) -> None:
        if runs:
            await self._store.mark_running([run.id for run in runs])
        for run in runs:
            self._started.pop(run.id, None)
            self._publish(RunStarted(run))

    async def _store_ended(self, outcomes: Sequence[Outcome]) -> None:
        runs = await self._finished(outcomes)
        for run in runs:
            self._publish(RunEnded(run))
        self._on_stored(runs)

    async def _finished(self, outcomes: Sequence[Outcome]) -> Sequence[RunSummary]:
        """Store outcomes together; if the values of one cannot be stored, each by itself, and that one as failed.

        A StoreError means that the file cannot be used, for whichever outcome, so it is raised.
        """
        try:
            return await self._store.finish(outcomes)
        except _UNSTORABLE:
            _LOG.exception("Results could not be stored together")
        return [run for outcome in outcomes for run in await self._finished_alone(outcome)]

    async def _finished_alone(self, outcome: Outcome) -> Sequence[RunSummary]:
        try:
            return await self._store.finish([outcome])
        except _UNSTORABLE as error:
            return await self._store.finish([_not_storable(outcome, error)])


def _not_storable(outcome: Outcome, error: BaseException) -> Outcome:
    reason = f"The result holds a value that cannot be stored ({type(error).__name__})."
    failure = Failure(NOT_STORABLE, reason, "Run it again, or ask another model.")
    return Outcome(run_id=outcome.run_id, status=RunStatus.FAILED, snapshot_id=outcome.snapshot_id, failure=failure)
