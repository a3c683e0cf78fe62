"""Serving the library at an address of this computer while the window is open."""

import asyncio
import secrets
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.dialogs.consent import with_consent
from app.screens.library.dialogs import ServeDialog
from app.screens.library.presenter import LibraryPresenter


class LibraryServing(QObject):
    """At most one address at a time. `told` carries it from the core's thread to the window's; `changed` follows."""

    told = Signal(str)
    changed = Signal()

    def __init__(self, session: Session, presenter: LibraryPresenter, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._presenter = session, presenter
        self._page = parent
        self._task: asyncio.Task[None] | None = None
        self._dialog: ServeDialog | None = None
        self.address = self.token = ""
        self.told.connect(self._show)

    def open(self, names: Sequence[str]) -> ServeDialog:
        """Open the dialog that explains both ways and starts or stops the address."""
        dialog = ServeDialog(self._session.workspace, names, self._page)
        self._dialog = dialog
        dialog.show_address(self.address, self.token)
        dialog.start_wanted.connect(self.start)
        dialog.stop_wanted.connect(self.stop)
        dialog.finished.connect(self._forget)
        dialog.open()
        return dialog

    def start(self) -> None:
        """Serve at a free port of this computer, once the programs of the tools are allowed."""
        if self._task is None:
            self._task = self._session.spawn(self._serve())

    def stop(self) -> None:
        """Stop serving."""
        if self._task is not None:
            self._task.cancel()

    async def _serve(self) -> None:
        session, token = self._session, secrets.token_urlsafe(32)
        try:
            if await with_consent(session, self._dialog or self._page, self._presenter.allowed_to_serve) is None:
                return
            self.token = token
            await self._presenter.serve(session.call_long, self.told.emit, token)
        finally:
            self._task = None
            self._show("")

    def _show(self, address: str) -> None:
        self.address = address
        if self._dialog is not None:
            self._dialog.show_address(address, self.token)
        self.changed.emit()

    def _forget(self) -> None:
        self._dialog = None
