"""What the core says by itself reaches whoever sits at the window."""

import asyncio

from PySide6.QtWidgets import QApplication

from mcp_tef import Event, NoticePublished
from mcp_tef.model.runs import Batch
from mcp_tef.workflows.runs import Runs
from tests.app.test_workbench import window, workbench
from tests.support.fake_engine import FakeEngine
from tests.support.ports import FakeSelectors
from tests.support.windows import drive, until

INSTEAD = NoticePublished("Words are compared instead.")


class HeldRuns(Runs):
    """Tells of no batch before it may."""

    def __init__(self, fake: FakeEngine) -> None:
        selectors = FakeSelectors(fake.selector)
        super().__init__(fake.store, fake.gateway, selectors, fake.models, fake.consents, fake._events, fake.config)
        self.may_tell = asyncio.Event()

    async def batches(self) -> tuple[Batch, ...]:
        """Those of the store, once they may be told."""
        await self.may_tell.wait()
        return await super().batches()


def test_a_notice_of_the_core_is_told(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            told: list[str] = []
            window(bench).session.toasted.connect(lambda text, _: told.append(text))
            await window(bench).session.value(lambda _: fake.publish(INSTEAD))
            await until(lambda: told == [INSTEAD.text])

    drive(work())


def test_a_notice_that_comes_while_the_window_still_asks_what_was_interrupted_is_told(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        fake.runs = held = HeldRuns(fake)
        async with workbench(fake) as bench:
            session, told, heard = window(bench).session, list[str](), list[Event]()
            session.toasted.connect(lambda text, _: told.append(text))
            session.events.connect(heard.extend)
            await session.value(lambda _: fake.publish(INSTEAD))
            await until(lambda: INSTEAD in heard)
            await session.value(lambda _: held.may_tell.set())
            assert told == [INSTEAD.text]

    drive(work())
