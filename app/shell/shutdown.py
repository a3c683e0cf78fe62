"""Questions before a workspace is closed: running work may be stopped, and unsaved edits lost."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.shell.main_window import MainWindow
from app.shell.presenter import ShellPresenter
from app.text.formatting import count
from app.theme import Role
from app.widgets import Action, Dialog, FlowText, ask

MOST_NAMED = 12
AFTERWARDS = "What is finished is kept, and batches can be resumed at the next start. Anything else begins anew."


async def may_stop(window: QWidget, session: Session, keep_running: Callable[[], object] | None = None) -> bool:
    """Ask whether running work may be stopped; return True if nothing is running.

    `keep_running` lets it continue while the window is minimised, where that is possible.
    """
    batches = await ShellPresenter(session).active_batches()
    works = [bar.words() for bar in session.activity.shown()]
    if not batches and not works:
        return True
    named = works or [count(batches, "batch", "batches")]
    sheet = closing_question(window, named, keep_running)
    return await sheet.done_with()


def closing_question(window: QWidget, works: Sequence[str], keep_running: Callable[[], object] | None) -> Dialog:
    """Make the dialog that lists running work and asks whether to stop it."""
    sheet = Dialog("Close while work is under way?", window)
    more = len(works) - MOST_NAMED
    for work in works[:MOST_NAMED]:
        sheet.body.addWidget(FlowText(f"• {work}", max_lines=2))
    if more > 0:
        sheet.body.addWidget(FlowText(f"and {more:,} more"))
    sheet.body.addWidget(FlowText(AFTERWARDS, role=Role.DIM))
    buttons = [Action(text="Cancel", do=sheet.reject), Action(text="Stop and close", do=sheet.accept, kind="primary")]
    if keep_running is not None:

        def go_on() -> None:
            sheet.reject()
            keep_running()

        buttons.insert(1, Action(text="Keep running, minimised", do=go_on))
    sheet.set_buttons(buttons)
    return sheet


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
