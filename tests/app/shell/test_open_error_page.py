"""A start that finds its workspace shut, in the real window over the real core: why, and every way on from there."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.core_link.settings import Settings
from app.screens.servers.import_dialogs import ImportPreviewDialog
from app.screens.welcome.page import WelcomePage
from app.shell.process import open_engine
from app.shell.workspace_controller import WorkspaceController
from app.widgets import Dialog, FlowText
from mcp_tef import Engine
from tests.app.core_link.test_workspaces import add_case
from tests.support.configs import CLOCK
from tests.support.processes import read_only
from tests.support.windows import drop, opened_dialog, until
from tests.support.workbench import error_page, workbench
from tests.support.workspace_files import change, made_own, written


@pytest.fixture
async def work(tmp_path: Path) -> Path:
    """A workspace with a case in it, in a folder of its own."""
    return await add_case(tmp_path / "ours" / "work.db")


def take(bench: WorkspaceController, way: str) -> None:
    """Take one of the ways on."""
    closed = error_page(bench)
    assert closed is not None
    next(button for button in closed.buttons() if button.text() == way).click()


async def entered(bench: WorkspaceController) -> Path:
    """The workspace that is open once the window is there."""
    await until(lambda: bench.window is not None and error_page(bench) is None)
    assert bench.session is not None
    return await bench.session.value(lambda core: core.workspace)


def words_of(sheet: Dialog) -> str:
    """What a dialog says."""
    return " ".join(part.text() for part in sheet.findChildren(FlowText))


async def test_a_newer_workspace_says_so_and_another_can_be_opened(qapp: QApplication, work: Path) -> None:
    change(work, "PRAGMA user_version = 999")
    async with workbench(workspace=work) as bench:
        closed = error_page(bench)
        assert closed is not None
        assert "was written by a newer mcp-tef" in closed.words.text()
        ways = ["Try again", "Open another workspace…", "Use a temporary workspace", "Quit"]
        assert [button.text() for button in closed.buttons()] == ways
        take(bench, "Open another workspace…")
        dialog = bench.frame.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        dialog.fileSelected.emit(str(work.with_name("other.db")))
        dialog.close()
        assert await entered(bench) == work.with_name("other.db")


async def test_a_workspace_with_a_trigger_of_somebody_else_says_so_and_is_not_changed(
    qapp: QApplication, work: Path
) -> None:
    change(work, "CREATE TRIGGER spy AFTER INSERT ON test_runs BEGIN DELETE FROM mcp_servers; END")
    before = work.read_bytes()
    async with workbench(workspace=work) as bench:
        closed = error_page(bench)
        assert closed is not None
        assert 'work.db is refused: its trigger "spy" was not made by mcp-tef.' in closed.words.text()
        assert [button.text() for button in closed.buttons()][1] == "Open another workspace…"
    assert work.read_bytes() == before


async def test_what_is_dropped_on_the_closed_door_waits_until_a_workspace_is_open(
    qapp: QApplication, work: Path, tmp_path: Path
) -> None:
    change(work, "PRAGMA user_version = 999")
    config = written(tmp_path / "claude_desktop_config.json", {"mcpServers": {"clock": CLOCK}})
    notes = tmp_path / "notes.txt"
    notes.write_text("buy milk", "utf-8")
    async with workbench(workspace=work) as bench:
        closed = error_page(bench)
        assert closed is not None
        drop(bench.frame, config, notes)
        await until(lambda: closed.notice.isVisible())
        said = closed.notice.accessibleName()
        assert said.startswith("claude_desktop_config.json (servers). It is no workspace, but it waits here")
        assert "notes.txt is neither a config of servers" in said
        assert error_page(bench) is closed
        take(bench, "Use a temporary workspace")
        await entered(bench)
        await until(lambda: bench.frame.findChildren(ImportPreviewDialog))
        (sheet,) = bench.frame.findChildren(ImportPreviewDialog)
        assert sheet.table.rows.row(0).cells[1].text == "clock"
        sheet.reject()


async def test_a_workspace_that_is_dropped_on_the_closed_door_is_opened(
    qapp: QApplication, work: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(work.read_bytes())
    made_own(other)
    change(work, "PRAGMA user_version = 999")
    async with workbench(workspace=work) as bench:
        drop(bench.frame, other)
        assert await entered(bench) == other


async def test_a_file_that_is_no_workspace_leaves_the_closed_door_as_it_was(qapp: QApplication, work: Path) -> None:
    change(work, "PRAGMA user_version = 999")
    notes = work.with_name("notes.txt")
    notes.write_text("buy milk", "utf-8")
    async with workbench(workspace=work) as bench:
        closed = error_page(bench)
        assert closed is not None
        take(bench, "Open another workspace…")
        dialog = bench.frame.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        dialog.fileSelected.emit(str(notes))
        dialog.close()
        await until(lambda: closed.notice.isVisible())
        assert closed.notice.accessibleName().startswith("The file notes.txt is no workspace.")
        assert error_page(bench) is closed


async def test_a_temporary_workspace_is_used_once_and_not_remembered(qapp: QApplication, work: Path) -> None:
    change(work, "PRAGMA user_version = 999")
    settings = Settings(None)
    opened: list[Path] = []
    async with workbench(settings=settings, workspace=work) as bench:
        take(bench, "Use a temporary workspace")
        opened.append(await entered(bench))
    (temporary,) = opened
    assert temporary.name == "temporary.db"
    shutil.rmtree(temporary.parent)
    assert settings.get("workspace", "") == ""


async def test_a_workspace_that_cannot_be_written_is_worked_on_as_a_copy(
    qapp: QApplication, work: Path, home: Path
) -> None:
    before = work.read_bytes()
    with read_only(work.parent):
        async with workbench(workspace=work) as bench:
            take(bench, "Work on a copy")
            copy = await entered(bench)
            assert home in copy.parents
            assert bench.session is not None
            assert len(await bench.session.call(lambda core: core.cases.list())) > 0
    assert work.read_bytes() == before


async def test_a_locked_workspace_is_opened_when_it_is_tried_again(qapp: QApplication, work: Path) -> None:
    tries = 0

    async def busy(path: Path | None, _: object) -> Engine:
        nonlocal tries
        tries += 1
        return await open_engine(work.parent if tries == 1 else path)

    async with workbench(busy, workspace=work) as bench:
        take(bench, "Try again")
        assert await entered(bench) == work


async def test_a_damaged_workspace_is_set_aside_and_a_dialog_says_where(qapp: QApplication, work: Path) -> None:
    work.write_bytes(work.read_bytes()[:10_000])
    async with workbench(workspace=work) as bench:
        await until(lambda: bench.frame.findChild(Dialog))
        (aside,) = work.parent.glob("work.db.damaged-*")
        sheet = bench.frame.findChild(Dialog)
        assert isinstance(sheet, Dialog)
        assert f"It was set aside as {aside.name}" in words_of(sheet)
        sheet.accept()
        assert isinstance(bench.frame.findChild(WelcomePage), WelcomePage)


async def test_settings_that_cannot_be_read_are_set_aside_and_a_dialog_says_where(
    qapp: QApplication, work: Path, tmp_path: Path
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{oops", "utf-8")
    async with workbench(settings=Settings(file), workspace=work) as bench:
        sheet = await opened_dialog(bench.frame, Dialog)
        assert str(tmp_path / "settings.unreadable") in words_of(sheet)
        sheet.accept()


async def test_a_row_that_cannot_be_read_shuts_the_door_and_not_the_program(qapp: QApplication, work: Path) -> None:
    change(work, "UPDATE test_cases SET expectation = '[{'")
    async with workbench(workspace=work) as bench:
        closed = error_page(bench)
        assert closed is not None
        assert "work.db holds a row that cannot be read: expectation of test_cases" in closed.words.text()
