"""A change of the theme while the window is open: every screen has the new colours and none of the old ones."""

from collections.abc import Callable

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.theme import Contrast, Role, ThemeMode, theme
from tests.support.displayed_text import drawn, faint, pixels
from tests.support.special_workspaces import hostile_engine
from tests.support.window_tour import filled, opened
from tests.support.windows import until

SERVER, TEXT = "docs", "Read the whole of a file, then tell what stands in it"
STRAY = 2_000


def is_dressed(window: QWidget) -> bool:
    """Whether every visible part wears today's sheet, and is painted."""
    worn = [one for one in window.findChildren(QWidget) if "QToolTip" in one.styleSheet() and one.isVisible()]
    return window.updatesEnabled() and bool(worn) and all(one.styleSheet() == theme().sheet for one in worn)


def number_of(colour: QColor, window: QWidget) -> int:
    """How many pixels of a window have a colour."""
    return int((pixels(window.grab().toImage()) == colour.rgb() & 0xFFFFFF).sum())


async def left_over(window: MainWindow, old: QColor) -> list[str]:
    """What of each screen can hardly be read, and whether much of it still has the colour of before."""
    found: list[str] = []
    for place in screens():
        window.show_screen(place.key)
        await window.page(place.key).settled()
        await until(lambda: is_dressed(window.window()), every=0.1)
        image = pixels(window.window().grab().toImage())
        found += [f"{place.key}: {fault}" for fault in faint(window.window(), image)]
        if (number := int((image == old.rgb() & 0xFFFFFF).sum())) > STRAY:
            found.append(f"{place.key}: {number:,} pixels have the old colour")
    return found


def light() -> None:
    """Take light colours of normal contrast again."""
    theme().set_contrast(Contrast.NORMAL)
    theme().set_mode(ThemeMode.LIGHT)


CHANGES: dict[str, tuple[Callable[[], object], Role]] = {
    "dark": (lambda: theme().set_mode(ThemeMode.DARK), Role.SURFACE),
    "dark and high": (lambda: theme().set_contrast(Contrast.HIGH), Role.SURFACE),
    "light": (light, Role.SURFACE),
    "light and high": (lambda: theme().set_contrast(Contrast.HIGH), Role.LINE),
}
"""Changes from the light theme on, one after the other, each with a colour that it replaces."""


@pytest.mark.usefixtures("qapp")
async def test_every_screen_wears_the_new_colours_and_none_of_the_old_ones() -> None:
    found: dict[str, list[str]] = {}
    async with opened(await hostile_engine(TEXT, SERVER)) as window:
        await filled(window, lambda page: SERVER in drawn(page))
        for name, (change, old) in CHANGES.items():
            colour = theme().colour(old)
            assert number_of(colour, window.window()) > STRAY
            change()
            found[name] = await left_over(window, colour)
    assert not any(found.values()), found
