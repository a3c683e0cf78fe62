"""Hostile texts of strangers are shown as plain text on every screen, and on the pages outside the screens."""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Page
from app.core_link.settings import Settings
from app.core_link.targets import StartRuns
from app.core_link.workspaces import WorkspaceMenu
from app.dialogs.consent import ConsentDialog
from app.screens.cases.page import CasesPage
from app.screens.servers.page import ServersPage
from app.screens.servers.tool_call_dialog import ConfirmCallDialog, ToolCallDialog
from app.screens.settings.dialog import SettingsDialog
from app.screens.welcome.page import WelcomePage
from app.shell.main_window import MainWindow
from app.shell.open_error_page import OpenErrorActions, OpenErrorPage
from app.shell.screen_specs import screens
from app.widgets import ask
from mcp_tef import DetectedFile, FileKind, ServerSpec, StoreError, Tool, Transport, launch_preview
from tests.support.displayed_text import HIDDEN, complaints, drawn, shows_markup, text_faults
from tests.support.fake_engine import FakeEngine
from tests.support.special_workspaces import ALL, HUGE, MARKUP, hostile_engine
from tests.support.window_tour import opened, overlays, tour
from tests.support.windows import opened_dialog, session_for, shown, until
from tests.support.workspace_files import written

MOST_ROWS = 2
P = TypeVar("P", bound=Page)


async def test_every_screen_shows_endless_text_in_part(qapp: QApplication) -> None:
    found: set[str] = set()
    async with opened(await hostile_engine(HUGE, HUGE[:500])) as window:
        await tour(window, shows_markup, lambda page: found.update(text_faults(page)))
    assert found == set(), "\n".join(sorted(found))


def dialogs(window: MainWindow, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that opens over the screens and says something that came from elsewhere."""
    session = window.session

    def page_of(kind: type[P]) -> P:
        return next(page for page in window.findChildren(kind) if isinstance(page, kind))

    commands = {command.id: command.do for place in screens() for command in window.page(place.key).commands()}
    case = {"name": ALL, "query": ALL, "servers": [ALL], "expected": [{"tool": ALL}], "tags": [ALL], "odd": ALL}
    cases = written(folder / "cases.json", {"version": 1, "cases": [case, {"query": 1, "name": ALL}]})
    config = {"command": ALL, "args": [ALL, MARKUP], "env": {MARKUP: ALL}, "note": ALL, "cwd": ALL}
    configs = written(folder / "mcp.json", {"mcpServers": {ALL: config, MARKUP: {"url": MARKUP}}})
    dropped = DetectedFile(kind=FileKind.SERVERS, path=configs)
    spec = ServerSpec(name=ALL, transport=Transport.STDIO, command=ALL, args=(ALL,), cwd=ALL, env={ALL: ALL})
    yield "toast", lambda: session.toast(ALL, undo=lambda: None)
    yield "error", lambda: session.show_error(StoreError(ALL, hint=ALL, context={ALL: ALL}))
    yield "consent", lambda: ConsentDialog(launch_preview(spec, (spec.name,)), window).open()
    yield "question", lambda: session.spawn(ask(window, ALL, ALL, yes="Yes"))
    yield "import of cases", lambda: session.spawn(page_of(CasesPage).transfer.import_file(cases))
    yield "import of servers", lambda: session.spawn(page_of(ServersPage).bring_in([dropped]))
    yield "server", commands["servers.edit"]
    yield "start", lambda: window.go(StartRuns())
    yield "questions to a model", commands["quality.ask"]
    yield "palette", window.show_palette


async def test_every_screen_dialog_and_notice_shows_foreign_text_as_text(qapp: QApplication, tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}
    async with opened(await hostile_engine(ALL, ALL)) as window:
        await tour(window, shows_markup, lambda page: found.setdefault(page.title, set()).update(text_faults(page)))
        looked_at = len(found)
        for name, show in dialogs(window, tmp_path):
            before = set(overlays(window))
            window.session.do(show)
            await until(partial(others, window, before))
            found[name] = complaints(window)
            for shown in others(window, before):
                found[name] |= {"it draws something hidden"} if HIDDEN.search(drawn(shown)) else set()
                shown.close()
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert len(found) - looked_at == 10


def others(window: MainWindow, before: set[QWidget]) -> set[QWidget]:
    """What has come to lie over the screens."""
    return set(overlays(window)) - before


ODD = "<img src=x>\u202egnp"
SPEC = ServerSpec(name=ALL, transport=Transport.STDIO, command=ALL, args=(MARKUP, ALL), cwd=ALL, env={ALL: ALL})


@pytest.fixture
async def window(qapp: QApplication) -> AsyncIterator[MainWindow]:
    """The window over hostile texts, and a program that may be started."""
    engine = await hostile_engine(ALL, ALL)
    await engine.consents.allow_server(SPEC)
    async with opened(engine) as made:
        yield made


async def test_programs_that_were_agreed_to_are_listed_as_text(window: MainWindow) -> None:
    window.settings_wanted.emit()
    sheet = await opened_dialog(window.window(), SettingsDialog)
    sheet.pane.set_current("consents")
    await until(lambda: "<img src=" in drawn(sheet), every=0.1)
    found = text_faults(sheet)
    sheet.close()
    assert found == set()


async def test_a_tool_is_tried_and_what_would_be_sent_is_shown_as_text(window: MainWindow) -> None:
    server = (await window.session.call(lambda core: core.servers.list()))[0]
    schema = {
        "type": "object",
        "properties": {MARKUP: {"description": ALL, "enum": [ALL]}, ALL: {"type": "string"}},
    }
    tool = Tool(server=ALL, name=ALL, description=ALL, input_schema=schema, raw={})
    found: set[str] = set()
    for sheet in (
        ToolCallDialog(window.session, server, tool, window),
        ConfirmCallDialog(server, tool, {ALL: ALL}, window),
    ):
        sheet.open()
        await until(partial(shows_markup, sheet), every=0.1)
        found |= text_faults(sheet)
        sheet.close()
    assert found == set()


def test_a_workspace_that_cannot_be_opened_is_told_of_in_text(qapp: QApplication, tmp_path: Path) -> None:
    def nothing(*_: object) -> None: ...

    door = OpenErrorPage(
        StoreError(ALL, hint=ALL, context={"workspace": ALL, ALL: ALL}),
        OpenErrorActions(try_again=nothing, copy=nothing, open_another=nothing, open_temporary=nothing, leave=nothing),
        tmp_path / ODD,
    )
    shown(door)
    assert "<img src=" in drawn(door)
    assert text_faults(door) == set()
    door.close()


async def test_workspaces_that_were_opened_before_are_named_in_text(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / f"{ODD}.db").touch()
    settings = Settings(None)
    settings.set("workspaces", [str(tmp_path / f"{ODD}.db"), str(tmp_path / "<img src=y>.db")])

    async def nowhere(_: object) -> None: ...

    async with session_for(FakeEngine(), settings) as (session, _):
        page = WelcomePage(session, WorkspaceMenu(QWidget(), settings, nowhere, nowhere, nowhere, lambda _: None))
        shown(page)
        page.failure.show_message(ALL, ALL, details=ALL)
        await until(lambda: "<img src=" in drawn(page), every=0.1)
        assert text_faults(page) == set()
        page.close()
