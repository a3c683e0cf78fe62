"""Manual tool calls as a list: filter, sort order, export as JSON, and the details of one call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.arguments.typed_json import dumps
from app.screens.servers.tool_call_presenter import CALL_STATUS_TEXTS, outcome, request_text, response_text
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
    one_line,
    show_menu,
)
from app.widgets.text_view import CodeView
from mcp_tef import Json, ToolCall, ToolCallStatus

CALL_VIEW_KEY: Final = "servers.calls_shown"
MOST_SEARCHED: Final = 4_000


class CallOrder(StrEnum):
    """What the list is sorted by."""

    NEWEST = "newest"
    OLDEST = "oldest"
    LONGEST = "longest"


CALL_ORDERS: Final[Mapping[CallOrder, str]] = {
    CallOrder.NEWEST: "Newest first",
    CallOrder.OLDEST: "Oldest first",
    CallOrder.LONGEST: "Longest first",
}


@dataclass(frozen=True, slots=True)
class CallsShown:
    """Calls of one tool, or of every tool of its server, of one outcome or of all."""

    outcome: ToolCallStatus | None = None
    every_tool: bool = False
    order: CallOrder = CallOrder.NEWEST

    def of(self, calls: Sequence[ToolCall], text: str) -> tuple[ToolCall, ...]:
        """Those that are wanted and hold every word; `calls` come newest first."""
        words = text.casefold().split()
        found = [call for call in calls if self.outcome in (None, call.status) and _holds(call, words)]
        if self.order is CallOrder.OLDEST:
            found.reverse()
        elif self.order is CallOrder.LONGEST:
            found.sort(key=lambda call: -(call.duration_ms or 0))
        return tuple(found)

    def to_keep(self) -> dict[str, Any]:
        """As plain values."""
        outcome = self.outcome.value if self.outcome else ""
        return {"outcome": outcome, "every_tool": self.every_tool, "order": self.order.value}


def calls_shown_of(kept: Mapping[str, object]) -> CallsShown:
    """What was kept; whatever does not fit is left out."""
    return CallsShown(
        outcome=next((status for status in ToolCallStatus if status.value == kept.get("outcome")), None),
        every_tool=kept.get("every_tool") is True,
        order=next((order for order in CallOrder if order.value == kept.get("order")), CallOrder.NEWEST),
    )


def calls_shown_actions(now: CallsShown, show: Callable[[CallsShown], object]) -> Sequence[Action]:
    """Every choice, ticked while it is in force."""

    def choice(text: str, then: CallsShown, *, apart: bool = False) -> Action:
        return Action(text=text, do=lambda: show(then), checked=now == then, apart=apart)

    return [
        choice("Calls of this tool", replace(now, every_tool=False)),
        choice("Calls of every tool of the server", replace(now, every_tool=True)),
        choice("Any outcome", replace(now, outcome=None), apart=True),
        *(choice(word, replace(now, outcome=status)) for status, word in CALL_STATUS_TEXTS.items()),
        *(
            choice(word, replace(now, order=order), apart=order is CallOrder.NEWEST)
            for order, word in CALL_ORDERS.items()
        ),
    ]


def calls_as_json(calls: Sequence[ToolCall]) -> str:
    """Calls with their answers, without keys, for the clipboard."""
    return dumps([_plain(call) for call in calls], indent=2)


def _plain(call: ToolCall) -> dict[str, Json]:
    ended: dict[str, Json] = {"duration_ms": call.duration_ms} if call.duration_ms is not None else {}
    if call.reply is not None:
        ended["reply"] = asdict(call.reply) | {"content": list(call.reply.content)}
    if call.failure is not None:
        ended["failure"] = {"message": call.failure.message, "hint": call.failure.hint}
    return {
        "id": call.id,
        "asked_at": call.asked_at.isoformat(timespec="milliseconds"),
        "server": call.server,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "status": call.status.value,
        **ended,
    }


def _holds(call: ToolCall, words: Sequence[str]) -> bool:
    if not words:
        return True
    answer = call.failure.message if call.failure else str(call.reply.content)[:MOST_SEARCHED] if call.reply else ""
    asked = dumps(dict(call.arguments))[:MOST_SEARCHED]
    text = f"{call.tool} {CALL_STATUS_TEXTS[call.status]} {asked} {answer}".casefold()
    return all(word in text for word in words)


MARKS = {
    ToolCallStatus.SENT: Mark.RING,
    ToolCallStatus.ANSWERED: Mark.DOT,
    ToolCallStatus.TOOL_ERROR: Mark.NOTE,
    ToolCallStatus.FAILED: Mark.TRIANGLE,
    ToolCallStatus.CANCELLED: Mark.RING,
}
BAD = (ToolCallStatus.TOOL_ERROR, ToolCallStatus.FAILED)
NONE = "No calls yet. What comes back is kept here, without keys."
NONE_FIT = "No call fits. Empty the search, or choose any outcome in the filter."


class CallHistory(QWidget):
    """Calls of the `tool` that is tried, or of every tool of its server.

    `again` gives a call whose arguments are wanted once more, `repeat_wanted` one that is to be made again,
    `remove_wanted` those that are to go, `narrowed` what is to be listed instead.
    """

    again = Signal(object)
    repeat_wanted = Signal(object)
    remove_wanted = Signal(tuple)
    narrowed = Signal(object)

    def __init__(self, tool: str, shown: CallsShown) -> None:
        super().__init__()
        self._tool = tool
        self.shown = shown
        self._calls: dict[str, ToolCall] = {}
        self.list = CardList("Calls", row_height=sized(28), many=True)
        self.search = SearchField("Search calls")
        self.narrow = IconButton("funnel", "Filter and sort the calls", size=14)
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
        below.addWidget(self.narrow)
        caption = QHBoxLayout()
        caption.setSpacing(12)
        caption.addWidget(self.outcome, 1)
        for part in (self.repeat, self.use):
            caption.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)
        views = (("Response", self.response), ("Request", self.request))
        captioned = [_captioned(title, view) for title, view in views]
        self._split = Split(captioned, "Response and request", [260, 200], stacked=True)
        self.list.setFixedHeight(4 * sized(28))
        self.undo.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for line in (head, below):
            column.addLayout(line)
        column.addWidget(self.list)
        column.addWidget(self._rule)
        column.addLayout(caption)
        column.addWidget(self._split, 1)
        column.addStretch(0)

    def _listen(self) -> None:
        self.list.chosen.connect(self._show)
        self.list.set_menu(self._menu)
        self.list.opened.connect(lambda _: self._with_current(self.again.emit))
        self.list.delete_wanted.connect(lambda _: self._remove(self.chosen()))
        self.list.tell_keys(Enter="Use the arguments of the call", Del="Delete the calls")
        self.use.clicked.connect(lambda: self._with_current(self.again.emit))
        self.repeat.clicked.connect(lambda: self._with_current(self.repeat_wanted.emit))
        self.forget.clicked.connect(lambda: self._remove(tuple(self._calls.values())))
        self.search.searched.connect(lambda _: self._list())
        self.narrow.clicked.connect(self._open_filter)

    def show_calls(self, calls: Sequence[ToolCall]) -> None:
        """List these, newest first; a new one is read."""
        newest = calls[0].id if calls and calls[0].id not in self._calls else ""
        self._calls = {call.id: call for call in calls}
        self._list()
        if newest:
            self.list.select(newest)

    def show_removed(self, number: int, undo: Callable[[], object]) -> None:
        """Offer the way back."""
        self._title.set_text(f"Deleted {count(number, 'call')}")
        self.undo.rewire(Action(text="Undo", do=undo, kind="link"))
        self.undo.show()

    def chosen(self) -> tuple[ToolCall, ...]:
        """The chosen calls, in the order shown."""
        return tuple(self._calls[call_id] for call_id in self.list.selected_ids())

    def _list(self) -> None:
        found = self.shown.of(tuple(self._calls.values()), self.search.text())
        self._title.set_text(self._words(len(found)))
        self.undo.hide()
        known = bool(self._calls)
        for part in (self.list, self._rule, self._split, self.outcome, self.use, self.repeat):
            part.setVisible(bool(found))
        self.forget.setVisible(bool(found))
        self.search.setVisible(known)
        self.narrow.setVisible(known or self.shown != CallsShown())
        self.list.set_rows([self._row(call) for call in found])
        if found and not self.list.current_id():
            self.list.select_first()
        self._show(self.list.current_id())

    def _words(self, found: int) -> str:
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
        """Have calls go; they are gone here at once, so that nobody deletes them twice."""
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
            Action(text="Use these arguments", do=lambda: self._with_current(self.again.emit), enabled=one),
            Action(text=f"Copy {what} as JSON", do=lambda: _copy(calls_as_json(calls)), icon="copy", apart=True),
            Action(text=f"Delete {what}", do=lambda: self._remove(calls), keys="Del", icon="trash", apart=True),
        ]

    def _open_filter(self) -> None:
        below = self.narrow.mapToGlobal(QPoint(0, self.narrow.height() + 4))
        show_menu(calls_shown_actions(self.shown, self._narrow), below, self)

    def _narrow(self, shown: CallsShown) -> None:
        self.shown = shown
        self._list()
        self.narrowed.emit(shown)

    def _row(self, call: ToolCall) -> CardRow:
        took = "" if call.duration_ms is None else duration(call.duration_ms / 1000)
        words = CALL_STATUS_TEXTS[call.status]
        if self.shown.every_tool:
            words = f"{one_line(call.tool, 40)}: {words[0].lower()}{words[1:]}"
        return CardRow(
            id=call.id,
            title=f"{clock(call.asked_at)}  {words}",
            mark=MARKS[call.status],
            right=Span(took, Role.DIM) if took else None,
            tip=outcome(call),
        )


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def _captioned(caption: str, view: QWidget) -> QWidget:
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 4, 0, 0)
    column.setSpacing(4)
    column.addWidget(Label(caption, size=Size.SMALL, role=Role.DIM, label=True))
    column.addWidget(view, 1)
    return box
