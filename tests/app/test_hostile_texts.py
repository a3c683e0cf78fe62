"""Texts of people who mean harm, everywhere where a text may come from elsewhere, on every screen of the window."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.frame import Frame
from app.launches import ConsentSheet
from app.screens.cases.page import CasesPage
from app.screens.servers.page import ServersPage
from app.session import Page
from app.settings import Settings
from app.widgets import ask
from app.widgets.choices import ChoiceBar
from app.widgets.keyed_view import KeyedView
from app.widgets.notices import Toast
from app.window import Window
from app.workbench import Workbench, places
from mcp_tef import ServerSpec, StoreError, Transport
from tests.support.case_book import written
from tests.support.fake_engine import FakeEngine
from tests.support.hostile import ALL, HUGE, MARKUP, hostile_engine
from tests.support.walking import HIDDEN, complaints, drawn
from tests.support.windows import drive, shown, until

MOST_ROWS = 2
P = TypeVar("P", bound=Page)


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


def dialogs(window: Window, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that opens over the screens and says something that came from elsewhere."""
    session = window.session

    def page_of(kind: type[P]) -> P:
        return next(page for page in window.findChildren(kind) if isinstance(page, kind))

    commands = {command.id: command.do for place in places() for command in window.page(place.key).commands()}
    case = {"name": ALL, "query": ALL, "servers": [ALL], "expected": [{"tool": ALL}], "tags": [ALL], "odd": ALL}
    cases = written(folder / "cases.json", {"version": 1, "cases": [case, {"query": 1, "name": ALL}]})
    config = {"command": ALL, "args": [ALL, MARKUP], "env": {MARKUP: ALL}, "note": ALL, "cwd": ALL}
    configs = written(folder / "mcp.json", {"mcpServers": {ALL: config, MARKUP: {"url": MARKUP}}})
    spec = ServerSpec(name=ALL, transport=Transport.STDIO, command=ALL, args=(ALL,), cwd=ALL, env={ALL: ALL})
    yield "toast", lambda: session.toast(ALL, undo=lambda: None)
    yield "error", lambda: session.show_error(StoreError(ALL, hint=ALL, context={ALL: ALL}))
    yield "consent", lambda: ConsentSheet(spec, window).open()
    yield "question", lambda: session.spawn(ask(window, ALL, ALL, yes="Yes"))
    yield "import of cases", lambda: session.spawn(page_of(CasesPage).transfer.import_file(cases))
    yield "import of servers", lambda: page_of(ServersPage).importing.take([configs])
    yield "server", commands["servers.edit"]
    yield "start", commands["runs.start"]
    yield "questions to a model", commands["quality.ask"]
    yield "palette", window.show_palette


def test_every_dialog_and_notice_shows_foreign_text_as_text(qapp: QApplication, tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}

    async def work() -> None:
        async with opened(await hostile_engine(ALL, ALL)) as window:
            for place in places():
                window.show_place(place.key)
                await until(partial(shows_markup, window.page(place.key)), every=0.1)
            for name, show in dialogs(window, tmp_path):
                before = set(overlays(window))
                window.session.do(show)
                await until(partial(others, window, before))
                found[name] = complaints(window)
                for shown in others(window, before):
                    found[name] |= {"it draws something hidden"} if HIDDEN.search(drawn(shown)) else set()
                    shown.close()

    drive(work())
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert len(found) == 10


def others(window: Window, before: set[QWidget]) -> set[QWidget]:
    """What has come to lie over the screens."""
    return set(overlays(window)) - before


def overlays(window: Window) -> list[QWidget]:
    """What lies over the screens: dialogs, popups, toasts and notices."""
    inside = [*window.findChildren(Toast), window.notice]
    return [one for one in (*QApplication.topLevelWidgets(), *inside) if one.isVisible() and one is not window.window()]
