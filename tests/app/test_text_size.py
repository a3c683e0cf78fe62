"""Text can be made larger and smaller by keys and in the settings, and everything that holds text grows with it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.import_outcomes import DropStatus
from app.core_link.settings import Settings
from app.core_link.targets import NewCases, ShowCase
from app.core_link.text_size import SIZES, TextSizes
from app.screens.cases.import_export import PreviewSheet
from app.screens.cases.page import CasesPage
from app.screens.settings.sheet import SettingsSheet
from app.shell.main_frame import Frame
from app.shell.main_window import MainWindow
from app.shell.workspace_controller import Workbench
from app.theme import Size, height, theme
from app.widgets import Button, Sheet
from mcp_tef import Engine
from tests.support.fake_engine import FakeEngine
from tests.support.hostile import hostile_engine
from tests.support.touring import working
from tests.support.windows import drive, shown, until


@pytest.fixture(autouse=True)
def usual_size(qapp: QApplication) -> Iterator[None]:
    """The next test has text as large as usual."""
    yield
    theme().set_text_size(100)


def test_rows_fields_and_type_grow_together(qapp: QApplication) -> None:
    usual = Button("Run").sizeHint().height()
    theme().set_text_size(150)
    assert (theme().font(Size.BODY).pixelSize(), height("table_row")) == (20, 42)
    assert Button("Run").sizeHint().height() >= usual * 1.4


def test_keys_go_from_size_to_size_and_stop_at_both_ends(qapp: QApplication) -> None:
    sizes = TextSizes(Settings(None), lambda: None)
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
    assert TextSizes(settings, lambda: None).percent() == 100


def test_a_key_makes_text_larger_on_the_screen_that_one_is_on_and_it_is_remembered(qapp: QApplication) -> None:
    async def work() -> None:
        async with working(await hostile_engine("Read a file", "docs")) as bench:
            before = bench.window
            assert before is not None
            before.show_screen("metrics")
            bench.frame.activateWindow()
            QTest.keyClick(before, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
            await until(lambda: bench.window is not None and bench.window is not before and bench.window.current)
            assert bench.window is not None
            assert bench.window.current == "metrics"
            assert bench.window.navigation.head.height() == round(44 * 1.1)
            assert bench.settings.get("window.text_size", 0) == 110
            await asyncio.sleep(0)

    drive(work())


def test_a_reset_of_the_settings_makes_text_as_large_as_usual_at_once(qapp: QApplication) -> None:
    async def work() -> None:
        settings = Settings(None)
        settings.set("window.text_size", 150)
        async with working(await hostile_engine("Read a file", "docs"), settings) as bench:
            before = bench.window
            assert before is not None
            before.settings_wanted.emit()
            sheet = bench.frame.findChild(SettingsSheet)
            assert isinstance(sheet, SettingsSheet)
            next(one for one in sheet.findChildren(Button) if one.text() == "Reset all settings").click()
            await until(lambda: bench.window is not None and bench.window is not before and bench.window.current)
            assert theme().font(Size.BODY).pixelSize() == 13
            session = bench.session
            assert session is not None
            await until(session.can_undo)
            session.undo()
            await until(lambda: theme().font(Size.BODY).pixelSize() == 20)

    drive(work())


def test_closing_the_window_while_it_is_built_anew_ends_it(qapp: QApplication) -> None:
    async def work() -> None:
        engine = await hostile_engine("Read a file", "docs")
        frame = Frame(Settings(None))
        bench = Workbench(frame, Settings(None), lambda *_: engine.open())
        shown(frame)
        life = asyncio.create_task(bench.live(None))
        await until(lambda: bench.window is not None)
        assert bench.session is not None
        bench.session.closing.connect(frame.close)
        bench.text_sizes.choose(110)
        await until(life.done)
        assert not frame.isVisible()
        frame.deleteLater()

    drive(work())


async def built_anew(bench: Workbench, percent: int) -> MainWindow:
    """The window once it has text of another size."""
    before = bench.window
    bench.text_sizes.choose(percent)
    await until(lambda: bench.window is not None and bench.window is not before and bench.window.current)
    assert bench.window is not None
    return bench.window


async def cases_of(window: MainWindow) -> CasesPage:
    """The page of cases, once it is filled."""
    page = window.page("cases")
    assert isinstance(page, CasesPage)
    await until(lambda: page.presenter.loaded)
    await page.settled()
    return page


def test_what_is_typed_and_cannot_be_saved_is_still_there(qapp: QApplication) -> None:
    async def work() -> None:
        async with working(await hostile_engine("Read a file", "docs")) as bench:
            assert bench.window is not None
            bench.window.show_target(NewCases(()))
            page = await cases_of(bench.window)
            await until(lambda: page.presenter.desk is not None and page.presenter.desk.untouched)
            QTest.keyClicks(page.editor.query, "Which tool is this for?")
            window = await built_anew(bench, 110)
            page = await cases_of(window)
            await until(lambda: page.editor.query.toPlainText() == "Which tool is this for?")
            assert window.unsaved() == 1
            assert not bench.frame.findChildren(Sheet)

    drive(work())


def test_what_was_done_is_taken_back_and_done_again_in_the_window_that_was_built_anew(qapp: QApplication) -> None:
    async def work() -> None:
        engine = await hostile_engine("Read a file", "docs")
        known, *others = await engine.cases.list()
        async with working(engine) as bench:
            assert bench.window is not None
            session = bench.window.session
            bench.window.show_target(ShowCase(known.id))
            page = await cases_of(bench.window)
            await until(lambda: page.presenter.desk is not None)
            page.editor.query.setPlainText("Read the file")
            await until(session.can_undo)
            page.many.delete()
            await until(lambda: session.undo_words() == "Undo delete 1 case")
            window = await built_anew(bench, 110)
            assert window.session is session
            page = await cases_of(window)
            assert known.id not in page.table.rows.ids()
            session.undo()
            await until(lambda: known.id in page.table.rows.ids())
            session.undo()
            await until(lambda: page.editor.query.toPlainText() == known.draft.query)
            session.redo()
            await until(lambda: page.editor.query.toPlainText() == "Read the file")
            await session.undone()
            queries = {case.id: case.draft.query for case in await engine.cases.list()}
            assert queries == {known.id: "Read the file"} | {case.id: case.draft.query for case in others}

    drive(work())


def test_a_step_is_taken_back_while_no_page_shows_the_cases_yet(qapp: QApplication) -> None:
    async def work() -> None:
        engine = await hostile_engine("Read a file", "docs")
        known, *others = await engine.cases.list()
        async with working(engine) as bench:
            assert bench.window is not None
            session = bench.window.session
            bench.window.show_target(ShowCase(known.id))
            page = await cases_of(bench.window)
            page.many.delete()
            await until(session.can_undo)
            bench.window.show_screen("metrics")
            await built_anew(bench, 110)
            session.undo()
            await session.undone()
            assert {case.id for case in await engine.cases.list()} == {known.id, *(case.id for case in others)}
            assert session.messages[-1].text == "Undone: delete 1 case"

    drive(work())


def test_the_way_back_what_is_searched_for_and_an_error_outlast_another_size(qapp: QApplication) -> None:
    async def work() -> None:
        async with working(await hostile_engine("Read a file", "docs")) as bench:
            assert bench.window is not None
            for place in ("servers", "quality", "cases"):
                bench.window.show_screen(place)
            page = await cases_of(bench.window)
            assert page.header.search is not None
            page.header.search.setText("nothing like it")
            await until(lambda: not page.table.isVisible())
            bench.window.session.failed.emit("The disk is full.", "Make room.", "")
            window = await built_anew(bench, 110)
            assert window.notice.accessibleName() == "The disk is full. Make room."
            page = await cases_of(window)
            assert page.header.search is not None
            assert page.header.search.text() == "nothing like it"
            await until(lambda: not page.table.isVisible())
            window.go_back()
            assert window.current == "quality"
            window.go_back()
            assert window.current == "servers"
            window.go_forward()
            assert window.current == "quality"

    drive(work())


def test_what_is_held_in_memory_outlasts_another_size_and_no_core_is_opened_again(qapp: QApplication) -> None:
    async def work() -> None:
        engine, opened = await hostile_engine("Read a file", "docs"), 0

        async def open_core(*_: object) -> Engine:
            nonlocal opened
            opened += 1
            return await engine.open()

        frame = Frame(Settings(None))
        bench = Workbench(frame, Settings(None), open_core)
        shown(frame)
        life = asyncio.create_task(bench.live(None))
        await until(lambda: bench.window is not None and bench.window.current)
        await built_anew(bench, 110)
        await built_anew(bench, 125)
        assert opened == 1
        bench.leave()
        await life
        frame.deleteLater()

    drive(work())


def test_another_size_waits_for_long_work_and_stops_none(qapp: QApplication) -> None:
    async def work() -> None:
        async with working(await hostile_engine("Read a file", "docs")) as bench:
            before = bench.window
            assert before is not None
            gate = asyncio.Event()
            session = before.session
            reading = session.spawn(session.call_long("Reading", lambda _: gate.wait(), slow_s=0))
            await until(session.activity.shown)
            bench.text_sizes.choose(110)
            later = "Text has its new size once what is under way has ended"
            await until(lambda: [one.text for one in session.messages] == [later])
            assert bench.window is before
            await session.value(lambda _: gate.set())
            await until(lambda: bench.window is not before)
            assert await reading is True

    drive(work())


def test_an_import_that_is_agreed_to_meanwhile_goes_on_to_its_end(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text("- query: A new one\n", encoding="utf-8")

    async def work() -> None:
        engine = FakeEngine()
        await engine.open_sample()
        engine.store.cases.gate = gate = asyncio.Event()
        async with working(engine) as bench:
            before = bench.window
            assert before is not None
            session = before.session
            before.show_screen("cases")
            importing = session.spawn((await cases_of(before)).transfer.import_file(file))
            await until(lambda: bench.frame.findChildren(PreviewSheet))
            bench.text_sizes.choose(110)
            await until(lambda: session.messages)
            bench.frame.findChildren(PreviewSheet)[0].accept()
            await until(session.activity.shown)
            assert bench.window is before
            await session.value(lambda _: gate.set())
            await until(lambda: bench.window is not before)
            assert (await importing).fate is DropStatus.TAKEN
            assert "A new one" in {case.draft.query for case in await engine.cases.list()}

    drive(work())


def test_what_is_set_later_reaches_only_the_pages_that_are_there(qapp: QApplication) -> None:
    async def work() -> None:
        async with working(await hostile_engine("Read a file", "docs")) as bench:
            assert bench.window is not None
            await until(bench.window.is_built)
            window = await built_anew(bench, 110)
            await window.session.configure()
            assert not window.session.messages

    drive(work())
