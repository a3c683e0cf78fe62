"""Calls of the core that change everything or nothing, with progress below the page and a cancel button."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from app.core_link.session import Session
from mcp_tef import CancellableWork

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
SLOW_MS = 300
STOPPING = "Cancelling"


class CancellableCall(QObject):
    """One such call. Its bar appears once it takes long, and stays until the call has really ended.

    The object lives as long as the window, because cancelled work may still report progress.
    """

    _progressed = Signal(float)

    def __init__(self, session: Session, what: str) -> None:
        super().__init__(session.activity)
        self._session, self._what = session, what
        self._share, self._stopping = 0.0, False
        self.work = CancellableWork(self._progressed.emit)
        self.bar = session.activity.add()
        self.bar.cancel_wanted.connect(self.stop)
        self._late = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._late.timeout.connect(self._show)
        self._late.start()
        self._progressed.connect(self._take)

    def stop(self) -> None:
        """Cancel the call, unless it has finished; nothing of its changes remains."""
        self.work.stop()
        self._stopping = True
        self._show()

    def hide(self) -> None:
        """Remove the bar once nobody waits for the call."""
        self._late.stop()
        self._session.activity.drop(self.bar)

    def _take(self, share: float) -> None:
        self._share = share
        if not self.bar.isHidden():
            self._show()

    def _show(self) -> None:
        if self._stopping:
            self.bar.set_state(None, f"{STOPPING}: {self._what}", can_pause=False, can_cancel=False)
        else:
            self.bar.show_share(self._what, self._share)


async def call_cancellable(session: Session, what: str, do: "Callable[[Engine, CancellableWork], Awaitable[T]]") -> T:
    """Return the result of a call; raise StoppedError if the user cancelled it in time."""
    undertaking = CancellableCall(session, what)
    try:
        return await session.call(lambda core: do(core, undertaking.work))
    except asyncio.CancelledError:
        undertaking.work.stop()
        raise
    finally:
        undertaking.hide()
