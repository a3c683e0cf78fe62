"""Small inline charts: shares in a bar, an interval, a value on a scale with a threshold, a count as dots."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Role, sized, theme
from app.widgets.accessibility import Spoken

BAR = 6
GAP, WIDE_GAP = 2, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A share of a bar: `value` in any unit, `ticked` to tell it without colour, `gap` to set it apart."""

    role: Role
    value: float
    ticked: bool = False
    gap: bool = False
    name: str = ""


def paint_segments(painter: QPainter, rect: QRectF, segments: Sequence[Segment], total: float | None = None) -> None:
    """Draw shares of `total` (their sum where None) from the left; the rest is track."""
    whole = max(total or 0, sum(segment.value for segment in segments))
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    clip = QPainterPath()
    clip.addRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    painter.setClipPath(clip)
    left = rect.left() if whole <= 0 else _paint_shares(painter, rect, segments, whole)
    if left < rect.right() - GAP:
        painter.fillRect(QRectF(left, rect.top(), rect.right() - left, rect.height()), theme().colour(Role.TRACK))
    painter.restore()


def _paint_shares(painter: QPainter, rect: QRectF, segments: Sequence[Segment], whole: float) -> float:
    """Draw the shares side by side; return the place where the track begins."""
    shown = [segment for segment in segments if segment.value > 0]
    room = rect.width() - sum(_gap(segment) for segment in shown[1:])
    left = rect.left()
    for number, segment in enumerate(shown):
        left += _gap(segment) if number else 0
        part = QRectF(left, rect.top(), max(2.0, room * segment.value / whole), rect.height())
        _paint_share(painter, part, segment)
        left = part.right()
    return left + GAP if shown else left


def _gap(segment: Segment) -> int:
    return WIDE_GAP if segment.gap else GAP


def _paint_share(painter: QPainter, part: QRectF, segment: Segment) -> None:
    colour = theme().colour(segment.role)
    if not segment.ticked:
        painter.fillRect(part, colour)
        return
    step = part.left()
    while step < part.right():
        painter.fillRect(QRectF(step, part.top(), min(3.0, part.right() - step), part.height()), colour)
        step += 4


class StackedBar(QWidget):
    """Shares side by side; what is missing to `total` is track. `name` starts what a screen reader says."""

    SPOKEN_AS = Spoken.Graphic

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._segments: tuple[Segment, ...] = ()
        self._total: float | None = None
        self.setFixedHeight(BAR)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_segments(self, segments: Sequence[Segment], total: float | None = None) -> None:
        """Show these shares."""
        self._segments, self._total = tuple(segments), total
        shares = ", ".join(f"{segment.name} {segment.value:g}" for segment in segments if segment.name)
        self.setAccessibleName(f"{self._name}: {shares}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_segments(QPainter(self), QRectF(self.rect()), self._segments, self._total)


class IntervalBar(QWidget):
    """A value with its interval on a scale from 0 to 1; None shows the bare scale."""

    SPOKEN_AS = Spoken.Graphic

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._value: tuple[float, float, float] | None = None
        self.setFixedHeight(16)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_value(self, value: float | None, low: float | None, high: float | None) -> None:
        """Show a value with its low and high end, all 0–1."""
        known = value is not None and low is not None and high is not None
        self._value = (value or 0.0, low or 0.0, high or 0.0) if known else None
        self.setAccessibleName(f"{self._name}: {value:.3g} ({low:.3g} to {high:.3g})" if known else self._name)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, 16)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_interval(QPainter(self), QRectF(self.rect()), self._value, band=6, ticks=5)


def paint_interval(
    painter: QPainter, rect: QRectF, value: tuple[float, float, float] | None, *, band: int = 4, ticks: int = 0
) -> None:
    """Draw a scale from 0 to 1 over the width of `rect`, and on it a value between its low and high end."""
    middle, left, reach = int(rect.center().y()), int(rect.left()), int(rect.width()) - 1
    painter.fillRect(left, middle, reach + 1, 1, theme().colour(Role.LINE))
    for tick in range(ticks):
        painter.fillRect(left + round(reach * tick / (ticks - 1)), middle - 2, 1, 5, theme().colour(Role.LINE))
    if value is None:
        return
    at, low, high = value
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(soft_accent())
    box = QRectF(left + reach * low, middle + 0.5 - band / 2, max(2.0, reach * (high - low)), band)
    painter.drawRoundedRect(box, band / 2, band / 2)
    thick, tall = (3, 11) if band > 4 else (2, 9)
    start = min(left + reach * at - thick / 2, rect.right() - thick)
    painter.fillRect(QRectF(max(rect.left(), start), middle + 0.5 - tall / 2, thick, tall), theme().colour(Role.ACCENT))
    painter.restore()


def soft_accent() -> QColor:
    """Return the accent for intervals; still 3 to 1 against the page."""
    colour = QColor(theme().colour(Role.ACCENT_FILL if not theme().dark else Role.ACCENT))
    colour.setAlphaF(0.6 if theme().dark else 0.7)
    return colour


class ScaleMark(QWidget):
    """A dot on a scale from 0 to 1 with a tick at the threshold."""

    SPOKEN_AS = Spoken.Graphic

    def __init__(self, name: str, *, threshold: float = 0.7) -> None:
        super().__init__()
        self._name = name
        self._threshold = threshold
        self._value: float | None = None
        self._role = Role.ACCENT
        self.setFixedHeight(20)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_value(self, value: float | None, role: Role = Role.ACCENT) -> None:
        """Show a value 0–1 in a colour; None shows the bare scale."""
        self._value, self._role = value, role
        self.setAccessibleName(f"{self._name}: {value:.2f}" if value is not None else f"{self._name}: none")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, 20)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        middle, left, span = self.height() // 2, 6, self.width() - 13
        control = theme().colour(Role.CONTROL)
        painter.fillRect(left, middle, span + 1, 1, control)
        for place in (0.0, self._threshold, 1.0):
            painter.fillRect(left + round(span * place), middle - 4, 1, 9, control)
        if self._value is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            centre = QPointF(left + span * min(1.0, max(0.0, self._value)) + 0.5, middle + 0.5)
            painter.setBrush(theme().colour(Role.SURFACE))
            painter.drawEllipse(centre, 7.5, 7.5)
            painter.setBrush(theme().colour(self._role))
            painter.drawEllipse(centre, 5.5, 5.5)


class CountDots(QWidget):
    """A count as little blocks, at most as many as fit, with the number after them."""

    SPOKEN_AS = Spoken.Graphic

    SIDE, STEP = 9, 12

    def __init__(self, name: str, role: Role) -> None:
        super().__init__()
        self._name = name
        self._role = role
        self._count = 0
        self.setFixedHeight(sized(20))

    def set_count(self, count: int) -> None:
        """Show another count."""
        self._count = count
        self.setAccessibleName(f"{self._name}: {count}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme().font(tabular=True)
        painter.setFont(font)
        side, step = sized(self.SIDE), sized(self.STEP)
        room = max(0, (self.width() - sized(44)) // step)
        shown = min(self._count, room)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour(self._role))
        for number in range(shown):
            painter.drawRoundedRect(QRectF(number * step, sized(5), side, side), 2, 2)
        painter.setPen(theme().colour(Role.TEXT))
        text = f"… {self._count:,}" if shown < self._count else f"{self._count:,}"
        painter.drawText(QPointF(shown * step + (6 if shown else 0), sized(15)), text)
