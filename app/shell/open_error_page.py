"""The page shown while no workspace is open because the wanted one could not be opened, with what the user can do."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core_link.session import Session
from app.shell.drop_handler import contents_name
from app.shell.main_frame import MainFrame
from app.text.formatting import error_text
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Action,
    Button,
    FlowText,
    IconPicture,
    Label,
    Notice,
    ReadingOrder,
    Rule,
    Spoken,
    button,
    column_layout,
    row_layout,
    visible,
)
from mcp_tef import DetectedFile, FileKind, TefError

TITLE = "This workspace could not be opened"
COPIED = {
    "workspace_not_writable": "In a folder that can be written, with all that had finished. The original stays.",
    "workspace_foreign": "In your own data folder. Nothing of the original is changed, and nothing beside it is read.",
}
"""The faults for which a copy helps, each with the sentence that explains it."""
WIDTH = 560
BUTTON_WIDTH = 216


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenErrorActions:
    """The actions on the page; `copy` receives the file to copy."""

    try_again: Callable[[], object]
    copy: Callable[[Path], object]
    open_another: Callable[[], object]
    open_temporary: Callable[[], object]
    leave: Callable[[], object]


class OpenErrorPage(ReadingOrder, QWidget):
    """Says why a workspace could not be opened, and offers actions; a temporary workspace would lie in `folder`."""

    SPOKEN_AS = Spoken.AlertMessage

    def __init__(self, error: BaseException, exits: OpenErrorActions, folder: Path) -> None:
        super().__init__()
        words = error_text(error)
        ways = dict(_ways(error, exits, folder))
        self.words = FlowText(" ".join(part for part in (words.message, words.hint) if part), role=Role.DIM)
        self.details = FlowText(words.details, size=Size.SMALL, mono=True)
        self.details.setVisible(bool(words.details))
        self.notice = Notice("info")
        self._made = [button(action) for action in ways.values()]
        self.setProperty("pane", "surface")
        self.setAccessibleName(TITLE)
        self._lay_out(tuple(ways))
        theme().apply_to(self)

    def say(self, message: str, hint: str = "", details: str = "") -> None:
        """Show the result of an action."""
        self.notice.show_message(message, hint, details=details)

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons of the actions, from top to bottom."""
        return tuple(self._made)

    def _lay_out(self, meanings: Sequence[str]) -> None:
        block = QWidget()
        block.setFixedWidth(sized(WIDTH))
        column = column_layout(
            block,
            IconPicture("warning-circle", Role.BAD, 28),
            Label(TITLE, size=Size.LEAD, strong=True),
            self.words,
            self.details,
            spacing=8,
        )
        column.addSpacing(8)
        for made, meaning in zip(self._made, meanings, strict=True):
            column.addWidget(Rule())
            column.addLayout(_row(made, meaning))
        outer = column_layout(self, self.notice, margins=(0, 0, 0, 16), spacing=None)
        outer.addStretch(2)
        outer.addWidget(block, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(3)


def _ways(error: BaseException, exits: OpenErrorActions, folder: Path) -> Iterator[tuple[str, Action]]:
    """Yield each action with a sentence that explains it."""
    why = "After you have corrected what is described above."
    yield why, Action(text="Try again", do=exits.try_again, kind="primary")
    if isinstance(error, TefError) and error.code in COPIED:
        path = Path(str(error.context["path"]))
        yield COPIED[error.code], Action(text="Work on a copy", do=lambda: exits.copy(path))
    yield "A file that is there already, or a new one.", Action(text="Open another workspace…", do=exits.open_another)
    empty = f"An empty one in {folder}, for now. The next start looks for this one again."
    yield empty, Action(text="Use a temporary workspace", do=exits.open_temporary)
    yield "Nothing has been changed.", Action(text="Quit", do=exits.leave)


def _row(made: Button, meaning: str) -> QHBoxLayout:
    made.setFixedWidth(sized(BUTTON_WIDTH))
    made.setAccessibleDescription(visible(meaning))
    row = row_layout(spacing=16)
    row.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(FlowText(meaning, role=Role.DIM), 1, Qt.AlignmentFlag.AlignVCenter)
    return row


class OpenErrorScreen:
    """Shows the error page in the frame. `waiting_files` are dropped files that wait until a workspace is open."""

    def __init__(self, frame: MainFrame, open_workspace: Callable[[Path], object]) -> None:
        self._frame = frame
        self._open_workspace = open_workspace
        self._page: OpenErrorPage | None = None
        self.waiting_files: list[Path] = []

    def show(self, session: Session, error: BaseException, exits: OpenErrorActions, folder: Path) -> None:
        """Show the error and the actions."""
        self._page = OpenErrorPage(error, exits, folder)
        session.failed.connect(self._page.say)
        self._frame.set_content(self._page)

    def take(self, session: Session, files: Sequence[Path]) -> None:
        """Open the workspace among dropped files; the others wait, and the page says so."""
        session.spawn(self._take(files))

    async def _take(self, files: Sequence[Path]) -> None:
        from mcp_tef import detect_files

        found = await asyncio.to_thread(detect_files, files)
        useful = [one for one in found if one.kind not in (None, FileKind.WORKSPACE)]
        self.add_waiting_files([one.path for one in useful if one.path])
        if self._page is not None:
            self._page.say(*_words(found, useful))
        for path in [one.path for one in found if one.kind is FileKind.WORKSPACE][:1]:
            if path is not None:
                self._open_workspace(path)

    def add_waiting_files(self, files: Sequence[Path]) -> None:
        """Add files to those that wait."""
        self.waiting_files += [file for file in files if file not in self.waiting_files]

    def take_waiting_files(self) -> list[Path]:
        """Return the files that waited, once."""
        kept, self.waiting_files = self.waiting_files, []
        return kept


def _words(found: Sequence[DetectedFile], useful: Sequence[DetectedFile]) -> tuple[str, str]:
    """Return a message and a hint about files that are not workspaces, usable or not."""
    unknown = [one.problem for one in found if one.kind is None]
    if not useful:
        return " ".join(unknown), ""
    names = ", ".join(f"{one.name} ({contents_name(one)})" for one in useful)
    waits = "It is no workspace, but it waits" if len(useful) == 1 else "They are no workspaces, but they wait"
    return f"{names}. {waits} here, and a preview opens once a workspace is open.", " ".join(unknown)
