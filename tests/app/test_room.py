"""Whatever opens over the screens lies inside the window, its buttons in sight and its words whole."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.settings import Settings
from app.shell.main_window import MainWindow
from app.theme import theme
from tests.support.accessibility_checks import Walk, beyond, cramped
from tests.support.displayed_text import drawn
from tests.support.special_workspaces import hostile_engine
from tests.support.window_tour import filled, looked_over, opened, over_screens
from tests.support.windows import drive

SERVER = "docs"
TEXT = "Read the whole of a file, then tell what stands in it"
USUAL, SMALLEST = (1280, 800), (960, 640)


@pytest.fixture(autouse=True)
def usual_size(qapp: QApplication) -> Iterator[None]:
    """The next test has text as large as usual."""
    yield
    theme().set_text_size(100)


@pytest.mark.parametrize(("size", "percent"), [(USUAL, 200), (SMALLEST, 100), (SMALLEST, 150), (SMALLEST, 200)])
def test_all_that_opens_lies_inside_the_window_with_its_buttons_in_sight(
    size: tuple[int, int], percent: int, tmp_path: Path
) -> None:
    walk, settings = Walk(), Settings(None)
    settings.set("window.text_size", percent)

    def look_at(window: MainWindow, name: str, over: QWidget) -> None:
        walk.take(beyond(over, window.window()) | cramped(over), name)

    async def work() -> None:
        async with opened(await hostile_engine(TEXT, SERVER), settings) as window:
            await filled(window, lambda page: SERVER in drawn(page))
            window.window().resize(*size)
            server = (await window.session.call(lambda core: core.servers.list()))[0]
            for name, show in over_screens(window, tmp_path, server, TEXT, SERVER):
                await looked_over(window, show, partial(look_at, window, name))

    drive(work())
    assert not walk.found, walk.told()
