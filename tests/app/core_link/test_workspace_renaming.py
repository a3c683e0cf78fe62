"""A workspace is renamed from the window that has it open, and from the first page, and nothing is lost by it."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.settings import Recent, Settings
from app.screens.welcome.page import WelcomePage
from app.shell.work_questions import RenameWorkspaceDialog
from app.shell.workspace_controller import WorkspaceController
from app.widgets import Button
from mcp_tef import BatchRequest, Secret
from tests.app.core_link.test_workspaces import act, add_case, case_names, dialog_of, entered, started
from tests.support.windows import until


async def renamed(bench: WorkspaceController, name: str) -> None:
    """Give the open workspace another name, as a user does."""
    act(bench.workspaces.actions(), "Rename…")
    sheet = await dialog_of(bench, RenameWorkspaceDialog)
    sheet.edit.setText(name)
    QTest.keyClick(sheet, Qt.Key.Key_Return)


async def test_the_open_workspace_is_renamed_and_keeps_its_keys_and_its_place(
    qapp: QApplication, tmp_path: Path
) -> None:
    work, settings = await add_case(tmp_path / "work.mcp-tef"), Settings(None)
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
    assert [path.name for path in tmp_path.glob("*.mcp-tef*")] == ["Bike shop.mcp-tef"]
    assert Recent(settings).paths() == [work.with_name("Bike shop.mcp-tef")]
    assert settings.get("workspace", "") == str(work.with_name("Bike shop.mcp-tef"))


async def test_who_is_signed_in_stays_signed_in_under_another_name(qapp: QApplication, tmp_path: Path) -> None:
    work, address = await add_case(tmp_path / "work.mcp-tef"), "https://tools.example.com/mcp"
    async with started(work) as bench:
        window = await entered(bench, work)
        await window.session.value(lambda core: core._credentials.hold({address: Secret("brought by a sign-in")}))
        await renamed(bench, "Bike shop")
        again = await entered(bench, work.with_name("Bike shop.mcp-tef"))
        assert set((await again.session.value(lambda core: core.held())).grants) == {address}
    assert b"brought by a sign-in" not in work.with_name("Bike shop.mcp-tef").read_bytes()


async def test_another_name_can_be_undone_with_all_that_goes_by_it(qapp: QApplication, tmp_path: Path) -> None:
    work, settings, now = await add_case(tmp_path / "work.mcp-tef"), Settings(None), tmp_path / "Bike shop.mcp-tef"
    (tmp_path / "work-tools").mkdir()
    (tmp_path / "work-tools" / "docs.json").write_text("[]", "utf-8")

    def lies() -> tuple[list[str], list[Path], str]:
        names = sorted(path.name for path in tmp_path.iterdir() if not path.name.endswith(("-wal", "-shm")))
        return names, Recent(settings).paths(), settings.get("workspace", "")

    async with started(work, settings) as bench:
        await entered(bench, work)
        before = lies()
        await renamed(bench, "Bike shop")
        window = await entered(bench, now)
        await until(window.session.can_undo)
        assert lies() == (["Bike shop-tools", "Bike shop.mcp-tef"], [now], str(now))
        window.session.undo()
        await entered(bench, work)
        await until(lambda: lies() == before)
        assert bench.frame.windowTitle() == "work – mcp-tef"
        assert await case_names(bench) == ["mine"]


async def test_a_workspace_is_not_renamed_while_runs_are_in_progress(qapp: QApplication, tmp_path: Path) -> None:
    work = await add_case(tmp_path / "work.db")
    async with started(work) as bench:
        window = await entered(bench, work)
        await window.session.call(lambda core: core.open_sample())
        batch = await window.session.call(lambda core: core.runs.start(BatchRequest()))
        await bench._rename("better")
        assert window.notice.isVisible()
        assert (bench.window, bench.workspaces.current) == (window, work)
        await window.session.call(lambda core: core.runs.cancel(batch.id))
    assert work.is_file()


async def test_a_name_that_is_taken_is_told_at_the_field(qapp: QApplication, tmp_path: Path) -> None:
    work = await add_case(tmp_path / "work.db")
    (tmp_path / "taken.db").touch()
    async with started(work) as bench:
        await entered(bench, work)
        act(bench.workspaces.actions(), "Rename…")
        sheet = await dialog_of(bench, RenameWorkspaceDialog)
        for name, fault in (("taken", "taken.db is there already. Use another name."), (" ", "Write a name.")):
            sheet.edit.setText(name)
            QTest.keyClick(sheet, Qt.Key.Key_Return)
            assert sheet.edit.accessibleDescription() == fault
            assert sheet.isVisible()
        sheet.reject()
        assert bench.workspaces.current == work
    assert work.is_file()


async def test_another_workspace_is_renamed_from_the_first_page(qapp: QApplication, tmp_path: Path) -> None:
    other, settings = await add_case(tmp_path / "other.db"), Settings(None)
    Recent(settings).add(other)
    async with started(tmp_path / "empty.db", settings) as bench:
        await entered(bench, tmp_path / "empty.db")
        page = await dialog_of(bench, WelcomePage)

        def names() -> list[str]:
            return [one.text() for one in page.others.findChildren(Button) if one.isVisible()]

        await until(lambda: "other" in names())
        assert bench.session is not None
        bench.session.spawn(page.rename(other))
        sheet = await dialog_of(bench, RenameWorkspaceDialog)
        sheet.edit.setText("better")
        QTest.keyClick(sheet, Qt.Key.Key_Return)
        await until(lambda: "better" in names() and "other" not in names())
    assert tmp_path.joinpath("better.db").is_file()
    assert tmp_path.joinpath("better.db") in Recent(settings).paths()


async def test_a_name_that_the_disk_refuses_is_told_and_the_workspace_goes_on(
    qapp: QApplication, tmp_path: Path
) -> None:
    work = await add_case(tmp_path / "work.db")
    async with started(work) as bench:
        window = await entered(bench, work)
        act(bench.workspaces.actions(), "Rename…")
        sheet = await dialog_of(bench, RenameWorkspaceDialog)
        sheet.edit.setText("taken")
        QTest.keyClick(sheet, Qt.Key.Key_Return)
        (tmp_path / "taken.db").touch()
        await until(lambda: bench.window is not None and bench.window is not window and bench.window.current)
        again = await entered(bench, work)
        await until(again.notice.isVisible)
        assert again.notice.accessibleName() == "taken.db is there already. Use another name."
        assert await case_names(bench) == ["mine"]
