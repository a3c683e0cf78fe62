"""Batches started while one is under way: they wait, in order, unless they are let go beside it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.events import BatchEnded, BatchesChanged, BatchQueued, BatchStarted
from mcp_tef.model.runs import Batch, BatchStatus
from mcp_tef.storage.store import open_store
from tests.support.fake_ports import picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write
from tests.support.workspace_files import change


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    """A case to run, and a model that answers nothing until its gate opens."""
    store = await open_store(tmp_path / "workspace.db")
    desk = bench(store, {"desk": [tool("find")]}, lambda _: picks("find"))
    await desk.register("desk")
    await write(desk, draft("one"))
    desk.selector.gate.clear()
    yield desk
    desk.selector.gate.set()
    await desk.runs.close()
    await store.close()


async def start(made: Bench, *names: str) -> list[Batch]:
    return [await made.runs.start(request(name=name)) for name in names]


def told(made: Bench, kind: type[BatchStarted] | type[BatchEnded]) -> list[str]:
    return [event.batch.name for event in made.said if isinstance(event, kind)]


async def test_batches_started_while_one_is_under_way_wait_for_it_in_order(made: Bench) -> None:
    first, second, third = await start(made, "first", "second", "third")
    assert [one.status for one in (first, second, third)] == [BatchStatus.RUNNING, *[BatchStatus.WAITING] * 2]
    assert made.runs.waiting() == (second.id, third.id)
    assert (await made.runs.batch(third.id)).status is BatchStatus.WAITING
    made.selector.gate.set()
    assert (await made.runs.wait(third.id)).status is BatchStatus.COMPLETED
    assert told(made, BatchStarted) == told(made, BatchEnded) == ["first", "second", "third"]
    assert [event.batch.name for event in made.said if isinstance(event, BatchQueued)] == ["second", "third"]


async def test_the_next_batch_begins_only_when_the_one_before_has_ended(made: Bench) -> None:
    *_, last = await start(made, "first", "second")
    made.selector.gate.set()
    await made.runs.wait(last.id)
    life = [(type(event), event.batch.name) for event in made.said if isinstance(event, BatchStarted | BatchEnded)]
    assert life.index((BatchEnded, "first")) < life.index((BatchStarted, "second"))


async def test_a_waiting_batch_can_run_beside_and_those_after_it_wait_for_both(made: Bench) -> None:
    first, second, third = await start(made, "first", "second", "third")
    made.runs.run_beside(second.id)
    assert (await made.runs.batch(second.id)).status is BatchStatus.RUNNING
    await made.runs.cancel(first.id)
    assert made.runs.waiting() == (third.id,)
    made.selector.gate.set()
    await made.runs.wait(third.id)
    assert told(made, BatchEnded) == ["first", "second", "third"]
    with pytest.raises(NotFoundError):
        made.runs.run_beside(third.id)


async def test_a_waiting_batch_that_is_cancelled_never_begins_and_holds_up_nobody(made: Bench) -> None:
    first, second, third = await start(made, "first", "second", "third")
    await made.runs.cancel(second.id)
    cancelled = await made.runs.batch(second.id)
    assert (cancelled.status, cancelled.count("cancelled")) == (BatchStatus.CANCELLED, 1)
    assert made.runs.active() == (first.id, third.id)
    made.selector.gate.set()
    await made.runs.wait(third.id)
    assert told(made, BatchStarted) == ["first", "third"]


async def test_a_paused_batch_keeps_its_place_before_those_that_wait(made: Bench) -> None:
    first, second = await start(made, "first", "second")
    made.runs.pause(first.id)
    made.selector.gate.set()
    assert made.runs.waiting() == (second.id,)
    made.runs.proceed(first.id)
    await made.runs.wait(second.id)
    assert told(made, BatchStarted) == ["first", "second"]


async def test_closing_interrupts_what_waits_so_that_it_can_be_resumed(made: Bench) -> None:
    _, second = await start(made, "first", "second")
    await made.runs.close()
    closed = await made.runs.batch(second.id)
    assert (closed.status, closed.count("cancelled")) == (BatchStatus.INTERRUPTED, 1)
    assert told(made, BatchStarted) == ["first"]
    made.selector.gate.set()
    await made.runs.resume(second.id)
    assert (await made.runs.wait(second.id)).count("TP") == 1


async def test_what_is_resumed_while_another_is_under_way_waits_as_well(made: Bench) -> None:
    (first,) = await start(made, "first")
    await made.runs.cancel(first.id)
    (second,) = await start(made, "second")
    assert (await made.runs.resume(first.id)).status is BatchStatus.WAITING
    with pytest.raises(InputError):
        await made.runs.remove_batches([first.id])
    made.selector.gate.set()
    assert (await made.runs.wait(first.id)).count("TP") == 1
    assert told(made, BatchEnded)[-2:] == [second.name, first.name]


async def test_how_long_a_waiting_batch_will_take_is_told_from_past_runs(made: Bench) -> None:
    made.selector.gate.set()
    (before,) = await start(made, "before")
    await made.runs.wait(before.id)
    made.selector.gate.clear()
    await start(made, "first", "second")
    (queued,) = [event for event in made.said if isinstance(event, BatchQueued)]
    assert queued.seconds is not None
    assert queued.seconds > 0


async def test_a_batch_that_is_deleted_elsewhere_ends_with_a_word_and_holds_up_nobody(
    made: Bench, tmp_path: Path
) -> None:
    first, second = await start(made, "first", "second")
    change(tmp_path / "workspace.db", f"UPDATE batches SET removed_at = created_at WHERE id = '{first.id}'")
    made.selector.gate.set()
    assert (await made.runs.wait(second.id)).status is BatchStatus.COMPLETED
    ended = {event.batch.name: event.reason for event in made.said if isinstance(event, BatchEnded)}
    assert ended == {"first": "It was deleted in another window or command.", "second": None}
    assert [event.ids for event in made.said if isinstance(event, BatchesChanged)] == [(first.id,)]
    assert [one.name for one in await made.runs.batches()] == ["second"]
    await made.runs.restore_batches([first.id])
    back = await made.runs.batch(first.id)
    assert (back.status, back.counts) == (BatchStatus.COMPLETED, {"TP": 1})
