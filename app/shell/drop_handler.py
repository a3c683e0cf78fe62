"""Import of dropped or pasted files on the screens they belong to, with the result for each."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.session import Page, Session
from app.shell.presenter import ShellPresenter
from app.text.formatting import count, error_text
from app.theme import Role
from app.widgets import Action, Dialog, FlowText, ScrollPane, Section, Span, one_line
from app.widgets.fields import files_in
from mcp_tef import DetectedFile, FileKind, InputError, TefError

SCREENS = {FileKind.SERVERS: "servers", FileKind.TOOLS: "servers", FileKind.CASES: "cases", FileKind.PATCH: "workshop"}
KINDS = {FileKind.SERVERS: "servers", FileKind.TOOLS: "tools", FileKind.CASES: "test cases", FileKind.PATCH: "patches"}
ROLES = {DropStatus.TAKEN: Role.GOOD, DropStatus.LEFT: Role.DIM, DropStatus.REFUSED: Role.BAD}
NOTHING = "There is nothing to paste."
WHAT = "Copy a config of servers, an array of tools, test cases, or a patch, as JSON."
ONE_AT_A_TIME = "Another workspace is opened; only one can be open."
GIVEN_UP = "Reading it was cancelled."
OPENS = "It opens once this is closed."
LIST_HEIGHT, ROW_HEIGHT = 320, 48


class DropImports:
    """Imports files and texts; `show` opens a screen and returns its page, `open_workspace` opens workspaces."""

    def __init__(
        self,
        session: Session,
        frame: QWidget,
        show: Callable[[str], Awaitable[Page]],
        open_workspace: Callable[[Path], object],
    ) -> None:
        self._session = session
        self._presenter = ShellPresenter(session)
        self._frame = frame
        self._show = show
        self._open_workspace = open_workspace

    def take(self, files: Sequence[Path]) -> None:
        """Import files."""
        self._session.spawn(self._take_files(files))

    def paste(self) -> None:
        """Import the clipboard: files, or a text."""
        held = QGuiApplication.clipboard().mimeData()
        if files := files_in(held):
            self.take(files)
        else:
            self._session.spawn(self._take_text(held.text()))

    async def _take_files(self, files: Sequence[Path]) -> None:
        arrivals = await self._presenter.detect_files(files)
        if len(arrivals) == 1:
            await self._hand_out(arrivals[0])
        else:
            await self._hand_out_all(arrivals)

    async def _take_text(self, text: str) -> None:
        if not text.strip():
            raise InputError(NOTHING, hint=WHAT)
        await self._hand_out(await self._presenter.detect_text(text))

    async def _hand_out(self, arrival: DetectedFile) -> None:
        if arrival.kind is None:
            raise InputError(arrival.problem, hint=WHAT)
        if arrival.kind is not FileKind.WORKSPACE:
            page = await self._show(SCREENS[arrival.kind])
            await page.bring_in([arrival])
        elif arrival.path is not None:
            self._open_workspace(arrival.path)

    async def _hand_out_all(self, arrivals: Sequence[DetectedFile]) -> None:
        """Import each file, also after failures; of workspaces, open only the first one, after all else."""
        outcomes = {one: DropOutcome(one.name, DropStatus.REFUSED, one.problem) for one in arrivals if one.kind is None}
        for group in _groups(arrivals):
            outcomes |= dict(zip(group, await self._brought(group), strict=True))
        workspaces = [(one, one.path) for one in arrivals if one.kind is FileKind.WORKSPACE and one.path]
        for number, (one, _) in enumerate(workspaces):
            status, text = (DropStatus.REFUSED, ONE_AT_A_TIME) if number else (DropStatus.TAKEN, OPENS)
            outcomes[one] = DropOutcome(one.name, status, text)
        if any(outcome.status is DropStatus.REFUSED for outcome in outcomes.values()):
            await outcomes_dialog(self._frame, [outcomes[one] for one in arrivals]).done_with()
        if workspaces:
            self._open_workspace(workspaces[0][1])

    async def _brought(self, group: Sequence[DetectedFile]) -> Sequence[DropOutcome]:
        kind = group[0].kind
        assert kind is not None
        try:
            page = await self._show(SCREENS[kind])
            return await page.bring_in(group)
        except TefError as error:
            words = error_text(error)
            return [DropOutcome(one.name, DropStatus.REFUSED, f"{words.message} {words.hint}".strip()) for one in group]
        except asyncio.CancelledError:
            if _is_ending():
                raise
            return [DropOutcome(one.name, DropStatus.LEFT, GIVEN_UP) for one in group]


def _is_ending() -> bool:
    """Return True if the whole task was cancelled, not only what it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _groups(arrivals: Sequence[DetectedFile]) -> Iterator[Sequence[DetectedFile]]:
    """Group files by preview: server configurations share one, every other file has its own."""
    if configs := [one for one in arrivals if one.kind is FileKind.SERVERS]:
        yield configs
    for kind in (FileKind.TOOLS, FileKind.CASES, FileKind.PATCH):
        yield from ([one] for one in arrivals if one.kind is kind)


def contents_name(arrival: DetectedFile) -> str:
    """Return the plural name of a file's contents."""
    return KINDS.get(arrival.kind, "") if arrival.kind else ""


def outcomes_dialog(parent: QWidget, outcomes: Sequence[DropOutcome]) -> Dialog:
    """Make a dialog that lists the result for each file."""
    taken = sum(outcome.status is DropStatus.TAKEN for outcome in outcomes)
    dialog = Dialog(f"{taken} of {count(len(outcomes), 'file')} taken in", parent, width=600)
    section = Section(margins=False)
    for outcome in outcomes:
        line = FlowText()
        name = Span(one_line(outcome.name, 80), strong=True)
        status = Span(f"\n{outcome.status}: ", ROLES[outcome.status])
        line.set_spans([name, status, Span(outcome.text, Role.DIM)])
        section.add(line)
    section.column.addStretch(1)
    pane = ScrollPane(section, "What came of each file")
    pane.setMinimumHeight(min(LIST_HEIGHT, ROW_HEIGHT * len(outcomes) + 24))
    dialog.body.addWidget(pane)
    dialog.set_buttons([Action(text="Close", do=dialog.accept, kind="primary")])
    return dialog
