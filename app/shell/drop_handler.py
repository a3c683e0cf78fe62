"""What is dropped on the window or pasted goes to the screen that it belongs to, and what came of each is told."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.session import Page, Session
from app.text.formatting import count, error_words
from app.theme import Role
from app.widgets import Action, Dialog, FlowText, ScrollPane, Section, Span, one_line
from app.widgets.file_drop import files_in
from mcp_tef import DetectedFile, FileKind, InputError, TefError

SCREENS = {FileKind.SERVERS: "servers", FileKind.TOOLS: "servers", FileKind.CASES: "cases"}
KINDS = {FileKind.SERVERS: "servers", FileKind.TOOLS: "tools", FileKind.CASES: "test cases"}
ROLES = {DropStatus.TAKEN: Role.GOOD, DropStatus.LEFT: Role.DIM, DropStatus.REFUSED: Role.BAD}
NOTHING = "There is nothing to paste."
WHAT = "Copy a config of servers, an array of tools, or test cases, as JSON."
ONE_AT_A_TIME = "Another workspace is opened; only one can be open."
GIVEN_UP = "Reading it was cancelled."
OPENS = "It opens once this is closed."
LIST_HEIGHT, ROW_HEIGHT = 320, 48


class Arrivals:
    """`show` goes to a screen and gives its page; `open_workspace` is for files that are one."""

    def __init__(
        self,
        session: Session,
        frame: QWidget,
        show: Callable[[str], Awaitable[Page]],
        open_workspace: Callable[[Path], object],
    ) -> None:
        self._session = session
        self._frame = frame
        self._show = show
        self._open_workspace = open_workspace

    def take(self, files: Sequence[Path]) -> None:
        """Bring in what files hold."""
        self._session.spawn(self._take_files(files))

    def paste(self) -> None:
        """Bring in what the clipboard holds: files, or a text."""
        held = QGuiApplication.clipboard().mimeData()
        if files := files_in(held):
            self.take(files)
        else:
            self._session.spawn(self._take_text(held.text()))

    async def _take_files(self, files: Sequence[Path]) -> None:
        arrivals = await self._session.call(lambda core: core.arrivals.of_files(files))
        if len(arrivals) == 1:
            await self._hand_out(arrivals[0])
        else:
            await self._hand_out_all(arrivals)

    async def _take_text(self, text: str) -> None:
        if not text.strip():
            raise InputError(NOTHING, hint=WHAT)
        await self._hand_out(await self._session.call(lambda core: core.arrivals.of_text(text)))

    async def _hand_out(self, arrival: DetectedFile) -> None:
        if arrival.kind is None:
            raise InputError(arrival.problem, hint=WHAT)
        if arrival.kind is not FileKind.WORKSPACE:
            page = await self._show(SCREENS[arrival.kind])
            await page.bring_in([arrival])
        elif arrival.path is not None:
            self._open_workspace(arrival.path)

    async def _hand_out_all(self, arrivals: Sequence[DetectedFile]) -> None:
        """Each goes its way, whatever came of those before it; a workspace comes last, and alone."""
        outcomes = {one: DropOutcome(one.name, DropStatus.REFUSED, one.problem) for one in arrivals if one.kind is None}
        for group in _groups(arrivals):
            outcomes |= dict(zip(group, await self._brought(group), strict=True))
        workspaces = [one for one in arrivals if one.kind is FileKind.WORKSPACE and one.path]
        outcomes |= {one: DropOutcome(one.name, DropStatus.REFUSED, ONE_AT_A_TIME) for one in workspaces[1:]}
        outcomes |= {one: DropOutcome(one.name, DropStatus.TAKEN, OPENS) for one in workspaces[:1]}
        if any(outcome.fate is DropStatus.REFUSED for outcome in outcomes.values()):
            await outcomes_sheet(self._frame, [outcomes[one] for one in arrivals]).done_with()
        for path in [one.path for one in workspaces[:1] if one.path]:
            self._open_workspace(path)

    async def _brought(self, group: Sequence[DetectedFile]) -> Sequence[DropOutcome]:
        kind = group[0].kind
        assert kind is not None
        try:
            page = await self._show(SCREENS[kind])
            return await page.bring_in(group)
        except TefError as error:
            words = error_words(error)
            return [DropOutcome(one.name, DropStatus.REFUSED, f"{words.message} {words.hint}".strip()) for one in group]
        except asyncio.CancelledError:
            if _is_ending():
                raise
            return [DropOutcome(one.name, DropStatus.LEFT, GIVEN_UP) for one in group]


def _is_ending() -> bool:
    """Whether the whole task was cancelled, and not what it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _groups(arrivals: Sequence[DetectedFile]) -> Iterator[Sequence[DetectedFile]]:
    """Configs of servers share one preview; everything else has its own."""
    if configs := [one for one in arrivals if one.kind is FileKind.SERVERS]:
        yield configs
    for kind in (FileKind.TOOLS, FileKind.CASES):
        yield from ([one] for one in arrivals if one.kind is kind)


def kinds(arrival: DetectedFile) -> str:
    """What a file holds, in words."""
    return KINDS.get(arrival.kind, "") if arrival.kind else ""


def outcomes_sheet(parent: QWidget, outcomes: Sequence[DropOutcome]) -> Dialog:
    """What came of several files, one below the other."""
    taken = sum(outcome.fate is DropStatus.TAKEN for outcome in outcomes)
    sheet = Dialog(f"{taken} of {count(len(outcomes), 'file')} taken in", parent, width=600)
    section = Section(margins=False)
    for outcome in outcomes:
        line = FlowText()
        name = Span(one_line(outcome.name, 80), strong=True)
        fate = Span(f"\n{outcome.fate}: ", ROLES[outcome.fate])
        line.set_spans([name, fate, Span(outcome.words, Role.DIM)])
        section.add(line)
    section.column.addStretch(1)
    pane = ScrollPane(section, "What came of each file")
    pane.setMinimumHeight(min(LIST_HEIGHT, ROW_HEIGHT * len(outcomes) + 24))
    sheet.body.addWidget(pane)
    sheet.set_buttons([Action(text="Close", do=sheet.accept, kind="primary")])
    return sheet
