"""Legend, histogram and threshold as one instrument: a slider on the colours, the numbers standing on it."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QLinearGradient, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy

from app.theme import Role, Size, sized, theme
from app.widgets.spans import LinePainter

STEPS = 100
BARS, BAND, HANDLE = 36, 8, 8.0
TOP = 4
HEIGHT = 80
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
ROOT = 0.5
LEAST_WIDE = 280
ABOVE = Qt.TextFlag.TextWordWrap.value | Qt.AlignmentFlag.AlignBottom.value | Qt.AlignmentFlag.AlignRight.value


class ThresholdScale(QAbstractSlider):
    """A threshold from 0 to 1 in hundredths. `moved` gives it, at once; `say` puts words at its left.

    The heights of the histogram are square roots of the numbers, so that the few at the upper end are seen.
    """

    moved = Signal(float)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._words = ("", "")
        self._left, self._wide = 0, 0
        self._colours: tuple[QColor, ...] = ()
        self._numbers: tuple[int, ...] = ()
        self._line = LinePainter()
        self.setRange(0, STEPS)
        self.setSingleStep(1)
        self.setPageStep(5)
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(sized(HEIGHT))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        self.valueChanged.connect(lambda value: self.moved.emit(value / STEPS))
        theme().changed.connect(self.update)

    def threshold(self) -> float:
        """Return the threshold now."""
        return self.value() / STEPS

    def set_threshold(self, threshold: float) -> None:
        """Set it without telling anyone."""
        self.blockSignals(True)
        self.setValue(round(threshold * STEPS))
        self.blockSignals(False)
        self.update()

    def set_ramp(self, colours: Sequence[QColor]) -> None:
        """Set the colours from 0 to 1."""
        self._colours = tuple(colours)
        self.update()

    def set_numbers(self, numbers: Sequence[int]) -> None:
        """Set the histogram: counts by equal parts from 0 to 1."""
        self._numbers = tuple(numbers)
        part = 1 / max(1, len(self._numbers))
        known = [(place * part, count) for place, count in enumerate(self._numbers) if count]
        counts = (f"{low:.2f} to {low + part:.2f}: {count:,}" for low, count in known)
        self.setAccessibleDescription("; ".join(counts))
        self.update()

    def say(self, above: str, beside: str) -> None:
        """Words at the left: what the threshold does, and what it is."""
        self._words = (above, beside)
        self.setAccessibleName(f"{self._name}: {beside}, {above}")
        self.setToolTip(above)
        self.update()

    def set_span(self, left: int, wide: int) -> None:
        """Set the left edge and the width of the scale, in pixels."""
        self._left, self._wide = left, wide
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, sized(HEIGHT))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._follow(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._follow(event)

    def _follow(self, event: QMouseEvent) -> None:
        scale = self._scale()
        if scale.width():
            self.setValue(round((event.position().x() - scale.left()) / scale.width() * STEPS))

    def _scale(self) -> QRect:
        """Return the area of the colours."""
        left = self._left or 16
        wide = min(max(self._wide, sized(LEAST_WIDE)), self.width() - left - sized(16))
        return QRect(left, TOP + sized(BARS) + 4, max(0, wide), BAND)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        scale = self._scale()
        self._paint_words(painter, scale)
        self._paint_bars(painter, scale)
        self._paint_ramp(painter, scale)
        self._paint_ticks(painter, scale)
        self._paint_handle(painter, scale)

    def _paint_words(self, painter: QPainter, scale: QRect) -> None:
        above, beside = self._words
        room = max(0, scale.left() - 20)
        painter.setFont(theme().font(Size.SMALL, tabular=True))
        painter.setPen(theme().colour(Role.DIM))
        place = QRectF(8, scale.center().y() - sized(10), room, sized(20))
        painter.drawText(place.adjusted(0, -sized(38), 0, -sized(20)), ABOVE, above)
        font = theme().font(strong=True, tabular=True)
        self._line.text(painter, place, beside, font, Role.TEXT, Qt.AlignmentFlag.AlignRight)

    def _paint_bars(self, painter: QPainter, scale: QRect) -> None:
        most = max(self._numbers, default=0) ** ROOT
        for place, number in enumerate(self._numbers):
            if number:
                left, right = (self._x(scale, end / len(self._numbers)) for end in (place, place + 1))
                tall = max(1, round((number**ROOT) / most * sized(BARS)))
                flagged = (place + 0.5) / len(self._numbers) >= self.threshold()
                colour = theme().colour(Role.TEXT if flagged else Role.CONTROL)
                painter.fillRect(left, scale.top() - 2 - tall, max(1, right - left - 1), tall, colour)

    def _paint_ramp(self, painter: QPainter, scale: QRect) -> None:
        gradient = QLinearGradient(QPointF(scale.left(), 0), QPointF(scale.right(), 0))
        for place, colour in enumerate(self._colours):
            gradient.setColorAt(place / max(1, len(self._colours) - 1), colour)
        painter.fillRect(scale, gradient if self._colours else theme().colour(Role.TRACK))

    def _paint_ticks(self, painter: QPainter, scale: QRect) -> None:
        font = theme().font(Size.SMALL, tabular=True)
        for tick in TICKS:
            place = QRectF(self._x(scale, tick) - sized(20), scale.bottom() + 6, sized(40), sized(18))
            self._line.text(painter, place, f"{tick:.1f}", font, Role.DIM, Qt.AlignmentFlag.AlignHCenter)

    def _paint_handle(self, painter: QPainter, scale: QRect) -> None:
        colour = theme().colour(Role.ACCENT)
        x = self._x(scale, self.threshold())
        painter.fillRect(x - 1, TOP, 2, scale.center().y() - TOP, colour)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        centre = QPointF(x, scale.center().y() + 0.5)
        painter.setPen(QPen(theme().colour(Role.SURFACE), 2))
        painter.setBrush(colour)
        painter.drawEllipse(centre, HANDLE, HANDLE)
        if self.hasFocus():
            painter.setPen(QPen(theme().colour(Role.FOCUS), theme().ring))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, HANDLE + 3, HANDLE + 3)

    def _x(self, scale: QRect, share: float) -> int:
        return round(scale.left() + share * (scale.width() - 1))
