"""Writing of runs in order, a disk that fills up, and hostile answers."""

from collections.abc import AsyncIterator, Callable, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from mcp_tef import Classification
from mcp_tef.errors import StoreError
from mcp_tef.events import BatchEnded
from mcp_tef.model.answers import Answer
from mcp_tef.model.ids import BatchId, RunId
from mcp_tef.model.runs import BatchStatus, RunResult, RunStatus, RunSummary
from mcp_tef.ports import Question, RunStore
from mcp_tef.storage.store import SqliteStore, open_store
from mcp_tef.workflows.batch_results import RunLog
from tests.support.fake_ports import picks, tool
from tests.support.hostile_answers import counted, ends_of, generated
from tests.support.model_replies import tool_calls
from tests.support.run_factories import run
from tests.support.workflow_bench import Bench, bench, draft, request, write


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


FULL = StoreError("The disk is full.", hint="Make room on it.")


@dataclass
class FillingDisk:
    """The runs of a store on a disk that has room for some outcomes; then nothing more can be written."""

    behind: RunStore
    room: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)

    async def finish(self, outcomes: Sequence[RunResult]) -> tuple[RunSummary, ...]:
        """Store outcomes while there is room."""
        if self.room < len(outcomes):
            raise FULL
        self.room -= len(outcomes)
        return await self.behind.finish(outcomes)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


async def stopped(store: SqliteStore, disk: FillingDisk, hold_after: str = "") -> tuple[Bench, BatchId]:
    """A batch of three runs, one at a time, that the disk has stopped; no answer comes after that to `hold_after`."""

    def finds(question: Question) -> Answer:
        if question.query == hold_after:
            made.selector.gate.clear()
        return picks("find")

    filling = copy(store)
    filling.runs = cast(RunStore, disk)
    made = bench(filling, {"desk": [tool("find")]}, finds)
    await made.register("desk")
    await write(made, draft("one"), draft("two"), draft("three"))
    batch = await made.runs.start(request(concurrency=1))
    with pytest.raises(StoreError, match="The disk is full"):
        await made.runs.wait(batch.id)
    return made, batch.id


async def test_the_batch_is_interrupted_and_says_why(store: SqliteStore, caplog: pytest.LogCaptureFixture) -> None:
    made, batch_id = await stopped(store, FillingDisk(store.runs, room=0))
    assert made.said[-1] == BatchEnded(await made.runs.batch(batch_id), str(FULL))
    assert [batch.status for batch in await made.runs.batches()] == [BatchStatus.INTERRUPTED]


async def test_once_there_is_room_the_batch_can_be_resumed(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    disk = FillingDisk(store.runs, room=0)
    made, batch_id = await stopped(store, disk)
    disk.room = 10
    await made.runs.resume(batch_id)
    ended = await made.runs.wait(batch_id)
    assert (ended.status, ended.count("TP")) == (BatchStatus.COMPLETED, 3)


async def test_what_could_not_be_stored_at_once_is_stored_when_the_batch_stops(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    class FullOnce(FillingDisk):
        async def finish(self, outcomes: Sequence[RunResult]) -> tuple[RunSummary, ...]:
            try:
                return await super().finish(outcomes)
            finally:
                self.room = 10

    made, batch_id = await stopped(store, FullOnce(store.runs, room=0), hold_after="one")
    ended = await made.runs.batch(batch_id)
    assert ended.status is BatchStatus.INTERRUPTED
    assert {key: number for key, number in ended.counts.items() if number} == {"TP": 1, "cancelled": 2}


SOUND = tool_calls(("weather_report", {"city": "Oslo"})).body


def usage(sent: str, received: str) -> str:
    return SOUND.replace('"prompt_tokens": 120', f'"prompt_tokens": {sent}').replace(
        '"completion_tokens": 30', f'"completion_tokens": {received}'
    )


async def test_answers_of_any_kind_end_no_batch(tmp_path: Path) -> None:
    answers = generated(60)
    runs = await ends_of(answers, tmp_path)
    assert {run.status for run in runs} == {RunStatus.COMPLETED, RunStatus.FAILED}
    assert "failed: internal" not in counted(runs)


@pytest.mark.parametrize(
    ("sent", "received", "tokens"),
    [
        ("120", "30", 150),
        ("0", "1000000000", 1_000_000_000),
        ("-1000000", "30", 30),
        ("1000000000000000000", "1000000001", None),
        (str(2**63), "30", 30),
        ("9" * 400, "30", 30),
        ("1.5", '"7"', None),
        ("true", "30", 30),
        ("[1]", '{"a": 1}', None),
    ],
)
async def test_usage_that_cannot_be_meant_is_unknown_and_has_no_cost(
    sent: str, received: str, tokens: int | None, tmp_path: Path
) -> None:
    (run,) = await ends_of([usage(sent, received)], tmp_path)
    assert (run.status, run.classification) == (RunStatus.COMPLETED, Classification.TP)
    assert run.tokens == tokens
    assert run.cost_usd is None
