"""What is written of runs, and in which order."""

from collections.abc import Callable, Sequence
from typing import Any

from mcp_tef.model.ids import RunId
from mcp_tef.model.runs import Outcome, RunStatus, RunSummary
from mcp_tef.workflows.run_log import RunLog
from tests.support.made_runs import run


class SlowStore:
    """Notes what it is told; while it writes that runs were started, the world goes on."""

    def __init__(self) -> None:
        self.told: list[tuple[str, RunId]] = []
        self.meanwhile: Callable[[], None] = lambda: None

    async def mark_running(self, ids: Sequence[RunId]) -> None:
        """Runs left the queue."""
        self.told += [("running", run_id) for run_id in ids]
        self.meanwhile()

    async def finish(self, outcomes: Sequence[Outcome]) -> tuple[RunSummary, ...]:
        """Runs ended."""
        self.told += [("ended", outcome.run_id) for outcome in outcomes]
        return ()


async def test_a_run_that_starts_and_ends_during_a_write_is_never_said_to_run_after_its_end() -> None:
    store: Any = SlowStore()
    log = RunLog(store, lambda _: None, lambda _: None)
    slow, quick = run(1), run(2)

    def quick_one() -> None:
        log.start(quick)
        log.end(Outcome(run_id=quick.id, status=RunStatus.COMPLETED))

    store.meanwhile = quick_one
    log.start(slow)
    await log.flush()
    store.meanwhile = lambda: None
    log.end(Outcome(run_id=slow.id, status=RunStatus.COMPLETED))
    await log.flush()
    assert store.told == [("running", slow.id), ("ended", quick.id), ("ended", slow.id)]
