"""The calls of a tool that were made by hand: when, what became of each, its request and its response."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from app.screens.servers.trying import STATUS_WORDS, outcome, request_text, response_text
from app.text import clock, count, duration
from app.theme import Role, Size
from app.widgets import Button, FlowText, Label, Mark, RailList, RailRow, Rule, Span
from app.widgets.code_view import CodeView
from mcp_tef import ToolCall, ToolCallStatus

MARKS = {
    ToolCallStatus.SENT: Mark.RING,
    ToolCallStatus.ANSWERED: Mark.DOT,
    ToolCallStatus.TOOL_ERROR: Mark.NOTE,
    ToolCallStatus.FAILED: Mark.TRIANGLE,
    ToolCallStatus.CANCELLED: Mark.RING,
}
BAD = (ToolCallStatus.TOOL_ERROR, ToolCallStatus.FAILED)


class CallHistory(QWidget):
    """The list above the chosen call; `again` gives a call whose arguments are wanted once more."""

    again = Signal(object)
    forget_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[str, ToolCall] = {}
        self.list = RailList("Calls", row_height=28)
        self.outcome = FlowText(size=Size.SMALL, role=Role.DIM)
        self.request, self.response = CodeView("Request"), CodeView("Response")
        self._rule = Rule()
        self._title = Label(size=Size.SMALL, role=Role.DIM, strong=True)
        self._use = Button("Use these arguments", kind="link")
        self.forget = Button("Forget all", kind="link")
        self._lay_out()
        self.list.chosen.connect(self._show)
        self._use.clicked.connect(lambda: self.again.emit(self._calls[self.list.current_id()]))
        self.forget.clicked.connect(self.forget_wanted)
        self.show_calls(())

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self.forget)
        caption = QHBoxLayout()
        caption.addWidget(self.outcome, 1)
        caption.addWidget(self._use, 0, Qt.AlignmentFlag.AlignTop)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        for title, view in (("Response", self.response), ("Request", self.request)):
            self._split.addWidget(_captioned(title, view))
        self._split.setSizes([260, 200])
        self.list.setFixedHeight(4 * 28)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.list)
        column.addWidget(self._rule)
        column.addLayout(caption)
        column.addWidget(self._split, 1)
        column.addStretch(0)

    def show_calls(self, calls: Sequence[ToolCall]) -> None:
        """Show these, the first of them chosen."""
        self._calls = {call.id: call for call in calls}
        none = "No calls yet. What comes back is kept here, without keys."
        self._title.setText(f"Last {count(len(calls), 'call')}" if calls else none)
        for part in (self.list, self._rule, self._split, self.outcome, self._use, self.forget):
            part.setVisible(bool(calls))
        self.list.set_rows([_row(call) for call in calls])
        if calls:
            self.list.select(calls[0].id)
            self._show(calls[0].id)

    def _show(self, call_id: str) -> None:
        call = self._calls.get(call_id)
        if call is not None:
            self.outcome.set_text(outcome(call), Role.BAD if call.status in BAD else Role.DIM)
            self.request.show_text(request_text(call))
            self.response.show_text(response_text(call))


def _row(call: ToolCall) -> RailRow:
    took = "" if call.duration_ms is None else duration(call.duration_ms / 1000)
    return RailRow(
        id=call.id,
        title=f"{clock(call.asked_at)}  {STATUS_WORDS[call.status]}",
        mark=MARKS[call.status],
        right=Span(took, Role.DIM) if took else None,
        tip=outcome(call),
    )


def _captioned(caption: str, view: QWidget) -> QWidget:
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 4, 0, 0)
    column.setSpacing(4)
    column.addWidget(Label(caption, size=Size.SMALL, role=Role.DIM, label=True))
    column.addWidget(view, 1)
    return box
