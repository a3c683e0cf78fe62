"""The two threads meet in one place: results, errors, cancels and events all come through it."""

import asyncio
import gc
import threading

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.core_link.bridge import Bridge
from mcp_tef import NotFoundError, NoticePublished, ServerId, StoreError
from tests.support.fake_engine import FakeEngine
from tests.support.windows import PATIENCE, session_for, until


async def test_a_call_runs_on_the_core_thread_and_gives_its_result(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        name = await session.value(lambda core: threading.current_thread().name)
        assert (name, await session.call(lambda core: core.servers.list())) == ("core", ())


async def test_an_error_of_the_core_comes_out_where_it_was_called(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        with pytest.raises(NotFoundError):
            await session.call(lambda core: core.servers.get(ServerId("gone")))


async def test_a_cancel_goes_into_the_core(qapp: QApplication) -> None:
    stopped = threading.Event()
    begun = threading.Event()

    async def endless() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with session_for() as (session, _):
        task = session.spawn(session.call(lambda core: endless()))
        await until(begun.is_set)
        task.cancel()
        await until(stopped.is_set)


def publish_many(fake: FakeEngine) -> None:
    """Say five hundred things at once."""
    for number in range(500):
        fake.publish(NoticePublished(str(number)))


async def test_events_come_in_order_and_in_few_batches(qapp: QApplication) -> None:
    async with session_for() as (session, fake):
        batches: list[tuple[object, ...]] = []
        session.events.connect(batches.append)
        await session.value(lambda core: publish_many(fake))
        await until(lambda: sum(map(len, batches)) == 500)
        texts = [event.text for batch in batches for event in batch if isinstance(event, NoticePublished)]
        assert texts == [str(number) for number in range(500)]
        assert len(batches) <= 5


async def test_a_workspace_that_cannot_be_opened_fails_every_call_with_its_reason(qapp: QApplication) -> None:
    async def refuse() -> object:
        raise StoreError("The workspace is of a newer version.")

    bridge = Bridge(refuse)  # type: ignore[arg-type]  # it opens nothing
    bridge.start()
    for _ in range(2):
        with pytest.raises(StoreError, match="newer version"):
            await bridge.call(lambda core: core.servers.list())
    await bridge.stop()


async def test_stopping_closes_the_core_and_its_thread(qapp: QApplication) -> None:
    fake = FakeEngine()
    bridge = Bridge(fake.open)
    bridge.start()
    await bridge.call(lambda core: core.servers.list())
    await bridge.stop()
    assert fake.closed
    assert not [thread for thread in threading.enumerate() if thread.name == "core"]


async def test_stopping_before_the_core_has_opened_still_closes_it(qapp: QApplication) -> None:
    fake = FakeEngine()
    bridge = Bridge(fake.open)
    bridge.start()
    await bridge.stop()
    assert fake.closed


async def test_what_is_asked_while_the_core_closes_is_refused_and_not_forgotten(qapp: QApplication) -> None:
    refused = threading.Event()

    class Lingering(FakeEngine):
        async def close(self) -> None:
            await asyncio.to_thread(refused.wait, PATIENCE)
            await super().close()

    bridge = Bridge(Lingering().open)
    bridge.start()
    await bridge.call(lambda core: core.servers.list())
    late = asyncio.create_task(bridge.call(lambda core: core.servers.list()))
    stopping = asyncio.create_task(bridge.stop())
    with pytest.raises(StoreError, match="The workspace is closed"):
        await late
    refused.set()
    await stopping


async def test_a_window_that_nobody_looks_at_is_not_busy_with_full_rounds_of_garbage_collection(
    qapp: QApplication,
) -> None:
    rounds: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        rounds.extend([info["generation"]] if phase == "stop" and info["generation"] == 2 else [])

    async with session_for():
        quarters: list[float] = []
        timer = QTimer(interval=250)
        timer.timeout.connect(lambda: quarters.append(0.25))
        gc.callbacks.append(note)
        timer.start()
        await until(lambda: len(quarters) == 4)
        timer.stop()
        gc.callbacks.remove(note)
        assert rounds == []
