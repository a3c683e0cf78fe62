"""Long work is reported outside the window, and notices of the core inside it."""

import asyncio

from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Session
from app.shell.system_notifications import SystemNotifications
from mcp_tef import BatchEnded, Event, NoticePublished
from mcp_tef.model.runs import Batch
from mcp_tef.workflows.runs import Runs
from tests.support.fake_engine import FakeEngine
from tests.support.fake_ports import FakeSelectors
from tests.support.run_factories import batch
from tests.support.windows import session_for, until
from tests.support.workbench import window, workbench


def told(session: Session) -> list[float | None]:
    """What a taskbar is told from now on."""
    heard: list[float | None] = []
    SystemNotifications(session, QWidget(), alert=lambda _: None, tell=heard.append)
    return heard


async def test_the_taskbar_shows_how_far_all_works_are_and_nothing_afterwards(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        heard = told(session)
        runs, review = session.activity.add(), session.activity.add()
        runs.set_state(0.5, "1 of 2")
        review.set_state(0.0, "0 of 3")
        review.set_state(0.001, "0 of 3")
        runs.clear()
        review.clear()
        assert heard == [0.5, 0.25, 0.0, None]


async def test_progress_goes_from_the_taskbar_with_the_window(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        heard = told(session)
        session.activity.add().set_state(0.5, "1 of 2")
    assert heard == [0.5, None]


async def test_the_end_of_a_batch_asks_for_a_look_only_where_nobody_looks(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        asked: list[QWidget] = []
        window = QWidget()
        SystemNotifications(session, window, alert=asked.append, tell=lambda _: None)
        session.events.emit((BatchEnded(batch(), None),))
        assert asked == [window]
        window.show()
        window.activateWindow()
        await until(window.isActiveWindow)
        session.events.emit((BatchEnded(batch(), None),))
        assert asked == [window]
        window.deleteLater()


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


async def test_a_notice_of_the_core_is_told(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        told: list[str] = []
        window(bench).session.toasted.connect(lambda text, _: told.append(text))
        await window(bench).session.value(lambda _: fake.publish(INSTEAD))
        await until(lambda: told == [INSTEAD.text])


async def test_a_notice_that_comes_while_the_window_still_asks_what_was_interrupted_is_told(qapp: QApplication) -> None:
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
