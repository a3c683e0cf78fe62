"""Tells at the foot of the window how far a comparing of tools is, where it takes long."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.core_link.session import Page

SLOW_MS = 300
WHAT = "Comparing tools"


class Comparing(QObject):
    """`heard` may be emitted on any thread; `stop` is called when the user wants no more of it."""

    heard = Signal(float)

    def __init__(self, page: Page, stop: Callable[[], object]) -> None:
        super().__init__(page)
        self.bar = page.session.activity.add()
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._slow.timeout.connect(lambda: self.bar.show_share(WHAT, 0.0))
        page.session.closing.connect(self._slow.stop)
        self.bar.cancel_wanted.connect(stop)
        self.heard.connect(self._show)

    def begin(self) -> None:
        """From now on it is being compared."""
        self._slow.start()

    def end(self) -> None:
        """It is done, or was stopped."""
        self._slow.stop()
        self.bar.clear()

    def _show(self, share: float) -> None:
        if not self.bar.isHidden():
            self.bar.show_share(WHAT, share)
