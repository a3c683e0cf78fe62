"""Every screen, view and dialog by keyboard alone, by a screen reader, at every size of text and window."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Page
from app.core_link.settings import Settings
from app.core_link.workspaces import WorkspaceMenu
from app.screens.welcome.page import WelcomePage
from app.shell.main_frame import MainFrame
from app.shell.main_window import MainWindow
from app.shell.open_error_page import OpenErrorActions, OpenErrorPage
from app.theme import Contrast, ThemeMode, theme
from app.widgets import install_accessible_roles
from mcp_tef import StoreError
from tests.support.accessibility_checks import Keyboard, Walk, beyond, cramped
from tests.support.configs import CLOCK, written
from tests.support.displayed_text import drawn
from tests.support.fake_engine import FakeEngine
from tests.support.special_workspaces import hostile_engine
from tests.support.window_tour import filled, looked_over, opened, over_screens, tour
from tests.support.windows import session_for, shown, until

pytestmark = pytest.mark.usefixtures("qapp")
SERVER, FIGURE = "docs", "Sure and wrong"
TEXT = "Read the whole of a file, then tell what stands in it"
Look = Callable[[Walk, QWidget, str], None]
Colours = tuple[ThemeMode, Contrast]
DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
LOOKS = pytest.mark.parametrize(
    ("colours", "size", "look"),
    [
        ((ThemeMode.LIGHT, Contrast.NORMAL), 100, Walk.whole),
        ((ThemeMode.DARK, Contrast.NORMAL), 100, Walk.colours),
        ((ThemeMode.LIGHT, Contrast.HIGH), 100, Walk.colours),
        ((ThemeMode.DARK, Contrast.HIGH), 100, Walk.colours),
        ((ThemeMode.LIGHT, Contrast.NORMAL), 80, Walk.room),
        ((ThemeMode.LIGHT, Contrast.NORMAL), 200, Walk.large),
    ],
    ids=["light", "dark", "light high", "dark high", "small", "large"],
)


def is_ready(page: Page) -> bool:
    """Whether a page has read what there is; on Metrics, large text leaves room for the figures alone."""
    if page.key == "models":
        return True
    text = drawn(page)
    return SERVER in text or FIGURE in text


def with_text(size: int) -> Settings:
    """Settings of who wants text of this size."""
    settings = Settings(None)
    settings.set("window.text_size", size)
    return settings


async def seen(frame: MainFrame) -> None:
    """Show a window, and wait until it has the keyboard and nothing else is in it."""
    install_accessible_roles()
    shown(frame)
    await until(lambda: frame.isActiveWindow() and len(frame.findChildren(QWidget, options=DIRECT)) == 1)


def test_the_window_is_told_of_as_a_window_before_anything_is_in_it(qapp: QApplication) -> None:
    frame = MainFrame(Settings(None))
    assert QAccessible.queryAccessibleInterface(frame).role() is QAccessible.Role.Window
    frame.deleteLater()


@LOOKS
async def test_every_screen_can_be_used_without_a_mouse_heard_and_read(
    colours: Colours, size: int, look: Look, qapp: QApplication
) -> None:
    walk = Walk()
    theme().install(*colours, application_wide=False)
    keyboard = Keyboard(qapp)
    async with opened(await hostile_engine(TEXT, SERVER), with_text(size)) as window:
        await tour(window, is_ready, lambda page: look(walk, page.window(), page.title))
        walk.take(keyboard.faults(), "a screen")
    assert not walk.found, walk.told()


@LOOKS
async def test_all_that_opens_over_the_screens_can_be_used_without_a_mouse_heard_and_read(
    colours: Colours, size: int, look: Look, tmp_path: Path
) -> None:
    walk = Walk()

    def look_at(window: MainWindow, name: str, over: QWidget) -> None:
        look(walk, over.window(), name)
        walk.take(beyond(over, window.window()), name)

    theme().install(*colours, application_wide=False)
    async with opened(await hostile_engine(TEXT, SERVER), with_text(size)) as window:
        await filled(window, is_ready)
        server = (await window.session.call(lambda core: core.servers.list()))[0]
        for name, show in over_screens(window, tmp_path, server, TEXT, SERVER):
            await looked_over(window, show, partial(look_at, window, name))
    assert not walk.found, walk.told()


@LOOKS
async def test_the_pages_outside_the_screens_can_be_used_without_a_mouse_heard_and_read(
    colours: Colours, size: int, look: Look, tmp_path: Path
) -> None:
    walk = Walk()
    theme().set_text_size(size)
    theme().install(*colours, application_wide=False)
    written(tmp_path / ".config" / "Claude" / "claude_desktop_config.json", {"mcpServers": {"clock": CLOCK}})
    for before in (0, 6) if look is Walk.whole else (6,):
        await look_at_first_page(partial(look, walk), tmp_path, before)
    for code in ("workspace_locked", "workspace_not_writable"):
        await look_at_closed_door(partial(look, walk), tmp_path, code)
    assert not walk.found, walk.told()


async def look_at_first_page(look: Callable[[QWidget, str], None], folder: Path, before: int) -> None:
    """Look at the first page after so many workspaces were open before, without and with a failure."""
    settings = Settings(None)
    files = [folder / f"A workspace that was open, number {number}.db" for number in range(before)]
    for file in files:
        file.touch()
    settings.set("workspaces", [str(file) for file in files])

    async def nowhere(_: object) -> None: ...

    async with session_for(FakeEngine(environment={"HOME": str(folder)}), settings) as (session, _):
        frame = MainFrame(settings)
        page = WelcomePage(session, WorkspaceMenu(frame, settings, nowhere, nowhere, nowhere, lambda _: None))
        frame.set_content(page)
        await seen(frame)
        await until(lambda: page.use_servers.text() == "Select from 1 server…")
        look(frame, "first page")
        page.failure.show_message(TEXT, TEXT, details=TEXT)
        look(frame, "first page with a failure")
        frame.close()
        frame.deleteLater()


async def look_at_closed_door(look: Callable[[QWidget, str], None], folder: Path, code: str) -> None:
    """Look at the page that says why a workspace cannot be opened."""

    def nothing(*_: object) -> None: ...

    error = StoreError(TEXT, hint=TEXT, code=code, context={"path": str(folder / "work.db")})
    ways = OpenErrorActions(
        try_again=nothing, copy=nothing, open_another=nothing, open_temporary=nothing, leave=nothing
    )
    frame = MainFrame(Settings(None))
    frame.set_content(OpenErrorPage(error, ways, folder))
    await seen(frame)
    look(frame, code)
    frame.close()
    frame.deleteLater()


SMALLEST = (960, 640)


@pytest.mark.parametrize("percent", [100, 150, 200])
async def test_all_that_opens_lies_inside_the_smallest_window_with_its_buttons_in_sight(
    percent: int, tmp_path: Path
) -> None:
    walk, settings = Walk(), Settings(None)
    settings.set("window.text_size", percent)

    def look_at(window: MainWindow, name: str, over: QWidget) -> None:
        walk.take(beyond(over, window.window()) | cramped(over), name)

    async with opened(await hostile_engine(TEXT, SERVER), settings) as window:
        await filled(window, is_ready)
        window.window().resize(*SMALLEST)
        server = (await window.session.call(lambda core: core.servers.list()))[0]
        for name, show in over_screens(window, tmp_path, server, TEXT, SERVER):
            await looked_over(window, show, partial(look_at, window, name))
    assert not walk.found, walk.told()
