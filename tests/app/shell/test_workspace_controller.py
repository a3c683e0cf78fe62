"""The whole window over a core in memory: first start, going places, keys, closing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPointF, QSettings, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.settings import Settings
from app.core_link.targets import ShowCase, ShowTool
from app.main import NO_DISPLAY, main
from app.screens.settings.dialog import SettingsDialog
from app.screens.welcome.page import WelcomePage
from app.shell.main_frame import MainFrame
from app.shell.screen_specs import screens
from app.shell.workspace_controller import WorkspaceController
from app.theme import theme
from app.widgets import Button, Dialog
from app.widgets.keyed_view import KeyedView
from app.widgets.notices import Toast
from mcp_tef import StoreError, ToolLabel
from tests.support.fake_engine import FakeEngine
from tests.support.windows import opened_dialog, until
from tests.support.workbench import window, workbench


@pytest.fixture
async def fake() -> FakeEngine:
    """The sample in memory."""
    made = FakeEngine()
    await made.open_sample()
    return made


@pytest.fixture
async def bench(qapp: QApplication, fake: FakeEngine) -> AsyncIterator[WorkspaceController]:
    """The workbench over the sample."""
    async with workbench(fake) as made:
        yield made


async def test_the_first_start_offers_the_sample_and_goes_to_the_runs(qapp: QApplication) -> None:
    fake = FakeEngine()
    async with workbench(fake) as bench:
        welcome = bench.frame.findChild(WelcomePage)
        assert isinstance(welcome, WelcomePage)
        welcome.open_sample.click()
        await until(lambda: window(bench).current == "runs")
        assert len(await fake.cases.list()) == 4


async def test_a_workspace_with_something_in_it_opens_where_it_was_left(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    settings = Settings(None)
    settings.set("window.place", "cases")
    async with workbench(fake, settings) as bench:
        assert window(bench).current == "cases"


async def test_the_other_pages_are_built_ahead_and_ask_the_core_for_nothing_before_they_are_shown(
    bench: WorkspaceController,
) -> None:
    made = window(bench)
    await until(made.is_built)
    pages = [made.page(place.key) for place in screens()]
    assert [page.stale for page in pages] == [place.key != made.current for place in screens()]
    assert made.stack.count() == len(screens())


async def test_keys_go_places_and_search_here(bench: WorkspaceController) -> None:
    inside = window(bench)
    inside.activateWindow()
    await until(inside.isActiveWindow)
    QTest.keyClick(inside, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: inside.current == "cases")
    QTest.keyClick(inside, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert inside.current == "servers"


def press_side_button(bench: WorkspaceController) -> None:
    """Press the button at the side of the mouse that goes back, somewhere over the window."""
    at, back = QPointF(400, 400), Qt.MouseButton.BackButton
    press = QMouseEvent(QEvent.Type.MouseButtonPress, at, at, back, back, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(bench.frame.windowHandle(), press)


async def test_back_and_forward_go_through_places_with_what_was_shown(
    bench: WorkspaceController, fake: FakeEngine
) -> None:
    inside = window(bench)
    inside.activateWindow()
    await until(inside.isActiveWindow)
    cases, servers = inside.page("cases"), inside.page("servers")
    await servers.settled()
    press_side_button(bench)
    assert not inside.navigation.forward.isEnabled()
    inside.show_screen("cases")
    await until(lambda: cases.current_target())
    first = cases.current_target()
    inside.show_target(ShowTool(ToolLabel(tool="search_parts", server="Bike shop")))
    inside.session.go(ShowCase((await fake.cases.list())[2].id))
    QTest.keyClick(inside, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert (inside.current, servers.current_target()) == (
        "servers",
        ShowTool(ToolLabel(tool="search_parts", server="Bike shop")),
    )
    press_side_button(bench)
    assert (inside.current, cases.current_target()) == ("cases", first)
    inside.navigation.forward.click()
    assert inside.current == "servers"
    QTest.keyClick(inside, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert (inside.current, cases.current_target()) == ("cases", ShowCase((await fake.cases.list())[2].id))
    assert not inside.navigation.forward.isEnabled()


async def test_no_two_commands_share_a_key(bench: WorkspaceController) -> None:
    for place in ("servers", "cases", "runs", "metrics", "similarity", "quality"):
        window(bench).show_screen(place)
        keys = [command.keys for command in window(bench).session.commands.all() if command.keys]
        assert len(keys) == len(set(keys)), keys


async def test_an_error_stands_in_the_window_until_it_is_dismissed(bench: WorkspaceController) -> None:
    window(bench).session.show_error(StoreError("The disk is full.", hint="Make room."))
    assert window(bench).notice.accessibleName() == "The disk is full. Make room."
    bench.report_crash(KeyError("secret"))
    assert "secret" not in window(bench).notice.accessibleName()


async def test_a_narrow_window_shows_icons_only(bench: WorkspaceController) -> None:
    wide = window(bench).navigation.width()
    bench.frame.resize(960, 640)
    await until(lambda: window(bench).navigation.width() < wide)


async def test_the_palette_does_what_is_typed(bench: WorkspaceController) -> None:
    popup = window(bench).show_palette()
    popup.search.setText("test cases")
    QTest.keyClick(popup.search, Qt.Key.Key_Return)
    await until(lambda: window(bench).current == "cases")


async def test_shortcuts_and_settings_open_and_close(bench: WorkspaceController) -> None:
    window(bench).show_shortcuts()
    window(bench).show_messages()
    window(bench).settings_wanted.emit()
    sheets = bench.frame.findChildren(Dialog)
    assert sorted(sheet.windowTitle() for sheet in sheets) == ["Recent messages", "Settings", "Shortcuts"]
    for sheet in sheets:
        sheet.accept()


async def test_the_page_of_shortcuts_claims_no_key_that_a_list_does_not_answer(bench: WorkspaceController) -> None:
    inside = window(bench)
    told = 0
    for place in ("servers", "cases", "runs", "quality"):
        inside.show_screen(place)
        await inside.page(place).settled()
        for view in inside.page(place).findChildren(KeyedView):
            told += bool(view.key_effects)
            for key in view.key_effects:
                assert view.receivers(f"2{SIGNALS[key]}"), (place, view.accessibleName(), key)
    assert told >= 6


SIGNALS = {
    "Enter": "opened(QString)",
    "F2": "rename_wanted(QString)",
    "Del": "delete_wanted(PyObject)",
    "Space": "peek_wanted(QString)",
}


async def test_a_toast_stays_above_every_page(bench: WorkspaceController) -> None:
    inside = window(bench)
    inside.session.toast("Removed docs", undo=lambda: None)
    inside.show_screen("runs")
    toast = inside.findChild(Toast)
    assert isinstance(toast, Toast)
    found = inside.area.childAt(toast.geometry().center())
    assert found is toast or (found is not None and toast.isAncestorOf(found))


async def test_a_toast_covers_nothing_and_gives_its_room_back(bench: WorkspaceController) -> None:
    inside = window(bench)
    inside.session.toast("Removed docs", undo=lambda: None)
    toast = inside.findChild(Toast)
    assert isinstance(toast, Toast)
    await until(lambda: inside.stack.geometry().bottom() < toast.geometry().top() > 100)
    inside.toaster.dismiss()
    await until(lambda: inside.stack.geometry() == inside.area.rect())


async def test_closing_remembers_place_and_size(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake, Settings(file)) as bench:
        window(bench).show_screen("cases")
        bench.frame.resize(1111, 777)
    assert fake.closed
    again = Settings(file)
    assert again.get("window.place", "") == "cases"
    assert again.get("window.place_and_size", [])[2:] == [1111, 777]


async def test_another_scheme_is_worn_at_once_and_remembered(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    settings = Settings(None)
    async with workbench(fake, settings) as bench:
        bench.dialog.set_theme("dark")
        assert theme().dark
        assert settings.get("theme", "") == "dark"


async def test_settings_are_reset_at_once_and_the_reset_is_taken_back(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    settings = Settings(None)
    async with workbench(fake, settings) as bench:
        session = window(bench).session
        bench.dialog.set_theme("dark")
        session.preferences.set("CONFUSABILITY_THRESHOLD", "0.7")
        await session.configure()
        window(bench).settings_wanted.emit()
        sheet = await opened_dialog(bench.frame, SettingsDialog)
        next(one for one in sheet.findChildren(Button) if one.text() == "Reset all settings").click()
        await until(lambda: fake.config.confusability_threshold == 0.5)
        assert not theme().dark
        session.undo()
        await until(lambda: fake.config.confusability_threshold == 0.7)
        assert theme().dark
        session.redo()
        await until(lambda: fake.config.confusability_threshold == 0.5)
        assert not theme().dark


def test_without_a_display_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 3
    assert capsys.readouterr().err.strip() == NO_DISPLAY


@pytest.mark.parametrize("arguments", [["work.mcp-tef"], ["--workspace", "work.mcp-tef"]])
def test_a_workspace_file_that_was_double_clicked_is_the_one_that_opens(
    qapp: QApplication, arguments: list[str]
) -> None:
    opened: list[Path | None] = []

    def work(frame: MainFrame, _: Settings, workspace: Path | None) -> int:
        opened.append(workspace)
        frame.deleteLater()
        return 0

    assert main(arguments, work) == 0
    assert opened == [Path("work.mcp-tef")]


def test_what_qt_remembers_of_its_file_dialogs_lies_with_our_own_settings(qapp: QApplication) -> None:
    def work(frame: MainFrame, _: Settings, __: Path | None) -> int:
        remembered = QSettings(QSettings.Scope.UserScope, "QtProject")
        files.append(Path(remembered.fileName()))
        frame.deleteLater()
        return 0

    files: list[Path] = []
    assert main(["work.mcp-tef"], work) == 0
    assert [(file.name, file.parent.name) for file in files] == [("QtProject.conf", "mcp-tef")]


async def test_closing_ends_everything(bench: WorkspaceController, fake: FakeEngine) -> None:
    bench.frame.close()
    await until(lambda: fake.closed)
