"""Import of servers: preview, selection, undo; no server is started."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.screens.servers.import_dialogs import ImportPreviewDialog, ImportSourceDialog
from app.screens.servers.page import ServersPage
from app.screens.servers.server_dialog import ServerDialog
from app.widgets import Button, FlowText
from mcp_tef import DetectedFile, FileKind, Server, ServerSpec, Transport
from tests.support.configs import CLOCK, written
from tests.support.fake_engine import FakeEngine
from tests.support.fake_ports import command_server, tool
from tests.support.servers_page import page_over
from tests.support.windows import opened_dialog, session_for, shown, until
from tests.support.workspace_files import tools_file

W = TypeVar("W", bound=QWidget)
DESK = {"url": "https://desk.test/mcp", "alwaysAllow": ["find"]}


def config(path: Path, **servers: object) -> Path:
    return written(path, {"mcpServers": servers})


def read_in(widget: QWidget) -> str:
    return "\n".join(part.text() for part in widget.findChildren(FlowText) if part.isVisible())


async def click(sheet: QWidget, starts: str) -> None:
    """Click the button whose text starts so, once it can be clicked."""

    def buttons() -> list[Button]:
        ready = [one for one in sheet.findChildren(Button) if one.isVisible() and one.isEnabled()]
        return [one for one in ready if one.text().startswith(starts)]

    await until(buttons)
    QTest.mouseClick(buttons()[0], Qt.MouseButton.LeftButton)


async def stored(page: ServersPage) -> dict[str, Server]:
    return {server.name: server for server in await page.session.call(lambda core: core.servers.list())}


async def test_what_other_programs_have_comes_in_by_ticks_and_goes_by_undo(qapp: QApplication, tmp_path: Path) -> None:
    settings = tmp_path / ".config"
    config(settings / "Claude" / "claude_desktop_config.json", clock=CLOCK, desk=DESK, odd=3)
    config(tmp_path / ".codeium" / "windsurf" / "mcp_config.json", time=CLOCK, shop={"command": "shop"})
    written(settings / "Code" / "User" / "mcp.json", "{broken")
    fake = FakeEngine(environment={"HOME": str(tmp_path)})
    async with page_over(fake) as page:
        await click(page, "Find on this computer")
        sheet = await opened_dialog(page, ImportPreviewDialog)
        said = read_in(sheet)
        assert "5 servers: 3 new, 1 unchanged, 1 refused." in said
        assert "VS Code: mcp.json is not valid JSON at line 1." in said
        assert [sheet.table.rows.row(place).cells[2].text for place in range(5)] == [
            "New",
            "New",
            "Refused",
            "Unchanged",
            "New",
        ]
        sheet.table.select("1")
        await until(lambda: "alwaysAllow" in read_in(sheet))
        QTest.keyClick(sheet.table, Qt.Key.Key_Space)
        await click(sheet, "Import 2 servers")
        await until(lambda: page.server_list.rows.rowCount() == 2 and page.session.can_undo())
        assert set(await stored(page)) == {"clock", "shop"}
        assert fake.gateway.asked == []
        assert await page.session.call(lambda core: core.servers.consents()) == ()
        page.session.undo()
        await until(lambda: not page.server_list.rows.rowCount())
        assert await stored(page) == {}


async def test_among_many_found_servers_words_find_some_and_ticks_of_the_others_still_count(
    qapp: QApplication, tmp_path: Path
) -> None:
    settings = tmp_path / ".config"
    config(settings / "Claude" / "claude_desktop_config.json", clock=CLOCK, desk=DESK, shop={"command": "shop"})
    async with page_over(FakeEngine(environment={"HOME": str(tmp_path)})) as page:
        await click(page, "Find on this computer")
        sheet = await opened_dialog(page, ImportPreviewDialog)
        QTest.keyClicks(sheet.search, "sho")
        await until(lambda: sheet.table.rows.rowCount() == 1)
        assert "1 of 3 servers found, and 2 other servers ticked." in read_in(sheet)
        await until(lambda: "at mcpServers › shop" in read_in(sheet))
        QTest.keyClick(sheet.table, Qt.Key.Key_Space)
        await click(sheet, "Import 2 servers")
        await until(lambda: page.server_list.rows.rowCount() == 2)
        assert set(await stored(page)) == {"clock", "desk"}


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"files": [tool("read")]})])
async def test_a_program_whose_consent_was_revoked_is_asked_about_again(page: ServersPage, fake: FakeEngine) -> None:
    await page.session.call(lambda core: core.servers.add(command_server()))
    await click(page, "Allow and start")
    await until(lambda: page.pane.tools.rows.rowCount() == 1 and not page.pane.consent.isVisible())
    [consent] = await page.session.call(lambda core: core.servers.consents())
    await page.session.call(lambda core: core.servers.revoke_consent(consent.fingerprint))
    await until(lambda: page.pane.consent.isVisible())
    assert fake.gateway.asked == ["files"]


async def test_undo_gives_a_changed_server_its_old_settings(page: ServersPage, tmp_path: Path) -> None:
    path = config(tmp_path / "mcp.json", clock=CLOCK)
    before = await page.session.call(lambda core: _brought_in(core, path))
    config(path, clock={**CLOCK, "command": "pipx"}, desk=DESK)
    page.session.spawn(page.bring_in([DetectedFile(kind=FileKind.SERVERS, path=path)]))
    sheet = await opened_dialog(page, ImportPreviewDialog)
    assert f"{CLOCK['command']} → pipx" in read_in(sheet)
    await click(sheet, "Import 2 servers")
    await until(lambda: page.server_list.rows.rowCount() == 2 and page.session.can_undo())
    assert (await stored(page))["clock"].spec.command == "pipx"
    page.session.undo()
    await until(lambda: page.server_list.rows.rowCount() == 1)
    assert {name: server.spec for name, server in (await stored(page)).items()} == {"clock": before.spec}


async def _brought_in(core: object, path: Path) -> Server:
    files = core.server_files  # type: ignore[attr-defined]  # an engine
    [server] = await files.apply(await files.preview(path))
    assert isinstance(server, Server)
    return server


async def test_a_pasted_part_of_a_config_is_read_and_a_mistake_is_said_below_it(page: ServersPage) -> None:
    await click(page, "Import servers")
    source = await opened_dialog(page, ImportSourceDialog)
    await click(source, "Preview")
    await until(lambda: "Paste a config here" in read_in(source))
    source.area.setPlainText("{broken")
    await click(source, "Preview")
    await until(lambda: "The text is not valid JSON at line 1." in read_in(source))
    source.area.setPlainText('"clock": {"command": "uvx", /* or npx */ "args": ["clock"],},')
    await click(source, "Preview")
    sheet = await opened_dialog(page, ImportPreviewDialog)
    assert "“uvx” fetches the newest “clock”" in read_in(sheet)
    await click(sheet, "Import 1 server")
    await until(lambda: page.server_list.rows.rowCount() == 1)


async def test_what_a_config_says_is_never_markup(page: ServersPage, tmp_path: Path) -> None:
    evil = "<img src='file:///etc/passwd'>\u202eevil"
    settings = {"command": "serve", "args": [evil], "env": {"<b>A": "1"}, "cwd": "<u>", "<i>kept": {}}
    path = config(tmp_path / "<s>mcp.json", **{"<b>shop</b>": settings})
    page.session.spawn(page.bring_in([DetectedFile(kind=FileKind.SERVERS, path=path)]))
    sheet = await opened_dialog(page, ImportPreviewDialog)
    said = read_in(sheet)
    for words in ("<img src='file:///etc/passwd'>\\u202eevil", "<b>A", "<u>", "<i>kept", "<s>mcp.json"):
        assert words in said
    assert sheet.table.rows.row(0).cells[1].text == "<b>shop</b>"
    sheet.reject()
    await until(lambda: not page.findChildren(ImportPreviewDialog))


async def test_a_config_that_lists_nothing_says_so(page: ServersPage, tmp_path: Path) -> None:
    path = written(tmp_path / "mcp.json", {"mcpServers": {}})
    page.session.spawn(page.bring_in([DetectedFile(kind=FileKind.SERVERS, path=path)]))
    sheet = await opened_dialog(page, ImportPreviewDialog)
    assert "No servers found" in read_in(sheet)
    await click(sheet, "Close")
    await until(lambda: not page.findChildren(ImportPreviewDialog))


async def test_a_long_import_can_be_cancelled(page: ServersPage, fake: FakeEngine, tmp_path: Path) -> None:
    path = config(tmp_path / "mcp.json", clock=CLOCK, desk=DESK)
    toasts: list[str] = []
    page.session.toasted.connect(lambda text, _undo: toasts.append(text))
    fake.store.servers.gate = gate = asyncio.Event()
    page.session.spawn(page.bring_in([DetectedFile(kind=FileKind.SERVERS, path=path)]))
    await click(await opened_dialog(page, ImportPreviewDialog), "Import 2 servers")
    await until(lambda: [bar.fraction for bar in page.session.activity.shown()] == [0.5])
    page.session.activity.shown()[0].cancel_wanted.emit()
    for _ in range(3):  # The cancel takes a turn or two of both threads to arrive.
        await page.session.value(lambda _: None)
    await page.session.value(lambda _: gate.set())
    await until(lambda: toasts)
    assert toasts == ["The import was cancelled, and no server was kept"]
    await until(lambda: not page.session.activity.shown())
    assert (await stored(page), page.session.activity.shown()) == ({}, ())


async def test_tools_that_are_dropped_before_the_servers_were_read_get_a_name_that_is_free(
    qapp: QApplication, tmp_path: Path
) -> None:
    path = tools_file(tmp_path)
    fake = FakeEngine({"tools": [tool("find")]})
    await fake.servers.add(ServerSpec(name="tools", transport=Transport.FILE, path=str(path)))
    async with session_for(fake) as (session, _):
        page = ServersPage(session)
        shown(page)
        page.request_refresh()
        session.spawn(page.bring_in([DetectedFile(kind=FileKind.TOOLS, path=path)]))
        sheet = await opened_dialog(page, ServerDialog)
        assert sheet.fields.form().name == "tools-2"
        sheet.reject()
        await page.settled()
        page.close()
        page.deleteLater()
