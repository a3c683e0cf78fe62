"""The runs page on a qasync loop, over an engine in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.core_link.settings import Settings
from app.screens.runs.dialogs import StartDialog
from app.screens.runs.page import RunsPage
from app.widgets import Action
from mcp_tef import BatchId
from tests.support.fake_engine import FakeEngine
from tests.support.windows import PageBench, session_for, until


class Desk(PageBench[RunsPage]):
    """A page that can be used as a user would."""

    async def open(self, width: int = 1104, height: int = 800, *, sample: bool = True) -> None:
        """Show the page."""
        if sample:
            await self.session.call(lambda core: core.open_sample())
        await super().open(width, height)

    async def until_failed(self, words: str) -> None:
        """Wait for a complaint that says so, and take it as meant."""
        await until(lambda: self.failed)
        assert words in self.failed.pop()

    async def start_dialog(self) -> StartDialog:
        """The form for starting runs, once it is open."""
        await self.until(lambda: self.page.batch_actions.start_dialog)
        assert self.page.batch_actions.start_dialog is not None
        return self.page.batch_actions.start_dialog

    async def run_offline(self) -> None:
        """Run everything, and wait until its end is shown."""
        await self.page.batch_actions.run_offline()
        await self.until_ended(1)

    async def until_ended(self, batches: int) -> None:
        """Wait until so many batches are said to have ended, and the runs of one are shown."""
        await self.until(lambda: len(self.said) >= batches and self.rests())

    def rests(self) -> bool:
        """Return True if rows and summary are shown."""
        pages, figure = self.page.run_list.table.pages, self.page.run_list.summary_bar.shares[0].value.text()
        return bool(pages.rowCount() and pages.row(0).id) and figure not in ("", "…")

    def shown(self, start: str) -> QPushButton | None:
        """The button that can be pressed now whose text starts so."""
        buttons = (made for made in self.page.findChildren(QPushButton) if made.isVisible() and made.isEnabled())
        return next((made for made in buttons if made.text().startswith(start)), None)

    async def press(self, start: str) -> None:
        """Wait for a button, and click it."""
        await self.until(lambda: self.shown(start))
        button = self.shown(start)
        assert button is not None
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def batch_menu(desk: Desk, batch: BatchId) -> dict[str, Action]:
    """Select a batch in the list and return its context menu by text."""
    desk.page.batch_list.select(batch)
    return {action.text: action for action in desk.page.run_commands.batch_menu()}


@asynccontextmanager
async def runs_page(fake: FakeEngine, settings: Settings | None = None) -> AsyncIterator[Desk]:
    """Make the page over an engine; a test opens it."""
    async with session_for(fake, settings) as (session, _):
        desk = Desk(RunsPage, session, fake)
        yield desk
        await desk.close()


@pytest.fixture
async def new_desk(qapp: QApplication, fake: FakeEngine) -> AsyncIterator[Desk]:
    """The page before it is opened."""
    async with runs_page(fake) as made:
        yield made


@pytest.fixture
async def desk(new_desk: Desk) -> Desk:
    """The page over the sample."""
    await new_desk.open()
    return new_desk


@pytest.fixture
async def ran(desk: Desk) -> Desk:
    """The page after every case has run offline."""
    await desk.run_offline()
    return desk
