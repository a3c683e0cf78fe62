"""Executions from the Run tab: check of the arguments, consent, the execution and its output."""

import asyncio

from PySide6.QtCore import QObject, Signal

from app.core_link.session import Session
from app.screens.library.presenter import LibraryPresenter
from app.screens.library.run_pane import RunPane
from app.text.formatting import error_text
from mcp_tef import ConsentError, InputError


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
