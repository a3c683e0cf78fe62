"""A disk that fills up while a batch runs: the batch stops, says why, keeps what it has, and can be resumed."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.events import BatchEnded
from mcp_tef.model.answers import Answer
from mcp_tef.model.ids import BatchId
from mcp_tef.model.runs import BatchStatus, RunResult, RunSummary
from mcp_tef.ports import Question, RunStore
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.fake_ports import picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write

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

    made = bench(replace(store, runs=cast(RunStore, disk)), {"desk": [tool("find")]}, finds)
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
