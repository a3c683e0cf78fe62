"""The keyboard focus while a dialog or a message is shown, and after Esc closed it."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.shell.main_window import MainWindow
from app.widgets import install_accessible_roles
from app.widgets.notices import Notice, Toast, Toaster
from tests.support.accessibility_checks import interactive
from tests.support.displayed_text import drawn
from tests.support.special_workspaces import hostile_engine
from tests.support.widgets import placed
from tests.support.window_tour import filled, has_keyboard, opened, over_screens, overlays
from tests.support.windows import drive, until

SERVER = "docs"
TEXT = "Read the whole of a file, then tell what stands in it"


async def came_up(window: MainWindow, show: Callable[[], object]) -> QWidget:
    """What opens when something is shown."""
    before = set(overlays(window))
    window.session.do(show)
    await until(lambda: set(overlays(window)) - before)
    (over,) = set(overlays(window)) - before
    return over


def can_act(over: QWidget) -> bool:
    """Whether the keyboard is on something in it that can be used."""
    return QApplication.focusWidget() in interactive(over.window())


def test_a_sheet_has_the_keyboard_until_esc_gives_it_back_and_a_word_never_takes_it(tmp_path: Path) -> None:
    words: list[str] = []
    sheets: list[str] = []

    async def look_at(window: MainWindow, name: str, show: Callable[[], object]) -> None:
        had = QApplication.focusWidget()
        over = await came_up(window, show)
        if isinstance(over, Toast | Notice):
            words.append(name)
            assert QApplication.focusWidget() is had, f"{name} takes the keyboard"
            over.close()
            return
        sheets.append(name)
        await has_keyboard(over.window())
        await until(lambda: can_act(over))
        QTest.keyClick(QApplication.focusWidget() or over, Qt.Key.Key_Escape)
        await until(lambda: over not in overlays(window))
        await has_keyboard(window.window())
        await until(lambda: QApplication.focusWidget() is had)

    async def work() -> None:
        async with opened(await hostile_engine(TEXT, SERVER)) as window:
            await filled(window, lambda page: SERVER in drawn(page))
            server = (await window.session.call(lambda core: core.servers.list()))[0]
            await has_keyboard(window.window())
            for name, show in over_screens(window, tmp_path, server, TEXT, SERVER):
                window.page("quality").header.buttons()[0].setFocus(Qt.FocusReason.TabFocusReason)
                await look_at(window, name, show)

    drive(work())
    assert words == ["toast", "error"]
    assert len(sheets) > 15


def test_a_word_is_an_alert_with_all_that_it_says_for_who_hears_it_read(qtbot: QtBot) -> None:
    install_accessible_roles()
    host = placed(qtbot, QWidget(), shown=True)
    Toaster(host).show("Deleted 3 test cases", undo=lambda: None)
    (toast,) = host.findChildren(Toast)
    told = QAccessible.queryAccessibleInterface(toast)
    assert told.role() is QAccessible.Role.AlertMessage
    assert told.text(QAccessible.Text.Name) == "Deleted 3 test cases"
    assert [told.child(place).text(QAccessible.Text.Name) for place in range(1, told.childCount())] == ["Undo", "Close"]
