"""A batch whose runs fail one after another with the same error stops, or pauses for a question."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest

from mcp_tef.errors import GAVE_UP, ModelError, ModelFault
from mcp_tef.events import BatchEnded, BatchPaused
from mcp_tef.model.answers import Answer
from mcp_tef.model.runs import BatchStatus, ModelSettings
from mcp_tef.ports import Question, Store
from mcp_tef.storage.store import open_store
from tests.support.fake_ports import Script, picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write

LOCAL = ModelSettings(provider="local", model="small")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


def finds(_: Question) -> Answer:
    return picks("find")


async def done(made: Bench, **changes: object) -> BatchEnded:
    batch = await made.runs.start(request(**changes))
    await made.runs.wait(batch.id)
    ended = made.said[-1]
    assert isinstance(ended, BatchEnded)
    return ended


def dead(_: Question) -> Answer:
    raise ModelError(ModelFault.DOWN, "No server answers at http://127.0.0.1:9.")


async def failing(store: Store, script: Script = dead) -> Bench:
    made = bench(store, {"desk": [tool("find")]}, script)
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(60)))
    return made


async def test_a_batch_stops_after_five_equal_failures_in_a_row_and_can_be_resumed(store: Store) -> None:
    broken = [True]
    made = await failing(store, lambda question: dead(question) if broken[0] else finds(question))
    ended = await done(made, models=(LOCAL,), concurrency=1)
    assert (ended.batch.status, ended.batch.failed, ended.batch.count("cancelled")) == (BatchStatus.CANCELLED, 5, 55)
    assert ended.reason is not None
    assert ended.reason.startswith(GAVE_UP)
    assert "No server answers" in ended.reason
    broken[0] = False
    await made.runs.resume(ended.batch.id)
    assert (await made.runs.wait(ended.batch.id)).count("TP") == 55


async def test_a_batch_that_may_pause_waits_for_the_user_and_asks_again_after_five_more(store: Store) -> None:
    made = await failing(store)
    paused: asyncio.Queue[BatchPaused] = asyncio.Queue()
    made.events.subscribe(lambda event: paused.put_nowait(event) if isinstance(event, BatchPaused) else None)
    batch = await made.runs.start(request(models=(LOCAL,), concurrency=1), may_pause=True)
    for times in (1, 2, 3):
        await paused.get()
        assert (await made.runs.batch(batch.id)).status is BatchStatus.RUNNING
        assert len(made.selector.questions) == 5 * times
        made.runs.proceed(batch.id)
    await made.runs.cancel(batch.id)


@pytest.mark.parametrize("fault", [ModelFault.REJECTED, ModelFault.CONTEXT])
async def test_errors_that_a_single_query_may_cause_stop_nothing(store: Store, fault: ModelFault) -> None:
    def refused(_: Question) -> Answer:
        raise ModelError(fault, "The request was refused.")

    ended = await done(await failing(store, refused), models=(LOCAL,))
    assert (ended.batch.status, ended.batch.failed) == (BatchStatus.COMPLETED, 60)


async def test_failures_with_answers_between_them_stop_nothing(store: Store) -> None:
    asked = count()

    def now_and_then(question: Question) -> Answer:
        return finds(question) if next(asked) % 5 == 4 else dead(question)

    ended = await done(await failing(store, now_and_then), models=(LOCAL,), concurrency=1)
    assert (ended.batch.status, ended.batch.failed) == (BatchStatus.COMPLETED, 48)


@pytest.mark.parametrize(("answers_first", "failed"), [(True, 59), (False, 5)])
async def test_timeouts_stop_a_batch_only_where_the_address_never_answered(
    store: Store, *, answers_first: bool, failed: int
) -> None:
    asked = count()

    def silent(question: Question) -> Answer:
        if next(asked) == 0 and answers_first:
            return finds(question)
        raise ModelError(ModelFault.TIMEOUT, "It did not answer within 3 seconds.")

    ended = await done(await failing(store, silent), models=(LOCAL,), concurrency=1)
    assert ended.batch.failed == failed
