"""Page of an empty workspace: open the sample, import servers, or start empty."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.core_link.session import Session
from app.core_link.workspaces import WorkspaceMenu
from app.screens.welcome.presenter import WelcomePresenter, program_rows
from app.text.formatting import count, error_text
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
    ScrollPane,
    button,
    clear_layout,
    column_layout,
    one_line,
    row_layout,
    show_menu,
    tip,
    visible,
)
from mcp_tef import SampleName, TefError

PITCH = (
    "Ask like your users. See which tool the model selects, with which values,\n"
    "and what to change in the description when it selects another."
)
PROMISE = "Workspaces stay on this computer. Keys are kept in memory only, unless you decide otherwise."


WIDTH, LEAST_BESIDE, BETWEEN, AHEAD = 920, 840, 24, 1_000
BETWEEN_LINKS, ROOM_AROUND = 8, 40
MOST_OTHERS = 4
NONE_FOUND = [("Found here", "none"), ("A config as a file", "JSON"), ("A pasted part of a config", "JSON")]


class WelcomePage(ReadingOrder, QWidget):
    """Ways to begin: the sample, servers or an empty workspace.

    `sample_opened` gives the ids of the sample's cases; `servers_wanted` gives "find" for servers on this machine, or
    "import" for others; `emptiness_chosen` wants nothing; `paste_wanted` brings what was copied.
    """

    sample_opened = Signal(tuple)
    servers_wanted = Signal(str)
    emptiness_chosen = Signal()
    paste_wanted = Signal()

    def __init__(self, session: Session, workspaces: WorkspaceMenu) -> None:
        super().__init__()
        self._session = session
        self._presenter = WelcomePresenter(session.call)
        self._workspaces = workspaces
        self._how = "import"
        self._found = _Facts([("Looking for them", "…")])
        self.failure = Notice("bad")
        self.open_sample = button(Action(text="Open the sample", do=self._open, kind="primary"))
        self.use_servers = button(Action(text="Import servers…", do=lambda: self.servers_wanted.emit(self._how)))
        self.start_empty = button(Action(text="Start empty", do=self.emptiness_chosen.emit))
        self.others = QWidget()
        self._parts: list[QWidget] = []
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self.others)
        self.setProperty("pane", "surface")
        self._lay_out()
        theme().apply_to(self)
        session.failed.connect(self._show_failure)
        looking = session.spawn(self._look())
        self.destroyed.connect(lambda: looking.cancel())

    def _lay_out(self) -> None:
        block = QWidget()
        block.setMaximumWidth(sized(WIDTH))
        column = column_layout(block, margins=(0, 16, 0, 16), spacing=8)
        column.addStretch(3)
        column.addWidget(Label("mcp-tef", role=Role.DIM, strong=True))
        column.addWidget(Label("Will a model select your tool?", size=Size.FIGURE, strong=True))
        column.addWidget(FlowText(PITCH, size=Size.LEAD, role=Role.DIM))
        column.addSpacing(32)
        below = column_layout(None, Rule(), _Ways(self._three()))
        column.addLayout(below)
        column.addSpacing(24)
        column.addWidget(self.others)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(BETWEEN_LINKS)
        self._show_others()
        column.addStretch(4)
        column.addWidget(FlowText(PROMISE, size=Size.SMALL, role=Role.DIM))
        outer = column_layout(self, self.failure, spacing=None)
        outer.addWidget(ScrollPane(_centred(block), "Welcome"), 1)

    def _three(self) -> list[QWidget]:
        sample = "A small server with deliberate look-alikes, and cases that find them. Runs offline."
        facts = [("Sample server", "a bike shop"), ("Test cases", "ready to run"), ("Needs a key or network", "no")]
        first = _way("flask", Role.ACCENT, "Look around in the sample", sample, _Facts(facts), self.open_sample)
        have = "From other programs on this computer. Importing does not start them."
        second = _way("download-simple", Role.DIM, "Use servers you have", have, self._found, self.use_servers)
        empty = "An empty workspace. Add the first server when you are ready."
        kinds = [("A command", "npx, uvx, python"), ("An address", "HTTP or SSE"), ("A tools file", "JSON")]
        return [first, second, _way("plus", Role.DIM, "Start with nothing", empty, _Facts(kinds), self.start_empty)]

    def showEvent(self, event: object) -> None:
        self.open_sample.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange_others()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focused = self.focusWidget()
            (focused if isinstance(focused, Button) else self.open_sample).click()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste_wanted.emit()
        elif event.matches(QKeySequence.StandardKey.Open):
            self._workspaces.ask_open()
        else:
            super().keyPressEvent(event)

    def _show_others(self) -> None:
        """Show links to the recent workspaces, and one that opens any other."""
        clear_layout(self._line)
        others = [path for path, there in self._workspaces.others() if there][:MOST_OTHERS]
        parts: list[QWidget] = [Label("Or open" if others else "Or", role=Role.DIM)]
        for path in others:
            known = Action(text=one_line(path.stem, 24), do=partial(self._workspaces.open, path), kind="link")
            made = button(replace(known, tip=tip(str(path))))
            made.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            made.customContextMenuRequested.connect(partial(self._show_menu, made, path))
            made.setAccessibleName(visible(f"{path.stem}, in {path.parent}"))
            parts.append(made)
        text = "another workspace…" if others else "open an existing workspace…"
        parts.append(button(Action(text=text, do=self._workspaces.ask_open, kind="link", tip="Ctrl+O")))
        second = "Six searches that look alike, over one small collection, with 60 cases. Runs offline."
        room = Action(text="the second sample: reading room", do=self._open_reading_room, kind="link", tip=second)
        parts.append(button(room))
        self._parts = parts
        for part in parts:
            self._line.addWidget(part, 0, Qt.AlignmentFlag.AlignLeft)
        self._line.addStretch(1)
        self._arrange_others()

    def _arrange_others(self) -> None:
        """Lay the links out in one line, or below each other if that is too long."""
        wanted = self._line.count() * BETWEEN_LINKS + sum(part.sizeHint().width() for part in self._parts)
        directions = QBoxLayout.Direction
        room = min(sized(WIDTH), self.width() - ROOM_AROUND)
        self._line.setDirection(directions.LeftToRight if wanted <= room else directions.TopToBottom)

    def _show_menu(self, link: Button, path: Path, at: QPoint) -> None:
        """Show the menu of a recent workspace."""
        actions = [
            Action(text="Open", do=partial(self._workspaces.open, path), icon="folder-open"),
            Action(text="Rename…", do=lambda: self._session.spawn(self.rename(path)), icon="pencil-simple"),
        ]
        show_menu(actions, link.mapToGlobal(at), link)

    async def rename(self, path: Path) -> None:
        """Rename a workspace."""
        await self._workspaces.rename(path)
        self._show_others()

    def _show_failure(self, message: str, hint: str, details: str) -> None:
        self.failure.show_message(message, hint, details=details)

    def _open(self) -> None:
        self._session.spawn(self._open_the_sample(SampleName.BIKE_SHOP))

    def _open_reading_room(self) -> None:
        self._session.spawn(self._open_the_sample(SampleName.READING_ROOM))

    async def _look(self) -> None:
        await self._workspaces.check_recent()
        self._show_others()
        found = await self._presenter.new_servers()
        number = sum(servers for _, servers in found)
        self._found.set_facts(program_rows(found) or NONE_FOUND)
        if number:
            self._how = "find"
            self.use_servers.setText(f"Select from {count(number, 'server')}…")

    async def _open_the_sample(self, name: SampleName) -> None:
        self.open_sample.setEnabled(False)
        self.failure.clear()
        try:
            cases = await self._presenter.open_sample(name)
        except TefError as error:
            words = error_text(error)
            self.failure.show_message(words.message, words.hint, details=words.details)
        else:
            self.sample_opened.emit(cases)
        finally:
            self.open_sample.setEnabled(True)


def _centred(block: QWidget) -> QWidget:
    """Return a block in the middle, as wide as it needs if there is room."""
    whole = QWidget()
    row = row_layout(whole, margins=(16, 0, 16, 0), spacing=None)
    row.addStretch(1)
    row.addWidget(block, AHEAD)
    row.addStretch(1)
    return whole


class _Ways(QWidget):
    """The ways in, side by side between hairlines; below each other where text is too large for that."""

    def __init__(self, ways: Sequence[QWidget]) -> None:
        super().__init__()
        self._beside = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._beside.setContentsMargins(0, 0, 0, 0)
        self._beside.setSpacing(BETWEEN)
        self._rules = [Rule(upright=True) for _ in ways[1:]]
        for place, way in enumerate(ways):
            if place:
                self._beside.addWidget(self._rules[place - 1])
            self._beside.addWidget(way, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        directions = QBoxLayout.Direction
        fits = event.size().width() >= sized(LEAST_BESIDE)
        self._beside.setDirection(directions.LeftToRight if fits else directions.TopToBottom)
        for rule in self._rules:
            rule.setVisible(fits)


def _way(icon: str, role: Role, title: str, sentence: str, facts: QWidget, last: Button) -> QWidget:
    holder = QWidget()
    column = column_layout(holder, IconPicture(icon, role, 20), margins=(0, 28, 0, 0), spacing=8)
    column.addSpacing(4)
    column.addWidget(Label(title, size=Size.LEAD, strong=True))
    words = FlowText(sentence, role=Role.DIM)
    column.addWidget(words)
    column.addWidget(facts)
    column.addSpacing(20)
    column.addStretch(1)
    column.addWidget(last, 0, Qt.AlignmentFlag.AlignLeft)
    return holder


class _Facts(QWidget):
    """Pairs of texts between hairlines."""

    def __init__(self, facts: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._column = column_layout(self)
        self.set_facts(facts)

    def set_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show these instead."""
        clear_layout(self._column)
        self._column.addWidget(Rule())
        for left, right in facts:
            self._column.addWidget(_fact(left, right))
            self._column.addWidget(Rule())


def _fact(left: str, right: str) -> QWidget:
    holder = QWidget()
    row = row_layout(holder, Label(left), margins=(0, 4, 0, 4), spacing=None)
    row.addStretch(1)
    row.addWidget(Label(right, role=Role.DIM))
    return holder
