"""A tour of the whole window: every screen, view and tab, and every dialog over the screens."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.session import Page
from app.core_link.settings import Settings
from app.core_link.targets import StartRuns
from app.dialogs.consent import ApiKeyDialog, ConsentDialog
from app.dialogs.export import export_runs
from app.screens.cases.bulk_edit import ExpectedToolDialog, LabelsDialog
from app.screens.cases.import_export import export_warnings_dialog
from app.screens.cases.page import CasesPage
from app.screens.runs.dialogs import CostCapDialog, RenameBatchDialog
from app.screens.runs.page import RunsPage
from app.screens.servers.page import ServersPage
from app.screens.servers.server_dialog import ServerDialog
from app.screens.servers.server_form import ServerForm
from app.screens.servers.tool_call_dialog import ConfirmCallDialog, ToolCallDialog
from app.screens.similarity.comparison_choices import EmbedderDialog
from app.screens.similarity.page import SimilarityPage
from app.shell.drop_handler import outcomes_dialog
from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.shell.system_notifications import show_opening_notices
from app.shell.work_questions import RenameWorkspaceDialog, closing_question
from app.widgets import ask
from app.widgets.choices import ChoiceBar
from app.widgets.keyed_view import KeyedView
from app.widgets.notices import Toast
from mcp_tef import (
    CaseDraft,
    CaseFileFormat,
    CaseId,
    DetectedFile,
    ExportReport,
    FileKind,
    InputError,
    RunFilter,
    Server,
    ServerSpec,
    StoreError,
    Tool,
    Transport,
    UsedUpCap,
    launch_preview,
)
from tests.support.fake_engine import FakeEngine
from tests.support.windows import until
from tests.support.workbench import workbench
from tests.support.workspace_files import written

MOST_ROWS = 2
DIRECT = Qt.FindChildOption.FindDirectChildrenOnly
LOOKS = ("Appearance: ", "Contrast: ")
Look = Callable[[Page], None]


@asynccontextmanager
async def opened(engine: FakeEngine, settings: Settings | None = None) -> AsyncIterator[MainWindow]:
    """The window over a core."""
    async with workbench(engine, settings) as bench:
        assert bench.window is not None
        yield bench.window


async def filled(window: MainWindow, ready: Callable[[Page], bool]) -> None:
    """Go to every screen, and wait until it is ready."""
    for place in screens():
        await _shown(window, place.key, ready)


async def tour(window: MainWindow, ready: Callable[[Page], bool], look: Look, rows: int = MOST_ROWS) -> None:
    """Go to every screen, wait until it is ready, and look at it, whatever is chosen on it, and at its first rows."""
    for place in screens():
        page = await _shown(window, place.key, ready)
        await _look(page, look)
        for bar in _bars(page):
            before = bar._place
            while _moved(bar):
                await _look(page, look)
            bar.choose(before)
        for view in [one for one in page.findChildren(KeyedView) if one.isVisible()]:
            for row in range(min(rows, view.rows.rowCount())):
                if view.currentIndex().row() != row:  # else it was looked at already
                    view.setCurrentIndex(view.rows.index(row, 0))
                    await _look(page, look)


async def _shown(window: MainWindow, key: str, ready: Callable[[Page], bool]) -> Page:
    """Go to a screen, and wait until it is ready."""
    window.show_screen(key)
    page = window.page(key)
    await page.settled()
    await until(partial(ready, page), every=0.1)
    return page


async def _look(page: Page, look: Look) -> None:
    await page.settled()
    await _painted(page)
    await has_keyboard(page.window())
    look(page)


async def _painted(widget: QWidget) -> None:
    """Wait until nothing is held that is made in turns."""
    await until(lambda: all(one.updatesEnabled() for one in widget.findChildren(QWidget) if one.isVisible()))


def _bars(root: QWidget) -> list[ChoiceBar]:
    """The visible bars, without those that restyle the whole window: that takes seconds and has a test of its own."""
    return [
        one for one in root.findChildren(ChoiceBar) if one.isVisible() and not one.accessibleName().startswith(LOOKS)
    ]


def _moved(bar: ChoiceBar) -> bool:
    """Whether a press of the right arrow chose something else."""
    before = bar.current()
    bar.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    return bar.current() != before


async def looked_over(window: MainWindow, show: Callable[[], object], look: Callable[[QWidget], None]) -> None:
    """Show something that lies over the screens, look at it, whatever is chosen on it, and close it."""
    before = set(overlays(window))
    window.session.do(show)
    await until(lambda: set(overlays(window)) - before)
    for shown_now in set(overlays(window)) - before:
        await _look_at(shown_now, look)
        for bar in _bars(shown_now):
            while _moved(bar):
                await _look_at(shown_now, look)
        shown_now.close()
    await until(lambda: set(overlays(window)) <= before)


async def _look_at(widget: QWidget, look: Callable[[QWidget], None]) -> None:
    seen = None
    while (now := widget.grab().toImage()) != seen:
        seen = now
        await asyncio.sleep(0.02)
        await _painted(widget)
    await has_keyboard(widget.window())
    look(widget)


async def has_keyboard(window: QWidget) -> None:
    """Wait until a window is the one that keys go to."""
    window.activateWindow()
    await until(lambda: window.isActiveWindow() or QApplication.activePopupWidget() is window)


def overlays(window: MainWindow) -> list[QWidget]:
    """What lies over the screens: dialogs, popups, toasts and notices."""
    inside = [*window.area.findChildren(Toast, options=DIRECT), window.notice]
    return [one for one in (*QApplication.topLevelWidgets(), *inside) if one.isVisible() and one is not window.window()]


P = TypeVar("P", bound=Page)
Over = Iterator[tuple[str, Callable[[], object]]]
ADDRESS = "http://127.0.0.1:9/mcp"


def over_screens(window: MainWindow, folder: Path, server: Server, text: str, mark: str) -> Over:
    """What opens, by name, and how it is opened; a `text` and a shorter `mark` stand wherever they can."""
    yield from _notices(window, text)
    yield from _of_servers(window, folder, server, text, mark)
    yield from _of_asking(window, folder, text)
    yield from _of_many(window, text)
    yield from _of_names(window, folder, text)
    yield from _of_ends(window, folder, text)
    yield "settings", window.settings_wanted.emit
    yield "palette", window.show_palette
    yield "shortcuts", window.show_shortcuts
    yield "messages", window.show_messages
    yield "help", lambda: window.show_help("confusion")


def _page(window: MainWindow, kind: type[P]) -> P:
    return next(page for page in window.findChildren(kind) if isinstance(page, kind))


def _command(window: MainWindow, name: str) -> Callable[[], object]:
    commands = (command for place in screens() for command in window.page(place.key).commands())
    return next(command.do for command in commands if command.id == name)


def _notices(window: MainWindow, text: str) -> Over:
    session = window.session
    yield "toast", lambda: session.toast(text, undo=lambda: None)
    yield "error", lambda: session.show_error(StoreError(text, hint=text, context={text: text}))
    yield "question", lambda: session.spawn(ask(window, text, text, yes="Yes"))


def _of_servers(window: MainWindow, folder: Path, server: Server, text: str, mark: str) -> Over:
    session, page = window.session, _page(window, ServersPage)
    config = {"command": text, "args": [text, mark], "env": {mark: text}, "note": text, "cwd": text}
    configs = written(folder / "mcp.json", {"mcpServers": {text: config, mark: {"url": ADDRESS}}})
    dropped = DetectedFile(kind=FileKind.SERVERS, path=configs)
    spec = ServerSpec(name=text, transport=Transport.STDIO, command=text, args=(text,), cwd=text, env={text: text})
    properties = {mark: {"description": text, "enum": [text]}, text: {"type": "string"}}
    tool = Tool(
        server=text,
        name=text,
        description=text,
        input_schema={"type": "object", "properties": properties},
        raw={},
    )

    def by_command() -> None:
        sheet = ServerDialog(session, page.presenter, page)
        sheet.open_form(ServerForm(kind="command"))
        sheet.open()

    yield "server, which kind", _command(window, "servers.add")
    yield "server, a command", by_command
    yield "server, an address", _command(window, "servers.edit")
    yield "import of servers, from where", _command(window, "servers.import")
    yield "import of servers", lambda: session.spawn(page.bring_in([dropped]))
    yield "consent", lambda: ConsentDialog(launch_preview(spec, (spec.name,)), window).open()
    yield "try a tool", lambda: ToolCallDialog(session, server, tool, window).open()
    yield "call a tool", lambda: ConfirmCallDialog(server, tool, {text: text}, window).open()


def _of_asking(window: MainWindow, folder: Path, text: str) -> Over:
    session, pairs = window.session, _page(window, SimilarityPage).pair
    case = {"name": text, "query": text, "servers": [text], "expected": [{"tool": text}], "tags": [text], "odd": text}
    cases = written(folder / "cases.json", {"version": 1, "cases": [case, {"query": 1, "name": text}]})
    yield "import of cases", lambda: session.spawn(_page(window, CasesPage).transfer.import_file(cases))
    yield "start", lambda: window.go(StartRuns())
    yield "key", lambda: ApiKeyDialog(text, text, window).open()
    yield "embedder", lambda: EmbedderDialog(f"litellm:{text}", window).open()
    yield "questions about tools", _command(window, "quality.ask")
    yield "questions about pairs", lambda: pairs.ask([(0, 1)])


def _of_many(window: MainWindow, text: str) -> Over:
    drafts = {CaseId(f"case-{number}"): CaseDraft(name=text, query=text, tags=(text,)) for number in range(3)}
    tools = _page(window, CasesPage).presenter.tools.of(())
    listed = drafts.values()
    names = (text,)
    yield (
        "tags, suites and servers of cases",
        lambda: LabelsDialog(listed, tags=names, suites=names, servers=names, parent=window).open(),
    )
    yield "expected tool of cases", lambda: ExpectedToolDialog(drafts, tools, window).open()
    yield "columns of a table", lambda: _page(window, RunsPage).run_list.table.arrange()
    yield "formats of an export", lambda: export_runs(window, window.session, RunFilter(), text)


def _of_names(window: MainWindow, folder: Path, text: str) -> Over:
    def refused(*_: object) -> None:
        raise InputError(text)

    yield "name of a batch", lambda: RenameBatchDialog(text, window).open()
    yield "name of a workspace", lambda: RenameWorkspaceDialog(folder / f"{text}.db", refused, window).open()
    yield "cost cap", lambda: CostCapDialog(UsedUpCap(1.0, 1.2, 0.4), window).open()


def _of_ends(window: MainWindow, folder: Path, text: str) -> Over:
    outcomes = [DropOutcome(text, fate, text) for fate in DropStatus for _ in range(3)]
    losses = tuple((text, text) for _ in range(9))
    report = ExportReport(form=CaseFileFormat.CSV, written=3, left_out=losses, lost=losses)
    works = [f"{number} of {text}" for number in range(9)]
    yield "what came of files", lambda: outcomes_dialog(window, outcomes).open()
    yield "what an export does not hold", lambda: export_warnings_dialog(window, folder / "cases.json", report).open()
    yield "what happened to files", lambda: show_opening_notices(window, [text] * 5, lambda: None)
    yield "work under way", lambda: closing_question(window, works, lambda: None).open()
