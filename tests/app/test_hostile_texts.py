"""Texts of people who mean harm, everywhere where a text may come from elsewhere, on every screen of the window."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.frame import Frame
from app.session import Page
from app.settings import Settings
from app.widgets.choices import ChoiceBar
from app.widgets.keyed_view import KeyedView
from app.window import Window
from app.workbench import Workbench, places
from tests.support.fake_engine import FakeEngine
from tests.support.hostile import ALL, HUGE, hostile_engine
from tests.support.walking import HIDDEN, complaints, drawn
from tests.support.windows import drive, shown, until

MOST_ROWS = 2


@asynccontextmanager
async def opened(engine: FakeEngine) -> AsyncIterator[Window]:
    """The window over a core."""
    settings = Settings(None)
    frame = Frame(settings)
    bench = Workbench(frame, settings, lambda workspace: engine.open())
    shown(frame)
    life = asyncio.create_task(bench.live(None))
    await until(lambda: bench.window is not None)
    assert bench.window is not None
    yield bench.window
    bench.leave()
    await life
    frame.close()
    frame.deleteLater()


def moved(bar: ChoiceBar) -> bool:
    """Whether a press of the right arrow chose something else."""
    before = bar.current()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    return bar.current() != before


def shows_markup(page: Page) -> bool:
    """Whether markup is on the screen as the text that it is."""
    return "<img src=" in drawn(page)


class Walk:
    """Goes through a window and notes what is wrong on its way."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self.found: set[str] = set()

    async def everywhere(self) -> None:
        """Go to every screen, whatever is chosen on it."""
        for place in places():
            self._window.show_place(place.key)
            page = self._window.page(place.key)
            await until(partial(shows_markup, page), every=0.1)
            await self._look(page)
            for bar in [one for one in page.findChildren(ChoiceBar) if one.isVisible()]:
                while moved(bar):
                    await self._look(page)
            for view in [one for one in page.findChildren(KeyedView) if one.isVisible()]:
                for row in range(min(MOST_ROWS, view.rows.rowCount())):
                    view.setCurrentIndex(view.rows.index(row, 0))
                    await self._look(page)

    async def _look(self, page: Page) -> None:
        """Note what is wrong now."""
        await page.settled()
        await asyncio.sleep(0)
        self.found |= complaints(page)
        if hidden := HIDDEN.search(drawn(page)):
            self.found.add(f"{page.title} draws U+{ord(hidden[0]):04X}")


@pytest.mark.parametrize(("text", "name"), [(ALL, ALL), (HUGE, HUGE[:500])], ids=["hostile", "huge"])
def test_every_screen_shows_foreign_text_as_text(qapp: QApplication, text: str, name: str) -> None:
    async def work() -> set[str]:
        async with opened(await hostile_engine(text, name)) as window:
            walk = Walk(window)
            await walk.everywhere()
            return walk.found

    found = drive(work())
    assert found == set(), "\n".join(sorted(found))
