"""Progress and the end of long work outside the window: in the taskbar, without taking the focus."""

import os
import sys
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Session
from app.widgets import Action, Dialog, FlowText
from mcp_tef import BatchEnded, Event

ENTRY = "application://mcp-tef-desktop.desktop"
PATH, INTERFACE = "/mcp_tef", "com.canonical.Unity.LauncherEntry"
Tell = Callable[[float | None], object]


class SystemNotifications(QObject):
    """Lives as long as its session. `alert` asks the user to look at the window, `tell` receives the overall progress.

    Batches that ended unseen are counted on the window's icon until the user comes back.
    """

    def __init__(
        self,
        session: Session,
        window: QWidget,
        alert: Callable[[QWidget], object] = QApplication.alert,
        tell: Tell | None = None,
    ) -> None:
        super().__init__(session)
        self._activity = session.activity
        self._window = window
        self._alert = alert
        self._tell = tell or taskbar_progress()
        self._reported: float | None = None
        self._unseen = 0
        session.events.connect(self._on_events)
        session.activity.moved.connect(self._on_progress)
        session.closing.connect(lambda: self._report(None))
        self._running = QApplication.instance()
        if isinstance(self._running, QApplication):
            self._running.applicationStateChanged.connect(self._on_state_changed)

    def _on_events(self, events: tuple[Event, ...]) -> None:
        ended = sum(isinstance(event, BatchEnded) for event in events)
        if ended and not self._window.isActiveWindow():
            self._alert(self._window)
            self._set_unseen(self._unseen + ended)

    def _on_progress(self) -> None:
        fraction = self._activity.fraction()
        self._report(None if fraction is None else round(fraction, 2))

    def _report(self, fraction: float | None) -> None:
        if fraction != self._reported:
            self._reported = fraction
            self._tell(fraction)

    def _on_state_changed(self, state: Qt.ApplicationState) -> None:
        if state is Qt.ApplicationState.ApplicationActive and self._unseen:
            self._set_unseen(0)

    def _set_unseen(self, unseen: int) -> None:
        self._unseen = unseen
        if isinstance(self._running, QApplication):
            self._running.setBadgeNumber(unseen)


def taskbar_progress() -> Tell:
    """Return a function that sends progress to the taskbar; it does nothing where no taskbar listens."""
    listens = sys.platform == "linux" and "DBUS_SESSION_BUS_ADDRESS" in os.environ
    return _tell_launcher if listens else lambda _: None


def _tell_launcher(fraction: float | None) -> None:
    from PySide6.QtDBus import QDBusConnection, QDBusMessage

    update = QDBusMessage.createSignal(PATH, INTERFACE, "Update")
    update.setArguments([ENTRY, {"progress": fraction or 0.0, "progress-visible": fraction is not None}])
    QDBusConnection.sessionBus().send(update)


def show_opening_notices(window: QWidget, notices: Sequence[str], show_folder: Callable[[], object]) -> None:
    """Show what happened to files while the workspace was opened."""
    dialog = Dialog("Before you go on", window)
    for text in notices:
        dialog.body.addWidget(FlowText(text))
    show = Action(text="Show the folder", do=show_folder, kind="quiet")
    dialog.set_buttons([Action(text="Go on", do=dialog.accept, kind="primary")], left=[show])
    dialog.open()
