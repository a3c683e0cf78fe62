"""The bars at the foot of the window, one for each work under way."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from app.theme import Role, height, theme
from app.widgets.actions import IconButton
from app.widgets.bars import BAR
from app.widgets.layouts import column_layout, row_layout
from app.widgets.text_view import Label

BAR_WIDTH, STEPS = 200, 1_000


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
        self._line = QProgressBar()
        self._line.setFixedSize(BAR_WIDTH, BAR)
        self._line.setRange(0, STEPS)
        self._line.setTextVisible(False)
        self._lead = Label(strong=True, tabular=True)
        self._rest = Label(role=Role.DIM, tabular=True)
        self._rest.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.pause_button = IconButton("pause", "Pause")
        self.cancel_button = IconButton("x", "Cancel")
        self.pause_button.clicked.connect(lambda: (self.resume_wanted if self._paused else self.pause_wanted).emit())
        self.cancel_button.clicked.connect(self.cancel_wanted)
        row = row_layout(self, margins=(16, 1, 12, 0), spacing=12)
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
        self._line.setValue(round((fraction or 0.0) * STEPS))
        self._line.setAccessibleName(f"Progress: {round((fraction or 0.0) * 100)} %")
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
        self._column = column_layout(self)

    def add(self) -> ActivityBar:
        """Add a bar, hidden until it is given something to show."""
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

    def shown(self) -> tuple[ActivityBar, ...]:
        """Those that show some work."""
        return tuple(bar for bar in self._bars if not bar.isHidden())

    def fraction(self) -> float | None:
        """Return the progress of all tasks together, 0 to 1; None while no running task reports any."""
        known = [bar.fraction for bar in self.shown() if bar.fraction is not None]
        return sum(known) / len(known) if known else None
