"""The whole window over a core in memory: first start, going places, keys, closing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.frame import Frame
from app.main import NO_DISPLAY, main
from app.screens.welcome.page import WelcomePage
from app.settings import Settings
from app.theme import ThemeMode, theme
from app.widgets import Sheet
from app.widgets.notices import Toast
from app.window import Window
from app.workbench import Workbench, places
from mcp_tef import BatchRequest, Noticed, StoreError
from tests.support.fake_engine import FakeEngine
from tests.support.windows import drive, shown, until


@asynccontextmanager
async def workbench(fake: FakeEngine, settings: Settings | None = None) -> AsyncIterator[Workbench]:
    """A workbench that lives, and is left at the end."""
    kept = settings or Settings(None)
    frame = Frame(kept)
    bench = Workbench(frame, kept, lambda workspace: fake.open())
    shown(frame)
    life = asyncio.create_task(bench.live(None))
    await until(lambda: bench.window is not None)
    yield bench
    bench.leave()
    await life
    frame.close()
    frame.deleteLater()


def window(bench: Workbench) -> Window:
    """The window, which must be there."""
    assert bench.window is not None
    return bench.window


def test_the_first_start_offers_the_sample_and_goes_to_the_runs(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        async with workbench(fake) as bench:
            welcome = bench.frame.findChild(WelcomePage)
            assert isinstance(welcome, WelcomePage)
            welcome.open_sample.click()
            await until(lambda: window(bench).current == "runs")
            assert len(await fake.cases.list()) == 4

    drive(work())


def test_a_workspace_with_something_in_it_opens_where_it_was_left(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        settings = Settings(None)
        settings.set("window.place", "cases")
        async with workbench(fake, settings) as bench:
            assert window(bench).current == "cases"

    drive(work())


def test_the_other_pages_are_built_ahead_and_ask_the_core_for_nothing_before_they_are_shown(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            made = window(bench)
            await until(lambda: made.stack.count() == len(places()))
            pages = [made.page(place.key) for place in places()]
            assert [page.stale for page in pages] == [place.key != made.current for place in places()]
            assert made.stack.count() == len(places())

    drive(work())


def test_keys_go_places_and_search_here(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            inside = window(bench)
            inside.activateWindow()
            QTest.keyClick(inside, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
            assert inside.current == "cases"
            QTest.keyClick(inside, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
            assert inside.current == "servers"

    drive(work())


def test_no_two_commands_share_a_key(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            for place in ("servers", "cases", "runs"):
                window(bench).show_place(place)
                keys = [command.keys for command in window(bench).session.commands.all() if command.keys]
                assert len(keys) == len(set(keys)), keys

    drive(work())


def test_an_error_stands_in_the_window_until_it_is_dismissed(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            window(bench).session.show_error(StoreError("The disk is full.", hint="Make room."))
            assert window(bench).notice.accessibleName() == "The disk is full. Make room."
            bench.report_crash(KeyError("secret"))
            assert "secret" not in window(bench).notice.accessibleName()

    drive(work())


def test_a_notice_of_the_core_is_told(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            told: list[str] = []
            window(bench).session.toasted.connect(lambda text, _: told.append(text))
            await window(bench).session.value(lambda core: fake.publish(Noticed("Words are compared instead.")))
            await until(lambda: told)
            assert told == ["Words are compared instead."]

    drive(work())


def test_a_narrow_window_shows_icons_only(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            wide = window(bench).navigation.width()
            bench.frame.resize(960, 640)
            await until(lambda: window(bench).navigation.width() < wide)

    drive(work())


def test_the_palette_does_what_is_typed(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            popup = window(bench).show_palette()
            popup.search.setText("test cases")
            QTest.keyClick(popup.search, Qt.Key.Key_Return)
            await until(lambda: window(bench).current == "cases")

    drive(work())


def test_shortcuts_and_settings_open_and_close(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            window(bench).show_shortcuts()
            window(bench).settings_wanted.emit()
            sheets = bench.frame.findChildren(Sheet)
            assert sorted(sheet.windowTitle() for sheet in sheets) == ["Settings", "Shortcuts"]
            for sheet in sheets:
                sheet.accept()

    drive(work())


def test_a_toast_stays_above_every_page(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            inside = window(bench)
            inside.session.toast("Removed docs", undo=lambda: None)
            inside.show_place("runs")
            toast = inside.findChild(Toast)
            assert isinstance(toast, Toast)
            found = inside.area.childAt(toast.geometry().center())
            assert found is toast or (found is not None and toast.isAncestorOf(found))

    drive(work())


@pytest.mark.parametrize("place", ["servers", "cases", "runs"])
def test_whatever_takes_the_keyboard_has_a_name(qapp: QApplication, place: str) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            window(bench).show_place(place)
            page = window(bench).page(place)
            await page.settled()
            nameless = [
                type(part).__name__
                for part in window(bench).findChildren(QWidget)
                if part.isVisible()
                and part.focusPolicy() & Qt.FocusPolicy.TabFocus
                and not (part.accessibleName() or (isinstance(part, QAbstractButton) and part.text()))
            ]
            assert nameless == []

    drive(work())


def test_closing_remembers_place_and_size(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"

    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake, Settings(file)) as bench:
            window(bench).show_place("cases")
            bench.frame.resize(1111, 777)
        assert fake.closed

    drive(work())
    again = Settings(file)
    assert again.get("window.place", "") == "cases"
    assert again.get("window.place_and_size", [])[2:] == [1111, 777]


def test_another_scheme_is_worn_at_once_and_remembered(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        settings = Settings(None)
        async with workbench(fake, settings) as bench:
            bench.set_theme("dark")
            assert theme().dark
            assert settings.get("theme", "") == "dark"

    drive(work())
    theme().set_mode(ThemeMode.LIGHT)


def test_without_a_display_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 3
    assert capsys.readouterr().err.strip() == NO_DISPLAY


def test_closing_while_runs_are_under_way_asks_first(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine(pace=5.0)
        await fake.open_sample()
        async with workbench(fake) as bench:
            await window(bench).session.call(lambda core: core.runs.start(BatchRequest()))
            bench.frame.close()
            await until(lambda: bench.frame.findChild(Sheet))
            sheet = bench.frame.findChild(Sheet)
            assert isinstance(sheet, Sheet)
            assert sheet.windowTitle() == "Close while runs are under way?"
            sheet.reject()
            await until(lambda: not bench.frame.findChild(Sheet))
            assert bench.frame.isVisible()

    drive(work())


def test_closing_ends_everything(qapp: QApplication) -> None:
    async def work() -> None:
        fake = FakeEngine()
        await fake.open_sample()
        async with workbench(fake) as bench:
            bench.frame.close()
            await until(lambda: fake.closed)

    drive(work())
