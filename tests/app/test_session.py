"""What screens share: tasks whose errors are shown, undo, and pages that refresh once."""

import asyncio

from PySide6.QtWidgets import QApplication, QDialog

from app.session import Page, Session
from mcp_tef import Event, NotFoundError, Noticed, ServerId, ServersTouched
from tests.support.windows import drive, session_for, until


class CountingPage(Page):
    """A page that counts its refreshes and takes notices by itself."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="counting", title="Counting")
        self.refreshed = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def refresh(self) -> None:
        self.refreshed += 1
        await self.gate.wait()

    def concerns(self, event: Event) -> bool:
        return isinstance(event, ServersTouched | Noticed)

    def receive(self, events: tuple[Event, ...]) -> bool:
        return all(isinstance(event, Noticed) for event in events)


TOUCHED = (ServersTouched((ServerId("1"),)),)


def test_an_error_that_nobody_catches_is_shown_in_words(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            shown: list[tuple[str, str, str]] = []
            session.failed.connect(lambda *words: shown.append(words))

            async def fail() -> None:
                raise NotFoundError("There is no server named docs.", hint="Add it first.")

            session.spawn(fail())
            await until(lambda: shown)
            assert shown == [("There is no server named docs.", "Add it first.", "")]

    drive(work())


def test_the_work_of_a_dialog_ends_with_it(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            dialog = QDialog()
            waiting = session.spawn(asyncio.Event().wait(), of=dialog)
            dialog.deleteLater()
            await until(waiting.done)
            assert waiting.cancelled()

    drive(work())


def test_undo_takes_back_the_last_thing_first_and_each_once(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            undone: list[str] = []

            async def later() -> None:
                undone.append("second")

            session.toast("First", undo=lambda: undone.append("first"))
            session.toast("Second", undo=later)
            session.undo()
            await until(lambda: undone)
            session.undo()
            session.undo()
            assert undone == ["second", "first"]
            assert not session.can_undo()

    drive(work())


def test_the_toast_and_the_key_undo_the_same_thing_once(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            undone: list[int] = []
            offered: list[object] = []
            session.toasted.connect(lambda _, undo: offered.append(undo))
            session.toast("Removed", undo=lambda: undone.append(1))
            session.undo()
            assert callable(offered[0])
            offered[0]()
            assert undone == [1]

    drive(work())


def test_a_visible_page_refreshes_once_for_many_events(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            page = CountingPage(session)
            page.gate.clear()
            for _ in range(5):
                page.take(TOUCHED, visible=True)
            await asyncio.sleep(0)
            page.gate.set()
            await page.settled()
            assert page.refreshed == 2

    drive(work())


def test_a_hidden_page_waits(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            page = CountingPage(session)
            page.stale = False
            page.take(TOUCHED, visible=False)
            await asyncio.sleep(0)
            assert (page.refreshed, page.stale) == (0, True)

    drive(work())


def test_a_page_that_takes_events_itself_is_not_refreshed(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            page = CountingPage(session)
            page.take((Noticed("hello"),), visible=True)
            await asyncio.sleep(0)
            assert page.refreshed == 0

    drive(work())
