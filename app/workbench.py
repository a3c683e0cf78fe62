"""The composition root behind the first frame: log, core, session, window and screens, closed in order."""

import asyncio
import logging
import os
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.bridge import Addresses, Bridge, Tidy
from app.crash import CrashHooks, start_log
from app.frame import PRODUCT, Frame
from app.session import Page, Session
from app.settings import Settings
from app.text import count
from app.theme import ThemeMode, theme
from app.widgets import Action, FlowText, Sheet, ask
from app.window import Place, Window
from mcp_tef import Event, Noticed, StoreError, TefError

if TYPE_CHECKING:
    from mcp_tef import Engine

LOG = logging.getLogger("app.workbench")
OpenCore = Callable[[Path | None], "Awaitable[Engine]"]
WORKSPACES = "Workspaces (*.db *.sqlite *.sqlite3);;All files (*)"


def run(frame: Frame, settings: Settings, workspace: Path | None) -> int:
    """Work until the window is closed."""
    from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

    theme().follow()
    log_file = start_log(Path(platformdirs.user_log_dir(PRODUCT, appauthor=False)))
    running = QApplication.instance()
    if isinstance(running, QApplication):
        running.setQuitOnLastWindowClosed(False)
    addresses = Addresses()
    bench = Workbench(frame, settings, partial(open_engine, show=addresses.wanted.emit), log_file)
    addresses.wanted.connect(bench.offer_sign_in)
    hooks = CrashHooks(bench.report_crash)
    hooks.install()
    loop = QEventLoop(running)
    hooks.watch(loop)
    tidy = Tidy()
    tidy.start()
    with loop:
        loop.run_until_complete(bench.live(workspace))
    tidy.stop()
    return 0


def _say(session: Session, events: tuple[Event, ...]) -> None:
    for event in events:
        if isinstance(event, Noticed):
            session.toast(event.text)


def _copied(workspace: Path, otherwise: Path) -> Path:
    """A copy among the user's own data, or in another folder where those cannot be written either."""
    from mcp_tef import copy_workspace, default_workspace

    try:
        return copy_workspace(workspace, default_workspace().parent)
    except StoreError:
        return copy_workspace(workspace, otherwise)


def _show_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


async def open_engine(workspace: Path | None, show: Callable[[str], None] | None = None) -> "Engine":
    """Open the core on its own thread; its heavy parts are imported here and not before."""
    from mcp_tef import Engine

    return await Engine.open(workspace, show=show)


def places() -> list[Place]:
    """The screens, in the order of the navigation."""
    return [
        _place("servers", "Servers", "hard-drives", _servers),
        _place("cases", "Test cases", "check-square", _cases),
        _place("runs", "Runs", "play-circle", _runs),
        _place("metrics", "Metrics", "chart-bar", _metrics),
        _place("similarity", "Similarity", "grid-four", _similarity),
        _place("quality", "Quality", "medal", _quality),
    ]


def _place(key: str, title: str, icon: str, make: Callable[[Session], Page]) -> Place:
    return Place(key=key, title=title, icon=icon, make=make, module=f"app.screens.{key}.page")


def _servers(session: Session) -> Page:
    from app.screens.servers.page import ServersPage

    return ServersPage(session)


def _cases(session: Session) -> Page:
    from app.screens.cases.page import CasesPage

    return CasesPage(session)


def _runs(session: Session) -> Page:
    from app.screens.runs.page import RunsPage

    return RunsPage(session)


def _metrics(session: Session) -> Page:
    from app.screens.metrics.page import MetricsPage

    return MetricsPage(session)


def _similarity(session: Session) -> Page:
    from app.screens.similarity.page import SimilarityPage

    return SimilarityPage(session)


def _quality(session: Session) -> Page:
    from app.screens.quality.page import QualityPage

    return QualityPage(session)


class Workbench:
    """One frame, and one workspace after the other in it."""

    def __init__(
        self,
        frame: Frame,
        settings: Settings,
        open_core: OpenCore,
        log_file: Path | None = None,
        browse: Callable[[QUrl], object] = QDesktopServices.openUrl,
    ) -> None:
        self.frame = frame
        self.settings = settings
        self.session: Session | None = None
        self.window: Window | None = None
        self._open_core = open_core
        self._log_file = log_file
        self._browse = browse
        self._wanted: Path | None = None
        self._next: asyncio.Future[bool] | None = None
        self._passing = Path(tempfile.gettempdir(), f"{PRODUCT}-{os.getpid()}")
        self._asking = False
        frame.on_close = self._on_close

    async def live(self, workspace: Path | None) -> None:
        """Open a workspace, then whichever is asked for, until the window is to be closed."""
        self._wanted = workspace or self._last_workspace()
        goes_on = True
        while goes_on:
            self._next = asyncio.get_running_loop().create_future()
            await self._open(self._wanted)
            goes_on = await self._next
            await self._put_away()

    def leave(self, following: Path | None = None) -> None:
        """End this workspace and open another one, or none."""
        self._wanted = following or self._wanted
        self._end(goes_on=following is not None)

    def _end(self, *, goes_on: bool) -> None:
        if self._next is not None and not self._next.done():
            self._next.set_result(goes_on)

    def offer_sign_in(self, address: str) -> None:
        """Ask whether to open the address of a sign-in in the browser."""
        if self.session is not None:
            self.session.spawn(self._offer(QUrl(address)))

    async def _offer(self, address: QUrl) -> None:
        question = f"To sign in, {address.host()} is opened in your browser. Come back here when it says that you can."
        if address.scheme() in ("http", "https") and await ask(self.frame, "Sign in", question, yes="Open the browser"):
            self._browse(address)

    def report_crash(self, error: BaseException) -> None:
        """Say calmly that something went wrong."""
        if self.session is not None and self.window is not None:
            self.session.show_error(error)

    async def _open(self, workspace: Path | None) -> None:
        bridge = Bridge(lambda: self._open_core(workspace))
        session = Session(bridge, self.settings)
        self.session = session
        bridge.start()
        try:
            core_path = await session.value(lambda core: core.workspace)
            is_new = await self._is_new(session)
        except Exception as error:  # the start's outermost frame
            if not isinstance(error, TefError):
                LOG.exception("The workspace could not be opened.")
            self._show_closed_door(error)
            return
        if self._passing not in core_path.parents:
            self.settings.set("workspace", str(core_path))
        self._show(session, core_path, is_new)
        await self._say_notices(session, core_path.parent)

    async def _is_new(self, session: Session) -> bool:
        servers = await session.call(lambda core: core.servers.list())
        cases = await session.call(lambda core: core.cases.list())
        return not servers and not cases

    def _show(self, session: Session, workspace: Path, is_new: bool) -> None:
        window = Window(session, places(), PRODUCT)
        self.window = window
        window.navigation.head.set_subtitle(workspace.stem, str(workspace))
        window.workspace_wanted.connect(self._choose_workspace)
        window.settings_wanted.connect(self._show_settings)
        if is_new:
            self.frame.set_content(self._welcome(session, window))
        else:
            self._enter(window)

    def _welcome(self, session: Session, window: Window) -> QWidget:
        from app.screens.welcome.page import WelcomePage

        page = WelcomePage(session)
        page.sample_opened.connect(lambda cases: self._enter(window, "runs", cases))
        page.servers_wanted.connect(lambda how: self._enter(window, "servers", how))
        page.emptiness_chosen.connect(lambda: self._enter(window, "servers"))
        return page

    def _enter(self, window: Window, place: str = "", target: object = None) -> None:
        self.frame.set_content(window)
        known = {one.key for one in places()}
        last = self.settings.get("window.place", "servers", lambda key: key in known)
        window.show_place(place or last, target)
        window.session.spawn(window.prepare())

    async def _say_notices(self, session: Session, folder: Path) -> None:
        session.events.connect(lambda events: _say(session, events))
        notices = [*self._settings_notice(), *await session.value(lambda core: core.opened)]
        if notices:
            sheet = Sheet("Before you go on", self.frame)
            for text in notices:
                sheet.body.addWidget(FlowText(text))
            show = Action(text="Show the folder", do=lambda: _show_folder(folder), kind="quiet")
            sheet.set_buttons([Action(text="Go on", do=sheet.accept, kind="primary")], left=[show])
            sheet.open()

    def _settings_notice(self) -> list[str]:
        aside, self.settings.set_aside = self.settings.set_aside, None
        return [f"The settings of the window could not be read. They were set aside as {aside}."] if aside else []

    def _show_closed_door(self, error: BaseException) -> None:
        from app.screens.welcome.closed import ClosedDoor, Exits

        temporary = self._passing / "temporary.db"
        exits = Exits(
            try_again=lambda: self._end(goes_on=True),
            copy=lambda path: self.session.spawn(self._work_on_a_copy(path)) if self.session else None,
            open_another=self._choose_workspace,
            open_temporary=lambda: self.leave(temporary),
            leave=self.leave,
        )
        self.frame.set_content(ClosedDoor(error, exits, temporary.parent))

    async def _work_on_a_copy(self, workspace: Path) -> None:
        try:
            copy = await asyncio.to_thread(_copied, workspace, self._passing)
        except TefError as error:
            self._show_closed_door(error)
        else:
            self.leave(copy)

    def _on_close(self) -> bool:
        if self._next is None or self._next.done():
            return True
        if not self._asking and self.session is not None:
            self._asking = True
            self.session.spawn(self._close_if_agreed(self.session))
        return False

    async def _close_if_agreed(self, session: Session) -> None:
        try:
            active = await session.value(lambda core: core.runs.active()) if self.window is not None else ()
            if not active or await self._ask_to_stop(len(active)):
                self.leave()
        finally:
            self._asking = False

    async def _ask_to_stop(self, running: int) -> bool:
        what = count(running, "batch is", "batches are")
        text = f"{what} still running. What is finished is kept; the rest can be resumed later."
        return await ask(self.frame, "Close while runs are under way?", text, yes="Stop and close", no="Keep running")

    async def _put_away(self) -> None:
        self.frame.remember()
        if self.window is not None:
            await self.window.finish()
        if self.session is not None:
            await self.session.close()
            self.session.bridge.deleteLater()
            self.session.deleteLater()
        self.settings.save()
        self.session = self.window = None

    def _last_workspace(self) -> Path | None:
        if os.environ.get("DATABASE_URL"):
            return None
        last = self.settings.get("workspace", "")
        return Path(last) if last and os.path.isfile(last) else None

    def _choose_workspace(self) -> None:
        dialog = QFileDialog(self.frame, "Open a workspace, or name a new one", "", WORKSPACES)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setLabelText(QFileDialog.DialogLabel.Accept, "Open")
        dialog.setDefaultSuffix("db")
        dialog.fileSelected.connect(lambda name: self.leave(Path(name)))
        dialog.open()

    def _show_settings(self) -> None:
        from app.screens.settings.general import Places
        from app.screens.settings.sheet import SettingsSheet

        if self.session is not None:
            log = self._log_file
            lie = Places(self.settings.get("workspace", ""), log, lambda: _show_folder(log.parent) if log else None)
            SettingsSheet(self.session, self.frame, set_theme=self.set_theme, places=lie).open()

    def set_theme(self, mode: str) -> None:
        """Wear a scheme from now on."""
        theme().set_mode(ThemeMode(mode))
        self.settings.set("theme", mode)
        self.settings.save()
