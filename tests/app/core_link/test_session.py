"""What screens share: tasks whose errors are shown, undo, and pages that refresh once."""

import asyncio

from PySide6.QtWidgets import QApplication, QDialog

from app.core_link.session import Page, Session
from mcp_tef import Event, NotFoundError, NoticePublished, ServerId, ServersChanged
from tests.support.windows import session_for, until


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
        return isinstance(event, ServersChanged | NoticePublished)

    def receive(self, events: tuple[Event, ...]) -> bool:
        return all(isinstance(event, NoticePublished) for event in events)


TOUCHED = (ServersChanged((ServerId("1"),)),)


async def test_an_error_that_nobody_catches_is_shown_in_words(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        shown: list[tuple[str, str, str]] = []
        session.failed.connect(lambda *words: shown.append(words))

        async def fail() -> None:
            raise NotFoundError("There is no server named docs.", hint="Add it first.")

        session.spawn(fail())
        await until(lambda: shown)
        assert shown == [("There is no server named docs.", "Add it first.", "")]


async def test_a_page_says_what_it_loads_until_its_first_content_is_there(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        page = CountingPage(session)
        page.gate.clear()
        page.show()
        page.request_refresh()
        await until(page.loading.isVisible)
        assert page.loading.text.text() == "Loading counting…"
        page.gate.set()
        await page.settled()
        assert not page.loading.isVisible()
        assert page.loading_text() == ""


async def test_the_work_of_a_dialog_ends_with_it(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        dialog = QDialog()
        waiting = session.spawn(asyncio.Event().wait(), of=dialog)
        dialog.deleteLater()
        await until(waiting.done)
        assert waiting.cancelled()


async def test_what_takes_long_is_seen_at_the_foot_and_can_be_stopped_there(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        endless = session.spawn(session.call_long("Reading cases.yaml", lambda _: asyncio.Event().wait(), slow_s=0))
        await until(session.activity.shown)
        (bar,) = session.activity.shown()
        assert session.activity.fraction() is None
        bar.cancel_button.click()
        await until(endless.done)
        assert endless.cancelled()
        assert session.activity.shown() == ()


async def test_what_is_soon_done_or_must_not_be_stopped_offers_no_way_to_stop_it(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        gate = asyncio.Event()
        session.spawn(session.call_long("Soon", lambda _: gate.wait(), slow_s=60))
        session.spawn(session.call_long("Late", lambda _: gate.wait(), can_cancel=False, slow_s=0))
        await until(session.activity.shown)
        (bar,) = session.activity.shown()
        assert bar.cancel_button.isHidden()


async def test_a_visible_page_refreshes_once_for_many_events(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        page = CountingPage(session)
        page.gate.clear()
        for _ in range(5):
            page.on_events(TOUCHED, visible=True)
        await asyncio.sleep(0)
        page.gate.set()
        await page.settled()
        assert page.refreshed == 2


async def test_a_hidden_page_waits(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        page = CountingPage(session)
        page.stale = False
        page.on_events(TOUCHED, visible=False)
        await asyncio.sleep(0)
        assert (page.refreshed, page.stale) == (0, True)


async def test_a_page_that_takes_events_itself_is_not_refreshed(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        page = CountingPage(session)
        page.on_events((NoticePublished("hello"),), visible=True)
        await asyncio.sleep(0)
        assert page.refreshed == 0


async def test_what_was_said_can_be_read_again_the_last_fifty_of_it(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        for number in range(60):
            session.toast(f"Said {number}")
        session.failed.emit("It failed.", "Try again.", "details")
        assert len(session.messages) == 50
        assert [one.text for one in session.messages[-2:]] == ["Said 59", "It failed. Try again."]
