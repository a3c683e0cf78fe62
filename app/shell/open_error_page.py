"""Where a workspace could not be opened: the page that says so, and what is dropped on it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from app.core_link.session import Session
from app.shell.closed_workspace import ClosedDoor, Exits
from app.shell.drop_handler import kinds
from app.shell.main_frame import Frame
from mcp_tef import DetectedFile, FileKind


class Doorway:
    """Shown in the frame instead of a window. `kept` are files that wait until a workspace is open."""

    def __init__(self, frame: Frame, open_workspace: Callable[[Path], object]) -> None:
        self._frame = frame
        self._open_workspace = open_workspace
        self._door: ClosedDoor | None = None
        self.kept: list[Path] = []

    def show(self, session: Session, error: BaseException, exits: Exits, folder: Path) -> None:
        """Say what is the matter, and which ways lead on."""
        self._door = ClosedDoor(error, exits, folder)
        session.failed.connect(self._door.say)
        self._frame.set_content(self._door)

    def take(self, session: Session, files: Sequence[Path]) -> None:
        """Open the workspace among what was dropped; what else there is waits, and that is said."""
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
        """Have files wait."""
        self.kept += [file for file in files if file not in self.kept]

    def handed_over(self) -> list[Path]:
        """The files that waited, once."""
        kept, self.kept = self.kept, []
        return kept


def _words(found: Sequence[DetectedFile], useful: Sequence[DetectedFile]) -> tuple[str, str]:
    """What is said of files that are no workspace: which wait, and which nobody can use."""
    unknown = [one.problem for one in found if one.kind is None]
    if not useful:
        return " ".join(unknown), ""
    names = ", ".join(f"{one.name} ({kinds(one)})" for one in useful)
    waits = "It is no workspace, but it waits" if len(useful) == 1 else "They are no workspaces, but they wait"
    return f"{names}. {waits} here, and a preview opens once a workspace is open.", " ".join(unknown)
