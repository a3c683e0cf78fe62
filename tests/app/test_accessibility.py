"""Every screen, view and dialog by keyboard alone, by a screen reader, at every size of text and window."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Page
from app.core_link.settings import Settings
from app.core_link.workspaces import WorkspaceMenu
from app.screens.welcome.page import WelcomePage
from app.shell.main_frame import MainFrame
from app.shell.main_window import MainWindow
from app.shell.open_error_page import OpenErrorActions, OpenErrorPage
from app.theme import Contrast, Role, ThemeMode, theme
from app.widgets import install_accessible_roles
from mcp_tef import StoreError
from tests.support.accessibility_checks import Keyboard, Walk, beyond
from tests.support.configs import CLOCK, written
from tests.support.displayed_text import drawn, pixels
from tests.support.fake_engine import FakeEngine
from tests.support.special_workspaces import hostile_engine
from tests.support.window_tour import filled, looked_over, opened, over_screens, tour
from tests.support.windows import session_for, shown, until

pytestmark = pytest.mark.usefixtures("qapp")
SERVER, FIGURE = "docs", "Sure and wrong"
TEXT = "Read the whole of a file, then tell what stands in it"
Look = Callable[[QWidget, str], None]
Colours = tuple[ThemeMode, Contrast]
DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
SMALLEST, USUAL = (960, 640), (1280, 800)
MOST_STRAY = 10_000
DARK, DARK_HIGH = (ThemeMode.DARK, Contrast.NORMAL), (ThemeMode.DARK, Contrast.HIGH)
LIGHT_HIGH = (ThemeMode.LIGHT, Contrast.HIGH)


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


def look_at_colours(walk: Walk, old: QColor, page: Page) -> None:
    """Look at the colours of a screen, of which those of before are gone but for some letters."""
    walk.colours(page.window(), page.title)
    stray = int((pixels(page.window().grab().toImage()) == old.rgb() & 0xFFFFFF).sum())
    walk.take({"it has the colour of before"} if stray > MOST_STRAY else set(), page.title)


def is_dressed(page: Page) -> bool:
    """True if every visible part of a window has the current style sheet, and is painted."""
    parts = [page.window(), *page.window().findChildren(QWidget)]
    worn = [one.styleSheet() for one in parts if "QToolTip" in one.styleSheet() and one.isVisible()]
    return page.window().updatesEnabled() and bool(worn) and set(worn) == {theme().sheet}


async def test_every_screen_can_be_used_without_a_mouse_heard_and_read_also_in_new_colours(qapp: QApplication) -> None:
    walk, keyboard = Walk(), Keyboard(qapp)
    async with opened(await hostile_engine(TEXT, SERVER)) as window:
        await tour(window, is_ready, lambda page: walk.whole(page.window(), page.title))
        walk.take(keyboard.faults(), "a screen")
        old = theme().colour(Role.SURFACE)
        walk.recolour(*DARK_HIGH)
        await tour(window, is_dressed, partial(look_at_colours, walk, old), rows=0)
    assert not walk.found, walk.told()


@pytest.mark.parametrize(("size", "colours"), [(80, DARK), (200, LIGHT_HIGH)], ids=["small, dark", "large, light high"])
async def test_every_screen_can_be_used_with_text_of_another_size_and_in_other_colours(
    size: int, colours: Colours, qapp: QApplication
) -> None:
    walk = Walk()

    def look(page: Page) -> None:
        (walk.room if size < 100 else walk.large)(page.window(), page.title)
        walk.texts(page.window(), page.title)

    theme().install(*colours, application_wide=False)
    async with opened(await hostile_engine(TEXT, SERVER), with_text(size)) as window:
        await tour(window, is_ready, look)
    assert not walk.found, walk.told()


async def test_all_that_opens_can_be_used_without_a_mouse_heard_and_read(qapp: QApplication, tmp_path: Path) -> None:
    walk = Walk()
    async with opened(await hostile_engine(TEXT, SERVER)) as window:
        await filled(window, is_ready)
        window.window().resize(*SMALLEST)
        await look_over_all(window, tmp_path, walk, walk.whole)
        walk.recolour(*DARK)
        await look_over_all(window, tmp_path, walk, walk.colours)
    assert not walk.found, walk.told()


async def test_all_that_opens_can_be_used_with_large_text(qapp: QApplication, tmp_path: Path) -> None:
    walk = Walk()
    theme().install(*DARK_HIGH, application_wide=False)
    async with opened(await hostile_engine(TEXT, SERVER), with_text(200)) as window:
        await filled(window, is_ready)
        window.window().resize(*SMALLEST)
        await look_over_all(window, tmp_path, walk, walk.room, walk.texts)
        window.window().resize(*USUAL)
        walk.recolour(*LIGHT_HIGH)
        await look_over_all(window, tmp_path, walk, walk.large, walk.texts)
    assert not walk.found, walk.told()


async def look_over_all(window: MainWindow, folder: Path, walk: Walk, *looks: Look) -> None:
    """Look at each dialog, popup and notice, and at whether it lies inside the window with its buttons in sight."""

    def look_at(name: str, over: QWidget) -> None:
        for look in looks:
            look(over.window(), name)
        walk.take(beyond(over, window.window()), name)

    await until(partial(is_dressed, window.page(window.current)))
    server = (await window.session.call(lambda core: core.servers.list()))[0]
    for name, show in over_screens(window, folder, server, TEXT, SERVER):
        await looked_over(window, show, partial(look_at, name))


@pytest.mark.parametrize("size", [100, 80, 200])
async def test_the_pages_outside_the_screens_can_be_used_without_a_mouse_heard_and_read(
    size: int, tmp_path: Path
) -> None:
    walk = Walk()
    theme().set_text_size(size)
    written(tmp_path / ".config" / "Claude" / "claude_desktop_config.json", {"mcpServers": {"clock": CLOCK}})
    await look_outside({100: walk.whole, 80: walk.room, 200: walk.large}[size], tmp_path)
    for colours in (DARK, DARK_HIGH, LIGHT_HIGH) if size == 100 else ():
        walk.recolour(*colours)
        await look_outside(walk.colours, tmp_path)
    assert not walk.found, walk.told()


async def look_outside(look: Look, folder: Path) -> None:
    """Look at the first page, where no workspace or many were open before, and at the one that says why none opens."""
    for before in (0, 6):
        await look_at_first_page(look, folder, before)
    for code in ("workspace_locked", "workspace_not_writable"):
        await look_at_closed_door(look, folder, code)


async def look_at_first_page(look: Look, folder: Path, before: int) -> None:
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


async def look_at_closed_door(look: Look, folder: Path, code: str) -> None:
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
