"""Manual tool calls as a list with search, filter and sort order, and the details of one call."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.screens.kit import ViewState
from app.screens.kit.menus import view_actions
from app.screens.servers.tool_call_presenter import (
    CALL_FIELDS,
    CALL_ORDERS,
    CALL_STATUS_TEXTS,
    EVERY_TOOL,
    calls_as_json,
    listed_calls,
    outcome,
    request_text,
    response_text,
)
from app.text.formatting import clock, count, duration
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    Button,
    CardList,
    CardRow,
    FlowText,
    IconButton,
    Label,
    Mark,
    Rule,
    SearchField,
    Span,
    Split,
    column_layout,
    one_line,
    row_layout,
    show_menu_under,
)
from app.widgets.text_view import CodeView
from mcp_tef import ToolCall, ToolCallStatus

MARKS = {
    ToolCallStatus.SENT: Mark.RING,
    ToolCallStatus.ANSWERED: Mark.DOT,
    ToolCallStatus.TOOL_ERROR: Mark.NOTE,
    ToolCallStatus.FAILED: Mark.TRIANGLE,
    ToolCallStatus.CANCELLED: Mark.RING,
}
BAD = (ToolCallStatus.TOOL_ERROR, ToolCallStatus.FAILED)
NONE = "No calls yet. Answers are kept here, without keys."
NONE_FIT = "No calls match. Clear the search, or show all calls."


class CallHistory(QWidget):
    """Calls of one tool, or of every tool of its server.

    Signals: `use_wanted` (call whose arguments should fill the form), `repeat_wanted` (call to make again),
    `remove_wanted` (calls to delete), `view_changed` (new view state).
    """

    use_wanted = Signal(object)
    repeat_wanted = Signal(object)
    remove_wanted = Signal(tuple)
    view_changed = Signal(object)

    def __init__(self, tool: str, view: ViewState) -> None:
        super().__init__()
        self._tool = tool
        self.view = view
        self._calls: dict[str, ToolCall] = {}
        self.list = CardList("Calls", row_height=sized(28), many=True)
        self.search = SearchField("Search calls")
        self.filter = IconButton("funnel", "Filter and sort the calls", size=14)
        self.outcome = FlowText(size=Size.SMALL, role=Role.DIM)
        self.request, self.response = CodeView("Request"), CodeView("Response")
        self._rule = Rule()
        self._title = FlowText(size=Size.SMALL, role=Role.DIM, strong=True)
        self.repeat, self.use = Button("Call again…", kind="link"), Button("Use these arguments", kind="link")
        self.forget, self.undo = Button("Delete all", kind="link"), Button("Undo", kind="link")
        self._lay_out()
        self._listen()
        self.show_calls(())

    def _lay_out(self) -> None:
        head, below = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self._title, 1)
        below.addWidget(self.search, 1)
        for part in (self.undo, self.forget):
            head.addWidget(part)
        below.addWidget(self.filter)
        caption = row_layout(spacing=12)
        caption.addWidget(self.outcome, 1)
        for part in (self.repeat, self.use):
            caption.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)
        views = (("Response", self.response), ("Request", self.request))
        captioned = [_captioned(title, view) for title, view in views]
        self._split = Split(captioned, "Response and request", [260, 200], stacked=True)
        self.list.setFixedHeight(4 * sized(28))
        self.undo.hide()
        column = column_layout(self, head, below, self.list, self._rule, caption, spacing=8)
        column.addWidget(self._split, 1)
        column.addStretch(0)

    def _listen(self) -> None:
        self.list.chosen.connect(self._show)
        self.list.set_menu(self._menu)
        self.list.opened.connect(lambda _: self._with_current(self.use_wanted.emit))
        self.list.delete_wanted.connect(lambda _: self._remove(self.chosen()))
        self.list.describe_keys(Enter="Use the arguments of the call", Del="Delete the calls")
        self.use.clicked.connect(lambda: self._with_current(self.use_wanted.emit))
        self.repeat.clicked.connect(lambda: self._with_current(self.repeat_wanted.emit))
        self.forget.clicked.connect(lambda: self._remove(tuple(self._calls.values())))
        self.search.searched.connect(lambda _: self._list())
        self.filter.clicked.connect(lambda: show_menu_under(self.filter_actions(), self.filter))

    def show_calls(self, calls: Sequence[ToolCall]) -> None:
        """List calls, newest first; a new one is selected."""
        newest = calls[0].id if calls and calls[0].id not in self._calls else ""
        self._calls = {call.id: call for call in calls}
        self._list()
        if newest:
            self.list.select(newest)

    def show_removed(self, number: int, undo: Callable[[], object]) -> None:
        """Show that calls were deleted, with a button that undoes it."""
        self._title.set_text(f"Deleted {count(number, 'call')}")
        self.undo.rewire(Action(text="Undo", do=undo, kind="link"))
        self.undo.show()

    def chosen(self) -> tuple[ToolCall, ...]:
        """Return the selected calls, in the order shown."""
        return tuple(self._calls[call_id] for call_id in self.list.selected_ids())

    def _list(self) -> None:
        found = listed_calls(tuple(self._calls.values()), replace(self.view, text=self.search.text()))
        self._title.set_text(self._title_text(len(found)))
        self.undo.hide()
        known = bool(self._calls)
        for part in (self.list, self._rule, self._split, self.outcome, self.use, self.repeat):
            part.setVisible(bool(found))
        self.forget.setVisible(bool(found))
        self.search.setVisible(known)
        self.filter.setVisible(known or self.view != ViewState())
        self.list.set_rows([self._row(call) for call in found])
        if found and not self.list.current_id():
            self.list.select_first()
        self._show(self.list.current_id())

    def _title_text(self, found: int) -> str:
        if not self._calls:
            return NONE
        if found == len(self._calls):
            return f"Last {count(found, 'call')}"
        return f"{found} of {count(len(self._calls), 'call')}" if found else NONE_FIT

    def _show(self, call_id: str) -> None:
        call = self._calls.get(call_id)
        if call is not None:
            mine = call.tool == self._tool
            self.use.setEnabled(mine)
            self.repeat.setEnabled(mine)
            self.outcome.set_text(outcome(call), Role.BAD if call.status in BAD else Role.DIM)
            self.request.show_text(request_text(call))
            self.response.show_text(response_text(call))

    def _with_current(self, do: Callable[[ToolCall], object]) -> None:
        call = self._calls.get(self.list.current_id())
        if call is not None and call.tool == self._tool:
            do(call)

    def _remove(self, calls: tuple[ToolCall, ...]) -> None:
        """Ask for calls to be deleted; they leave the list at once, so that a second key cannot delete them again."""
        if calls:
            gone = {call.id for call in calls}
            self._calls = {call_id: call for call_id, call in self._calls.items() if call.id not in gone}
            self._list()
            self.remove_wanted.emit(calls)

    def _menu(self, ids: Sequence[str]) -> Sequence[Action]:
        calls = self.chosen()
        one = len(calls) == 1 and calls[0].tool == self._tool
        what = "call" if len(ids) == 1 else f"{len(ids)} calls"
        return [
            Action(text="Call again…", do=lambda: self._with_current(self.repeat_wanted.emit), enabled=one),
            Action(text="Use these arguments", do=lambda: self._with_current(self.use_wanted.emit), enabled=one),
            Action(text=f"Copy {what} as JSON", do=lambda: _copy(calls_as_json(calls)), icon="copy", apart=True),
            Action(text=f"Delete {what}", do=lambda: self._remove(calls), keys="Del", icon="trash", apart=True),
        ]

    def filter_actions(self) -> Sequence[Action]:
        """Return the menu of filters and sort orders."""
        return view_actions(CALL_FIELDS, CALL_ORDERS, self.view, self._set_view, show_all="Show all calls of this tool")

    def _set_view(self, view: ViewState) -> None:
        self.view = view
        self._list()
        self.view_changed.emit(view)

    def _row(self, call: ToolCall) -> CardRow:
        took = "" if call.duration_ms is None else duration(call.duration_ms / 1000)
        text = CALL_STATUS_TEXTS[call.status]
        if self.view.filters.of(EVERY_TOOL):
            text = f"{one_line(call.tool, 40)}: {text[0].lower()}{text[1:]}"
        return CardRow(
            id=call.id,
            title=f"{clock(call.asked_at)}  {text}",
            mark=MARKS[call.status],
            right=Span(took, Role.DIM) if took else None,
            tip=outcome(call),
        )


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def _captioned(caption: str, view: QWidget) -> QWidget:
    box = QWidget()
    column = column_layout(
        box, Label(caption, size=Size.SMALL, role=Role.DIM, label=True), margins=(0, 4, 0, 0), spacing=4
    )
    column.addWidget(view, 1)
    return box
