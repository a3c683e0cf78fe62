"""Goes through the whole window: every screen, every view and tab of it, the first rows of every list."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Page
from app.core_link.settings import Settings
from app.shell.main_frame import MainFrame
from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.shell.workspace_controller import WorkspaceController
from app.widgets.choices import ChoiceBar
from app.widgets.keyed_view import KeyedView
from app.widgets.notices import Toast
from tests.support.fake_engine import FakeEngine
from tests.support.walking import drawn
from tests.support.windows import shown, until

MOST_ROWS = 2
Look = Callable[[Page], None]


@asynccontextmanager
async def working(engine: FakeEngine, settings: Settings | None = None) -> AsyncIterator[WorkspaceController]:
    """The whole application over a core."""
    settings = settings or Settings(None)
    frame = MainFrame(settings)
    bench = WorkspaceController(frame, settings, lambda *_: engine.open())
    shown(frame)
    life = asyncio.create_task(bench.live(None))
    await until(lambda: bench.window is not None)
    yield bench
    bench.leave()
    await life
    frame.close()
    frame.deleteLater()


@asynccontextmanager
async def opened(engine: FakeEngine, settings: Settings | None = None) -> AsyncIterator[MainWindow]:
    """The window over a core."""
    async with working(engine, settings) as bench:
        assert bench.window is not None
        yield bench.window


async def filled(window: MainWindow, ready: Callable[[Page], bool]) -> None:
    """Go to every screen, and wait until it is ready."""
    for place in screens():
        window.show_screen(place.key)
        page = window.page(place.key)
        await until(partial(ready, page), every=0.1)
        await page.settled()


async def tour(window: MainWindow, ready: Callable[[Page], bool], look: Look) -> None:
    """Go to every screen, wait until it is ready, and look at it, whatever is chosen on it."""
    for place in screens():
        window.show_screen(place.key)
        page = window.page(place.key)
        await until(partial(ready, page), every=0.1)
        await _look(page, look)
        for bar in [one for one in page.findChildren(ChoiceBar) if one.isVisible()]:
            while _moved(bar):
                await _look(page, look)
        for view in [one for one in page.findChildren(KeyedView) if one.isVisible()]:
            for row in range(min(MOST_ROWS, view.rows.rowCount())):
                view.setCurrentIndex(view.rows.index(row, 0))
                await _look(page, look)


async def _look(page: Page, look: Look) -> None:
    await page.settled()
    await _painted(page)
    await has_keyboard(page.window())
    look(page)


async def _painted(widget: QWidget) -> None:
    """Wait until nothing is held that is made in turns."""
    await until(lambda: all(one.updatesEnabled() for one in widget.findChildren(QWidget) if one.isVisible()))


def _moved(bar: ChoiceBar) -> bool:
    """Whether a press of the right arrow chose something else."""
    before = bar.current()
    bar.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    return bar.current() != before


async def looked_over(window: MainWindow, show: Callable[[], object], look: Callable[[QWidget], None]) -> None:
    """Show something that lies over the screens, look at it, whatever is chosen on it, and close it."""
    before = set(overlays(window))
    window.session.do(show)
    await until(lambda: set(overlays(window)) - before)
    for shown_now in set(overlays(window)) - before:
        await _look_at(shown_now, look)
        for bar in [one for one in shown_now.findChildren(ChoiceBar) if one.isVisible()]:
            while _moved(bar):
                await _look_at(shown_now, look)
        shown_now.close()
    await until(lambda: set(overlays(window)) <= before)


async def _look_at(widget: QWidget, look: Callable[[QWidget], None]) -> None:
    seen = None
    while (now := drawn(widget)) != seen:
        seen = now
        await asyncio.sleep(0.02)
        await _painted(widget)
    await has_keyboard(widget.window())
    look(widget)


async def has_keyboard(window: QWidget) -> None:
    """Wait until a window is the one that keys go to."""
    window.activateWindow()
    await until(lambda: window.isActiveWindow() or QApplication.activePopupWidget() is window)


def overlays(window: MainWindow) -> list[QWidget]:
    """What lies over the screens: dialogs, popups, toasts and notices."""
    inside = [*window.findChildren(Toast), window.notice]
    return [one for one in (*QApplication.topLevelWidgets(), *inside) if one.isVisible() and one is not window.window()]
