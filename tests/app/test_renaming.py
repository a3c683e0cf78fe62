"""A workspace is renamed from the window that has it open, and from the first page, and nothing is lost by it."""

import asyncio
import threading
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.settings import Recent, Settings
from app.dialogs.rename import RenameSheet
from app.screens.cases.page import CasesPage
from app.screens.servers.import_dialogs import ImportPreviewDialog
from app.screens.welcome.page import WelcomePage
from app.shell.process import open_engine
from app.shell.workspace_controller import Workbench
from app.widgets import Button
from mcp_tef import CaseDraft, Engine, Secret, SessionSecrets
from tests.app.test_workspaces import act, case_names, dialog_of, entered, started
from tests.support.case_book import written
from tests.support.configs import CLOCK
from tests.support.dropping import drop
from tests.support.windows import drive, until


def filled(path: Path) -> Path:
    """A workspace with one case in it."""

    async def fill() -> None:
        engine = await Engine.open(path)
        await engine.cases.add([CaseDraft(name="mine", query="Find it")])
        await engine.close()

    asyncio.run(fill())
    return path


async def renamed(bench: Workbench, name: str) -> None:
    """Give the open workspace another name, as a user does."""
    act(bench.workspaces.actions(), "Rename…")
    sheet = await dialog_of(bench, RenameSheet)
    sheet.edit.setText(name)
    QTest.keyClick(sheet, Qt.Key.Key_Return)


class SlowCores:
    """Opens the first core at once, and every other one when it is let."""

    def __init__(self) -> None:
        self.asked = 0
        self.let = threading.Event()

    async def open(self, path: Path | None, held: SessionSecrets | None) -> Engine:
        self.asked += 1
        if self.asked > 1:
            await asyncio.to_thread(self.let.wait)
        return await open_engine(path, held)


def test_a_window_whose_workspace_is_being_renamed_cannot_be_clicked_and_what_is_dropped_waits(
    qapp: QApplication, tmp_path: Path
) -> None:
    work, cores = filled(tmp_path / "work.mcp-tef"), SlowCores()
    config = written(tmp_path / "claude_desktop_config.json", {"mcpServers": {"clock": CLOCK}})

    async def look() -> None:
        async with started(work, open_core=cores.open) as bench:
            window = await entered(bench, work)
            window.show_screen("cases")
            place = window.navigation.mapTo(bench.frame, QPoint(40, 90))

            def under_the_mouse() -> QWidget | None:
                return bench.frame.childAt(place)

            assert (found := under_the_mouse()) is not None
            assert window.isAncestorOf(found)
            try:
                await renamed(bench, "Bike shop")
                await until(lambda: cores.asked == 2)
                assert not window.isVisible()
                assert (found := under_the_mouse()) is not None
                assert not window.isAncestorOf(found)
                drop(bench.frame, config)
            finally:
                cores.let.set()
            preview = await dialog_of(bench, ImportPreviewDialog)
            preview.reject()

    drive(look())


def test_the_open_workspace_is_renamed_and_keeps_its_keys_and_its_place(qapp: QApplication, tmp_path: Path) -> None:
    work, settings = filled(tmp_path / "work.mcp-tef"), Settings(None)

    async def look() -> None:
        async with started(work, settings) as bench:
            window = await entered(bench, work)
            window.show_screen("cases")
            await window.session.value(lambda core: core.keys.set("openai", Secret("sk-typed")))
            await renamed(bench, "Bike shop")
            again = await entered(bench, work.with_name("Bike shop.mcp-tef"))
            await until(lambda: bench.window is not window and bench.window and bench.window.current == "cases")
            assert bench.frame.windowTitle() == "Bike shop – mcp-tef"
            assert await case_names(bench) == ["mine"]
            assert await again.session.value(lambda core: core.keys.typed_providers()) == ("openai",)

    drive(look())
    assert [path.name for path in tmp_path.glob("*.mcp-tef*")] == ["Bike shop.mcp-tef"]
    assert Recent(settings).paths() == [work.with_name("Bike shop.mcp-tef")]
    assert settings.get("workspace", "") == str(work.with_name("Bike shop.mcp-tef"))


def test_what_was_deleted_and_who_is_signed_in_outlast_another_name(qapp: QApplication, tmp_path: Path) -> None:
    work, address = filled(tmp_path / "work.mcp-tef"), "https://tools.example.com/mcp"

    async def look() -> None:
        async with started(work) as bench:
            window = await entered(bench, work)
            session = window.session
            window.show_screen("cases")
            page = window.page("cases")
            assert isinstance(page, CasesPage)
            await until(page.many.selected)
            await session.value(lambda core: core._strongbox.hold({address: Secret("brought by a sign-in")}))
            page.many.delete()
            await until(session.can_undo)
            await renamed(bench, "Bike shop")
            await until(lambda: bench.window is not window and bench.window and bench.window.current)
            assert bench.workspaces.current == work.with_name("Bike shop.mcp-tef")
            assert await case_names(bench) == []
            assert set((await session.value(lambda core: core.held())).grants) == {address}
            session.undo()
            session.undo()
            await session.undone()
            assert await case_names(bench) == ["mine"]

    drive(look())
    assert b"brought by a sign-in" not in work.read_bytes()


async def pressed(bench: Workbench, key: Qt.Key, path: Path) -> None:
    """Take a rename back, or do it again, by its key, and wait for the window with its words on it."""
    before = bench.window
    assert before is not None
    bench.frame.activateWindow()
    await until(bench.frame.isActiveWindow)
    QTest.keyClick(before, key, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: bench.window is not before and bench.window is not None and bench.window.current)
    await (await entered(bench, path)).session.undone()


def test_another_name_is_taken_back_and_given_again_with_all_that_goes_by_it(
    qapp: QApplication, tmp_path: Path
) -> None:
    work, settings, now = filled(tmp_path / "work.mcp-tef"), Settings(None), tmp_path / "Bike shop.mcp-tef"
    (tmp_path / "work-tools").mkdir()
    (tmp_path / "work-tools" / "docs.json").write_text("[]", "utf-8")

    def lies() -> tuple[list[str], list[Path], str]:
        names = sorted(path.name for path in tmp_path.iterdir() if not path.name.endswith(("-wal", "-shm", "-owners")))
        return names, Recent(settings).paths(), settings.get("workspace", "")

    async def look() -> None:
        async with started(work, settings) as bench:
            before, session = lies(), (await entered(bench, work)).session
            await renamed(bench, "Bike shop")
            await until(session.can_undo)
            after = lies()
            assert after == (["Bike shop-tools", "Bike shop.mcp-tef"], [now], str(now))
            assert session.undo_words() == "Undo rename the workspace"
            await pressed(bench, Qt.Key.Key_Z, work)
            assert lies() == before
            assert bench.frame.windowTitle() == "work – mcp-tef"
            assert session.messages[-1].text == "Undone: rename the workspace"
            await pressed(bench, Qt.Key.Key_Y, now)
            assert lies() == after
            assert await case_names(bench) == ["mine"]

    drive(look())


def test_a_name_that_is_taken_meanwhile_keeps_a_rename_from_being_taken_back_until_it_is_free(
    qapp: QApplication, tmp_path: Path
) -> None:
    work, now = filled(tmp_path / "work.db"), tmp_path / "better.db"

    async def look() -> None:
        async with started(work) as bench:
            session = (await entered(bench, work)).session
            await renamed(bench, "better")
            await until(session.can_undo)
            work.touch()
            await pressed(bench, Qt.Key.Key_Z, now)
            assert session.messages[-1].text == (
                "Could not undo: rename the workspace. work.db is there already. Choose another name."
            )
            work.unlink()
            await pressed(bench, Qt.Key.Key_Z, work)
            assert await case_names(bench) == ["mine"]

    drive(look())


def test_a_name_that_is_taken_is_told_at_the_field(qapp: QApplication, tmp_path: Path) -> None:
    work = filled(tmp_path / "work.db")
    (tmp_path / "taken.db").touch()

    async def look() -> None:
        async with started(work) as bench:
            await entered(bench, work)
            act(bench.workspaces.actions(), "Rename…")
            sheet = await dialog_of(bench, RenameSheet)
            for name, fault in (("taken", "taken.db is there already. Choose another name."), (" ", "Write a name.")):
                sheet.edit.setText(name)
                QTest.keyClick(sheet, Qt.Key.Key_Return)
                assert sheet.edit.accessibleDescription() == fault
                assert sheet.isVisible()
            sheet.reject()
            assert bench.workspaces.current == work

    drive(look())
    assert work.is_file()


def test_another_workspace_is_renamed_from_the_first_page(qapp: QApplication, tmp_path: Path) -> None:
    other, settings = filled(tmp_path / "other.db"), Settings(None)
    Recent(settings).add(other)

    async def look() -> None:
        async with started(tmp_path / "empty.db", settings) as bench:
            await entered(bench, tmp_path / "empty.db")
            page = await dialog_of(bench, WelcomePage)

            def names() -> list[str]:
                return [one.text() for one in page.others.findChildren(Button) if one.isVisible()]

            await until(lambda: "other" in names())
            assert bench.session is not None
            bench.session.spawn(page.rename(other))
            sheet = await dialog_of(bench, RenameSheet)
            sheet.edit.setText("better")
            QTest.keyClick(sheet, Qt.Key.Key_Return)
            await until(lambda: "better" in names() and "other" not in names())

    drive(look())
    assert tmp_path.joinpath("better.db").is_file()
    assert tmp_path.joinpath("better.db") in Recent(settings).paths()


def test_a_name_that_the_disk_refuses_is_told_and_the_workspace_goes_on(qapp: QApplication, tmp_path: Path) -> None:
    work = filled(tmp_path / "work.db")

    async def look() -> None:
        async with started(work) as bench:
            window = await entered(bench, work)
            act(bench.workspaces.actions(), "Rename…")
            sheet = await dialog_of(bench, RenameSheet)
            sheet.edit.setText("taken")
            QTest.keyClick(sheet, Qt.Key.Key_Return)
            (tmp_path / "taken.db").touch()
            await until(lambda: bench.window is not None and bench.window is not window and bench.window.current)
            again = await entered(bench, work)
            await until(again.notice.isVisible)
            assert again.notice.accessibleName() == "taken.db is there already. Choose another name."
            assert await case_names(bench) == ["mine"]

    drive(look())
