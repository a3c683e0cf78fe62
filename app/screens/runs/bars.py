"""Works of the runs screen in the bars at the foot of the window: each batch under way, and the judging."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from app.screens.runs.activity import Activity
from app.widgets import Activities, ActivityBar
from mcp_tef import BatchId

Works = Mapping[BatchId | None, Activity]


class Bars(QObject):
    """Bars by batch, None for the judging. `pressed` asks to pause a batch or to let it go on, `stopped` to end it."""

    pressed = Signal(object)
    stopped = Signal(object)

    def __init__(self, foot: Activities, parent: QObject) -> None:
        super().__init__(parent)
        self._foot = foot
        self._held: dict[BatchId | None, ActivityBar] = {}
        self._free: list[ActivityBar] = []

    def show_works(self, works: Works) -> None:
        """Show these; bars of what has ended go, and serve again."""
        for key in [key for key in self._held if key not in works]:
            bar = self._held.pop(key)
            bar.clear()
            self._free.append(bar)
        for key, now in works.items():
            bar = self.bar(key)
            bar.set_state(now.fraction, now.lead, now.parts, paused=now.paused, can_pause=now.can_pause, play=now.play)

    def bar(self, key: BatchId | None) -> ActivityBar:
        """The bar of a work."""
        if key not in self._held:
            self._held[key] = self._free.pop() if self._free else self._made()
        return self._held[key]

    def _made(self) -> ActivityBar:
        bar = self._foot.add()
        for signal in (bar.pause_wanted, bar.resume_wanted):
            signal.connect(lambda: self.pressed.emit(self._of(bar)))
        bar.cancel_wanted.connect(lambda: self.stopped.emit(self._of(bar)))
        return bar

    def _of(self, bar: ActivityBar) -> BatchId | None:
        return next((key for key, held in self._held.items() if held is bar), None)
