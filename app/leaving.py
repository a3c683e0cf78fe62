"""When a window may go: once nobody minds what is stopped and lost with it, or once it has nothing to do any more."""

import asyncio
from collections.abc import Callable

from PySide6.QtWidgets import QDialog, QWidget

from app.closing import may_lose, may_stop
from app.session import SLOW_S, Session
from app.window import Window


class Leaving:
    """Asks one question at a time, over a window."""

    def __init__(self, frame: QWidget) -> None:
        self._frame = frame
        self._asking = False

    async def leave_if_agreed(
        self,
        session: Session,
        window: Window | None,
        leave: Callable[[], object],
        keep_running: Callable[[], object] | None = None,
        *,
        keeps_typing: bool = False,
    ) -> None:
        """Leave, unless somebody wants to stay; `keep_running` lets work go on out of sight.

        What is typed counts only where it would be lost.
        """
        if self._asking:
            return
        self._asking = True
        try:
            stops = window is None or await may_stop(self._frame, session, keep_running)
            if stops and (window is None or keeps_typing or await may_lose(self._frame, window.unsaved())):
                leave()
        finally:
            self._asking = False


async def until_quiet(session: Session, frame: QWidget, wait: Callable[[], object]) -> None:
    """Wait until no dialog is open and all that was begun has ended, but for batches, which go on without a window.

    `wait` says that this takes a while.
    """
    late = asyncio.get_running_loop().call_later(SLOW_S, wait)
    try:
        await session.begun()
        while dialogs := _open_dialogs(frame):
            closed = asyncio.Event()
            for dialog in dialogs:
                dialog.finished.connect(closed.set)
            await closed.wait()
            await session.begun()
    finally:
        late.cancel()


def _open_dialogs(frame: QWidget) -> list[QDialog]:
    return [dialog for dialog in frame.findChildren(QDialog) if dialog.isVisible()]
