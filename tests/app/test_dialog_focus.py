"""The keyboard focus while a dialog or a message is shown, and after Esc closed it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import SIGNAL, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.screens.runs.dialogs import RenameBatchDialog
from app.shell.main_window import MainWindow
from app.widgets import Button, Dialog, Picker, install_accessible_roles
from app.widgets.accessibility import reading_order
from app.widgets.notices import Notice, Toast, Toaster
from tests.support.accessibility_checks import interactive
from tests.support.displayed_text import drawn
from tests.support.fake_engine import FakeEngine
from tests.support.special_workspaces import hostile_engine
from tests.support.tour_of_dialogs import further_dialogs
from tests.support.widgets import placed
from tests.support.window_tour import filled, has_keyboard, opened, over_screens, overlays
from tests.support.windows import until

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


async def test_each_dialog_has_the_keyboard_presses_the_focused_button_and_ends_with_esc(
    qapp: QApplication, tmp_path: Path
) -> None:
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
        if isinstance(over, Dialog):
            try_enter(over, name)
        QTest.keyClick(QApplication.focusWidget() or over, Qt.Key.Key_Escape)
        await until(lambda: over not in overlays(window))
        await has_keyboard(window.window())
        await until(lambda: QApplication.focusWidget() is had)

    async with opened(await hostile_engine(TEXT, SERVER)) as window:
        await filled(window, lambda page: page.key == "models" or SERVER in drawn(page))
        window.show_screen("quality")
        server = (await window.session.call(lambda core: core.servers.list()))[0]
        await has_keyboard(window.window())
        dialogs = further_dialogs(window, TEXT)
        for name, show in (*over_screens(window, tmp_path, server, TEXT, SERVER), *dialogs):
            window.page("quality").header.buttons()[0].setFocus(Qt.FocusReason.TabFocusReason)
            await look_at(window, name, show)
    assert words == ["toast", "error"]
    assert len(sheets) > 40


def try_enter(over: Dialog, name: str) -> None:
    """Enter presses each button that has the focus, and Cancel is never the default one."""
    buttons = [one for one in reading_order(over) if isinstance(one, QAbstractButton) and one.isEnabled()]
    defaults = [one.text() for one in buttons if isinstance(one, QPushButton) and one.isDefault()]
    assert not {"Cancel", "Not now", "Keep editing"}.intersection(defaults), name
    for one in buttons:
        if not isinstance(one, Picker | QCheckBox):
            assert pressed_by_enter(over, one) == [one], f"{name}: {one.accessibleName() or one.text()}"


def pressed_by_enter(over: QWidget, control: QAbstractButton) -> list[QAbstractButton]:
    """The buttons that Enter on one of them presses; none of them does what it is for."""
    pressed: list[QAbstractButton] = []
    buttons = [one for one in over.findChildren(QAbstractButton) if one.isVisible() and one.isEnabled()]
    for one in buttons:
        if one.receivers(SIGNAL("clicked(bool)")):
            one.clicked.disconnect()
        one.clicked.connect(partial(pressed.append, one))
    control.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(control, Qt.Key.Key_Return)
    return pressed


def test_a_word_is_an_alert_with_all_that_it_says_for_who_hears_it_read(qtbot: QtBot) -> None:
    install_accessible_roles()
    host = placed(qtbot, QWidget(), shown=True)
    Toaster(host).show("Deleted 3 test cases", undo=lambda: None)
    (toast,) = host.findChildren(Toast)
    told = QAccessible.queryAccessibleInterface(toast)
    assert told.role() is QAccessible.Role.AlertMessage
    assert told.text(QAccessible.Text.Name) == "Deleted 3 test cases"
    assert [told.child(place).text(QAccessible.Text.Name) for place in range(1, told.childCount())] == ["Undo", "Close"]


async def test_what_was_typed_is_not_lost_to_esc_without_a_question(qapp: QApplication, tmp_path: Path) -> None:
    async with opened(FakeEngine()) as window:
        dialog = RenameBatchDialog("Nightly", window)
        dialog.open()
        await has_keyboard(dialog)
        QTest.keyClick(dialog.edit, Qt.Key.Key_End)
        QTest.keyClicks(dialog.edit, " 2")
        QTest.keyClick(dialog.edit, Qt.Key.Key_Escape)
        await until(lambda: isinstance(QApplication.activeWindow(), Dialog) and QApplication.activeWindow() != dialog)
        question = QApplication.activeWindow()
        assert isinstance(question, Dialog)
        await until(lambda: can_act(question))
        QTest.keyClick(QApplication.focusWidget() or question, Qt.Key.Key_Return)
        await has_keyboard(dialog)
        assert (dialog.isVisible(), dialog.edit.text()) == (True, "Nightly 2")
        await until(dialog.edit.hasFocus)
        QTest.keyClick(dialog.edit, Qt.Key.Key_Escape)
        await until(lambda: isinstance(QApplication.activeWindow(), Dialog) and QApplication.activeWindow() != dialog)
        again = QApplication.activeWindow()
        assert isinstance(again, Dialog)
        discard = next(one for one in again.findChildren(Button) if one.text() == "Discard")
        discard.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(discard, Qt.Key.Key_Return)
        await until(lambda: dialog not in QApplication.topLevelWidgets() or not dialog.isVisible())
