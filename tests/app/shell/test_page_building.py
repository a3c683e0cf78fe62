"""Pages are built in the background, and the requested page comes first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTableView

from app.core_link.targets import Screen, ShowScreen
from app.shell.main_frame import PRODUCT
from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.widgets import SearchField, at_once
from mcp_tef import BatchRequest, ModelSettings
from tests.support.fake_engine import FakeEngine
from tests.support.window_tour import has_keyboard
from tests.support.windows import session_for, shown, until
from tests.support.workbench import window, workbench


async def test_the_pages_are_built_behind_the_welcome_while_it_is_read_and_go_with_a_workspace_that_is_left(
    qapp: QApplication, tmp_path: Path
) -> None:
    async with workbench(FakeEngine()) as bench:
        first = window(bench)
        await until(first.is_built)
        assert not first.isVisible()
        bench.leave(tmp_path / "following.db")
        await until(lambda: bench.window not in (first, None))
        await until(lambda: bench.frame.findChildren(MainWindow) == [window(bench)])


@pytest.mark.parametrize("key", ["servers", "runs"])
async def test_a_large_page_is_made_a_part_at_a_time(qapp: QApplication, key: str) -> None:
    async with session_for(FakeEngine()) as (session, _):
        (place,) = (one for one in screens() if one.key == key)
        making = place.make(session)
        for _ in range(2):
            next(making)
        page = at_once(making)
        assert page.key == key
        page.deleteLater()


async def test_the_first_visit_to_runs_by_a_key_puts_the_keyboard_into_its_list(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    batch = await fake.runs.start(BatchRequest(models=(ModelSettings(provider="offline", model="retrieval"),)))
    await fake.runs.wait(batch.id)
    async with workbench(fake) as bench:
        await until(lambda: window(bench).current == "servers")
        QTest.keyClick(window(bench), Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: isinstance(bench.frame.focusWidget(), QTableView))


async def test_of_places_that_are_wished_for_in_haste_the_last_one_is_shown(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        await until(lambda: inside.current == "servers")
        shown = [inside.current]
        inside.navigation.wanted.emit("metrics")
        inside.navigation.wanted.emit("cases")
        await until(lambda: inside.current != "servers")
        shown.append(inside.current)
        await until(inside.is_built)
        assert (*shown, inside.current) == ("servers", "cases", "cases")


@asynccontextmanager
async def searching_servers() -> AsyncIterator[tuple[MainWindow, SearchField]]:
    """A window with the one page of the servers, whose search has the keyboard; nothing builds the others."""
    fake = FakeEngine()
    await fake.open_sample()
    async with session_for(fake) as (session, _):
        inside = MainWindow(session, screens(), PRODUCT)
        shown(inside)
        inside.go(ShowScreen(Screen.SERVERS))
        await until(lambda: inside.current == "servers")
        await inside.page("servers").settled()
        await has_keyboard(inside)
        search = inside.page("servers").header.search
        assert search is not None
        search.setFocus()
        yield inside, search
        await inside.finish()
        inside.close()
        session.activity.setParent(None)  # the session takes it along
        inside.deleteLater()


def type_on(letter: str) -> str:
    """Press a key wherever the keyboard is."""
    has_it = QApplication.focusWidget()
    assert has_it is not None
    QTest.keyClicks(has_it, letter)
    return letter


async def test_what_is_typed_while_other_pages_are_built_stays_where_it_was_begun(qapp: QApplication) -> None:
    async with searching_servers() as (inside, search):
        typed, building = "", asyncio.create_task(inside.prepare())
        while not building.done():
            typed += type_on("abc"[len(typed) % 3])
            await asyncio.sleep(0.002)
        assert inside.is_built()
        assert (search.text(), QApplication.focusWidget()) == (typed, search)


async def test_keys_go_to_what_is_seen_until_the_page_that_was_wished_for_is_there_and_to_that_page_from_then_on(
    qapp: QApplication,
) -> None:
    async with searching_servers() as (inside, search):
        QTest.keyClick(inside, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
        typed = ""
        while inside.current == "servers":
            typed += type_on("abc"[len(typed) % 3])
            await asyncio.sleep(0)
        assert typed
        assert search.text() == typed
        type_on("z")
        await inside.page("cases").settled()
        type_on("z")
        focus = QApplication.focusWidget()
        assert focus is not None
        assert inside.page("cases").isAncestorOf(focus)
        assert search.text() == typed
