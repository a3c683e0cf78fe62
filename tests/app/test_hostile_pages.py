"""Hostile texts on the pages outside the screens.

The welcome page, the page for a workspace that does not open, the settings, a manual tool call, and recent workspaces.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.settings import Settings
from app.core_link.workspaces import Workspaces
from app.screens.servers.tool_call_dialog import ConfirmCallDialog, ToolCallDialog
from app.screens.settings.dialog import SettingsDialog
from app.screens.welcome.page import WelcomePage
from app.shell.closed_workspace import ClosedDoor, Exits
from app.shell.main_window import MainWindow
from mcp_tef import ServerSpec, StoreError, Tool, Transport
from tests.support.fake_engine import FakeEngine
from tests.support.hostile import ALL, MARKUP, hostile_engine
from tests.support.touring import opened
from tests.support.walking import HIDDEN, complaints, drawn
from tests.support.windows import drive, session_for, shown, until

ODD = "<img src=x>\u202egnp"
SPEC = ServerSpec(name=ALL, transport=Transport.STDIO, command=ALL, args=(MARKUP, ALL), cwd=ALL, env={ALL: ALL})


def shows_markup(widget: QWidget) -> bool:
    """Whether markup is on the screen as the text that it is."""
    return "<img src=" in drawn(widget)


def wrong(widget: QWidget) -> set[str]:
    """What a widget shows that it must not."""
    return complaints(widget) | {f"it draws U+{ord(found):04X}" for found in HIDDEN.findall(drawn(widget))}


def in_window(look: Callable[[MainWindow], Coroutine[Any, Any, set[str]]]) -> None:
    """Open the window over hostile texts and look at something in it; nothing may be wrong there."""

    async def work() -> set[str]:
        engine = await hostile_engine(ALL, ALL)
        await engine.consents.allow_server(SPEC)
        async with opened(engine) as window:
            return await look(window)

    found = drive(work())
    assert found == set(), "\n".join(sorted(found))


def test_programs_that_were_agreed_to_are_listed_as_text(qapp: QApplication) -> None:
    async def look(window: MainWindow) -> set[str]:
        window.settings_wanted.emit()
        await until(lambda: window.window().findChildren(SettingsDialog))
        sheet = window.window().findChildren(SettingsDialog)[0]
        sheet.pane.set_current("consents")
        await until(lambda: "<img src=" in drawn(sheet), every=0.1)
        found = wrong(sheet)
        sheet.close()
        return found

    in_window(look)


def test_a_tool_is_tried_and_what_would_be_sent_is_shown_as_text(qapp: QApplication) -> None:
    async def look(window: MainWindow) -> set[str]:
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
            found |= wrong(sheet)
            sheet.close()
        return found

    in_window(look)


def test_a_workspace_that_cannot_be_opened_is_told_of_in_text(qapp: QApplication, tmp_path: Path) -> None:
    def nothing(*_: object) -> None: ...

    door = ClosedDoor(
        StoreError(ALL, hint=ALL, context={"workspace": ALL, ALL: ALL}),
        Exits(try_again=nothing, copy=nothing, open_another=nothing, open_temporary=nothing, leave=nothing),
        tmp_path / ODD,
    )
    shown(door)
    assert "<img src=" in drawn(door)
    assert wrong(door) == set()
    door.close()


def test_workspaces_that_were_opened_before_are_named_in_text(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / f"{ODD}.db").touch()
    settings = Settings(None)
    settings.set("workspaces", [str(tmp_path / f"{ODD}.db"), str(tmp_path / "<img src=y>.db")])

    async def nowhere(_: object) -> None: ...

    async def work() -> set[str]:
        async with session_for(FakeEngine(), settings) as (session, _):
            page = WelcomePage(session, Workspaces(QWidget(), settings, nowhere, nowhere, nowhere, lambda _: None))
            shown(page)
            page.failure.show_message(ALL, ALL, details=ALL)
            await until(lambda: "<img src=" in drawn(page), every=0.1)
            found = wrong(page)
            page.close()
            return found

    assert drive(work()) == set()
