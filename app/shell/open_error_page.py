"""The state of the window while no workspace is open, because the wanted one could not be opened."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from app.core_link.session import Session
from app.shell.closed_workspace import ClosedDoor, Exits
from app.shell.drop_handler import kinds
from app.shell.main_frame import Frame
from mcp_tef import DetectedFile, FileKind


class Doorway:
    """Shows the error page in the frame. `kept` are dropped files that wait until a workspace is open."""

    def __init__(self, frame: Frame, open_workspace: Callable[[Path], object]) -> None:
        self._frame = frame
        self._open_workspace = open_workspace
        self._door: ClosedDoor | None = None
        self.kept: list[Path] = []

    def show(self, session: Session, error: BaseException, exits: Exits, folder: Path) -> None:
        """Show the error and the actions."""
        self._door = ClosedDoor(error, exits, folder)
        session.failed.connect(self._door.say)
        self._frame.set_content(self._door)

    def take(self, session: Session, files: Sequence[Path]) -> None:
        """Open the workspace among dropped files; the others wait, and the page says so."""
        session.spawn(self._take(files))

    async def _take(self, files: Sequence[Path]) -> None:
        from mcp_tef import detect_files

        found = await asyncio.to_thread(detect_files, files)
        useful = [one for one in found if one.kind not in (None, FileKind.WORKSPACE)]
        self.keep([one.path for one in useful if one.path])
        if self._door is not None:
            self._door.say(*_words(found, useful))
        for path in [one.path for one in found if one.kind is FileKind.WORKSPACE][:1]:
            if path is not None:
                self._open_workspace(path)

    def keep(self, files: Sequence[Path]) -> None:
        """Add files to those that wait."""
        self.kept += [file for file in files if file not in self.kept]

    def handed_over(self) -> list[Path]:
        """Return the files that waited, once."""
        kept, self.kept = self.kept, []
        return kept


def _words(found: Sequence[DetectedFile], useful: Sequence[DetectedFile]) -> tuple[str, str]:
    """Return a message and a hint about files that are not workspaces, usable or not."""
    unknown = [one.problem for one in found if one.kind is None]
    if not useful:
        return " ".join(unknown), ""
    names = ", ".join(f"{one.name} ({kinds(one)})" for one in useful)
    waits = "It is no workspace, but it waits" if len(useful) == 1 else "They are no workspaces, but they wait"
    return f"{names}. {waits} here, and a preview opens once a workspace is open.", " ".join(unknown)
