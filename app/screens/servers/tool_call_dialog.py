"""Dialog that calls a tool: arguments, confirmation, and what the server returned."""

import asyncio
from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from app.arguments.values import dumps
from app.core_link.session import Session
from app.dialogs.argument_form import ArgumentForm
from app.dialogs.consent import ConsentBar
from app.screens.kit import ViewState, ViewStates
from app.screens.servers.call_history import CallHistory
from app.screens.servers.filters import CALLS, SCREEN
from app.screens.servers.tool_call_presenter import CALL_FIELDS, EVERY_TOOL, ToolCallPresenter
from app.text.formatting import count, error_text
from app.theme import Role, sized
from app.widgets import (
    Action,
    Button,
    Dialog,
    FlowText,
    KeyValues,
    Notice,
    Span,
    Split,
    column_layout,
    one_line,
)
from app.widgets.text_view import CodeView
from mcp_tef import CALL_SECONDS, Json, Server, TefError, Tool, ToolCall

SECOND = 1_000
WARNING = "The server carries out this call. It may change or send something."


class ConfirmCallDialog(Dialog):
    """Question before a call, with the server, the tool and everything that would be sent."""

    def __init__(self, server: Server, tool: Tool, arguments: Mapping[str, Json], parent: QWidget) -> None:
        super().__init__("Call this tool?", parent, width=520)
        rows = KeyValues(label_width=sized(80))
        rows.set_rows([("Server", server.name), ("Tool", [Span(tool.name, mono=True)]), ("Arguments", "")])
        self.arguments = CodeView("Arguments")
        self.arguments.setFixedHeight(sized(180))
        self.arguments.show_text(dumps(dict(arguments), indent=2))
        self.body.addWidget(
            FlowText("The server carries out this call. It may change or send something.", role=Role.DIM)
        )
        self.body.addWidget(rows)
        self.body.addWidget(self.arguments)
        call = Action(text="Call", do=self.accept, kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), call])


class ToolCallDialog(Dialog):
    """Dialog that calls one tool; closing it cancels a running call."""

    def __init__(self, session: Session, server: Server, tool: Tool, parent: QWidget) -> None:
        super().__init__(f"Call {one_line(tool.name, 40)} on {one_line(server.name, 40)}", parent, width=940)
        self._session, self._server, self._tool = session, server, tool
        self._presenter = ToolCallPresenter(session, server, tool)
        self._task: asyncio.Task[None] | None = None
        self._seconds = 0
        self._is_closed = False
        self._clock = QTimer(self, interval=SECOND)
        self.form = ArgumentForm(tool)
        self._views = ViewStates(session.settings, session.workspace, SCREEN)
        self.history = CallHistory(tool.name, self._views.load(CALL_FIELDS, CALLS))
        self.consent = ConsentBar()
        self.working, self.failure = Notice("info"), Notice("bad")
        self.call_button = self._lay_out()
        self._clock.timeout.connect(self._tick)
        self.form.paused.connect(lambda: session.spawn(self._judge(), of=self))
        self.consent.agreed.connect(lambda: session.spawn(self._agree()))
        self.consent.postponed.connect(self.consent.hide)
        self.history.use_wanted.connect(self._use)
        self.history.repeat_wanted.connect(self._repeat)
        self.history.remove_wanted.connect(lambda calls: session.spawn(self._remove(calls)))
        self.history.view_changed.connect(self._save_view)
        self.finished.connect(self._leave)
        session.closing.connect(self._leave)
        self.form.first().setFocus()
        session.spawn(self.refresh())

    def _lay_out(self) -> Button:
        left = QWidget()
        column = column_layout(left, margins=(0, 0, 16, 0), spacing=None)
        column.addWidget(self.form, 1)
        for part in (self.consent, self.working, self.failure):
            column.addWidget(part)
        right = QWidget()
        column_layout(right, self.history, margins=(16, 0, 0, 0), spacing=None)
        self.body.addWidget(Split([left, right], "Arguments and calls", [470, 420]), 1)
        self.need(height=620)
        _, call = self.set_buttons(
            [Action(text="Close", do=self.reject), Action(text="Call…", do=self.call, kind="primary")]
        )
        return call

    def call(self) -> None:
        """Check the arguments, ask for confirmation, and call."""
        if not self._is_closed and (self._task is None or self._task.done()):
            self._task = self._session.spawn(self._call())

    def cancel(self) -> None:
        """Cancel the running call."""
        if self._task is not None:
            self._task.cancel()

    async def refresh(self) -> None:
        """Read the calls of this tool, or of every tool of its server."""
        calls = await self._presenter.history(every_tool=bool(self.history.view.filters.of(EVERY_TOOL)))
        if not self._is_closed:
            self.history.show_calls(calls)

    async def _call(self) -> None:
        self.failure.clear()
        arguments = await self._checked()
        if arguments is None or not await self._started():
            return
        if await ConfirmCallDialog(self._server, self._tool, arguments, self).done_with():
            await self._carry_out(arguments)

    async def _judge(self) -> None:
        """Show while it is typed what the tool's schema rejects; an answer to an older draft is not shown."""
        reading = self.form.reading()
        faults = await self._presenter.errors(reading)
        if not self._is_closed and self.form.reading() == reading:
            self.form.show_errors(self.form.visible_errors(faults))

    async def _checked(self) -> dict[str, Json] | None:
        reading = self.form.reading()
        faults = await self._presenter.errors(reading)
        self.form.show_errors(faults)
        return None if faults else reading.arguments

    async def _started(self) -> bool:
        request = await self._presenter.missing_consent()
        if request is not None:
            self.consent.ask(request)
        return request is None

    async def _agree(self) -> None:
        self.consent.hide()
        await self._presenter.allow()
        self.call()

    async def _carry_out(self, arguments: Mapping[str, Json]) -> None:
        self._show_working(True)
        try:
            await self._presenter.call(arguments)
        except TefError as error:
            words = error_text(error)
            self.failure.show_message(words.message, words.hint, details=words.details)
        finally:
            if not self._is_closed:
                self._show_working(False)
                self._session.spawn(self.refresh())

    def _show_working(self, on: bool) -> None:
        self.call_button.setEnabled(not on)
        self._seconds = 0
        if on:
            self._clock.start()
            self._show_progress()
        else:
            self._clock.stop()
            self.working.clear()

    def _tick(self) -> None:
        self._seconds += 1
        self._show_progress()

    def _show_progress(self) -> None:
        so_far = f" {self._seconds} s so far." if self._seconds else ""
        stop = Action(text="Cancel the call", do=self.cancel)
        self.working.show_message(
            f"Calling {self._tool.name}.{so_far}", f"It is cancelled after {CALL_SECONDS:g} s.", [stop]
        )

    def _use(self, call: ToolCall) -> None:
        self.form.fill(call.arguments)

    def _repeat(self, call: ToolCall) -> None:
        self._use(call)
        self.call()

    def _save_view(self, view: ViewState) -> None:
        self._views.save(view, CALL_FIELDS, CALLS)
        self._session.spawn(self.refresh())

    async def _remove(self, calls: tuple[ToolCall, ...]) -> None:
        await self._take_out(calls)
        what = count(len(calls), "call")
        step = self._session.remember(f"delete {what}", partial(self._put_back, calls), partial(self._take_out, calls))
        if not self._is_closed:
            self.history.show_removed(len(calls), lambda: self._session.take_back(step))

    async def _take_out(self, calls: tuple[ToolCall, ...]) -> None:
        try:
            await self._presenter.remove(calls)
        finally:
            await self.refresh()

    async def _put_back(self, calls: tuple[ToolCall, ...]) -> None:
        await self._presenter.restore(calls)
        await self.refresh()

    def _leave(self) -> None:
        self._is_closed = True
        self._clock.stop()
        self.cancel()
