"""Texts of people who mean harm, everywhere where a text may come from elsewhere, on every screen of the window."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Page
from app.dialogs.consent import ConsentSheet
from app.screens.cases.page import CasesPage
from app.screens.servers.page import ServersPage
from app.shell.main_window import MainWindow
from app.shell.navigation import places
from app.widgets import ask
from mcp_tef import DetectedFile, FileKind, ServerSpec, StoreError, Transport, program_request
from tests.support.case_book import written
from tests.support.hostile import ALL, HUGE, MARKUP, hostile_engine
from tests.support.touring import opened, overlays, tour
from tests.support.walking import HIDDEN, complaints, drawn
from tests.support.windows import drive, until

MOST_ROWS = 2
P = TypeVar("P", bound=Page)


def shows_markup(page: Page) -> bool:
    """Whether markup is on the screen as the text that it is."""
    return "<img src=" in drawn(page)


def wrong(page: Page) -> set[str]:
    """What a page shows that it must not."""
    hidden = HIDDEN.search(drawn(page))
    return complaints(page) | ({f"{page.title} draws U+{ord(hidden[0]):04X}"} if hidden else set())


@pytest.mark.parametrize(("text", "name"), [(ALL, ALL), (HUGE, HUGE[:500])], ids=["hostile", "huge"])
def test_every_screen_shows_foreign_text_as_text(qapp: QApplication, text: str, name: str) -> None:
    found: set[str] = set()

    async def work() -> None:
        async with opened(await hostile_engine(text, name)) as window:
            await tour(window, shows_markup, lambda page: found.update(wrong(page)))

    drive(work())
    assert found == set(), "\n".join(sorted(found))


def dialogs(window: MainWindow, folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that opens over the screens and says something that came from elsewhere."""
    session = window.session

    def page_of(kind: type[P]) -> P:
        return next(page for page in window.findChildren(kind) if isinstance(page, kind))

    commands = {command.id: command.do for place in places() for command in window.page(place.key).commands()}
    case = {"name": ALL, "query": ALL, "servers": [ALL], "expected": [{"tool": ALL}], "tags": [ALL], "odd": ALL}
    cases = written(folder / "cases.json", {"version": 1, "cases": [case, {"query": 1, "name": ALL}]})
    config = {"command": ALL, "args": [ALL, MARKUP], "env": {MARKUP: ALL}, "note": ALL, "cwd": ALL}
    configs = written(folder / "mcp.json", {"mcpServers": {ALL: config, MARKUP: {"url": MARKUP}}})
    dropped = DetectedFile(kind=FileKind.SERVERS, path=configs)
    spec = ServerSpec(name=ALL, transport=Transport.STDIO, command=ALL, args=(ALL,), cwd=ALL, env={ALL: ALL})
    yield "toast", lambda: session.toast(ALL, undo=lambda: None)
    yield "error", lambda: session.show_error(StoreError(ALL, hint=ALL, context={ALL: ALL}))
    yield "consent", lambda: ConsentSheet(program_request(spec, (spec.name,)), window).open()
    yield "question", lambda: session.spawn(ask(window, ALL, ALL, yes="Yes"))
    yield "import of cases", lambda: session.spawn(page_of(CasesPage).transfer.import_file(cases))
    yield "import of servers", lambda: session.spawn(page_of(ServersPage).bring_in([dropped]))
    yield "server", commands["servers.edit"]
    yield "start", commands["runs.start"]
    yield "questions to a model", commands["quality.ask"]
    yield "palette", window.show_palette


def test_every_dialog_and_notice_shows_foreign_text_as_text(qapp: QApplication, tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}

    async def work() -> None:
        async with opened(await hostile_engine(ALL, ALL)) as window:
            for place in places():
                window.show_screen(place.key)
                await until(partial(shows_markup, window.page(place.key)), every=0.1)
            for name, show in dialogs(window, tmp_path):
                before = set(overlays(window))
                window.session.do(show)
                await until(partial(others, window, before))
                found[name] = complaints(window)
                for shown in others(window, before):
                    found[name] |= {"it draws something hidden"} if HIDDEN.search(drawn(shown)) else set()
                    shown.close()

    drive(work())
    assert {name: faults for name, faults in found.items() if faults} == {}
    assert len(found) == 10


def others(window: MainWindow, before: set[QWidget]) -> set[QWidget]:
    """What has come to lie over the screens."""
    return set(overlays(window)) - before
