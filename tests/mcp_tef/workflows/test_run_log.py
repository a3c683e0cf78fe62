"""What is written of runs, and in which order."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.model.ids import RunId
from mcp_tef.model.runs import RunResult, RunStatus, RunSummary
from mcp_tef.workflows.batch_results import RunLog
from tests.support.run_factories import run


class SlowStore:
    """Notes what it is told; while it writes that runs were started, the world goes on."""

    def __init__(self) -> None:
        self.told: list[tuple[str, RunId]] = []
        self.meanwhile: Callable[[], None] = lambda: None

    async def mark_running(self, ids: Sequence[RunId]) -> None:
        """Runs left the queue."""
        self.told += [("running", run_id) for run_id in ids]
        self.meanwhile()

    async def finish(self, outcomes: Sequence[RunResult]) -> tuple[RunSummary, ...]:
        """Runs ended."""
        self.told += [("ended", outcome.run_id) for outcome in outcomes]
        return ()


async def test_a_run_that_starts_and_ends_during_a_write_is_never_said_to_run_after_its_end() -> None:
    store: Any = SlowStore()
    log = RunLog(store, lambda _: None, lambda _: None)
    slow, quick = run(1), run(2)

    def quick_one() -> None:
        log.start(quick)
        log.end(RunResult(run_id=quick.id, status=RunStatus.COMPLETED))

    store.meanwhile = quick_one
    log.start(slow)
    await log.flush()
    store.meanwhile = lambda: None
    log.end(RunResult(run_id=slow.id, status=RunStatus.COMPLETED))
    await log.flush()
    assert store.told == [("running", slow.id), ("ended", quick.id), ("ended", slow.id)]


class PickyStore(SlowStore):
    """Cannot store one of the runs: `error` is raised whenever it is among them, unless it failed."""

    def __init__(self, picky: RunId, error: Exception) -> None:
        super().__init__()
        self.stored: list[RunResult] = []
        self._picky = picky
        self._error = error

    async def finish(self, outcomes: Sequence[RunResult]) -> tuple[RunSummary, ...]:
        """Runs ended."""
        if any(item.run_id == self._picky and item.status is RunStatus.COMPLETED for item in outcomes):
            raise self._error
        self.stored += outcomes
        return ()


async def test_a_result_that_cannot_be_stored_fails_with_its_reason_and_the_others_are_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    good, bad, other = run(1), run(2), run(3)
    store: Any = PickyStore(bad.id, OverflowError("Python int too large to convert to SQLite INTEGER"))
    log = RunLog(store, lambda _: None, lambda _: None)
    for one in (good, bad, other):
        log.end(RunResult(run_id=one.id, status=RunStatus.COMPLETED))
    await log.flush()
    await log.flush()
    assert [(item.run_id, item.status) for item in store.stored] == [
        (good.id, RunStatus.COMPLETED),
        (bad.id, RunStatus.FAILED),
        (other.id, RunStatus.COMPLETED),
    ]
    assert "could not be stored" in caplog.text
    failure = store.stored[1].failure
    assert failure.code == "result_not_storable"
    assert failure.message == "The result holds a value that cannot be stored (OverflowError)."


async def test_a_file_that_cannot_be_written_is_an_error_of_the_batch_and_loses_no_result() -> None:
    one = run(1)
    store: Any = PickyStore(one.id, StoreError("The disk is full.", code="workspace_disk"))
    log = RunLog(store, lambda _: None, lambda _: None)
    log.end(RunResult(run_id=one.id, status=RunStatus.COMPLETED))
    for _ in range(2):
        with pytest.raises(StoreError, match="The disk is full"):
            await log.flush()
    assert store.stored == []
