"""The bars at the foot of the window, one for each work under way."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Role, height, theme
from app.widgets.accessibility import Spoken
from app.widgets.actions import IconButton
from app.widgets.bars import BAR, Segment, paint_segments
from app.widgets.label import Label

BAR_WIDTH = 200


class ProgressLine(QWidget):
    """A thin bar of how much is done."""

    SPOKEN_AS = Spoken.ProgressBar

    def __init__(self) -> None:
        super().__init__()
        self._fraction = 0.0
        self.setFixedSize(BAR_WIDTH, BAR)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_fraction(self, fraction: float) -> None:
        """Show the progress, 0–1."""
        self._fraction = max(0.0, min(1.0, fraction))
        self.setAccessibleName(f"Progress: {round(self._fraction * 100)} %")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        done = Segment(role=Role.ACCENT, value=self._fraction)
        paint_segments(QPainter(self), QRectF(self.rect()), [done], 1.0)


class ActivityBar(QWidget):
    """Progress, words about it, pause and cancel; hidden while nothing runs."""

    pause_wanted = Signal()
    resume_wanted = Signal()
    cancel_wanted = Signal()
    moved = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fraction: float | None = None
        self._paused = False
        self._said: tuple[str, ...] = ()
        self.setFixedHeight(height("activity_bar"))
        self._line = ProgressLine()
        self._lead = Label(strong=True, tabular=True)
        self._rest = Label(role=Role.DIM, tabular=True)
        self._rest.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.pause_button = IconButton("pause", "Pause")
        self.cancel_button = IconButton("x", "Cancel")
        self.pause_button.clicked.connect(lambda: (self.resume_wanted if self._paused else self.pause_wanted).emit())
        self.cancel_button.clicked.connect(self.cancel_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 1, 12, 0)
        row.setSpacing(12)
        for part in (self._line, self._lead):
            row.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._rest, 1)
        row.addWidget(self.pause_button)
        row.addWidget(self.cancel_button)
        self.hide()

    def set_state(
        self,
        fraction: float | None,
        lead: str,
        segments: Sequence[str] = (),
        *,
        paused: bool = False,
        can_pause: bool = True,
        can_cancel: bool = True,
        play: str = "Continue",
    ) -> None:
        """Show progress; `segments` are short words such as "3 failed", `play` is what ends a pause.

        Where nobody knows how far it is, the fraction is None and no line is drawn.
        """
        self.fraction, self._paused = fraction, paused
        self.pause_button.setVisible(can_pause)
        self.cancel_button.setVisible(can_cancel)
        self._line.setVisible(fraction is not None)
        self._line.set_fraction(fraction or 0.0)
        self._lead.setText(lead)
        self._rest.setText("    ".join(segments))
        self._said = (lead, *segments)
        self.pause_button.set_icon("play" if paused else "pause", play if paused else "Pause")
        self.show()
        self.moved.emit()

    def words(self) -> str:
        """All that it says, on one line."""
        return " · ".join(self._said)

    def show_share(self, what: str, share: float) -> None:
        """Show how much of one thing is done, 0 to 1."""
        self.set_state(share, f"{share * 100:.0f} %", (what,), can_pause=False)

    def clear(self) -> None:
        """Nothing runs."""
        self.hide()
        self.moved.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, self.width(), 1, theme().colour(Role.LINE))


class Activities(QWidget):
    """A bar for each work under way, the newest below. `moved` tells that one of them came, went or got further."""

    moved = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._bars: list[ActivityBar] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def add(self) -> ActivityBar:
        """A bar of its own, hidden until it is given something to show."""
        made = ActivityBar()
        self._bars.append(made)
        self._column.addWidget(made)
        made.moved.connect(self.moved)
        return made

    def drop(self, bar: ActivityBar) -> None:
        """Take back a bar that serves no longer."""
        bar.clear()
        self._bars.remove(bar)
        bar.deleteLater()

    def drop_all(self) -> None:
        """Take back every bar: whoever had them goes."""
        for bar in tuple(self._bars):
            self.drop(bar)

    def shown(self) -> tuple[ActivityBar, ...]:
        """Those that show some work."""
        return tuple(bar for bar in self._bars if not bar.isHidden())

    def fraction(self) -> float | None:
        """Return the progress of all tasks together, 0 to 1; None while no running task reports any."""
        known = [bar.fraction for bar in self.shown() if bar.fraction is not None]
        return sum(known) / len(known) if known else None
