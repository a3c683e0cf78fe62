"""Executing a library tool by hand: arguments, consent for its program or address, the execution and its output."""

import asyncio
from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.arguments.values import ParsedArguments, dumps
from app.core_link.session import Session
from app.dialogs.argument_form import ArgumentForm
from app.dialogs.consent import ConsentBar
from app.screens.library.library_rows import EXECUTION_STATUSES
from app.screens.library.presenter import LibraryPresenter
from app.text.formatting import duration, error_text
from app.theme import Role, Size, sized
from app.widgets import Button, FlowText, Notice, Split, column_layout, row_layout
from app.widgets.text_view import CodeView
from mcp_tef import ConsentError, ConsentKind, ConsentRequest, Execution, ExecutionStatus, InputError, Json, LibraryTool

SIDE: Final = 16
BESIDE: Final = 560
QUESTIONS: Final = {
    ConsentKind.PROGRAM: "This tool is a program. Start it on this computer?",
    ConsentKind.TOOL_CALL: "This tool acts outside this window. Execute it?",
    ConsentKind.CONNECTION: "This tool needs this server. Contact it?",
}


class RunPane(QWidget):
    """Arguments at the left, the last output at the right."""

    run_wanted = Signal()
    cancel_wanted = Signal()
    agreed = Signal()
    paused = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._tool: LibraryTool | None = None
        self._request: ConsentRequest | None = None
        self.form: ArgumentForm | None = None
        self.run, self.cancel = Button("Run the tool", icon="play"), Button("Cancel")
        self.consent, self.failure = ConsentBar(), Notice("bad")
        self.outcome = FlowText(size=Size.SMALL, role=Role.DIM)
        self.output = CodeView("Output")
        self._form_place = QVBoxLayout()
        self._lay_out()
        self.run.clicked.connect(self.run_wanted)
        self.cancel.clicked.connect(self.cancel_wanted)
        self.consent.agreed.connect(self.agreed)
        self.consent.postponed.connect(lambda: self.consent.put_away(self.run))
        self.show_working(on=False)

    def _lay_out(self) -> None:
        left, right = QWidget(), QWidget()
        column = column_layout(left, margins=(SIDE, 12, 12, 12), spacing=12)
        column.addLayout(self._form_place, 1)
        row = row_layout(None, self.run, self.cancel, spacing=None)
        row.addStretch(1)
        column.addLayout(row)
        inset = column_layout(right, self.outcome, margins=(12, 12, SIDE, 12), spacing=8)
        inset.addWidget(self.output, 1)
        self._split = Split([left, right], "Arguments and output", [340, 340])
        outer = column_layout(self, self.consent, self.failure)
        outer.addWidget(self._split, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have the output below the arguments where there is no room beside them."""
        super().resizeEvent(event)
        beside = event.size().width() >= sized(BESIDE)
        self._split.setOrientation(Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical)

    def show_tool(self, tool: LibraryTool, arguments: Mapping[str, Json] | None = None) -> None:
        """Show the form for a tool; arguments that stand there stay while the tool takes the same parameters."""
        before, self._tool = self._tool, tool
        if before is None or before.design.input_schema != tool.design.input_schema or before.id != tool.id:
            self._make_form(tool)
        if before is None or before.id != tool.id:
            self.show_execution(None)
            self.consent.hide()
            self.failure.clear()
        if self.form is not None and arguments is not None:
            self.form.fill(arguments)

    def _make_form(self, tool: LibraryTool) -> None:
        before, self.form = self.form, ArgumentForm(tool.design.tool)
        self.form.paused.connect(self.paused)
        self._form_place.addWidget(self.form)
        if before is not None:
            focused = before.focusWidget()
            if focused is not None and focused.hasFocus():
                self.form.first().setFocus()
            before.hide()
            before.deleteLater()

    def arguments(self) -> ParsedArguments:
        """Return the arguments as typed."""
        return self.form.reading() if self.form else ParsedArguments({})

    def show_errors(self, faults: Mapping[str, str], *, typing: bool = False) -> None:
        """Show what is wrong with the arguments; while typing only in fields that have a text."""
        if self.form is not None:
            self.form.show_errors(self.form.visible_errors(faults) if typing else faults)

    def show_working(self, *, on: bool) -> None:
        """Show that the tool runs, with a way to stop it."""
        self.run.setEnabled(not on)
        self.cancel.setVisible(on)
        if on:
            self.failure.clear()
            self.outcome.set_text("Running…")

    def ask(self, request: ConsentRequest) -> None:
        """Ask for consent before the tool runs."""
        self._request = request
        self.outcome.set_text("")
        self.consent.ask(request, QUESTIONS.get(request.kind, ""))

    def request(self) -> ConsentRequest | None:
        """Return the question that was asked last."""
        return self._request

    def show_execution(self, execution: Execution | None) -> None:
        """Show what came of an execution."""
        if execution is None:
            self.outcome.set_text("The output appears here. Each execution is kept in the history of the tool.")
            self.output.show_text("")
            return
        failed = execution.status is not ExecutionStatus.SUCCESS
        taken = duration((execution.duration_ms or 0) / 1000)
        self.outcome.set_text(
            f"{EXECUTION_STATUSES[execution.status]} after {taken}, version {execution.version}",
            Role.BAD if failed else Role.DIM,
        )
        self.output.show_text(output_text(execution))


def output_text(execution: Execution) -> str:
    """Return the output of an execution, or its error."""
    if execution.status is not ExecutionStatus.SUCCESS:
        return execution.error_message or ""
    output = execution.output
    return output if isinstance(output, str) else dumps(output, indent=2)


class RunController(QObject):
    """Runs the selected tool, one execution at a time; `ended` follows each."""

    ended = Signal()

    def __init__(self, session: Session, presenter: LibraryPresenter, pane: RunPane) -> None:
        super().__init__(pane)
        self._session, self._presenter, self._pane = session, presenter, pane
        self._task: asyncio.Task[None] | None = None
        pane.run_wanted.connect(self.start)
        pane.cancel_wanted.connect(self.cancel)
        pane.agreed.connect(lambda: session.spawn(self._agree()))
        pane.paused.connect(lambda: session.spawn(self._judge(), of=self))

    def start(self) -> None:
        """Run the tool with the arguments as typed."""
        if self._task is None or self._task.done():
            self._task = self._session.spawn(self._run())

    def cancel(self) -> None:
        """Stop the execution, and every process that it started."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        pane, presenter, tool_id = self._pane, self._presenter, self._presenter.selected
        parsed = pane.arguments()
        faults = await presenter.errors(parsed)
        pane.show_errors(faults)
        if faults or parsed.arguments is None:
            return
        pane.show_working(on=True)
        try:
            execution = await presenter.execute(parsed.arguments)
        except ConsentError as error:
            pane.ask(error.requests[0])
        except InputError as error:
            said = error_text(error)
            pane.show_execution(None)
            pane.failure.show_message(said.message, said.hint)
        except asyncio.CancelledError:
            pane.show_execution(None)
            raise
        else:
            if presenter.selected == tool_id:
                pane.show_execution(execution)
        finally:
            pane.show_working(on=False)
            self.ended.emit()

    async def _agree(self) -> None:
        request = self._pane.request()
        if request is not None:
            self._pane.consent.put_away(self._pane.run)
            await self._presenter.allow(request)
            self.start()

    async def _judge(self) -> None:
        """Show what the schema rejects while it is typed; an answer to older arguments is not shown."""
        reading = self._pane.arguments()
        faults = await self._presenter.errors(reading)
        if self._pane.arguments() == reading:
            self._pane.show_errors(faults, typing=True)
