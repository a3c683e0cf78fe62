"""The runs page on a qasync loop, over an engine in memory."""

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.core_link.session import Session
from app.core_link.settings import Settings
from app.core_link.targets import Target
from app.screens.runs.page import RunsPage
from app.widgets import Action
from mcp_tef import BatchId
from tests.support.fake_engine import FakeEngine
from tests.support.windows import drive, session_for, until


class Desk:
    """A page that can be used as a user would."""

    def __init__(self, session: Session, fake: FakeEngine, qtbot: QtBot) -> None:
        self.session = session
        self.fake = fake
        self.bot: Any = qtbot
        self.said: list[str] = []
        self.failed: list[str] = []
        self.gone: list[Target] = []
        self.session.toasted.connect(lambda text, _: self.said.append(text))
        self.session.failed.connect(lambda message, hint, details: self.failed.append(message))
        self.session.navigated.connect(self.gone.append)
        self.page = RunsPage(self.session)
        self.session.events.connect(lambda events: self.page.on_events(events, visible=True))

    async def open(self, *, sample: bool = True) -> None:
        """Show the page."""
        if sample:
            await self.session.call(lambda core: core.open_sample())
        self.page.resize(1104, 800)
        self.page.show()
        self.page.request_refresh()
        await self.page.settled()

    async def until(self, seen: Callable[[], object]) -> None:
        """Wait for something to be seen."""
        await until(lambda: seen() or self.failed)
        assert self.failed == []

    async def until_failed(self, words: str) -> None:
        """Wait for a complaint that says so, and take it as meant."""
        await until(lambda: self.failed)
        assert words in self.failed.pop()

    async def run_offline(self) -> None:
        """Run everything, and wait until its end is shown."""
        await self.page.batch_actions.run_offline()
        await self.until_ended(1)

    async def until_ended(self, batches: int) -> None:
        """Wait until so many batches are said to have ended, and the runs of one are shown."""
        await self.until(lambda: len(self.said) >= batches and self.rests())

    def rests(self) -> bool:
        """Return True if rows and summary are shown."""
        pages, figure = self.page.run_list.table.pages, self.page.run_list.summary_bar.value.text()
        return bool(pages.rowCount() and pages.row(0).id) and figure not in ("", "…")

    def shown(self, start: str) -> QPushButton | None:
        """The button that can be pressed now whose text starts so."""
        buttons = (made for made in self.page.findChildren(QPushButton) if made.isVisible() and made.isEnabled())
        return next((made for made in buttons if made.text().startswith(start)), None)

    async def press(self, start: str) -> None:
        """Wait for a button, and click it."""
        await self.until(lambda: self.shown(start))
        self.bot.mouseClick(self.shown(start), Qt.MouseButton.LeftButton)


def batch_menu(desk: Desk, batch: BatchId) -> dict[str, Action]:
    """Select a batch in the list and return its context menu by text."""
    desk.page.batch_list.select(batch)
    return {action.text: action for action in desk.page.run_commands.batch_menu()}


Story = Callable[..., Coroutine[Any, Any, None]]


async def tell(story: Story, bot: QtBot, settings: Settings | None, engine: FakeEngine, given: dict[str, Any]) -> None:
    """Run a test with a page over an engine, and close everything after it."""
    async with session_for(engine, settings) as (session, fake):
        desk = Desk(session, fake, bot)
        await story(desk, **given)
        assert desk.failed == []
        session.events.disconnect()
        desk.page.hide()
        desk.page.deleteLater()


def on_page(settings: Settings | None = None, **engine: Any) -> Callable[[Story], Callable[..., None]]:
    """A decorator for `async def test(desk, …)`: runs it on the window's loop, with a page over such an engine."""

    def decorate(story: Story) -> Callable[..., None]:
        def run(qapp: QApplication, qtbot: QtBot, **given: Any) -> None:
            drive(tell(story, qtbot, settings, FakeEngine(**engine), given))

        fixtures = [*inspect.signature(run).parameters.values()][:2] + [*inspect.signature(story).parameters.values()][
            1:
        ]
        named = [fixture.replace(kind=inspect.Parameter.KEYWORD_ONLY) for fixture in fixtures]
        run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]  # functions take one
        run.__name__, run.__doc__, run.__module__ = story.__name__, story.__doc__, story.__module__
        return run

    return decorate


@pytest.fixture
def use(qapp: QApplication, qtbot: QtBot) -> Callable[..., None]:
    """Run several stories, each with a page of its own over an engine made of the arguments."""

    def run(story: Story, settings: Settings | None = None, **engine: Any) -> None:
        drive(tell(story, qtbot, settings, FakeEngine(**engine), {}))

    return run
