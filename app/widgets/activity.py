"""The bar at the foot of the window while something runs."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.theme import Role, height, theme
from app.widgets.actions import IconButton
from app.widgets.bars import BAR, Segment, paint_segments
from app.widgets.label import Label

BAR_WIDTH = 200


class ProgressLine(QWidget):
    """A thin bar of how much is done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fraction = 0.0
        self.setFixedSize(BAR_WIDTH, BAR)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_fraction(self, fraction: float) -> None:
        """How much, 0–1."""
        self._fraction = max(0.0, min(1.0, fraction))
        self.setAccessibleName(f"Progress: {round(self._fraction * 100)} %")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        done = Segment(role=Role.ACCENT, value=self._fraction)
        paint_segments(QPainter(self), QRectF(self.rect()), [done], 1.0)


class ActivityBar(QWidget):
    """Progress, words about it, pause and cancel; hidden while nothing runs."""

    pause_wanted = Signal()
    resume_wanted = Signal()
    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pause_buttond = False
        self.setFixedHeight(height("activity_bar"))
        self._line = ProgressLine()
        self._lead = Label(strong=True, tabular=True)
        self._rest = Label(role=Role.DIM, tabular=True)
        self._rest.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.pause_button = IconButton("pause", "Pause")
        self.cancel_button = IconButton("x", "Cancel")
        self.pause_button.clicked.connect(
            lambda: (self.resume_wanted if self.pause_buttond else self.pause_wanted).emit()
        )
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
        self, fraction: float, lead: str, segments: Sequence[str] = (), *, paused: bool = False, can_pause: bool = True
    ) -> None:
        """Show progress; `segments` are short words such as "3 failed"."""
        self.pause_buttond = paused
        self.pause_button.setVisible(can_pause)
        self._line.set_fraction(fraction)
        self._lead.setText(lead)
        self._rest.setText("    ".join(segments))
        self.pause_button.set_icon("play" if paused else "pause", "Continue" if paused else "Pause")
        self.show()

    def clear(self) -> None:
        """Nothing runs."""
        self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        QPainter(self).fillRect(0, 0, self.width(), 1, theme().colour(Role.LINE))
