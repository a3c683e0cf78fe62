"""Tools that changed since they were seen: the old text beside the new one, with the differences marked."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.servers.drifting import ChangeView, change_view, worst_first
from app.text.formatting import count
from app.text.text_diff import Stretch
from app.theme import Role, Size
from app.widgets import Action, Button, FlowText, Label, LineText, Rule, Span, button, clear_layout
from mcp_tef import Drift, ToolDrift

MOST_TOOLS = 50
MOST_LINES = 200
WHAT_TO_DO = "Runs use the new texts already. Accept them once you have read them, or leave the server out."
LOOKS = {"+": Role.GOOD, "-": Role.BAD, "@": Role.DIM}


class ChangesPane(QWidget):
    """Shows a drift, one tool at a time so that nothing waits; `accepted` says that the user has seen it."""

    accepted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.accept = button(Action(text="Accept as seen", do=self.accepted.emit, kind="primary"))
        self._drift: Drift | None = None
        self._waiting: list[ToolDrift] = []
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._add_one)
        self._list = QVBoxLayout()
        self._list.setSpacing(16)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(Label("What changed", size=Size.TITLE, strong=True), 1)
        head.addWidget(self.accept, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addLayout(head)
        column.addWidget(FlowText(WHAT_TO_DO, role=Role.DIM))
        column.addLayout(self._list)
        column.addStretch(1)

    def show_drift(self, drift: Drift) -> None:
        """Show what differs."""
        if drift == self._drift:
            return
        self._drift = drift
        clear_layout(self._list)
        self._waiting = worst_first(drift)
        self._turn.start()

    def _add_one(self) -> None:
        if not self._waiting or self._list.count() == MOST_TOOLS:
            self._turn.stop()
            if self._waiting:
                self._list.addWidget(FlowText(f"And {len(self._waiting)} more.", role=Role.DIM))
            return
        self._list.addWidget(_Change(change_view(self._waiting.pop(0))))


class _Change(QWidget):
    """One tool: both descriptions, suspicions, and the definitions line by line behind a button."""

    def __init__(self, view: ChangeView) -> None:
        super().__init__()
        self._view = view
        self._lines = FlowText(size=Size.SMALL, mono=True)
        self._lines.hide()
        self._toggle = Button("Definition line by line", kind="link")
        self._toggle.clicked.connect(self._turn)
        self._toggle.setVisible(bool(view.lines))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(Rule())
        column.addLayout(self._head(view))
        column.addLayout(_sides(view))
        for sentence in view.warnings:
            column.addWidget(FlowText(sentence, role=Role.WARN))
        column.addWidget(self._lines)

    def _turn(self) -> None:
        self._lines.set_spans(_difference(self._view.lines))
        self._lines.setVisible(self._lines.isHidden())

    def _head(self, view: ChangeView) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(LineText(view.name, mono=True, strong=True), 1)
        row.addWidget(self._toggle)
        row.addWidget(Label(view.word, size=Size.SMALL, role=Role.DIM, strong=True))
        return row


def _sides(view: ChangeView) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(16)
    if view.same_words:
        row.addWidget(FlowText("The description is the same; something else in the definition is not.", role=Role.DIM))
        return row
    for caption, text, back in (("Before", view.before, Role.BAD_TINT), ("Now", view.after, Role.GOOD_TINT)):
        if text is not None:
            row.addLayout(_side(caption, text, back), 1)
    return row


def _side(caption: str, text: Sequence[Stretch], back: Role) -> QVBoxLayout:
    said = FlowText()
    said.set_spans([Span(one.text, back=back if one.changed else None) for one in text])
    column = QVBoxLayout()
    column.setSpacing(4)
    column.addWidget(Label(caption, size=Size.SMALL, role=Role.DIM, label=True))
    column.addWidget(said)
    column.addStretch(1)
    return column


def _difference(lines: Sequence[str]) -> list[Span]:
    shown = [Span(f"{line}\n", LOOKS.get(line[:1], Role.TEXT), mono=True) for line in lines[:MOST_LINES]]
    more = len(lines) - MOST_LINES
    return [*shown, Span(f"… {count(more, 'more line')}", Role.DIM)] if more > 0 else shown
