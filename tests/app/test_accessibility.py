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
    return page.key == "models" or any(words in drawn(page) for words in (SERVER, FIGURE))


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
    theme().install(*colours)
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

    def look_at(name: str, over: QWidget) -> None:
        look(walk, over.window(), name)

    theme().install(*colours)
    async with opened(await hostile_engine(TEXT, SERVER), with_text(size)) as window:
        await filled(window, is_ready)
        server = (await window.session.call(lambda core: core.servers.list()))[0]
        for name, show in over_screens(window, tmp_path, server, TEXT, SERVER):
            await looked_over(window, show, partial(look_at, name))
    assert not walk.found, walk.told()


@LOOKS
@pytest.mark.parametrize("before", [0, 1, 6])
async def test_the_first_page_can_be_used_without_a_mouse_heard_and_read(
    before: int, colours: Colours, size: int, look: Look, tmp_path: Path
) -> None:
    walk, settings = Walk(), Settings(None)
    theme().set_text_size(size)
    files = [tmp_path / f"A workspace that was open, number {number}.db" for number in range(before)]
    for file in files:
        file.touch()
    settings.set("workspaces", [str(file) for file in files])
    written(tmp_path / ".config" / "Claude" / "claude_desktop_config.json", {"mcpServers": {"clock": CLOCK}})

    async def nowhere(_: object) -> None: ...

    theme().install(*colours)
    async with session_for(FakeEngine(environment={"HOME": str(tmp_path)}), settings) as (session, _):
        frame = MainFrame(settings)
        page = WelcomePage(session, WorkspaceMenu(frame, settings, nowhere, nowhere, nowhere, lambda _: None))
        frame.set_content(page)
        await seen(frame)
        await until(lambda: page.use_servers.text() == "Select from 1 server…")
        look(walk, frame, "first page")
        page.failure.show_message(TEXT, TEXT, details=TEXT)
        look(walk, frame, "first page with a failure")
        frame.close()
        frame.deleteLater()
    assert not walk.found, walk.told()


@LOOKS
@pytest.mark.parametrize("code", ["workspace_locked", "workspace_not_writable"])
async def test_the_closed_door_can_be_used_without_a_mouse_heard_and_read(
    code: str, colours: Colours, size: int, look: Look, tmp_path: Path
) -> None:
    def nothing(*_: object) -> None: ...

    walk = Walk()
    theme().set_text_size(size)
    error = StoreError(TEXT, hint=TEXT, code=code, context={"path": str(tmp_path / "work.db")})
    ways = OpenErrorActions(
        try_again=nothing, copy=nothing, open_another=nothing, open_temporary=nothing, leave=nothing
    )
    theme().install(*colours)
    frame = MainFrame(Settings(None))
    frame.set_content(OpenErrorPage(error, ways, tmp_path))
    await seen(frame)
    look(walk, frame, code)
    frame.close()
    frame.deleteLater()
    assert not walk.found, walk.told()


USUAL, SMALLEST = (1280, 800), (960, 640)


@pytest.mark.parametrize(("size", "percent"), [(USUAL, 200), (SMALLEST, 100), (SMALLEST, 150), (SMALLEST, 200)])
async def test_all_that_opens_lies_inside_the_window_with_its_buttons_in_sight(
    size: tuple[int, int], percent: int, tmp_path: Path
) -> None:
    walk, settings = Walk(), Settings(None)
    settings.set("window.text_size", percent)

    def look_at(window: MainWindow, name: str, over: QWidget) -> None:
        walk.take(beyond(over, window.window()) | cramped(over), name)

    async with opened(await hostile_engine(TEXT, SERVER), settings) as window:
        await filled(window, is_ready)
        window.window().resize(*size)
        server = (await window.session.call(lambda core: core.servers.list()))[0]
        for name, show in over_screens(window, tmp_path, server, TEXT, SERVER):
            await looked_over(window, show, partial(look_at, window, name))
    assert not walk.found, walk.told()
