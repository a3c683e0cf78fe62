"""Work of other processes, shown while the window is open: the core looks for it once a second."""

from PySide6.QtCore import QObject, QTimer, Signal

from app.core_link.session import Session
from app.shell.presenter import ShellPresenter
from mcp_tef import TefError

LOOK_MS = 1_000


class OtherProcessesWatch(QObject):
    """Looks for what other processes did, one look at a time; the core publishes it as events."""

    workspace_gone = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._failed, self._closed = "", False
        self._presenter = ShellPresenter(session)
        self._session = session
        self._timer = QTimer(self, interval=LOOK_MS, singleShot=True)
        self._timer.timeout.connect(lambda: None if self._closed else session.spawn(self.look()))
        session.closing.connect(self._stop)
        self._timer.start()

    async def look(self) -> None:
        """Look once, and again a second after that; an error is shown once, however often it comes back."""
        try:
            await self._presenter.look_at_other_processes()
            self._failed = ""
        except TefError as error:
            if error.message != self._failed:
                self._failed = error.message
                self._session.show_error(error)
                if error.code == "workspace_gone":
                    self.workspace_gone.emit(error.message)
        if not self._closed:
            self._timer.start()

    def _stop(self) -> None:
        self._closed = True
        self._timer.stop()
