"""Text can be made larger and smaller by keys and in the settings, and everything that holds text grows with it."""

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.core_link.settings import SIZES, Settings, TextSizeSetting
from app.screens.settings.dialog import SettingsDialog
from app.shell.main_window import MainWindow
from app.shell.workspace_controller import WorkspaceController
from app.theme import Size, height, theme
from app.widgets import Button, Dialog, Notice
from mcp_tef import Secret
from tests.support.special_workspaces import hostile_engine
from tests.support.widgets import placed
from tests.support.windows import until
from tests.support.workbench import workbench


def test_rows_fields_and_type_grow_together(qtbot: QtBot) -> None:
    usual = placed(qtbot, Button("Run")).sizeHint().height()
    theme().set_text_size(150)
    assert (theme().font(Size.BODY).pixelSize(), height("table_row")) == (20, 42)
    assert placed(qtbot, Button("Run")).sizeHint().height() >= usual * 1.4


def test_keys_go_from_size_to_size_and_stop_at_both_ends(qapp: QApplication) -> None:
    sizes = TextSizeSetting(Settings(None), lambda: None)
    keys = {command.keys: command.do for command in sizes.commands()}
    for _ in SIZES:
        keys["Ctrl++"]()
    assert sizes.percent() == 200
    for _ in range(2 * len(SIZES)):
        keys["Ctrl+-"]()
    assert sizes.percent() == 80
    keys["Ctrl+0"]()
    assert sizes.percent() == 100


def test_a_size_that_nobody_offers_is_not_worn(qapp: QApplication) -> None:
    settings = Settings(None)
    settings.set("window.text_size", 5_000)
    assert TextSizeSetting(settings, lambda: None).percent() == 100


async def reopened(bench: WorkspaceController, before: MainWindow | None) -> MainWindow:
    """Return the window that takes the place of another one."""
    await until(lambda: bench.window is not None and bench.window is not before and bench.window.current)
    assert bench.window is not None
    return bench.window


def press(notice: Notice, text: str) -> None:
    """Press a button of a notice."""
    next(one for one in notice.findChildren(QPushButton) if one.text() == text).click()


async def test_a_key_changes_the_size_which_applies_when_the_window_is_reopened(qapp: QApplication) -> None:
    async with workbench(await hostile_engine("Read a file", "docs")) as bench:
        before = bench.window
        assert before is not None
        before.show_screen("metrics")
        await before.session.value(lambda core: core.keys.set("openai", Secret("sk-typed")))
        bench.frame.activateWindow()
        QTest.keyClick(before, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
        await until(before.offer.isVisible)
        assert "110 %" in before.offer.accessibleName()
        assert bench.settings.get("window.text_size", 0) == 110
        press(before.offer, "Reopen now")
        window = await reopened(bench, before)
        assert window.current == "metrics"
        assert window.navigation.head.height() == round(44 * 1.1)


async def test_the_offer_to_reopen_goes_away_with_the_change(qapp: QApplication) -> None:
    async with workbench(await hostile_engine("Read a file", "docs")) as bench:
        window = bench.window
        assert window is not None
        bench.text_sizes.choose(125)
        await until(window.offer.isVisible)
        bench.text_sizes.choose(100)
        await until(lambda: not window.offer.isVisible())
        bench.text_sizes.choose(110)
        await until(window.offer.isVisible)
        press(window.offer, "Later")
        assert not window.offer.isVisible()
        assert bench.window is window


async def test_a_reset_of_the_settings_offers_the_usual_size_and_can_be_undone(qapp: QApplication) -> None:
    settings = Settings(None)
    settings.set("window.text_size", 150)
    async with workbench(await hostile_engine("Read a file", "docs"), settings) as bench:
        window = bench.window
        assert window is not None
        window.settings_wanted.emit()
        sheet = bench.frame.findChild(SettingsDialog)
        assert isinstance(sheet, SettingsDialog)
        next(one for one in sheet.findChildren(Button) if one.text() == "Reset all settings").click()
        await until(window.offer.isVisible)
        assert bench.text_sizes.percent() == 100
        await until(window.session.can_undo)
        window.session.undo()
        await until(lambda: bench.text_sizes.percent() == 150 and not window.offer.isVisible())


async def test_reopening_asks_before_it_stops_work(qapp: QApplication) -> None:
    async with workbench(await hostile_engine("Read a file", "docs")) as bench:
        before = bench.window
        assert before is not None
        gate = asyncio.Event()
        session = before.session
        session.spawn(session.call_long("Reading", lambda _: gate.wait(), slow_s=0))
        await until(session.activity.shown)
        bench.text_sizes.choose(110)
        await until(before.offer.isVisible)
        press(before.offer, "Reopen now")
        await until(lambda: bench.frame.findChildren(Dialog))
        bench.frame.findChildren(Dialog)[0].reject()
        assert bench.window is before
        await session.value(lambda _: gate.set())
