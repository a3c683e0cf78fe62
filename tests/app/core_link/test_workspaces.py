"""From one workspace to another, in the real window over the real core; and what is dropped or pasted on the way."""

import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.core_link.settings import Recent, Settings
from app.screens.servers.import_dialogs import ImportPreviewDialog
from app.screens.servers.server_dialog import ServerDialog
from app.screens.welcome.page import WelcomePage
from app.shell.main_window import MainWindow
from app.shell.process import open_engine
from app.shell.workspace_controller import OpenCore, WorkspaceController
from app.widgets import Action, Button, Dialog, FlowText
from mcp_tef import CaseDraft, Engine, Secret
from tests.support.configs import CLOCK
from tests.support.windows import drop, until
from tests.support.workbench import workbench
from tests.support.workspace_files import TOOLS, case, case_file, tools_file, written

W = TypeVar("W", bound=QWidget)


@pytest.fixture
async def work(tmp_path: Path) -> Path:
    """A workspace with one case in it."""
    return await add_case(tmp_path / "ours" / "work.db")


async def add_case(path: Path) -> Path:
    """Make a workspace with one case in it."""
    path.parent.mkdir(exist_ok=True)
    async with await Engine.open(path) as engine:
        await engine.cases.add([CaseDraft(name="mine", query="Find it")])
    return path


@asynccontextmanager
async def started(
    path: Path, kept: Settings | None = None, open_core: OpenCore = open_engine
) -> AsyncIterator[WorkspaceController]:
    """Open the window on a workspace, and close it at the end."""
    async with workbench(open_core, kept, path) as bench:
        await entered(bench, path)
        yield bench


async def entered(bench: WorkspaceController, path: Path) -> MainWindow:
    """The window once a workspace is open."""
    await until(lambda: bench.window is not None and bench.workspaces.current == path)
    assert bench.window is not None
    return bench.window


async def dialog_of(bench: WorkspaceController, kind: type[W]) -> W:
    """The dialog of a kind, once it is there."""
    await until(lambda: any(found.isVisible() for found in bench.frame.findChildren(kind)))
    return next(found for found in bench.frame.findChildren(kind) if found.isVisible())


async def choose(bench: WorkspaceController, ask: Callable[[], object], path: Path) -> None:
    """Name a file in the dialog that a command opens."""
    ask()
    dialog = await dialog_of(bench, QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.close()


def act(actions: list[Action], text: str) -> None:
    next(action for action in actions if action.text == text).do()


async def case_names(bench: WorkspaceController) -> list[str]:
    assert bench.session is not None
    return [one.name for one in await bench.session.call(lambda core: core.cases.list())]


async def test_a_new_workspace_is_empty_and_the_old_one_is_a_click_away(qapp: QApplication, work: Path) -> None:
    fresh, settings = work.with_name("fresh.mcp-tef"), Settings(None)
    async with started(work, settings) as bench:
        assert bench.frame.windowTitle() == "work – mcp-tef"
        await choose(bench, bench.workspaces.ask_new, fresh)
        await entered(bench, fresh)
        assert bench.frame.windowTitle() == "fresh – mcp-tef"
        welcome = await dialog_of(bench, WelcomePage)
        known = [one for one in welcome.others.findChildren(Button) if one.text() == "work"]
        QTest.mouseClick(known[0], Qt.MouseButton.LeftButton)
        await entered(bench, work)
        assert await case_names(bench) == ["mine"]
        assert [path for path, _ in bench.workspaces.others()] == [fresh]
    assert Recent(settings).paths() == [work, fresh]


async def test_the_palette_remembers_a_workspace_and_not_its_place_in_the_list(qapp: QApplication, work: Path) -> None:
    settings = Settings(None)
    often, seldom = work.with_name("often.mcp-tef"), work.with_name("seldom.mcp-tef")
    for path in (often, seldom):
        sqlite3.connect(path).close()
        Recent(settings).add(path)
    async with started(work, settings) as bench:
        window = await entered(bench, work)
        await until(lambda: any("often" in one.text for one in window.session.commands.all()))
        palette = window.show_palette()
        QTest.keyClicks(palette.search, "recent often")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        await entered(bench, often)
        bench.workspaces.open(seldom)
        window = await entered(bench, seldom)
        await until(lambda: any("often" in one.text for one in window.session.commands.all()))
        palette = window.show_palette()
        assert palette.list.rows.row(0).title == "Open recent: often in ours"
        palette.close()


async def test_a_copy_holds_everything_and_work_goes_on_in_it(qapp: QApplication, work: Path) -> None:
    copy = work.with_name("copy.mcp-tef")
    async with started(work) as bench:
        names = await case_names(bench)
        await choose(bench, bench.workspaces.ask_copy, copy)
        await entered(bench, copy)
        assert await case_names(bench) == names


async def test_a_recent_workspace_that_is_gone_is_marked_and_taken_off_the_list(qapp: QApplication, work: Path) -> None:
    settings = Settings(None)
    Recent(settings).add(work.with_name("gone.db"))
    async with started(work, settings) as bench:
        gone = "gone in ours (not found)"
        await until(lambda: gone in [action.text for action in bench.workspaces.actions()])
        act(bench.workspaces.actions(), gone)
        sheet = await dialog_of(bench, Dialog)
        assert sheet.windowTitle() == "gone.db is not there any more"
        sheet.accept()
        await until(lambda: bench.workspaces.others() == [])
        assert bench.workspaces.current == work


@pytest.mark.parametrize("name", ["notes.txt", "theirs.db"])
async def test_a_file_that_is_no_workspace_says_so_and_what_is_open_stays_open(
    qapp: QApplication, work: Path, name: str
) -> None:
    file = work.with_name(name)
    if file.suffix == ".txt":
        file.write_text("buy milk", "utf-8")
    else:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE theirs (x)")
    before = file.read_bytes()
    async with started(work) as bench:
        window = await entered(bench, work)
        await choose(bench, bench.workspaces.ask_open, file)
        await until(window.notice.isVisible)
        assert f"The file {name} is" in window.notice.accessibleName()
        assert bench.workspaces.current == work
    assert file.read_bytes() == before


def test_the_ten_latest_are_remembered_whatever_stands_in_the_settings(tmp_path: Path) -> None:
    settings = Settings(None)
    settings.set("workspaces", [7, None, "a\nb"])
    recent = Recent(settings)
    for number in (*range(12), 5):
        recent.add(tmp_path / f"{number}.db")
    assert [int(path.stem) for path in recent.paths()] == [5, 11, 10, 9, 8, 7, 6, 4, 3, 2]


async def test_a_dropped_config_opens_its_preview_wherever_one_is(
    qapp: QApplication, work: Path, tmp_path: Path
) -> None:
    config = written(tmp_path / "claude_desktop_config.json", {"mcpServers": {"clock": CLOCK}})
    async with started(work) as bench:
        window = await entered(bench, work)
        window.show_screen("metrics")
        drop(bench.frame, config)
        sheet = await dialog_of(bench, ImportPreviewDialog)
        assert window.current == "servers"
        assert [cell.text for cell in sheet.table.rows.row(0).cells][1:3] == ["clock", "New"]
        sheet.reject()


def outcomes_of(sheet: Dialog) -> list[str]:
    """What a sheet tells of each file."""
    return [part.text() for part in sheet.findChildren(FlowText)][1:]


async def test_several_files_go_each_to_its_own_preview_and_what_came_of_each_is_told(
    qapp: QApplication, work: Path, tmp_path: Path
) -> None:
    cases = case_file(tmp_path, [case("weather now", None, server="tools")])
    notes, broken = tmp_path / "notes.txt", tmp_path / "broken.csv"
    notes.write_text("buy milk", "utf-8")
    broken.write_text("nothing,of,ours\n1,2,3\n", "utf-8")
    async with started(work) as bench:
        window = await entered(bench, work)
        told: list[str] = []
        window.session.toasted.connect(lambda text, _: told.append(text))
        drop(bench.frame, notes, broken, cases, tools_file(tmp_path))
        tools = await dialog_of(bench, ServerDialog)
        assert (tools.fields.form().name, tools.fields.form().path) == ("tools", str(tmp_path / "tools.json"))
        tools.keep()
        await until(lambda: window.current == "cases")
        preview = await dialog_of(bench, Dialog)
        assert preview.windowTitle() == "Import cases.json"
        preview.accept()
        await until(lambda: len(told) == 2)
        assert told == ["Added tools", "1 added, from cases.json"]
        assert await case_names(bench) == ["mine", "weather now"]
        await until(lambda: titled(bench, "2 of 4 files taken in"))
        (sheet,) = titled(bench, "2 of 4 files taken in")
        first, second, *rest = outcomes_of(sheet)
        assert first.startswith("notes.txt\nNot taken: notes.txt is neither a config of servers, nor tools")
        assert second.startswith("broken.csv\nNot taken: ")
        assert rest == ["cases.json\nTaken: 1 added.", "tools.json\nTaken: Added as a server."]
        sheet.accept()


async def test_what_the_user_leaves_out_is_no_failure(qapp: QApplication, work: Path, tmp_path: Path) -> None:
    config = written(tmp_path / "claude_desktop_config.json", {"mcpServers": {"clock": CLOCK}})
    async with started(work) as bench:
        window = await entered(bench, work)
        drop(bench.frame, config, written(tmp_path / "cases.json", {"cases": [{"query": "hi", "expected": None}]}))
        (await dialog_of(bench, ImportPreviewDialog)).reject()
        await until(lambda: titled(bench, "Import cases.json"))
        titled(bench, "Import cases.json")[0].accept()
        await until(lambda: any("from cases.json" in one.text for one in window.session.messages))
        assert len(await case_names(bench)) == 2
        assert not [one for one in bench.frame.findChildren(Dialog) if one.isVisible()]


async def test_of_several_workspaces_one_is_opened_and_that_is_told_first(
    qapp: QApplication, work: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(work.read_bytes())
    async with started(tmp_path / "empty.db") as bench:
        drop(bench.frame, work, other)
        await until(lambda: titled(bench, "1 of 2 files taken in"))
        (sheet,) = titled(bench, "1 of 2 files taken in")
        assert outcomes_of(sheet) == [
            "work.db\nTaken: It opens once this is closed.",
            "other.db\nNot taken: Another workspace is opened; only one can be open.",
        ]
        sheet.accept()
        await entered(bench, work)


def titled(bench: WorkspaceController, title: str) -> list[Dialog]:
    """The sheets of a title that are open."""
    return [one for one in bench.frame.findChildren(Dialog) if one.isVisible() and one.windowTitle() == title]


async def test_a_dropped_workspace_is_opened(qapp: QApplication, work: Path, tmp_path: Path) -> None:
    async with started(tmp_path / "empty.db") as bench:
        drop(bench.frame, work)
        await entered(bench, work)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (json.dumps({"clock": CLOCK}), ImportPreviewDialog),
        (json.dumps(TOOLS), ServerDialog),
        (json.dumps({"cases": [case("weather now", None)]}), Dialog),
    ],
    ids=["servers", "tools", "cases"],
)
async def test_pasted_json_opens_the_preview_that_it_belongs_to(
    qapp: QApplication, work: Path, text: str, kind: type[Dialog]
) -> None:
    async with started(work) as bench:
        window = await entered(bench, work)
        QGuiApplication.clipboard().setText(text)
        window.activateWindow()
        QTest.keyClick(window, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        sheet = await dialog_of(bench, kind)
        sheet.reject()
        await until(lambda: not any(one.isVisible() for one in bench.frame.findChildren(kind)))
    assert [path.name for path in work.parent.iterdir() if path.is_file()] == ["work.db"]


async def test_what_is_pasted_into_the_first_page_is_taken_and_what_is_nothing_is_said(
    qapp: QApplication, tmp_path: Path
) -> None:
    async with started(tmp_path / "empty.db") as bench:
        welcome = await dialog_of(bench, WelcomePage)
        QGuiApplication.clipboard().setText("buy milk")
        QTest.keyClick(welcome, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        await until(welcome.failure.isVisible)
        assert welcome.failure.accessibleName().startswith("The text is neither a config of servers, nor tools")
        QGuiApplication.clipboard().setText(json.dumps({"clock": CLOCK}))
        QTest.keyClick(welcome, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        sheet = await dialog_of(bench, ImportPreviewDialog)
        sheet.reject()


async def test_a_bad_environment_is_told_once_it_is_open_and_keeps_no_window_shut(
    qapp: QApplication, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LOG_LEVEL", "loud"), ("DATABASE_URL", "postgres://x"), ("MCP_TEF_MAX_PAGES", "none")):
        monkeypatch.setenv(name, value)
    async with started(work) as bench:
        sheet = await dialog_of(bench, Dialog)
        said = " ".join(part.text() for part in sheet.findChildren(FlowText))
        assert "DATABASE_URL and LOG_LEVEL: the value is for another program." in said
        assert "MCP_TEF_MAX_PAGES is “none”, not a whole number from 1 to 100000." in said
        sheet.accept()
        assert await case_names(bench) == ["mine"]


async def test_a_key_that_was_typed_outlasts_larger_text_and_no_change_of_workspace(
    qapp: QApplication, work: Path
) -> None:
    async with started(work) as bench:
        assert bench.session is not None
        await bench.session.value(lambda core: core.keys.set("openai", Secret("sk-typed")))
        before = bench.window
        bench.text_sizes.choose(110)
        await until(lambda: before and before.offer.isVisible())
        next(one for one in bench.frame.findChildren(Button) if one.text() == "Reopen now").click()
        await until(lambda: bench.window is not None and bench.window is not before and bench.window.current)
        assert await typed_keys(bench) == ("openai",)
        other = work.with_name("other.mcp-tef")
        await choose(bench, bench.workspaces.ask_new, other)
        await entered(bench, other)
        assert await typed_keys(bench) == ()


async def typed_keys(bench: WorkspaceController) -> tuple[str, ...]:
    assert bench.session is not None
    return await bench.session.value(lambda core: core.keys.typed_providers())
