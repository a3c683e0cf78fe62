"""Ways from one workspace to another: new, open, recent, a copy, rename."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.session import Session
from app.core_link.settings import Recent, Settings
from app.widgets import Action, ask
from app.widgets.file_dialog import FileChoice, ask_path
from mcp_tef import StoreError, TefError

ENDING = "mcp-tef"
"""What names of new workspaces end in, and what a double click opens."""
FILES = f"Workspaces (*.{ENDING} *.db *.sqlite *.sqlite3);;All files (*)"
GROUP = "Workspaces"
Leave = Callable[[Path], Awaitable[None]]
Rename = Callable[[str], Awaitable[None]]
AskForName = Callable[[Path], Awaitable[str | None]]


class WorkspaceMenu:
    """Opens, copies and renames workspaces; `leave_for` closes this one and opens another, unless the user refuses.

    `rename_open` closes this one, renames it, and reopens it. `ask_for_name` asks for a new name; None cancels.
    """

    def __init__(
        self,
        frame: QWidget,
        settings: Settings,
        leave_for: Leave,
        rename_open: Rename,
        ask_for_name: AskForName,
        show_folder: Callable[[Path], object],
    ) -> None:
        self.recent = Recent(settings)
        self.current: Path | None = None
        self._frame = frame
        self._leave_for = leave_for
        self._rename_open = rename_open
        self._ask_for_name = ask_for_name
        self._show_folder = show_folder
        self._session: Session | None = None
        self._missing: frozenset[Path] = frozenset()

    def begin(self, session: Session) -> None:
        """Start with a session whose workspace is not open yet."""
        self._session, self.current = session, None

    def enter(self, workspace: Path, *, passing: bool = False) -> None:
        """Note that the session's workspace is open; a temporary one is not remembered."""
        self.current = workspace
        if not passing:
            self.recent.add(workspace)
        if self._session is not None:
            self._session.spawn(self.check_recent())

    async def check_recent(self) -> None:
        """Check which recent workspaces still exist, on another thread because a disk may be asleep."""
        paths = self.recent.paths()
        self._missing = frozenset(await asyncio.to_thread(lambda: [path for path in paths if not path.is_file()]))
        if self._session is not None:
            self._session.commands.put("workspaces", self._commands())

    def others(self) -> list[tuple[Path, bool]]:
        """Return the other recent workspaces, the latest first, and whether each existed at the last check."""
        return [(path, path not in self._missing) for path in self.recent.paths() if path != self.current]

    def actions(self) -> list[Action]:
        """Return the workspace menu."""
        others = [
            Action(
                text=label(path) if there else f"{label(path)} (not found)",
                do=partial(self.open, path),
                icon="clock-counter-clockwise" if there else "question",
                apart=not number,
            )
            for number, (path, there) in enumerate(self.others())
        ]
        return [
            Action(text="New workspace…", do=self.ask_new, icon="plus", keys="Ctrl+Shift+N"),
            Action(text="Open workspace…", do=self.ask_open, icon="folder-open", keys="Ctrl+O"),
            *others,
            Action(text="Save as…", do=self.ask_copy, icon="copy", keys="Ctrl+Shift+S", apart=True),
            Action(text="Rename…", do=self.ask_name, icon="pencil-simple"),
            Action(text="Show in its folder", do=self.show_folder, icon="hard-drives"),
        ]

    def ask_new(self) -> None:
        """Ask for the name of a new workspace."""
        self._ask("New workspace", self._go_to, "Create", FileChoice.NAME)

    def ask_open(self) -> None:
        """Ask which workspace to open."""
        self._ask("Open a workspace", self.open, "Open")

    def ask_either(self) -> None:
        """Ask for an existing workspace, or for the name of a new one."""
        self._ask("Open a workspace, or name a new one", self._go_to, "Open", FileChoice.NAME)

    def ask_copy(self) -> None:
        """Ask where to save a copy, and continue in the copy."""
        self._ask("Save the workspace as", self._copy_to, "Save", FileChoice.NEW)

    def ask_name(self) -> None:
        """Ask for a new name of this workspace."""
        if self.current is not None:
            self._spawn(self.rename(self.current))

    async def rename(self, path: Path) -> None:
        """Ask for a new name of a workspace, and rename it; an open one is closed meanwhile."""
        from mcp_tef import rename_workspace

        name = await self._ask_for_name(path)
        if name is None or name == path.stem:
            return
        if path == self.current:
            await self._rename_open(name)
        else:
            self.recent.replace(path, await asyncio.to_thread(rename_workspace, path, name))
            await self.check_recent()

    def open(self, path: Path) -> None:
        """Open a workspace; one that no longer exists can be removed from the list."""
        self._spawn(self._open(path))

    def show_folder(self) -> None:
        """Show the folder of this workspace."""
        if self.current is not None:
            self._show_folder(self.current.parent)

    def _go_to(self, path: Path) -> None:
        self._spawn(self._go(path))

    def _copy_to(self, path: Path) -> None:
        self._spawn(self._copy(path))

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        if self._session is not None:
            self._session.spawn(work)

    async def _open(self, path: Path) -> None:
        if await asyncio.to_thread(path.is_file):
            await self._go(path)
        elif await ask(
            self._frame,
            f"{path.name} is not there any more",
            f"It was last seen in {path.parent}. It may have been moved or renamed, or its disk is not there.",
            yes="Take it off the list",
        ):
            self.recent.remove(path)
            await self.check_recent()

    async def _go(self, path: Path) -> None:
        if await self._is_other_workspace(path):
            await self._leave_for(path)

    async def _copy(self, path: Path) -> None:
        if self._session is not None and await self._is_other_workspace(path):
            await self._session.call(lambda core: core.save_copy(path))
            self._session.toast(f"Saved as {path.name}")
            await self._leave_for(path)

    async def _is_other_workspace(self, path: Path) -> bool:
        """Return True if a file is a workspace other than this one; show the reason if not."""
        if self._session is None:
            return False
        if path == self.current:
            self._session.toast(f"{path.name} is open already")
            return False
        try:
            await asyncio.to_thread(require_workspace_file, path)
        except TefError as error:
            self._session.show_error(error)
            return False
        return True

    def _ask(self, title: str, chosen: Callable[[Path], None], verb: str, choice: FileChoice = FileChoice.FILE) -> None:
        folder = self.current.parent if self.current else ""
        ask_path(self._frame, title, chosen, choice, at=folder, filters=FILES, ending=ENDING, verb=verb)

    def _commands(self) -> list[Command]:
        def command(name: str, text: str, do: Callable[[], object], keys: str = "") -> Command:
            return Command(id=f"workspace.{name}", text=text, do=do, keys=keys, group=GROUP)

        recent = [
            command(f"recent.{path}", f"Open recent: {label(path)}", partial(self.open, path))
            for path, _ in self.others()
        ]
        return [
            command("new", "New workspace", self.ask_new, "Ctrl+Shift+N"),
            command("open", "Open a workspace", self.ask_open, "Ctrl+O"),
            command("copy", "Save the workspace as", self.ask_copy, "Ctrl+Shift+S"),
            command("rename", "Rename the workspace", self.ask_name),
            command("folder", "Show the workspace in its folder", self.show_folder),
            *recent,
        ]


def label(path: Path) -> str:
    """Return a workspace in one line: its name and its folder."""
    return f"{path.stem} in {path.parent.name or path.parent}"


def require_workspace_file(path: Path) -> None:
    """Raise StoreError if a file cannot be opened as a workspace."""
    from mcp_tef import require_workspace

    require_workspace(path)


def copy_to_writable_folder(workspace: Path, otherwise: Path) -> Path:
    """Copy a workspace to the user's data folder, or to another folder if that cannot be written either."""
    from mcp_tef import copy_workspace, default_workspace

    try:
        return copy_workspace(workspace, default_workspace().parent)
    except StoreError:
        return copy_workspace(workspace, otherwise)


def rename_closed_workspace(workspace: Path, name: str) -> tuple[Path, TefError | None]:
    """Rename a workspace; return its path, and the error if it could not be renamed."""
    from mcp_tef import rename_workspace

    try:
        return rename_workspace(workspace, name), None
    except TefError as error:
        return workspace, error
