"""Core, session and window of one workspace after another, opened and closed in order."""

import asyncio
import os
import secrets
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.core_link.bridge import Bridge
from app.core_link.commands import Command
from app.core_link.links import ExternalLinks
from app.core_link.session import Page, Session
from app.core_link.settings import Settings, TextSizeSetting
from app.core_link.targets import Target
from app.core_link.workspaces import (
    WorkspaceMenu,
    copy_to_writable_folder,
    rename_closed_workspace,
    require_workspace_file,
)
from app.screens.settings.controller import SettingsController
from app.shell.crash_reports import apply_log_level
from app.shell.drop_handler import DropImports
from app.shell.main_frame import PRODUCT, MainFrame
from app.shell.main_window import MainWindow
from app.shell.open_error_page import OpenErrorActions, OpenErrorScreen
from app.shell.other_processes import OtherProcessesWatch
from app.shell.presenter import ShellPresenter
from app.shell.screen_specs import last_screen, screens
from app.shell.system_notifications import SystemNotifications, show_opening_notices
from app.shell.work_questions import ClosingQuestions, InterruptedBatches, ask_for_workspace_name
from app.widgets import Action, FileDrops, frozen_updates, install_accessible_roles, yield_to_ui
from mcp_tef import Config, Event, InputError, NoticePublished, SessionSecrets, TefError, make_private_folder

if TYPE_CHECKING:
    from mcp_tef import Engine

OpenCore = Callable[[Path | None, SessionSecrets | None], "Awaitable[Engine]"]


def _say(session: Session, events: tuple[Event, ...]) -> None:
    for event in (one for one in events if isinstance(one, NoticePublished)):
        session.toast(event.text)


def _show_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


class NextStep(Enum):
    """The step after a window has closed."""

    END = "end"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopening:
    """The same workspace again, under a new name if there is one, with the secrets held in memory."""

    held: SessionSecrets
    name: str = ""


class WorkspaceController:
    """Shows one workspace after another in one frame."""

    def __init__(
        self,
        frame: MainFrame,
        settings: Settings,
        open_core: OpenCore,
        log_file: Path | None = None,
        browse: Callable[[QUrl], object] = QDesktopServices.openUrl,
    ) -> None:
        install_accessible_roles()
        self.frame = frame
        self.settings = settings
        self.session: Session | None = None
        self.window: MainWindow | None = None
        self._open_core = open_core
        self._external_links = ExternalLinks(frame, browse)
        self._wanted: Path | None = None
        self._next: asyncio.Future[NextStep] | None = None
        # Nobody else can have made a folder of this name before.
        self._temporary_folder = Path(tempfile.gettempdir(), f"{PRODUCT}-{os.getpid()}-{secrets.token_hex(8)}")
        self._closed = False
        self._is_named = False
        self._interrupted: InterruptedBatches | None = None
        self._reopening: Reopening | None = None
        self._size_offered = False
        self.drop_imports: DropImports | None = None
        self.workspaces = WorkspaceMenu(
            frame, settings, self._switch, self._rename, partial(ask_for_workspace_name, frame), _show_folder
        )
        self.text_sizes = TextSizeSetting(settings, self._offer_reopening, frame)
        self.dialog = SettingsController(
            frame, settings, self.text_sizes, resize=self._offer_reopening, log_file=log_file, show_folder=_show_folder
        )
        self._questions = ClosingQuestions(frame)
        self._error_screen = OpenErrorScreen(frame, self.workspaces.open)
        FileDrops(frame).dropped.connect(self._take_dropped)
        frame.on_close = self._on_close

    async def live(self, workspace: Path | None) -> None:
        """Open a workspace, then each one that is asked for, until the window is closed."""
        self._wanted, self._is_named = workspace or self._last_workspace(), workspace is not None
        step = NextStep.OPEN
        while step is not NextStep.END and not self._closed:
            await self._close_open()
            self._next = asyncio.get_running_loop().create_future()
            await self._open_wanted()
            self._take_what_waited()
            step = NextStep.END if self._closed else await self._next
        self.frame.hide()
        await self._close_open()

    def leave(self, following: Path | None = None) -> None:
        """Close this workspace and open another one, or none."""
        self._wanted, self._is_named = following or self._wanted, following is not None or self._is_named
        self._go_on(NextStep.OPEN if following is not None else NextStep.END)

    def end(self) -> None:
        """Close at once, without a question; batches are interrupted and can be resumed."""
        self._closed = True
        self._go_on(NextStep.END)

    def _go_on(self, step: NextStep) -> None:
        if self._next is not None and not self._next.done():
            self._next.set_result(step)

    def offer_sign_in(self, address: str) -> None:
        """Ask whether to open the address of a sign-in in the browser."""
        if self.session is not None:
            self._external_links.sign_in(self.session, address)

    def report_crash(self, error: BaseException) -> None:
        """Show that something went wrong."""
        if self.session is not None and self.window is not None:
            self.session.show_error(error)

    async def _open_wanted(self) -> None:
        reopening, self._reopening = self._reopening, None
        if reopening is None or not reopening.name or self._wanted is None:
            await self._open(self._wanted, reopening.held if reopening is not None else None)
            return
        before = self._wanted
        now, failure = await asyncio.to_thread(rename_closed_workspace, before, reopening.name)
        self._wanted = now
        self.workspaces.recent.replace(before, now)
        await self._open(self._wanted, reopening.held)
        if self.session is not None and failure is not None:
            self.session.show_error(failure)
        elif self.session is not None:
            undo, text = partial(self._rename, before.stem), f"The workspace is now named {reopening.name}"
            self.session.toast(text, undo, action="rename the workspace")

    async def _open(self, workspace: Path | None, held: SessionSecrets | None) -> None:
        bridge = Bridge(lambda: self._open_core(workspace, held))
        session = Session(bridge, self.settings)
        self.session = session
        self.text_sizes.apply()
        session.commands.put("text", self.text_sizes.commands())
        self.workspaces.begin(session)
        session.configured.connect(lambda: apply_log_level(session.preferences))
        session.events.connect(lambda events: _say(session, events))
        bridge.start()
        try:
            if workspace is not None and self._is_named:
                await asyncio.to_thread(require_workspace_file, workspace)
            core_path = await ShellPresenter(session).opened_path()
            is_new = await ShellPresenter(session).is_empty()
        except TefError as error:
            self._show_closed_door(session, error)
            return
        self._enter_workspace(core_path)
        SystemNotifications(session, self.frame)
        watch = OtherProcessesWatch(session)
        self._interrupted = InterruptedBatches(session)
        window = await self._show(session, core_path, is_new)
        session.spawn(self._interrupted.offer(window.offer))
        save = Action(text="Save a copy…", do=self.workspaces.ask_copy, kind="primary")
        watch.workspace_gone.connect(lambda text: window.offer.show_message(text, "", [save]))
        await self._say_notices(session, core_path.parent)

    def _enter_workspace(self, path: Path) -> None:
        passing = self._temporary_folder in path.parents
        if not passing:
            self.settings.set("workspace", str(path))
        self.workspaces.enter(path, passing=passing)

    async def _show(self, session: Session, workspace: Path, is_new: bool) -> MainWindow:
        session.workspace = str(workspace)
        window = MainWindow(session, screens(), PRODUCT, self.workspaces.actions)
        self.frame.setWindowTitle(f"{workspace.stem} – {PRODUCT}")
        self.drop_imports = DropImports(session, self.frame, lambda key: self._page(window, key), self.workspaces.open)
        paste = Command(id="paste", text="Paste servers, tools or cases", keys="Ctrl+V", do=self.drop_imports.paste)
        session.commands.put("arrivals", [paste])
        window.navigation.head.set_subtitle(workspace.stem, str(workspace))
        window.settings_wanted.connect(lambda: self.dialog.open(session, self.workspaces.current))
        window.address_wanted.connect(lambda url: self._external_links.page(session, url))
        self.frame.add_hidden(window)
        await yield_to_ui()
        if is_new:
            welcome = self._welcome(session, window)
            await yield_to_ui()
            self.frame.set_content(welcome)
        else:
            await self._show_screen(window, last_screen(self.settings))
        self.window = window
        session.spawn(window.prepare())
        return window

    def _welcome(self, session: Session, window: MainWindow) -> QWidget:
        from app.screens.welcome.page import WelcomePage

        page = WelcomePage(session, self.workspaces)
        page.sample_opened.connect(lambda cases: session.spawn(self._leave_welcome(window, "runs", cases)))
        page.servers_wanted.connect(lambda how: session.spawn(self._leave_welcome(window, "servers", how)))
        page.paste_wanted.connect(lambda: self.drop_imports.paste() if self.drop_imports else None)
        page.emptiness_chosen.connect(lambda: session.spawn(self._leave_welcome(window, "servers")))
        return page

    async def _show_screen(self, window: MainWindow, place: str, target: Target | None = None) -> None:
        """Show a screen once it is built; the present content stays until then."""
        await window.make_ready(place)
        async with frozen_updates(self.frame):
            if not window.current:
                self.frame.set_content(window)
                await yield_to_ui()
            window.show_screen(place, target)

    async def _leave_welcome(self, window: MainWindow, place: str, target: Target | None = None) -> None:
        window.hide_error()
        await self._show_screen(window, place, target)

    async def _page(self, window: MainWindow, key: str) -> Page:
        await (self._show_screen if window.current else self._leave_welcome)(window, key)
        return window.page(key)

    def _take_dropped(self, files: list[Path]) -> None:
        if self.drop_imports is not None:
            self.drop_imports.take(files)
        elif self.session is not None:
            self._error_screen.take(self.session, files)
        else:
            self._error_screen.add_waiting_files(files)

    def _take_what_waited(self) -> None:
        if self.drop_imports is not None and (kept := self._error_screen.take_waiting_files()):
            self.drop_imports.take(kept)

    async def _say_notices(self, session: Session, folder: Path) -> None:
        notices = [*self.settings.notices(), *await ShellPresenter(session).opening_notices()]
        if notices:
            show_opening_notices(self.frame, notices, partial(_show_folder, folder))

    def _show_closed_door(self, session: Session, error: BaseException) -> None:
        temporary = self._temporary_folder / "temporary.db"
        exits = OpenErrorActions(
            try_again=lambda: self._go_on(NextStep.OPEN),
            copy=lambda path: session.spawn(self._work_on_a_copy(session, path)),
            open_another=self.workspaces.ask_either,
            open_temporary=lambda: self._open_temporary(temporary),
            leave=self.leave,
        )
        self._error_screen.show(session, error, exits, temporary.parent)

    def _open_temporary(self, workspace: Path) -> None:
        make_private_folder(workspace.parent)
        self.leave(workspace)

    async def _work_on_a_copy(self, session: Session, workspace: Path) -> None:
        try:
            copy = await asyncio.to_thread(copy_to_writable_folder, workspace, self._temporary_folder)
        except TefError as error:
            self._show_closed_door(session, error)
        else:
            self.leave(copy)

    def _on_close(self) -> bool:
        if self._next is None or self._next.done():
            self._closed = True
            return True
        if self.session is not None:
            minimise = self.frame.showMinimized
            self.session.spawn(self._questions.leave_if_agreed(self.session, self.window, self.leave, minimise))
        return False

    async def _switch(self, following: Path) -> None:
        if self.session is not None:
            await self._questions.leave_if_agreed(self.session, self.window, lambda: self.leave(following))

    async def _rename(self, name: str) -> None:
        """Close the workspace, rename it and open it again; refused while batches run."""
        if self.session is None:
            return
        if await ShellPresenter(self.session).active_batches():
            hint = "Wait until they finish, or cancel them."
            self.session.show_error(
                InputError("The workspace cannot be renamed while runs are in progress.", hint=hint)
            )
            return
        await self._reopen(name)

    async def _reopen(self, name: str = "") -> None:
        if self.session is None:
            return
        held = await ShellPresenter(self.session).session_secrets()

        def close() -> None:
            self._reopening, self._wanted = Reopening(held=held, name=name), self.workspaces.current
            self._go_on(NextStep.OPEN)

        await self._questions.leave_if_agreed(self.session, self.window, close)

    def _offer_reopening(self) -> None:
        """Offer to reopen the window if it shows another text size than the chosen one."""
        if self.session is None:
            return
        if self.window is None:
            self._go_on(NextStep.OPEN)
        elif not self.text_sizes.is_reopening_due():
            if self._size_offered:
                self.window.offer.clear()
            self._size_offered = False
        elif not self.window.current:
            self.session.spawn(self._reopen())
        else:
            session, percent = self.session, self.text_sizes.percent()
            actions = [
                Action(text="Reopen now", do=lambda: session.spawn(self._reopen())),
                Action(text="Later", do=self.window.offer.clear, kind="link"),
            ]
            text = f"A text size of {percent} % applies when the window is reopened."
            self.window.offer.show_message(text, "", actions)
            self._size_offered = True

    async def _close_open(self) -> None:
        """Close the open workspace."""
        if self.session is None:
            return
        self.frame.save_geometry()
        covered = self.frame.cover()
        if self.window is not None:
            await self.window.finish()
        await self.session.close()
        if self.window is not None:
            await self.window.delete_hidden_pages()
            self.window.deleteLater()
        if covered is not None:
            covered.deleteLater()
        self.session.bridge.deleteLater()
        self.session.deleteLater()
        self.settings.save()
        self.session = self.window = self.drop_imports = self._interrupted = None
        self.frame.setWindowTitle(PRODUCT)

    def _last_workspace(self) -> Path | None:
        if Config.lenient(os.environ, {})[0].workspace is not None:
            return None
        last = self.settings.get("workspace", "")
        return Path(last) if last and os.path.isfile(last) else None
