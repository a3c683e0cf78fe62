"""The first start: look around in the sample, use servers that are here already, or begin with nothing."""

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.session import Session
from app.text import count, error_words
from app.theme import Role, Size
from app.widgets import Action, Button, FlowText, IconPicture, Label, Notice, Rule, button, clear_layout
from mcp_tef import ImportFate, TefError

PITCH = (
    "Ask the way your users would. See which tool it picks, with which values,\n"
    "and what to change in the description when it picks another."
)
PROMISE = "Workspaces stay on this computer. Keys are kept in memory only, unless you choose otherwise."


WIDTH = 920
ROOM = 3
NONE_FOUND = [("Found here", "none"), ("A config as a file", "JSON"), ("A part of one, pasted", "JSON")]


class WelcomePage(QWidget):
    """`sample_opened` gives the ids of the sample's cases; `servers_wanted` says how: "find" those that are on this
    machine, or "import" others; `emptiness_chosen` wants nothing."""

    sample_opened = Signal(tuple)
    servers_wanted = Signal(str)
    emptiness_chosen = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._how = "import"
        self._found = _Facts([("Looking for them", "…")])
        self.failure = Notice("bad")
        self.open_sample = button(Action(text="Open the sample", do=self._open, kind="primary"))
        self.use_servers = button(Action(text="Import servers…", do=lambda: self.servers_wanted.emit(self._how)))
        self.start_empty = button(Action(text="Start empty", do=self.emptiness_chosen.emit))
        self.setProperty("pane", "surface")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._lay_out()
        looking = session.spawn(self._look())
        self.destroyed.connect(lambda: looking.cancel())

    def _lay_out(self) -> None:
        block = QWidget()
        block.setFixedWidth(WIDTH)
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(Label("mcp-tef", role=Role.DIM, strong=True))
        column.addWidget(Label("Will a model pick your tool?", size=Size.FIGURE, strong=True))
        column.addWidget(FlowText(PITCH, size=Size.LEAD, role=Role.DIM))
        column.addSpacing(32)
        below = QVBoxLayout()
        below.setSpacing(0)
        below.addWidget(Rule())
        below.addLayout(self._ways())
        column.addLayout(below)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 0, 16, 16)
        outer.addWidget(self.failure)
        outer.addStretch(3)
        outer.addWidget(block, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(4)
        promise = Label(PROMISE, size=Size.SMALL, role=Role.DIM)
        promise.setFixedWidth(WIDTH)
        outer.addWidget(promise, 0, Qt.AlignmentFlag.AlignHCenter)

    def _ways(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(0)
        sample = "A small server with deliberate look-alikes, and cases that find them. Runs offline."
        facts = [("Sample server", "a bike shop"), ("Test cases", "ready to run"), ("Needs a key or network", "no")]
        way = _way("flask", Role.ACCENT, "Look around in the sample", sample, _Facts(facts), self.open_sample)
        row.addWidget(way, 1)
        _divide(row)
        have = "From the settings of other programs on this computer. Importing starts nothing."
        row.addWidget(_way("download-simple", Role.DIM, "Use servers you have", have, self._found, self.use_servers), 1)
        _divide(row)
        empty = "An empty workspace. Add the first server when you are ready."
        kinds = [("A command", "npx, uvx, python"), ("An address", "HTTP or SSE"), ("A tools file", "JSON")]
        row.addWidget(_way("plus", Role.DIM, "Start with nothing", empty, _Facts(kinds), self.start_empty), 1)
        return row

    def showEvent(self, event: object) -> None:  # noqa: N802
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_sample.click()
        else:
            super().keyPressEvent(event)

    def _open(self) -> None:
        self._session.spawn(self._open_the_sample())

    async def _look(self) -> None:
        found = await self._session.call(lambda core: core.server_files.discover(together=True))
        useful = [
            (config.title, len(config.preview.of(ImportFate.ADDED))) for config in found if config.preview is not None
        ]
        facts, number = programs(useful), sum(servers for _, servers in useful)
        self._found.set_facts(facts or NONE_FOUND)
        if number:
            self._how = "find"
            self.use_servers.setText(f"Choose from {count(number, 'server')}…")

    async def _open_the_sample(self) -> None:
        self.open_sample.setEnabled(False)
        self.failure.clear()
        try:
            cases = await self._session.call(lambda core: core.open_sample())
        except TefError as error:
            words = error_words(error)
            self.failure.show_message(words.message, words.hint, details=words.details)
        else:
            self.sample_opened.emit(tuple(case.id for case in cases))
        finally:
            self.open_sample.setEnabled(True)


def programs(found: Sequence[tuple[str, int]]) -> list[tuple[str, str]]:
    """How many servers each program brings, in as many lines as there is room for."""
    totals = Counter[str]()
    for title, servers in found:
        totals[title] += servers
    rows = [(title, count(servers, "server")) for title, servers in totals.most_common() if servers]
    rest = sum(totals.values()) - sum(servers for _, servers in totals.most_common(ROOM - 1))
    return rows if len(rows) <= ROOM else [*rows[: ROOM - 1], ("Other programs", count(rest, "server"))]


def _divide(row: QHBoxLayout) -> None:
    row.addSpacing(24)
    row.addWidget(Rule(upright=True))
    row.addSpacing(24)


def _way(icon: str, role: Role, title: str, sentence: str, facts: QWidget, last: Button) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 28, 0, 0)
    column.setSpacing(8)
    column.addWidget(IconPicture(icon, role, 20))
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
    """Pairs of words between hairlines."""

    def __init__(self, facts: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
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
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 4, 0, 4)
    row.addWidget(Label(left))
    row.addStretch(1)
    row.addWidget(Label(right, role=Role.DIM))
    return holder
