"""Questions over the window: resume, stop or lose work, and the new name of a workspace."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.core_link.targets import ResumeBatches
from app.shell.main_window import MainWindow
from app.shell.presenter import ShellPresenter
from app.text.formatting import count
from app.theme import Role
from app.widgets import Action, Dialog, Field, FlowText, LineEdit, Notice, ask
from mcp_tef import Batch, BatchQueued, BatchStarted, Event, InputError

MOST_NAMED = 12
AFTERWARDS = "What is finished is kept, and batches can be resumed at the next start. Anything else begins anew."
RENAME_NOTE = "The workspace stays in its folder with all its content."


async def may_stop(window: QWidget, session: Session, keep_running: Callable[[], object] | None = None) -> bool:
    """Ask whether running work may be stopped; return True if nothing is running.

    `keep_running` lets it continue while the window is minimised, where that is possible.
    """
    batches = await ShellPresenter(session).active_batches()
    works = [bar.words() for bar in session.activity.shown()]
    if not batches and not works:
        return True
    named = works or [count(batches, "batch", "batches")]
    dialog = closing_question(window, named, keep_running)
    return await dialog.done_with()


def closing_question(window: QWidget, works: Sequence[str], keep_running: Callable[[], object] | None) -> Dialog:
    """Make the dialog that lists running work and asks whether to stop it."""
    dialog = Dialog("Close while work is under way?", window)
    more = len(works) - MOST_NAMED
    for work in works[:MOST_NAMED]:
        dialog.body.addWidget(FlowText(f"• {work}", max_lines=2))
    if more > 0:
        dialog.body.addWidget(FlowText(f"and {more:,} more"))
    dialog.body.addWidget(FlowText(AFTERWARDS, role=Role.DIM))
    buttons = [Action(text="Cancel", do=dialog.reject), Action(text="Stop and close", do=dialog.accept, kind="primary")]
    if keep_running is not None:

        def go_on() -> None:
            dialog.reject()
            keep_running()

        buttons.insert(1, Action(text="Keep running, minimised", do=go_on))
    dialog.set_buttons(buttons)
    return dialog


async def may_lose(window: QWidget, unsaved: int) -> bool:
    """Ask whether cases that cannot be saved may be lost; return True if there are none."""
    if not unsaved:
        return True
    what = count(unsaved, "test case is", "test cases are")
    text = f"{what} not complete and cannot be saved as typed. The editor says what is missing."
    return await ask(window, "Close without what is not saved?", text, yes="Close without it", no="Go on typing")


class ClosingQuestions:
    """Asks these questions one at a time, over a window."""

    def __init__(self, frame: QWidget) -> None:
        self._frame = frame
        self._asking = False

    async def leave_if_agreed(
        self,
        session: Session,
        window: MainWindow | None,
        leave: Callable[[], object],
        keep_running: Callable[[], object] | None = None,
    ) -> None:
        """Leave unless the user cancels; `keep_running` lets work continue while the window is minimised."""
        if self._asking:
            return
        self._asking = True
        try:
            stops = window is None or await may_stop(self._frame, session, keep_running)
            if stops and (window is None or await may_lose(self._frame, window.unsaved())):
                leave()
        finally:
            self._asking = False


DISMISSED_KEY = "runs.dismissed"
MAX_DISMISSED = 100
MAX_NAMED = 4


class InterruptedBatches:
    """Offers each interrupted batch until the user dismisses it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._notice: Notice | None = None
        session.events.connect(self._on_events)

    async def offer(self, notice: Notice) -> None:
        """Show in a notice which batches were interrupted, if there are any."""
        self._notice = notice
        dismissed = self._session.settings.get(DISMISSED_KEY, [])
        if not (batches := await ShellPresenter(self._session).interrupted_batches(dismissed)):
            return
        found = [batch for batch, _ in batches]
        actions = [
            Action(text="Resume", do=lambda: self._resume(found)),
            Action(text="Dismiss", do=lambda: self._dismiss(found), kind="link"),
        ]
        notice.show_message(interrupted_text(batches), "What is finished is kept.", actions)

    def _resume(self, batches: Sequence[Batch]) -> None:
        self._clear()
        self._session.go(ResumeBatches(tuple(batch.id for batch in batches)))

    def _dismiss(self, batches: Sequence[Batch]) -> None:
        self._clear()
        known = self._session.settings.get(DISMISSED_KEY, [])
        self._session.settings.set(DISMISSED_KEY, [*known, *(batch.id for batch in batches)][-MAX_DISMISSED:])

    def _on_events(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, BatchQueued | BatchStarted) for event in events):
            self._clear()

    def _clear(self) -> None:
        if self._notice is not None:
            self._notice.clear()


def interrupted_text(batches: Sequence[tuple[Batch, int]]) -> str:
    """Return a sentence that names the interrupted batches, oldest first, and how many runs of each are left."""
    if len(batches) == 1:
        batch, left = batches[0]
        return f"{batch.name or 'A batch'} was interrupted: {_share(batch, left)} left."
    texts = [f"{batch.name or 'one'} ({_share(batch, left)})" for batch, left in batches]
    more = [f"{len(texts) - MAX_NAMED:,} more"] if len(texts) > MAX_NAMED else []
    *first, last = [*texts[:MAX_NAMED], *more]
    return f"{len(batches)} batches were interrupted, with runs left: {', '.join(first)} and {last}."


def _share(batch: Batch, left: int) -> str:
    if left == batch.total:
        return f"all {count(left, 'run')}"
    return f"{left:,} of {count(batch.total, 'run')}"


class RenameWorkspaceDialog(Dialog):
    """Field for the new name; `check` raises InputError for a name that cannot be used.

    `name` is the new one once the dialog is accepted.
    """

    def __init__(self, path: Path, check: Callable[[Path, str], object], parent: QWidget) -> None:
        super().__init__("Rename workspace", parent, width=420)
        self.name = path.stem
        self._path, self._check = path, check
        self.edit = LineEdit()
        self.edit.setText(path.stem)
        self.edit.selectAll()
        self.field = Field("Name", self.edit, note=RENAME_NOTE)
        self.body.addWidget(self.field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Rename", do=self._agree, kind="primary")])
        self.edit.typed.connect(lambda _: self.field.tell(self._fault()))
        self.edit.setFocus()

    def _agree(self) -> None:
        fault = self._fault()
        self.field.set_error(fault)
        if not fault:
            self.name = self.edit.text().strip()
            self.accept()

    def _fault(self) -> str:
        try:
            self._check(self._path, self.edit.text().strip())
        except InputError as error:
            return error.message
        return ""


async def ask_for_workspace_name(parent: QWidget, path: Path) -> str | None:
    """Ask for a new name of a workspace; return None if the user cancels."""
    from mcp_tef import renamed_path

    dialog = RenameWorkspaceDialog(path, renamed_path, parent)
    return dialog.name if await dialog.done_with() else None
