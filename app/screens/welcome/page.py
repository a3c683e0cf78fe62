"""The first start: look around in the sample, or begin with nothing."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.session import Session
from app.text import error_words
from app.theme import Role, Size
from app.widgets import Action, Button, FlowText, IconPicture, Label, Notice, Rule, button
from mcp_tef import TefError

PITCH = (
    "Ask the way your users would. See which tool it picks, with which values,\n"
    "and what to change in the description when it picks another."
)
PROMISE = "Workspaces stay on this computer. Keys are kept in memory only, unless you choose otherwise."


class WelcomePage(QWidget):
    """`sample_opened` gives the ids of the sample's cases; `emptiness_chosen` wants nothing."""

    sample_opened = Signal(tuple)
    emptiness_chosen = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.failure = Notice("bad")
        self.open_sample = button(Action(text="Open the sample", do=self._open, kind="primary"))
        self.start_empty = button(Action(text="Start empty", do=self.emptiness_chosen.emit))
        self.setProperty("pane", "surface")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._lay_out()

    def _lay_out(self) -> None:
        block = QWidget()
        block.setFixedWidth(800)
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
        promise.setFixedWidth(800)
        outer.addWidget(promise, 0, Qt.AlignmentFlag.AlignHCenter)

    def _ways(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(0)
        sample = "A small server with deliberate look-alikes, and cases that find them. Runs offline."
        facts = [("Sample server", "a bike shop"), ("Test cases", "ready to run"), ("Needs a key or network", "no")]
        row.addWidget(_way("flask", Role.ACCENT, "Look around in the sample", sample, facts, self.open_sample), 1)
        row.addSpacing(24)
        row.addWidget(Rule(upright=True))
        row.addSpacing(24)
        empty = "An empty workspace. Add the first server when you are ready."
        kinds = [("A command", "npx, uvx, python"), ("An address", "HTTP or SSE"), ("A tools file", "JSON")]
        row.addWidget(_way("plus", Role.DIM, "Start with nothing", empty, kinds, self.start_empty), 1)
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


def _way(icon: str, role: Role, title: str, sentence: str, facts: Sequence[tuple[str, str]], last: Button) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 28, 0, 0)
    column.setSpacing(8)
    column.addWidget(IconPicture(icon, role, 20))
    column.addSpacing(4)
    column.addWidget(Label(title, size=Size.LEAD, strong=True))
    words = FlowText(sentence, role=Role.DIM)
    column.addWidget(words)
    column.addStretch(1)
    column.addWidget(_facts(facts))
    column.addSpacing(20)
    column.addWidget(last, 0, Qt.AlignmentFlag.AlignLeft)
    return holder


def _facts(facts: Sequence[tuple[str, str]]) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(Rule())
    for left, right in facts:
        row = QHBoxLayout()
        row.setContentsMargins(0, 4, 0, 4)
        row.addWidget(Label(left))
        row.addStretch(1)
        row.addWidget(Label(right, role=Role.DIM))
        column.addLayout(row)
        column.addWidget(Rule())
    return holder
